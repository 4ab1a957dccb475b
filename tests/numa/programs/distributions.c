// Every distribution of <hearth/hearth.h> and every partition trait, page by page: the kernel has to put each
// page where Hearth says that it is, and where the distribution's definition says.
//
// numa-test link=hearth topologies=8x1,4x4,2x2x2,holes compilers=gcc,clang
// numa-test name=huge-pages link=hearth topologies=8x1,holes huge-pages=always
// numa-test name=units-of-huge-pages link=hearth topologies=4x4 huge-pages=madvise args=huge HEARTH_HUGE_PAGES=true
// numa-test name=large-fine link=hearth topologies=8x1 "args=large fine"
// numa-test name=large-blocked link=hearth topologies=8x1 "args=large blocked"
// numa-test name=balancing link=hearth topologies=8x1 balancing=on
// numa-test name=cpuset link=hearth topologies=8x1 cpus=2-5 nodes=1-3
// numa-test name=refused link=hearth topologies=8x1 refuse=mbind,set_mempolicy args=refused
// numa-test name=blind link=hearth topologies=8x1 refuse=mbind,set_mempolicy,move_pages args=blind
#include <omp.h>

#include "homes.h"

static void fine_goes_round_page_by_page(void) {
  const size_t sizes[] = {4 * kPage, 64 * kPage - 17, 3u << 20, 33u << 20};
  for (int i = 0; i < 4; ++i) {
    for (int twice = 0; twice < 2; ++twice) {
      char* block = omp_malloc_specific(sizes[i], twice ? OMP_MALLOC_INTERLEAVED : OMP_MALLOC_FINE);
      check_in_turns(block, sizes[i]);
      omp_malloc_free(block);
    }
  }
  int before = mappings();
  char* large = omp_malloc_specific(64u << 20, OMP_MALLOC_FINE);
  CHECK(mappings() - before <= 4);  // one policy, not one per page
  omp_malloc_free(large);
}

static void coarse_blocks_take_turns(void) {
  const size_t sizes[] = {100, 8 * kPage, 128 << 10, 5u << 20};
  for (int s = 0; s < 4; ++s) {
    char* blocks[3 * kMostNodes];
    int got[kMostNodes] = {0};
    for (int i = 0; i < 3 * count; ++i) {
      blocks[i] = omp_malloc_specific(sizes[s], OMP_MALLOC_COARSE);
      CHECK(blocks[i] != NULL);
      blocks[i][0] = 1;
      int index = index_of_node(node_of(blocks[i]));
      ++got[index];
      if (sizes[s] >= kPage) check_whole_at(blocks[i], sizes[s], index);
    }
    for (int i = 0; i < count; ++i) CHECK(got[i] == 3);
    // Freed and taken again they are where the next turns say, whatever was there before.
    for (int i = 0; i < 3 * count; ++i) omp_malloc_free(blocks[i]);
    for (int i = 0; i < 3 * count; ++i) {
      blocks[i] = omp_malloc_specific(sizes[s], OMP_MALLOC_COARSE);
      blocks[i][0] = 1;
      CHECK(hearth_location_node(hearth_owner(blocks[i])) == node_of(blocks[i]));
    }
    for (int i = 0; i < 3 * count; ++i) omp_malloc_free(blocks[i]);
  }
  // Many live blocks are few mappings.
  enum { kMany = 2000 };
  static char* many[kMany];
  int before = mappings();
  for (int i = 0; i < kMany; ++i) many[i] = omp_malloc_specific(64 << 10, OMP_MALLOC_COARSE);
  CHECK(mappings() - before < 200);
  for (int i = 0; i < kMany; ++i) omp_malloc_free(many[i]);
}

static void blocked_parts_are_equal_and_in_order(void) {
  const size_t sizes[] = {1, 4 * kPage, 1000 * kPage, (48u << 20) + 123};
  for (int i = 0; i < 4; ++i) {
    char* block = omp_malloc_specific(sizes[i], OMP_MALLOC_BLOCKED);
    check_blocked(block, sizes[i]);
    omp_malloc_free(block);
  }
}

static void nearest_is_the_caller_s_node(void) {
  cpu_set_t before;
  CHECK(sched_getaffinity(0, sizeof before, &before) == 0);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &before)) continue;
    run_on(cpu);
    unsigned here = 0, node = 0;
    CHECK(getcpu(&here, &node) == 0);
    char* block = omp_malloc_specific(40 * kPage, OMP_MALLOC_NEAREST);
    block[0] = 1;
    int got = node_of(block);
    // A node without memory has another one next to it.
    if (allowed_nodes() >> node & 1) CHECK(got == (int)node);
    check_whole_at(block, 40 * kPage, index_of_node(got));
    omp_malloc_free(block);
  }
  CHECK(sched_setaffinity(0, sizeof before, &before) == 0);
}

static void distributions_of_the_program_s_own(void) {
  // Few pieces, and more than the kernel is asked to keep policies for.
  const struct {
    size_t block, blocks, in_a_row;
  } cases[] = {{16 * kPage, 50, 2}, {kPage, 4000, 1}};
  for (int c = 0; c < 2; ++c) {
    size_t in_a_row = cases[c].in_a_row, size = cases[c].block * cases[c].blocks;
    int before = mappings();
    char* block = hearth_malloc_distributed(size, cases[c].block, block_cyclic, &in_a_row);
    CHECK(mappings() - before < 1100);
    int* where = look(block, size);
    for (size_t p = 0; p < pages_of(size); ++p)
      CHECK(where[p] == (int)(p * kPage / cases[c].block / in_a_row % (size_t)count));
    free(where);
    omp_malloc_free(block);
  }
  int mode = -1;
  CHECK(query_policy(&mode, NULL, NULL, 0) == 0 && mode == kDefault);  // the thread's own policy is as it was
}

static void weights_decide_how_much(void) {
  unsigned weights[kMostNodes] = {0};
  size_t sum = 0, got[kMostNodes] = {0};
  for (int i = 0; i < count; ++i) sum += weights[i] = 1 + (unsigned)i % 3;
  size_t pages = sum * 20;
  char* block = hearth_malloc_weighted(pages * kPage, weights, count);
  int* where = look(block, pages * kPage);
  for (size_t p = 0; p < pages; ++p) ++got[where[p]];
  for (int i = 0; i < count; ++i) CHECK(got[i] == 20 * weights[i]);
  free(where);
  omp_malloc_free(block);
}

static void partition_traits(void) {
  const omp_alloctrait_value_t partitions[] = {omp_atv_interleaved, omp_atv_blocked, omp_atv_nearest,
                                               omp_atv_environment};
  const size_t size = 500 * kPage;
  for (int i = 0; i < 4; ++i) {
    omp_alloctrait_t traits[] = {{omp_atk_partition, partitions[i]}, {omp_atk_alignment, 1 << 14}};
    omp_allocator_handle_t allocator = omp_init_allocator(omp_default_mem_space, 2, traits);
    CHECK(allocator != omp_null_allocator);
    char* block = omp_alloc(size, allocator);
    CHECK(block != NULL && (unsigned long)block % (1 << 14) == 0);
    if (i == 0) check_in_turns(block, size);
    if (i == 1) check_blocked(block, size);
    if (i == 2) {
      block[0] = 1;
      check_whole_at(block, size, index_of_node(node_of(block)));
    }
    if (i == 3) memset(block, 1, size);
    omp_free(block, allocator);
    omp_destroy_allocator(allocator);
  }
}

static void resized_blocks_keep_their_distribution(void) {
  char* fine = omp_malloc_realloc(omp_malloc_specific(10 * kPage, OMP_MALLOC_FINE), 900 * kPage);
  check_in_turns(fine, 900 * kPage);
  omp_malloc_free(fine);
  char* coarse = omp_malloc_specific(10 * kPage, OMP_MALLOC_COARSE);
  coarse[0] = 7;
  int index = index_of_node(node_of(coarse));
  coarse = omp_malloc_realloc(coarse, 900 * kPage);
  CHECK(coarse[0] == 7);
  check_whole_at(coarse, 900 * kPage, index);
  omp_malloc_free(coarse);
}

static void foreign_memory_is_asked_of_the_kernel(void) {
  char* start = map_pages(64 * kPage);
  for (int p = 0; p < 64; ++p) bind_pages(start + p * kPage, kPage, 1ul << nodes[p * 5 % count]);
  CHECK(hearth_owner(start) == -1);
  memset(start, 1, 32 * kPage);
  size_t told[kMostNodes], sums[kMostNodes] = {0};
  CHECK(hearth_bytes_by_location(start, 32 * kPage, told, kMostNodes) == 0);
  for (int p = 0; p < 32; ++p) sums[homes[p * 5 % count]] += kPage;
  for (int i = 0; i < kMostNodes; ++i) CHECK(told[i] == sums[i]);
  munmap(start, 64 * kPage);
}

static void in_units_of_huge_pages(void) {
  const size_t huge = 2u << 20, units = (size_t)count * 3;
  char* block = omp_malloc_specific(units * huge, OMP_MALLOC_FINE);
  CHECK((unsigned long)block % huge == 0);
  int first = -1;
  for (size_t u = 0; u < units; ++u) {
    block[u * huge] = 1;
    int index = index_of_node(node_of(block + u * huge));
    if (first < 0) first = index;
    CHECK(index == (first + (int)u) % count);
    CHECK(node_of(block + u * huge + huge - 1) ==
          nodes[index]);  // present, since one touch brought all 2 MiB
    CHECK(hearth_owner(block + u * huge + huge / 2) == homes[index]);
  }
  omp_malloc_free(block);
}

static void one_gibibyte(int fine) {
  const size_t size = 1ul << 30;
  int before = mappings();
  char* block = omp_malloc_specific(size, fine ? OMP_MALLOC_FINE : OMP_MALLOC_BLOCKED);
  CHECK(mappings() - before <= (fine ? 4 : count + 4));
  if (fine)
    check_in_turns(block, size);
  else
    check_blocked(block, size);
  omp_malloc_free(block);
}

/// mbind does nothing here: one line says so, memory is usable, and what is told of it is where it really is,
/// or nothing.
static void calls_are_refused(int blind) {
  int ends[2], kept = dup(2);
  CHECK(pipe(ends) == 0 && dup2(ends[1], 2) == 2);
  run_on(0);
  for (int kind = 0; kind < 3; ++kind) {
    const omp_malloc_distribution_t kinds[] = {OMP_MALLOC_FINE, OMP_MALLOC_BLOCKED, OMP_MALLOC_COARSE};
    char* block = omp_malloc_specific(64 * kPage, kinds[kind]);
    CHECK(block != NULL);
    memset(block, 1, 64 * kPage);
    size_t told[kMostNodes];
    size_t unknown = hearth_bytes_by_location(block, 64 * kPage, told, kMostNodes);
    CHECK(unknown == (blind ? 64u * kPage : 0));
    if (!blind) CHECK(told[0] == 64u * kPage);
    omp_malloc_free(block);
  }
  size_t in_a_row = 1;
  char* block = hearth_malloc_distributed(3000 * kPage, kPage, block_cyclic, &in_a_row);
  CHECK(block != NULL);
  omp_malloc_free(block);
  CHECK(dup2(kept, 2) == 2 && close(ends[1]) == 0);
  static char text[8192];
  ssize_t length = read(ends[0], text, sizeof text - 1);
  CHECK(length > 0);
  fputs(text, stderr);
  const char* line = strstr(text, "hearth: mbind is refused");
  CHECK(line != NULL && strstr(line + 8, "hearth: mbind") == NULL);
  CHECK((strstr(text, "move_pages is refused") != NULL) == blind);
  CHECK(strstr(text, "set_mempolicy") != NULL);
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  list_nodes();
  if (strcmp(what, "refused") == 0 || strcmp(what, "blind") == 0) {
    calls_are_refused(strcmp(what, "blind") == 0);
  } else if (strcmp(what, "huge") == 0) {
    in_units_of_huge_pages();
  } else if (strcmp(what, "large") == 0) {
    one_gibibyte(argc > 2 && strcmp(argv[2], "fine") == 0);
  } else {
    fine_goes_round_page_by_page();
    coarse_blocks_take_turns();
    blocked_parts_are_equal_and_in_order();
    nearest_is_the_caller_s_node();
    distributions_of_the_program_s_own();
    weights_decide_how_much();
    partition_traits();
    resized_blocks_keep_their_distribution();
    foreign_memory_is_asked_of_the_kernel();
  }
  printf("distributions%s%s: %d nodes, all as expected\n", *what ? " " : "", what, count);
  return 0;
}
