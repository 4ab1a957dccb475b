// Every allocating call of OpenMP and of <hearth/hearth.h>, with every distribution, partition trait and
// memory space, page by page: where the kernel has put the pages, what Hearth says of them, and what the
// block holds.
//
// numa-test link=hearth topologies=8x1,4x4,2x2x2,holes compilers=gcc,clang,g++,clang++
// numa-test name=huge-pages link=hearth topologies=8x1,holes compilers=gcc,clang,g++,clang++ huge-pages=always
// numa-test name=fine-by-environment link=hearth topologies=8x1 OMP_DATA_DISTRIBUTION=fine OMP_ALLOCATOR=omp_default_mem_space:partition=interleaved
// numa-test name=coarse-by-environment link=hearth topologies=8x1 OMP_DATA_DISTRIBUTION=coarse
// numa-test name=blocked-by-environment link=hearth topologies=8x1 OMP_DATA_DISTRIBUTION=blocked OMP_ALLOCATOR=omp_high_bw_mem_space:partition=blocked
// numa-test name=nearest-by-environment link=hearth topologies=8x1 OMP_DATA_DISTRIBUTION=nearest OMP_ALLOCATOR=omp_low_lat_mem_space:partition=nearest
// numa-test name=1GiB link=hearth topologies=2x1 compilers=gcc,g++ args=large seconds=600
// numa-test name=1GiB-huge-pages link=hearth topologies=2x1 compilers=gcc,g++ args=large huge-pages=always seconds=600
#include <omp.h>
#include <stdint.h>

#include "homes.h"

enum distribution { kFine, kInterleaved, kBlocked, kNearest, kCoarse, kStandard, kDistributions };
static const omp_malloc_distribution_t hearths[kDistributions] = {OMP_MALLOC_FINE,    OMP_MALLOC_INTERLEAVED,
                                                                  OMP_MALLOC_BLOCKED, OMP_MALLOC_NEAREST,
                                                                  OMP_MALLOC_COARSE,  OMP_MALLOC_STANDARD};

static int here;              // the index of this thread's node
static int last_coarse = -1;  // where the last whole allocation went

static void check(enum distribution what, char* block, size_t size) {
  CHECK(block != NULL);
  switch (what) {
    case kFine:
    case kInterleaved: check_in_turns(block, size); break;
    case kBlocked: check_blocked(block, size); break;
    case kNearest: check_whole_at(block, size, here); break;
    case kCoarse:
      block[0] = 1;
      last_coarse = last_coarse < 0 ? index_of_node(node_of(block)) : (last_coarse + 1) % count;
      check_whole_at(block, size, last_coarse);
      break;
    default: check_first_touch(block, size);
  }
}

/// `stride` leaves bytes out where there are too many.
static void check_bytes(const char* block, size_t size, char wanted, size_t stride) {
  for (size_t i = 0; i < size; i += stride) CHECK(block[i] == wanted);
}

static size_t stride_for(size_t size) { return size > 64u << 20 ? kPage : 1; }

static int is_aligned(const char* block, size_t to) { return (unsigned long)block % to == 0; }

enum { kAlignment = 1 << 16, kSmall = 3 * kPage, kForms = 4 };

// ---- hearth.h

/// One block by each of the calls that are told a distribution.
static char* by_hearth(int form, omp_malloc_distribution_t what, size_t size) {
  char* block = NULL;
  switch (form) {
    case 0: return (char*)omp_malloc_specific(size, what);
    case 1:
      block = (char*)omp_malloc_aligned_specific(kAlignment, size, what);
      CHECK(is_aligned(block, kAlignment));
      return block;
    case 2:
      block = (char*)omp_malloc_calloc_specific(size % 8 == 0 ? size / 8 : size, size % 8 == 0 ? 8 : 1, what);
      check_bytes(block, size, 0, stride_for(size));
      return block;
    default:
      block = (char*)omp_malloc_specific(kSmall, what);
      memset(block, 5, kSmall);
      block = (char*)omp_malloc_realloc(block, size);
      check_bytes(block, smaller(size, kSmall), 5, 1);
      return block;
  }
}

/// ... and by each that obeys the environment.
static char* by_environment(int form, size_t size) {
  char* block = NULL;
  switch (form) {
    case 0: return (char*)omp_malloc(size);
    case 1:
      block = (char*)omp_malloc_aligned(kAlignment, size);
      CHECK(is_aligned(block, kAlignment));
      return block;
    case 2:
      block = (char*)omp_malloc_calloc(size, 1);
      check_bytes(block, size, 0, stride_for(size));
      return block;
    default: return (char*)omp_malloc_realloc(NULL, size);
  }
}

// ---- OpenMP

static const omp_alloctrait_value_t partitions[kDistributions] = {
    omp_atv_environment,  // OpenMP has no such word
    omp_atv_interleaved, omp_atv_blocked, omp_atv_nearest,
    omp_atv_environment,  // nor that
    omp_atv_environment};

static omp_allocator_handle_t allocator_of(enum distribution what, omp_memspace_handle_t space) {
  omp_alloctrait_t traits[2];
  traits[0].key = omp_atk_partition;
  traits[0].value = partitions[what];
  traits[1].key =
      omp_atk_fallback;  // a block from elsewhere would not be noticed where the distribution is the same
  traits[1].value = omp_atv_null_fb;
  omp_allocator_handle_t allocator = omp_init_allocator(space, 2, traits);
  CHECK(allocator != omp_null_allocator);
  return allocator;
}

enum { kOpenMpForms = 7 };

static char* by_openmp(int form, omp_allocator_handle_t allocator, size_t size) {
  char* block = NULL;
  switch (form) {
    case 0: return (char*)omp_alloc(size, allocator);
    case 1:
      block = (char*)omp_aligned_alloc(kAlignment, size, allocator);
      CHECK(is_aligned(block, kAlignment));
      return block;
    case 2:
      block = (char*)omp_calloc(size, 1, allocator);
      check_bytes(block, size, 0, stride_for(size));
      return block;
    case 3:
      block = (char*)omp_aligned_calloc(kAlignment, 1, size, allocator);
      CHECK(is_aligned(block, kAlignment));
      check_bytes(block, size, 0, stride_for(size));
      return block;
    case 4:  // larger, or smaller
      block = (char*)omp_alloc(kSmall, allocator);
      memset(block, 5, kSmall);
      block = (char*)omp_realloc(block, size, allocator, allocator);
      check_bytes(block, smaller(size, kSmall), 5, 1);
      return block;
    case 5:  // from other memory
      block = (char*)omp_alloc(kSmall, omp_default_mem_alloc);
      memset(block, 5, kSmall);
      block = (char*)omp_realloc(block, size, allocator, omp_default_mem_alloc);
      check_bytes(block, smaller(size, kSmall), 5, 1);
      return block;
    default: {  // the task's default
      omp_allocator_handle_t before = omp_get_default_allocator();
      omp_set_default_allocator(allocator);
      block = (char*)omp_alloc(size, omp_null_allocator);
      omp_set_default_allocator(before);
      return block;
    }
  }
}

static int has_partition(int what) { return what != kFine && what != kCoarse; }

static void check_clause(enum distribution what) {
  enum { kBytes = 96 * kPage };
  char array[kBytes];
  omp_allocator_handle_t allocator = allocator_of(what, omp_default_mem_space);
#pragma omp parallel num_threads(1) private(array) allocate(allocator : array)
  check(what, array, kBytes);
  omp_destroy_allocator(allocator);
}

// ---- all of them

static const size_t sizes[] = {kPage, 4 * kPage, 64 * kPage - 17, 3u << 20, 17u << 20};
enum { kSizes = sizeof sizes / sizeof sizes[0] };

static void every_call_of_hearth(void) {
  for (int what = 0; what < kDistributions; ++what)
    for (int form = 0; form < kForms; ++form)
      for (int s = 0; s < kSizes; ++s) {
        char* block = by_hearth(form, hearths[what], sizes[s]);
        check((enum distribution)what, block, sizes[s]);
        omp_malloc_free(block);
      }
}

static void every_call_of_openmp(void) {
  const omp_memspace_handle_t spaces[] = {omp_default_mem_space, omp_large_cap_mem_space, omp_const_mem_space,
                                          omp_high_bw_mem_space, omp_low_lat_mem_space};
  for (int what = 0; what < kDistributions; ++what) {
    if (!has_partition(what)) continue;
    for (int form = 0; form < kOpenMpForms; ++form)
      for (int i = 0; i < kSizes; ++i) {
        // Each form in each space, and with each size.
        omp_allocator_handle_t allocator = allocator_of((enum distribution)what, spaces[(form + i) % 5]);
        char* block = by_openmp(form, allocator, sizes[i]);
        check((enum distribution)what, block, sizes[i]);
        omp_free(block, allocator);
        omp_destroy_allocator(allocator);
      }
    check_clause((enum distribution)what);
  }
}

static void what_the_environment_says(void) {
  static const char* const names[kDistributions] = {"fine", "", "blocked", "nearest", "coarse", "standard"};
  const char* const named = getenv("OMP_DATA_DISTRIBUTION");
  int what = kStandard;
  for (int i = 0; i < kDistributions; ++i)
    if (named != NULL && strcmp(named, names[i]) == 0) what = i;
  last_coarse = -1;
  for (int form = 0; form < kForms; ++form)
    for (int s = 0; s < kSizes; ++s) {
      char* block = by_environment(form, sizes[s]);
      check((enum distribution)what, block, sizes[s]);
      omp_malloc_free(block);
    }
  // OMP_ALLOCATOR, which our cases give the same word.
  for (int s = 0; s < kSizes; ++s) {
    char* block = (char*)omp_alloc(sizes[s], omp_null_allocator);
    check(getenv("OMP_ALLOCATOR") != NULL ? (enum distribution)what : kStandard, block, sizes[s]);
    omp_free(block, omp_null_allocator);
  }
}

/// Nothing, and more than there is: a null pointer, and what there was stays as it was.
static void sizes_that_nobody_has(void) {
  static const volatile size_t huge[] = {SIZE_MAX,        SIZE_MAX - kPage, SIZE_MAX / 2 + 1,
                                         (size_t)1 << 60, (size_t)1 << 45,  (size_t)1 << 40};
  for (int what = 0; what < kDistributions; ++what) {
    const omp_malloc_distribution_t named = hearths[what];
    char* block = (char*)omp_malloc_specific(kSmall, named);
    memset(block, 6, kSmall);
    CHECK(omp_malloc_specific(0, named) == NULL && omp_malloc_calloc_specific(0, 8, named) == NULL);
    CHECK(omp_malloc_aligned_specific(0, kSmall, named) == NULL &&
          omp_malloc_aligned_specific(48, kSmall, named) == NULL);
    for (int i = 0; i < 6; ++i) {
      CHECK(omp_malloc_specific(huge[i], named) == NULL);
      CHECK(omp_malloc_aligned_specific(kAlignment, huge[i], named) == NULL);
      CHECK(omp_malloc_calloc_specific(huge[i], 1, named) == NULL &&
            omp_malloc_calloc_specific(3, huge[i], named) == NULL);
      CHECK(omp_malloc_realloc(block, huge[i]) == NULL);
    }
    check_bytes(block, kSmall, 6, 1);
    CHECK(omp_malloc_realloc(block, 0) == NULL);  // and it is freed

    if (!has_partition(what)) continue;
    omp_allocator_handle_t allocator = allocator_of((enum distribution)what, omp_default_mem_space);
    block = (char*)omp_alloc(kSmall, allocator);
    memset(block, 6, kSmall);
    CHECK(omp_alloc(0, allocator) == NULL && omp_calloc(8, 0, allocator) == NULL);
    for (int i = 0; i < 6; ++i) {
      CHECK(omp_alloc(huge[i], allocator) == NULL &&
            omp_aligned_alloc(kAlignment, huge[i], allocator) == NULL);
      CHECK(omp_calloc(huge[i], 1, allocator) == NULL && omp_calloc(3, huge[i], allocator) == NULL);
      CHECK(omp_aligned_calloc(kAlignment, huge[i], 5, allocator) == NULL);
      CHECK(omp_realloc(block, huge[i], allocator, allocator) == NULL);
    }
    check_bytes(block, kSmall, 6, 1);
    CHECK(omp_realloc(block, 0, allocator, allocator) == NULL);
    omp_destroy_allocator(allocator);
  }
  size_t in_a_row = 1;
  for (int i = 0; i < 6; ++i) {
    CHECK(hearth_malloc_distributed(huge[i], huge[i], block_cyclic, &in_a_row) == NULL);
    CHECK(hearth_malloc_weighted(huge[i], NULL, 0) == NULL);
  }
  CHECK(hearth_malloc_distributed(0, kPage, block_cyclic, &in_a_row) == NULL &&
        hearth_malloc_weighted(0, NULL, 0) == NULL);
  CHECK(hearth_malloc_distributed(kSmall, 0, block_cyclic, &in_a_row) == NULL);
}

/// Each distribution, and each call, at 1 GiB, where a policy per page would be more than the kernel keeps.
static void large_ones(void) {
  const size_t size = 1ul << 30;
  const int before = mappings();
  for (int what = 0; what < kStandard; ++what) {
    char* block = by_hearth(what % kForms, hearths[what], size);
    check((enum distribution)what, block, size);
    CHECK(mappings() - before < 64);
    omp_malloc_free(block);
  }
  for (int form = 0, what = 0; form < kOpenMpForms; ++form, ++what) {
    while (!has_partition(what % kStandard)) ++what;
    omp_allocator_handle_t allocator =
        allocator_of((enum distribution)(what % kStandard), omp_default_mem_space);
    char* block = by_openmp(form, allocator, size);
    check((enum distribution)(what % kStandard), block, size);
    omp_free(block, allocator);
    omp_destroy_allocator(allocator);
  }
  // Few pieces, each with a policy, and many, which are populated.
  for (size_t part = 64 << 10; part <= 4 << 20; part <<= 6) {
    size_t in_a_row = 3;
    char* block = (char*)hearth_malloc_distributed(size, part, block_cyclic, &in_a_row);
    int* where = look(block, size);
    for (size_t p = 0; p < pages_of(size); ++p)
      CHECK(where[p] == (int)(p * kPage / part / in_a_row % (size_t)count));
    free(where);
    omp_malloc_free(block);
  }
  const unsigned weights[2] = {3, 1};
  char* block = (char*)hearth_malloc_weighted(size, weights, 2);
  int* where = look(block, size);
  size_t first = 0;
  for (size_t p = 0; p < pages_of(size); ++p) first += where[p] == 0;
  CHECK(first == pages_of(size) / 4 * 3);
  free(where);
  omp_malloc_free(block);
}

int main(int argc, char** argv) {
  list_nodes();
  // A thread on a node with memory.
  cpu_set_t allowed;
  CHECK(sched_getaffinity(0, sizeof allowed, &allowed) == 0);
  unsigned cpu = 0, node = 0;
  for (int i = CPU_SETSIZE - 1; i >= 0; --i) {
    if (!CPU_ISSET(i, &allowed)) continue;
    run_on(i);
    CHECK(getcpu(&cpu, &node) == 0);
    if (allowed_nodes() >> node & 1) break;
  }
  here = index_of_node((int)node);
  if (argc > 1 && strcmp(argv[1], "large") == 0) {
    large_ones();
  } else if (getenv("OMP_DATA_DISTRIBUTION") != NULL) {
    what_the_environment_says();
  } else {
    every_call_of_hearth();
    every_call_of_openmp();
    what_the_environment_says();
    sizes_that_nobody_has();
  }
  printf("allocators: %d nodes, all as expected\n", count);
  return 0;
}
