/* The calls about footprints, from C and C++, on a pretended machine of eight nodes: tasks and taskloops with
 * every kind of footprint do their work, whatever is said of them. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <hearth/hearth.h>
#include <omp.h>

enum { N = 64, PAGE = 4096 };

static int bad = 0;

static void check(int right, const char* what) {
  if (right) return;
  printf("wrong: %s\n", what);
  bad = 1;
}

static void tasks(char* array) {
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < N; i++) {
    hearth_task_footprint(array + i * PAGE, PAGE, HEARTH_READ_WRITE | HEARTH_DECIDES);
    hearth_task_footprint(array, N * PAGE, HEARTH_READ);
#pragma omp task firstprivate(i)
    array[i * PAGE]++;
  }
  for (int i = 0; i < N; i++) check(array[i * PAGE] == 1, "a task's page");
}

static void blocks_of_a_matrix(char* array) {
  /* 64 rows of a page; a task works on eight rows of 512 bytes. */
#pragma omp parallel
#pragma omp single
  for (int row = 0; row < N; row += 8)
    for (int column = 0; column < PAGE; column += 512) {
      hearth_task_footprint_strided(array + row * PAGE + column, 8, 512, PAGE, HEARTH_WRITE);
#pragma omp task firstprivate(row, column) if (column != 512) final(column == 1024)
      for (int k = 0; k < 8; k++) memset(array + (row + k) * PAGE + column, row + 1, 512);
    }
  for (int i = 0; i < N * PAGE; i++)
    if (array[i] != i / PAGE / 8 * 8 + 1) {
      check(0, "a block's byte");
      break;
    }
}

static void loops(char* array) {
  memset(array, 0, N * PAGE);
#pragma omp parallel
#pragma omp single
  {
    hearth_taskloop_footprint(array, PAGE, HEARTH_READ_WRITE);
#pragma omp taskloop grainsize(3)
    for (int i = 0; i < N; i++) array[i * PAGE]++;
    hearth_taskloop_footprint(array + (N - 1) * PAGE, -PAGE, HEARTH_READ_WRITE);
#pragma omp taskloop num_tasks(N)
    for (int i = N - 1; i >= 0; i--) array[i * PAGE]++;
    hearth_taskloop_footprint(array, PAGE, HEARTH_READ_WRITE);
    hearth_task_footprint(array, 8, HEARTH_READ);
#pragma omp taskloop nogroup
    for (long i = 0; i < N; i++) {
      /* What a task says is about its own tasks. */
      hearth_task_footprint(array + i * PAGE, PAGE, HEARTH_READ);
#pragma omp task firstprivate(i)
#pragma omp atomic
      array[i * PAGE]++;
    }
  }
  for (int i = 0; i < N; i++) check(array[i * PAGE] == 3, "an iteration of a taskloop");
  int sum = 0;
#pragma omp parallel
#pragma omp single
  {
    hearth_taskloop_footprint(array, PAGE, HEARTH_READ);
#pragma omp taskloop reduction(+ : sum)
    for (int i = 0; i < N; i++) sum += array[i * PAGE];
  }
  check(sum == 3 * N, "a reduction over a taskloop");
}

static void nonsense(char* array) {
#pragma omp parallel
#pragma omp single
  {
    hearth_task_footprint(NULL, 0, HEARTH_READ);
    hearth_task_footprint((void*)16, SIZE_MAX, HEARTH_READ);
    hearth_task_footprint((void*)16, 100000000, HEARTH_WRITE);
    hearth_task_footprint(array, PAGE, 0);
    hearth_task_footprint(array, PAGE, 99);
    hearth_task_footprint_strided(array, SIZE_MAX, SIZE_MAX, SIZE_MAX, HEARTH_READ);
    hearth_task_footprint_strided(array, 4, PAGE, 1, HEARTH_READ);
    hearth_task_footprint_strided(array, 1 << 30, 1, 1 << 30, HEARTH_READ);
    hearth_taskloop_footprint(array, PTRDIFF_MIN, HEARTH_READ);
    hearth_taskloop_footprint(array, 0, HEARTH_READ);
    for (int i = 0; i < 5000; i++) hearth_task_footprint(array, 1, HEARTH_READ);
#pragma omp task
    array[0] = 77;
#pragma omp taskwait
    hearth_task_footprint(array, PAGE, HEARTH_READ); /* and no task */
  }
  check(array[0] == 77, "the task about which nonsense was said");
}

int main(void) {
  char* array = (char*)omp_malloc_specific(N * PAGE, OMP_MALLOC_FINE);
  memset(array, 0, N * PAGE);
  tasks(array);
  blocks_of_a_matrix(array);
  loops(array);
  nonsense(array);
  hearth_task_footprint(array, PAGE, HEARTH_READ); /* outside of regions */
#pragma omp task
  array[1] = 1;
  omp_malloc_free(array);
  puts(bad ? "wrong" : "right");
  return bad;
}
