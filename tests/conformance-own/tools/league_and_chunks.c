// flags: -rdynamic
// A tool in the program: what it hears of leagues, of chunks and of sections. gcc has no omp-tools.h, so the
// few declarations that are needed stand here (OpenMP 5.2, chapter 19).
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef union {
  uint64_t value;
  void* ptr;
} data_t;
typedef struct {
  uint64_t start, iterations;
} chunk_t;
typedef void (*function_t)(void);
typedef function_t (*lookup_t)(const char* name);
typedef struct {
  int (*initialize)(lookup_t lookup, int device, data_t* tool);
  void (*finalize)(data_t* tool);
  data_t tool;
} start_t;

enum { kParallelBegin = 3, kParallelEnd = 4, kImplicitTask = 7, kDispatch = 32 };  // ompt_callbacks_t
enum { kBegin = 1, kEnd = 2 };                                                     // ompt_scope_endpoint_t
enum { kInitialTask = 1 };                                                         // ompt_task_flag_t
enum { kLeague = 0x40000000 };                                                     // ompt_parallel_flag_t
enum { kSection = 2, kLoopChunk = 3, kDistributeChunk = 5 };                       // ompt_dispatch_t

enum { kTeams = 3, kIterations = 100, kMark = 77 };

static int started, leagues, leagues_ended, regions, implicit_tasks, begun, ended, sections, loop_chunks,
    wrong;
static int index_seen[kTeams];
static uint64_t loop_iterations, distribute_iterations;

#define ADD(word, n) __atomic_add_fetch(&(word), n, __ATOMIC_RELAXED)
#define EXPECT(condition)                                          \
  do {                                                             \
    if (!(condition)) {                                            \
      printf("line %d: %s does not hold\n", __LINE__, #condition); \
      ADD(wrong, 1);                                               \
    }                                                              \
  } while (0)

static void on_parallel_begin(data_t* task, const void* frame, data_t* parallel, unsigned requested,
                              int flags, const void* codeptr) {
  (void)task, (void)frame;
  EXPECT(parallel->value == 0);
  parallel->value = kMark;
  if ((flags & kLeague) == 0) {
    ADD(regions, 1);
    return;
  }
  EXPECT(requested == kTeams);
  EXPECT(codeptr != NULL);
  ADD(leagues, 1);
}

static void on_parallel_end(data_t* parallel, data_t* task, int flags, const void* codeptr) {
  (void)task, (void)codeptr;
  EXPECT(parallel->value == kMark);
  if ((flags & kLeague) == 0) return;
  EXPECT(ended == kTeams);
  ADD(leagues_ended, 1);
}

static void on_implicit_task(int endpoint, data_t* parallel, data_t* task, unsigned threads, unsigned index,
                             int flags) {
  if ((flags & kInitialTask) == 0) {
    if (endpoint == kBegin) ADD(implicit_tasks, 1);
    return;
  }
  if (leagues == leagues_ended) return;  // the program's own initial task
  if (endpoint == kBegin) {
    EXPECT(task->value == 0);
    task->value = 1000 + index;
    EXPECT(threads == kTeams && index < kTeams);
    EXPECT(parallel->value == kMark);
    if (index < kTeams) ADD(index_seen[index], 1);
    ADD(begun, 1);
  } else {
    EXPECT(task->value == 1000 + index);
    ADD(ended, 1);
  }
}

static void on_dispatch(data_t* parallel, data_t* task, int kind, data_t instance) {
  (void)task;
  EXPECT(parallel->value == kMark);
  const chunk_t* chunk = instance.ptr;
  EXPECT(chunk != NULL);
  switch (kind) {
    case kSection: ADD(sections, 1); break;
    case kLoopChunk:
      EXPECT(chunk->iterations > 0 && chunk->start + chunk->iterations <= kIterations);
      ADD(loop_chunks, 1);
      ADD(loop_iterations, chunk->iterations);
      break;
    case kDistributeChunk: ADD(distribute_iterations, chunk->iterations); break;
    default: break;
  }
}

static int initialize(lookup_t lookup, int device, data_t* tool) {
  (void)device, (void)tool;
  int (*set)(int, function_t) = (int (*)(int, function_t))lookup("ompt_set_callback");
  set(kParallelBegin, (function_t)on_parallel_begin);
  set(kParallelEnd, (function_t)on_parallel_end);
  set(kImplicitTask, (function_t)on_implicit_task);
  set(kDispatch, (function_t)on_dispatch);
  started = 1;
  return 1;
}
static void finalize(data_t* tool) { (void)tool; }

__attribute__((visibility("default"))) start_t* ompt_start_tool(unsigned version, const char* runtime) {
  static start_t start = {initialize, finalize, {0}};
  (void)version, (void)runtime;
  return &start;
}

static _Thread_local volatile int sink;

static void league(void) {
  int ran = 0;
#pragma omp teams num_teams(kTeams) thread_limit(2) reduction(+ : ran)
  {
    ran = omp_get_num_teams();
#ifdef __clang__  // gcc's binaries compute their part of distribute themselves
#pragma omp distribute
    for (int i = 0; i < kIterations; ++i) sink = i;
#endif
  }
  EXPECT(ran == kTeams * kTeams);
  EXPECT(leagues == 1 && leagues_ended == 1);
  EXPECT(begun == kTeams && ended == kTeams);
  for (int i = 0; i < kTeams; ++i) EXPECT(index_seen[i] == 1);
  EXPECT(regions == 0 && implicit_tasks == 0);
#ifdef __clang__
  EXPECT(distribute_iterations == kIterations);
#endif
}

static void chunks(void) {
#pragma omp parallel
  {
#pragma omp for schedule(dynamic, 3)
    for (int i = 0; i < kIterations; ++i) sink = i;
#pragma omp for schedule(guided)
    for (int i = 0; i < kIterations; ++i) sink = i;
#pragma omp sections
    {
#pragma omp section
      sink = 1;
#pragma omp section
      sink = 2;
#pragma omp section
      sink = 3;
    }
  }
  EXPECT(regions == 1 && implicit_tasks == omp_get_max_threads());
  EXPECT(loop_iterations == 2 * kIterations);
  EXPECT(loop_chunks >= (kIterations + 2) / 3 + 1);
  EXPECT(sections == 3);
#ifdef __clang__
  loop_iterations = 0;
#pragma omp parallel for schedule(static)
  for (int i = 0; i < kIterations; ++i) sink = i;
  EXPECT(loop_iterations == kIterations);
#endif
}

int main(void) {
  omp_set_dynamic(0);
  EXPECT(started);
  league();
  chunks();
  return wrong != 0;
}
