// Who wins: docs/reference/precedence.md, row by row, on this very kernel. What the process was given (a cgroup,
// taskset, numactl) and what it was told (variables) stand in the cases; each argument names an outcome that
// has to be found, and is documented below at the function that looks. Node i has CPU i on this machine.
//
// numa-test name=cpuset-and-taskset link=hearth topologies=8x1 cpus=2-5 nodes=0-7 "before=taskset -c 4-7" "args=cpus=4-5"
// numa-test name=taskset-and-places link=hearth topologies=8x1 "before=taskset -c 2-3" "args=bound=2-3" OMP_PROC_BIND=true OMP_PLACES={1},{2},{3},{4}
// numa-test name=numactl-and-places link=hearth topologies=8x1 "before=numactl --cpunodebind=2,3" "args=bound=2-3" OMP_PROC_BIND=true OMP_PLACES={1},{2},{3},{4}
// numa-test name=taskset-and-number link=hearth topologies=8x1 "before=taskset -c 2-3" "args=threads=4 cpus=2-3" OMP_NUM_THREADS=4
// numa-test name=places-and-gomp link=hearth topologies=8x1 "args=bound=2-3" OMP_NUM_THREADS=2 OMP_PROC_BIND=true OMP_PLACES={2},{3} GOMP_CPU_AFFINITY=6-7
// numa-test name=kmp-and-places link=hearth topologies=8x1 "args=bound=4-5" OMP_NUM_THREADS=2 OMP_PROC_BIND=true OMP_PLACES={2},{3} KMP_AFFINITY=explicit,proclist=[4,5]
// numa-test name=gomp link=hearth topologies=8x1 "args=bound=6-7" OMP_NUM_THREADS=2 GOMP_CPU_AFFINITY=6-7
// numa-test name=taskset-and-kmp link=hearth topologies=8x1 "before=taskset -c 4-5" "args=bound=4-5" KMP_AFFINITY=explicit,proclist=[0,4,5,6]
// numa-test name=quota link=hearth topologies=8x1 "time=300000 100000" "args=threads=3 cpus=0-7"
// numa-test name=quota-and-number link=hearth topologies=8x1 "time=300000 100000" "args=threads=5 cpus=0-7" OMP_NUM_THREADS=5
// numa-test name=cpuset-memory link=hearth topologies=8x1 cpus=2-5 nodes=1-2 "args=fine=1-2 coarse=1-2 blocked=1-2"
// numa-test name=cpuset-and-membind link=hearth topologies=8x1 cpus=2-5 nodes=1-3 "before=numactl --membind=2,3" "args=fine=2-3 coarse=2-3 blocked=2-3"
// numa-test name=slurm link=hearth topologies=8x1 cpus=2-5 nodes=2-5 "before=taskset -c 2-3 numactl --membind=2,3" "args=cpus=2-3 fine=2-3 coarse=2-3 touched=2"
// numa-test name=membind link=hearth topologies=8x1 "before=numactl --membind=1,3" "args=cpus=0-7 fine=1,3 coarse=1,3 blocked=1,3 malloc=1,3" HEARTH_DISTRIBUTE=fine LD_PRELOAD=libhearth-malloc.so
// numa-test name=interleave link=hearth topologies=8x1 "before=numactl --interleave=2,3" "args=touched=2-3 fine=0-7 coarse=0-7 blocked=0-7 nearest=4"
// numa-test name=preferred link=hearth topologies=8x1 "before=numactl --preferred=5" "args=touched=5 fine=0-7 coarse=0-7 nearest=4"
// numa-test name=preferred-and-distribute link=hearth topologies=8x1 "before=numactl --preferred=5" "args=touched=0-7 malloc=0-7" HEARTH_DISTRIBUTE=fine LD_PRELOAD=libhearth-malloc.so
// numa-test name=call-and-distribute link=hearth topologies=8x1 "args=nearest=4 malloc=0-7" HEARTH_DISTRIBUTE=fine LD_PRELOAD=libhearth-malloc.so
// numa-test name=call-and-variable link=hearth topologies=8x1 "args=fine=0-7 nearest=4" OMP_DATA_DISTRIBUTION=coarse
// numa-test name=call-and-mbind link=hearth topologies=8x1 "args=own=6" HEARTH_DISTRIBUTE=fine LD_PRELOAD=libhearth-malloc.so
// numa-test name=balancing link=hearth topologies=8x1 balancing=on args=balancing=yes
// numa-test name=huge-pages link=hearth topologies=8x1 huge-pages=always "args=huge=yes fine=0-7"
#include <hearth/hearth.h>
#include <omp.h>

#include "pages.h"

enum { kMostThreads = 64, kBlock = 64 * kPage, kHuge = 2 << 20 };

typedef unsigned long Set;

/// "1-3,5" as a set of numbers.
static Set set_of(const char* text) {
  Set set = 0;
  while (*text != '\0') {
    char* end = NULL;
    unsigned long first = strtoul(text, &end, 10), last = first;
    if (*end == '-') last = strtoul(end + 1, &end, 10);
    CHECK(end != text && last < 64 && (*end == ',' || *end == '\0'));
    for (; first <= last; ++first) set |= 1ul << first;
    text = *end == ',' ? end + 1 : end;
  }
  return set;
}

static void expect(const char* what, Set found, Set wanted) {
  if (found == wanted) return;
  fprintf(stderr, "precedence: %s: %#lx, expected %#lx\n", what, found, wanted);
  _exit(1);
}

static Set own_mask(void) {
  Set set = 0;
  CHECK(syscall(SYS_sched_getaffinity, 0, sizeof set, &set) > 0);
  return set;
}

static void set_own_mask(Set set) { CHECK(syscall(SYS_sched_setaffinity, 0, sizeof set, &set) == 0); }

/// Where the pages of a block are, once this thread has touched those that were not.
static Set nodes_of(char* block, size_t size) {
  Set nodes = 0;
  CHECK(block != NULL);
  for (size_t at = 0; at < size; at += kPage) {
    *(volatile char*)(block + at) += 1;
    nodes |= 1ul << node_of(block + at);
  }
  return nodes;
}

/// threads=, cpus=, bound=: how many threads a team has unless told, which CPUs the masks of its threads hold
/// together, and that besides each mask is one CPU, and none another's.
static void look_at_threads(const char* what, Set wanted) {
  static Set masks[kMostThreads];
  int threads = 0;
#pragma omp parallel
  {
    masks[omp_get_thread_num()] = own_mask();
#pragma omp single
    threads = omp_get_num_threads();
  }
  Set all = 0;
  for (int i = 0; i < threads; ++i) {
    if (strcmp(what, "bound") == 0) CHECK(__builtin_popcountl(masks[i]) == 1 && (all & masks[i]) == 0);
    all |= masks[i];
  }
  expect(what, strcmp(what, "threads") == 0 ? (Set)threads : all, wanted);
}

/// fine=, coarse=, blocked=: the nodes of a block by that distribution, or of many; a coarse one is whole.
static void look_at_distribution(const char* what, omp_malloc_distribution_t distribution, Set wanted) {
  Set all = 0;
  for (int i = 0; i < 16; ++i) {
    char* block = omp_malloc_specific(kBlock, distribution);
    Set nodes = nodes_of(block, kBlock);
    if (distribution == OMP_MALLOC_COARSE) CHECK(__builtin_popcountl(nodes) == 1);
    if (distribution != OMP_MALLOC_COARSE) expect(what, nodes, wanted);
    all |= nodes;
  }
  expect(what, all, wanted);
}

/// nearest=N: a block that the thread on CPU N asks for near itself.
static void look_at_nearest(Set wanted) {
  Set before = own_mask();
  set_own_mask(wanted);
  char* block = omp_malloc_specific(kBlock, OMP_MALLOC_NEAREST);
  set_own_mask(before);
  expect("nearest", nodes_of(block, kBlock), wanted);
}

/// touched=: memory that the program maps itself and does not place.
static void look_at_first_touch(Set wanted) {
  Set before = own_mask();
  set_own_mask(before & -before);
  expect("touched", nodes_of(map_pages(kBlock), kBlock), wanted);
  set_own_mask(before);
}

/// malloc=: a large block of malloc.
static void look_at_malloc(Set wanted) {
  char* block = malloc(2 * kHuge);
  expect("malloc", nodes_of(block, 2 * kHuge), wanted);
}

/// own=: a large block of malloc that was distributed, after the program has placed it itself.
static void look_at_own_policy(Set wanted) {
  char* block = aligned_alloc(kPage, kHuge);
  CHECK(block != NULL && mbind_pages(block, kHuge, kBind, wanted, 0) == 0);
  expect("own", nodes_of(block, kHuge), wanted);
}

/// balancing=yes: memory that nobody has placed, and is used from another node, moves there; what was
/// distributed stays.
static void look_at_balancing(void) {
  Set before = own_mask();
  set_own_mask(1);
  char* loose = map_pages(kBlock);
  char* fine = omp_malloc_specific(kBlock, OMP_MALLOC_FINE);
  char* coarse = omp_malloc_specific(kBlock, OMP_MALLOC_COARSE);
  expect("memory that nobody has placed", nodes_of(loose, kBlock), 1);
  Set fine_nodes = nodes_of(fine, kBlock), coarse_nodes = nodes_of(coarse, kBlock);
  set_own_mask(1ul << (coarse_nodes == 1ul << 7 ? 6 : 7));
  do {
    for (int i = 0; i < 100000; ++i) {
      for (size_t at = 0; at < kBlock; at += kPage) {
        *(volatile char*)(loose + at) += 1;
        *(volatile char*)(fine + at) += 1;
        *(volatile char*)(coarse + at) += 1;
      }
    }
  } while (nodes_of(loose, kBlock) & 1);
  set_own_mask(before);
  expect("fine, under balancing", nodes_of(fine, kBlock), fine_nodes);
  expect("coarse, under balancing", nodes_of(coarse, kBlock), coarse_nodes);
}

/// huge=yes: where huge pages are on, the first to touch a page places 2 MiB.
static void look_at_huge_pages(void) {
  Set before = own_mask();
  char* start = mmap(NULL, 2 * kHuge, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(start != MAP_FAILED);
  char* huge = (char*)(((Set)start + kHuge - 1) & ~(Set)(kHuge - 1));
  set_own_mask(1);
  huge[0] = 1;
  set_own_mask(2);
  expect("the huge page", nodes_of(huge, kHuge), 1);
  set_own_mask(before);
}

int main(int argc, char** argv) {
  CHECK(argc > 1);
  for (int i = 1; i < argc; ++i) {
    char* value = strchr(argv[i], '=');
    CHECK(value != NULL);
    *value++ = '\0';
    const char* what = argv[i];
    if (strcmp(what, "threads") == 0) {
      look_at_threads(what, strtoul(value, NULL, 10));
    } else if (strcmp(what, "cpus") == 0 || strcmp(what, "bound") == 0) {
      look_at_threads(what, set_of(value));
    } else if (strcmp(what, "fine") == 0) {
      look_at_distribution(what, OMP_MALLOC_FINE, set_of(value));
    } else if (strcmp(what, "coarse") == 0) {
      look_at_distribution(what, OMP_MALLOC_COARSE, set_of(value));
    } else if (strcmp(what, "blocked") == 0) {
      look_at_distribution(what, OMP_MALLOC_BLOCKED, set_of(value));
    } else if (strcmp(what, "nearest") == 0) {
      look_at_nearest(set_of(value));
    } else if (strcmp(what, "touched") == 0) {
      look_at_first_touch(set_of(value));
    } else if (strcmp(what, "malloc") == 0) {
      look_at_malloc(set_of(value));
    } else if (strcmp(what, "own") == 0) {
      look_at_own_policy(set_of(value));
    } else if (strcmp(what, "balancing") == 0) {
      look_at_balancing();
    } else {
      CHECK(strcmp(what, "huge") == 0);
      look_at_huge_pages();
    }
  }
  return 0;
}
