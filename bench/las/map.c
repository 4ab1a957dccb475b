// Map: each task scales one vector; one malloc per vector. With `coarse`, task and vector are made for each
// other.
#include <stdlib.h>

#include "las.h"

static struct las_argument arguments[kLasArguments] = {
    {"vectors", 48, 48, 1, 1 << 16}, {"kib", 256, 1024, 1, 1 << 20}  // the paper: 48 vectors of 1 MB
};
static int vectors;
static size_t words;
static float** list;

static float initial(int vector, size_t word) { return (float)((vector * 31 + (int)(word % 4096)) % 8191); }

static void prepare(void) {
  vectors = (int)arguments[0].value;
  words = (size_t)arguments[1].value * 1024 / sizeof(float);
  list = malloc((size_t)vectors * sizeof *list);
  if (list == NULL) las_fail("no memory");
  for (int i = 0; i < vectors; ++i) {
    list[i] = las_malloc(words * sizeof(float));
    for (size_t word = 0; word < words; ++word) list[i][word] = initial(i, word);
  }
}

static void plan(void) {
  for (int i = 0; i < vectors; ++i) las_plan((struct las_task){.weight = 1, .i = i});
}

static void create(struct las_task task) {
  float* vector = list[task.i];
#pragma omp task firstprivate(task) depend(inout : vector[0 : words])
  las_run(task);
}

static void run(struct las_task task) {
  float* vector = list[task.i];
  const size_t count = words;
  for (size_t word = 0; word < count; ++word) vector[word] *= 3;
}

static void touches(const struct las_task* task) { las_touches(list[task->i], words * sizeof(float), 0); }

static void check(void) {
  for (int i = 0; i < vectors; ++i) {
    for (size_t word = 0; word < words; ++word) {
      if (list[i][word] != 3 * initial(i, word)) las_fail("wrong result");
    }
  }
}

static void release(void) {
  for (int i = 0; i < vectors; ++i) las_free(list[i]);
  free(list);
}

int main(int argc, char** argv) {
  return las_main(
      argc, argv,
      &(struct las_benchmark){"map", arguments, prepare, plan, create, run, touches, check, release});
}
