// Owners that Hearth computed and the kernel did not keep to: pages that somebody moved, and nodes that ran
// full, also in a container. Tasks that name the memory make Hearth look; from then on it tells where the
// pages really are, and one line has said so. Memory that nobody has touched yet is no reason for doubt.
//
// numa-test name=moved link=hearth topologies=8x1,4x4,2x2x2,holes compilers=gcc,clang args=moved
// numa-test name=full link=hearth topologies=8x1 compilers=gcc,clang args=full
// numa-test name=full-in-a-container link=hearth topologies=8x1 cpus=1-3 nodes=1-3 memory=700M args=full
// numa-test name=blind link=hearth topologies=8x1 refuse=move_pages args=blind
#include <omp.h>
#include <time.h>

#include "homes.h"

enum { kPart = 16 * kPage };

/// A region of tasks that name the block part by part; they need not touch it.
static void run_tasks(char* block, size_t size) {
#pragma omp parallel
#pragma omp single
  for (size_t at = 0; at < size; at += kPart) {
    hearth_task_footprint(block + at, smaller(size - at, kPart), HEARTH_READ_WRITE);
#pragma omp task
    __atomic_thread_fence(__ATOMIC_RELAXED);
  }
}

static void wait_a_little(void) {
  const struct timespec some = {
      0, 120000000};  // what Hearth distributed is looked at ten times a second at most
  nanosleep(&some, NULL);
}

static int is_right(char* block, size_t size) {
  for (size_t p = 0; p < pages_of(size); p += 1 + p / 64)
    if (hearth_location_node(hearth_owner(block + p * kPage)) != node_of(block + p * kPage)) return 0;
  return 1;
}

static void is_corrected(char* block, size_t size) {
  CHECK(!is_right(block, size));
  for (int round = 0; round < 100 && !is_right(block, size); ++round) {
    run_tasks(block, size);
    wait_a_little();
  }
  CHECK(is_right(block, size));
}

static void move_all(char* block, size_t size, int node) {
  for (size_t p = 0; p < pages_of(size); ++p) {
    void* page = block + p * kPage;
    int status = -1;
    CHECK(move_to_nodes(1, &page, &node, &status) == 0 && status == node);
  }
}

static void pages_that_were_moved(void) {
  const struct {
    size_t size;
    omp_malloc_distribution_t kind;
  } cases[] = {{512 * kPage, OMP_MALLOC_BLOCKED},
               {2048 * kPage, OMP_MALLOC_FINE},
               {600 * kPage, OMP_MALLOC_COARSE},
               {64 * kPage, OMP_MALLOC_COARSE}};
  char* blocks[4];
  for (int i = 0; i < 4; ++i) {
    char* block = blocks[i] = (char*)omp_malloc_specific(cases[i].size, cases[i].kind);
    // Nobody has touched it: nothing is known against what was computed.
    const int computed = hearth_owner(block);
    for (int round = 0; round < 3; ++round) {
      run_tasks(block, cases[i].size);
      wait_a_little();
    }
    CHECK(computed >= 0 && hearth_owner(block) == computed);
    free(look(block, cases[i].size));
    const int elsewhere = nodes[(index_of_node(node_of(block)) + 1) % count];
    move_all(block, cases[i].size, elsewhere);
    is_corrected(block, cases[i].size);
  }
  for (int i = 0; i < 4; ++i) omp_malloc_free(blocks[i]);
  // What is allocated now is computed again.
  char* block = (char*)omp_malloc_specific(2048 * kPage, OMP_MALLOC_FINE);
  check_in_turns(block, 2048 * kPage);
  omp_malloc_free(block);
}

static void a_node_that_is_full(void) {
  const size_t step = 4u << 20, size = 8u << 20;
  const int full = nodes[count - 1];
  for (int last = full; last == full;) {
    char* more = (char*)map_pages(step);
    CHECK(mbind_pages(more, step, kPreferred, 1ul << full, 0) == 0);
    memset(more, 1, step);
    last = node_of(more + step - kPage);
  }
  char* blocks[kMostNodes];
  int elsewhere = 0;
  for (int i = 0; i < count; ++i) {
    blocks[i] = (char*)omp_malloc_specific(size, OMP_MALLOC_COARSE);
    CHECK(blocks[i] != NULL);
    memset(blocks[i], 1, size);
    if (is_right(blocks[i], size)) continue;
    CHECK(hearth_location_node(hearth_owner(blocks[i])) == full);
    is_corrected(blocks[i], size);
    ++elsewhere;
  }
  CHECK(elsewhere == 1);
  for (int i = 0; i < count; ++i) omp_malloc_free(blocks[i]);
}

/// Where the kernel tells nothing, what was computed stays, and nobody is accused.
static void without_the_kernels_word(void) {
  const size_t size = 2048 * kPage;
  char* block = (char*)omp_malloc_specific(size, OMP_MALLOC_FINE);
  memset(block, 1, size);
  const int computed = hearth_owner(block);
  for (int round = 0; round < 3; ++round) {
    run_tasks(block, size);
    wait_a_little();
  }
  CHECK(hearth_owner(block) == computed);
  omp_malloc_free(block);
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  int ends[2], kept = dup(2);
  CHECK(pipe(ends) == 0 && dup2(ends[1], 2) == 2);
  list_nodes();
  if (strcmp(what, "moved") == 0) pages_that_were_moved();
  if (strcmp(what, "full") == 0) a_node_that_is_full();
  if (strcmp(what, "blind") == 0) without_the_kernels_word();
  CHECK(dup2(kept, 2) == 2 && close(ends[1]) == 0);
  static char text[8192];
  CHECK(read(ends[0], text, sizeof text - 1) >= 0);
  fputs(text, stderr);
  const char* line = strstr(text, "are not where they were placed: a node is full");
  CHECK((line != NULL) == (strcmp(what, "blind") != 0));
  CHECK(line == NULL || strstr(line + 1, "are not where they were placed") == NULL);
  CHECK((strstr(text, "move_pages is refused") != NULL) == (strcmp(what, "blind") == 0));
  printf("corrected %s: %d nodes, all as expected\n", what, count);
  return 0;
}
