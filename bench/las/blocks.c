// Tasks that rewrite blocks which threads have touched first: the plainest program whose tasks have a home.
//
// A parallel loop touches the blocks, so that each lies on the node of the thread that touched it. Then one
// thread creates a task per block, round after round, and each task rewrites its block. The clause that names
// the block is `affinity` or `depend`; `none` names nothing; `loop` replaces the tasks by the very loop that
// touched the blocks, which is as local as it gets. `dynamic`, `guided` and `taskloop` replace them by such
// loops, over the blocks in the order in which they were touched; with touch=alike such a loop has touched
// them, too. All of it is repeated with fresh memory, and the result is checked every time.
//
// With best=yes there stands beside each region how much of the blocks the best assignment of its tasks to
// nodes would find at home, if no node got more than its equal part of them: where huge pages have put many
// blocks on one node, that is less than all.
//
// Plain OpenMP for any compiler. gcc accepts `affinity` and drops it. The two NOPs of region.h mark what
// tests/numa counts. On a real machine, where nothing counts misses for us, `count=pages` makes each task
// note the node it ran on; after the region the kernel is asked where the pages are, and a line for each pair
// of nodes says how many pages tasks on the one rewrote on the other.
#include <dlfcn.h>
#include <inttypes.h>
#include <omp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "optimal.h"
#include "places.h"
#include "region.h"

enum {
  kBlockBytes = 128 * 1024,
  kWords = kBlockBytes / sizeof(uint64_t),
  kMaxBlocks = 4096,
  kMaxThreads = 1024
};
enum { kCacheLinePair = 128 };

typedef uint64_t* Block;

static Block blocks[kMaxBlocks];
static int touch_order[kMaxBlocks];
static int task_order[kMaxBlocks];
static struct {
  long tasks;
  char apart[kCacheLinePair - sizeof(long)];
} done_by[kMaxThreads];

/// Of count=pages: how often a task on this node rewrote the block. A block has one task at a time.
static int rewritten_on[kMaxBlocks][kPlacesMostNodes];

static const char* clause = "depend";
static const char* order = "in-order";
static const char* memory = "mmap";
static const char* touch = "static";
static int block_count = 256;
static int rounds = 4;
static int repeats = 5;
static bool count_pages = false;
static bool tell_best = false;

static void fail(const char* what) {
  fprintf(stderr, "blocks: %s\n", what);
  exit(1);
}

static void usage(void) {
  fail(
      "usage: blocks [clause=affinity|depend|none|loop|dynamic|guided|taskloop] [order=in-order|shuffled] "
      "[memory=separate|malloc|mmap] [touch=static|alike] "
      "[blocks=256] [rounds=4] [repeats=5] [count=pages] [best=yes]");
}

static int number(const char* text, int least, int most) {
  char* end = NULL;
  long value = strtol(text, &end, 10);
  if (end == text || *end != '\0' || value < least || value > most) usage();
  return (int)value;
}

static void read_arguments(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    char* value = strchr(argv[i], '=');
    if (value == NULL) usage();
    *value++ = '\0';
    if (strcmp(argv[i], "clause") == 0)
      clause = value;
    else if (strcmp(argv[i], "order") == 0)
      order = value;
    else if (strcmp(argv[i], "memory") == 0)
      memory = value;
    else if (strcmp(argv[i], "touch") == 0 && (strcmp(value, "static") == 0 || strcmp(value, "alike") == 0))
      touch = value;
    else if (strcmp(argv[i], "blocks") == 0)
      block_count = number(value, 1, kMaxBlocks);
    else if (strcmp(argv[i], "rounds") == 0)
      rounds = number(value, 1, 1000);
    else if (strcmp(argv[i], "repeats") == 0)
      repeats = number(value, 1, 1000);
    else if (strcmp(argv[i], "count") == 0 && strcmp(value, "pages") == 0)
      count_pages = true;
    else if (strcmp(argv[i], "best") == 0 && strcmp(value, "yes") == 0)
      tell_best = true;
    else
      usage();
  }
}

static void* checked(void* start) {
  if (start == NULL || start == MAP_FAILED) fail("no memory");
  return start;
}

static void get_memory(void) {
  size_t all = (size_t)block_count * kBlockBytes;
  if (strcmp(memory, "separate") == 0) {
    for (int b = 0; b < block_count; ++b) blocks[b] = checked(malloc(kBlockBytes));
    return;
  }
  char* start = NULL;
  if (strcmp(memory, "malloc") == 0)
    start = checked(malloc(all));
  else if (strcmp(memory, "mmap") == 0)
    start = checked(mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  else
    usage();
  for (int b = 0; b < block_count; ++b) blocks[b] = (Block)(void*)(start + (size_t)b * kBlockBytes);
}

static void give_memory_back(void) {
  if (strcmp(memory, "separate") == 0) {
    for (int b = 0; b < block_count; ++b) free(blocks[b]);
  } else if (strcmp(memory, "malloc") == 0) {
    free(blocks[0]);
  } else {
    munmap(blocks[0], (size_t)block_count * kBlockBytes);
  }
}

static void shuffle(int* sequence, uint64_t seed) {
  for (int i = block_count - 1; i > 0; --i) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    int j = (int)((seed >> 33) % (uint64_t)(i + 1));
    int kept = sequence[i];
    sequence[i] = sequence[j];
    sequence[j] = kept;
  }
}

/// Shuffled: neither the blocks of one node nor the tasks of one node stand together.
static void set_orders(int repeat) {
  for (int b = 0; b < block_count; ++b) touch_order[b] = task_order[b] = b;
  if (strcmp(order, "shuffled") == 0) {
    shuffle(touch_order, 2 * (uint64_t)repeat + 1);
    shuffle(task_order, 2 * (uint64_t)repeat + 2);
  } else if (strcmp(order, "in-order") != 0) {
    usage();
  }
}

static void touch_nth(int i) {
  Block block = blocks[touch_order[i]];
  for (int word = 0; word < kWords; ++word) block[word] = (uint64_t)(touch_order[i] + word);
}

static void static_loop(void (*body)(int)) {
#pragma omp parallel for schedule(static)
  for (int i = 0; i < block_count; ++i) body(i);
}

static void dynamic_loop(void (*body)(int)) {
#pragma omp parallel for schedule(dynamic)
  for (int i = 0; i < block_count; ++i) body(i);
}

static void guided_loop(void (*body)(int)) {
#pragma omp parallel for schedule(guided)
  for (int i = 0; i < block_count; ++i) body(i);
}

static void taskloop_loop(void (*body)(int)) {
#pragma omp parallel
#pragma omp single
#pragma omp taskloop grainsize(1)
  for (int i = 0; i < block_count; ++i) body(i);
}

static void note_node(int number) {
  int node = place_of_thread();
  if (node >= kPlacesMostNodes) fail("a node with a number that is too large");
  rewritten_on[number][node] += 1;
}

static void rewrite(Block block, int number) {
  done_by[omp_get_thread_num()].tasks += 1;
  if (count_pages) note_node(number);
  for (int word = 0; word < kWords; ++word) block[word] += (uint64_t)number;
}

static void rewrite_nth(int i) { rewrite(blocks[touch_order[i]], touch_order[i]); }

static void affinity_round(void) {
  for (int i = 0; i < block_count; ++i) {
    int b = task_order[i];
    Block block = blocks[b];
#pragma omp task firstprivate(block, b) affinity(block[0 : kWords])
    rewrite(block, b);
  }
#pragma omp taskwait
}

static void depend_round(void) {
  for (int i = 0; i < block_count; ++i) {
    int b = task_order[i];
    Block block = blocks[b];
#pragma omp task firstprivate(block, b) depend(inout : block[0 : kWords])
    rewrite(block, b);
  }
#pragma omp taskwait
}

static void plain_round(void) {
  for (int i = 0; i < block_count; ++i) {
    int b = task_order[i];
    Block block = blocks[b];
#pragma omp task firstprivate(block, b)
    rewrite(block, b);
  }
#pragma omp taskwait
}

static void task_rounds(void (*round)(void)) {
#pragma omp parallel
#pragma omp single
  for (int r = 0; r < rounds; ++r) round();
}

static void check(void) {
  for (int b = 0; b < block_count; ++b) {
    for (int word = 0; word < kWords; ++word) {
      if (blocks[b][word] != (uint64_t)(b + word) + (uint64_t)rounds * (uint64_t)b) fail("wrong result");
    }
  }
}

/// Heaviest thread's tasks by the mean.
static double balance(void) {
  long most = 0, all = 0;
  int threads = omp_get_max_threads();
  for (int i = 0; i < threads; ++i) {
    all += done_by[i].tasks;
    if (done_by[i].tasks > most) most = done_by[i].tasks;
  }
  if (all != (long)block_count * rounds) fail("a task did not run, or ran twice");
  return (double)most * threads / (double)all;
}

/// What part of the blocks' bytes is at home in the best assignment of a round's tasks under equal balance.
static double best_share(void) {
  static double remote[kMaxBlocks * kPlacesMostNodes];
  static int node_of[kMaxBlocks];
  const int nodes = places_nodes();
  int here[kPlacesMostNodes] = {0}, most[kPlacesMostNodes];
  int threads = 0;
#pragma omp parallel
  {
#pragma omp atomic
    here[place_of_thread()] += 1;
#pragma omp atomic
    threads += 1;
  }
  for (int node = 0; node < nodes; ++node) most[node] = optimal_equal_part(block_count, here[node], threads);
  for (int b = 0; b < block_count; ++b) {
    double homes[kPlacesMostNodes] = {0}, all = 0;
    places_of_range(blocks[b], kBlockBytes, 1, homes);
    for (int node = 0; node < nodes; ++node) all += homes[node];
    if (all == 0) fail("the kernel does not tell where pages are: move_pages() is refused");
    for (int node = 0; node < nodes; ++node) remote[b * nodes + node] = all - homes[node];
  }
  if (!optimal_assignment(block_count, nodes, remote, most, node_of)) fail("there is no best assignment");
  double away = 0;
  for (int b = 0; b < block_count; ++b) away += remote[b * nodes + node_of[b]];
  return 1 - away / block_count;
}

/// "pages NODE HOME COUNT" for each pair: COUNT pages of HOME were rewritten by tasks on NODE.
static void print_pages(void) {
  static double pages[kPlacesMostNodes][kPlacesMostNodes];
  memset(pages, 0, sizeof pages);
  double all = 0;
  for (int b = 0; b < block_count; ++b) {
    double homes[kPlacesMostNodes] = {0};
    places_of_range(blocks[b], kBlockBytes, kBlockBytes / 4096.0, homes);
    for (int home = 0; home < kPlacesMostNodes; ++home) {
      for (int node = 0; node < kPlacesMostNodes; ++node)
        pages[node][home] += homes[home] * rewritten_on[b][node];
      all += homes[home];
    }
  }
  if (all == 0) fail("the kernel does not tell where pages are: move_pages() is refused");
  for (int node = 0; node < kPlacesMostNodes; ++node) {
    for (int home = 0; home < kPlacesMostNodes; ++home) {
      if (pages[node][home] > 0) printf("pages %d %d %.0f\n", node, home, pages[node][home]);
    }
  }
}

int main(int argc, char** argv) {
  read_arguments(argc, argv);
  if (omp_get_max_threads() > kMaxThreads) fail("too many threads");
  void (*round)(void) = NULL;
  void (*loop)(void (*)(int)) = static_loop;
  if (strcmp(clause, "affinity") == 0)
    round = affinity_round;
  else if (strcmp(clause, "depend") == 0)
    round = depend_round;
  else if (strcmp(clause, "none") == 0)
    round = plain_round;
  else if (strcmp(clause, "dynamic") == 0)
    loop = dynamic_loop;
  else if (strcmp(clause, "guided") == 0)
    loop = guided_loop;
  else if (strcmp(clause, "taskloop") == 0)
    loop = taskloop_loop;
  else if (strcmp(clause, "loop") != 0)
    usage();

  Dl_info library = {0};
  void* entry = dlsym(RTLD_DEFAULT, "omp_get_thread_num");
  if (entry == NULL || dladdr(entry, &library) == 0) fail("no OpenMP library answers");
  printf("runtime %s\n", library.dli_fname);

  for (int repeat = 0; repeat < repeats; ++repeat) {
    set_orders(repeat);
    get_memory();
    (strcmp(touch, "alike") == 0 ? loop : static_loop)(touch_nth);
    memset(done_by, 0, sizeof done_by);
    memset(rewritten_on, 0, sizeof rewritten_on);
    double start = omp_get_wtime();
    NUMA_REGION_BEGIN();
    if (round != NULL)
      task_rounds(round);
    else
      for (int r = 0; r < rounds; ++r) loop(rewrite_nth);
    NUMA_REGION_END();
    double seconds = omp_get_wtime() - start;
    printf("repeat %d balance %.3f seconds %.6f", repeat, balance(), seconds);
    if (tell_best) printf(" best %.4f", best_share());
    putchar('\n');
    check();
    if (count_pages) print_pages();
    give_memory_back();
  }
  return 0;
}
