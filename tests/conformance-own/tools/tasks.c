// A tool in the program: what it hears of tasks that are undeferred, final, cancelled, of a taskloop, or that
// stand for a wait, and of doacross loops. gcc has no omp-tools.h, so the few declarations that are needed
// stand here (OpenMP 5.2, chapter 19).
//
// flags: -rdynamic
//
// env: OMP_CANCELLATION=true
#include <omp.h>
#include <stdint.h>
#include <stdio.h>

typedef union {
  uint64_t value;
  void* ptr;
} data_t;
typedef struct {
  uint64_t start, iterations;
} chunk_t;
typedef struct {
  data_t variable;
  int type;
} dependence_t;
typedef struct {
  data_t exit, enter;
  int exit_flags, enter_flags;
} frame_t;
typedef void (*function_t)(void);
typedef function_t (*lookup_t)(const char* name);
typedef struct {
  int (*initialize)(lookup_t lookup, int device, data_t* tool);
  void (*finalize)(data_t* tool);
  data_t tool;
} start_t;

// ompt_callbacks_t
enum {
  kTaskCreate = 5,
  kTaskSchedule = 6,
  kDependences = 18,
  kTaskDependence = 19,
  kWork = 20,
  kDispatch = 32
};
enum { kBegin = 1, kEnd = 2 };  // ompt_scope_endpoint_t
// ompt_task_flag_t
enum {
  kExplicit = 4,
  kTaskwait = 0x10,
  kUndeferred = 0x08000000,
  kFinal = 0x20000000,
  kMergeable = 0x40000000
};
enum { kComplete = 1, kCancelled = 3, kTaskwaitComplete = 8 };  // ompt_task_status_t
enum { kIn = 1, kInout = 3, kSource = 5, kSink = 6 };           // ompt_dependence_type_t
enum { kTaskloop = 7 };                                         // ompt_work_t
enum { kTaskloopChunk = 4 };                                    // ompt_dispatch_t

enum { kIterations = 100, kRows = 6, kColumns = 4, kManyDependences = 100 };

static int (*task_info)(int level, int* flags, data_t** task, frame_t** frame, data_t** parallel,
                        int* thread);

static int started, created, taskwaits, taskwaits_ended, cancelled, dependence_pairs, loops_begun,
    loops_ended, longest_list, sources, sinks, wrong;
static uint64_t chunk_iterations;
static int iteration_seen[kIterations];
static int point_seen[kRows][kColumns];

#define ADD(word, n) __atomic_add_fetch(&(word), n, __ATOMIC_RELAXED)
#define EXPECT(condition)                                          \
  do {                                                             \
    if (!(condition)) {                                            \
      printf("line %d: %s does not hold\n", __LINE__, #condition); \
      ADD(wrong, 1);                                               \
    }                                                              \
  } while (0)

static void on_task_create(data_t* parent, const frame_t* frame, data_t* task, int flags, int has_dependences,
                           const void* codeptr) {
  (void)parent;
  EXPECT(frame->enter.ptr != NULL && codeptr != NULL && task->value == 0);
  if ((flags & kTaskwait) != 0) {
    EXPECT(has_dependences && flags == (kTaskwait | kUndeferred | kMergeable));
    ADD(taskwaits, 1);
  }
  task->value = (uint64_t)ADD(created, 1);
}

static void on_task_schedule(data_t* prior, int status, data_t* next) {
  if (status == kTaskwaitComplete) {
    EXPECT(prior->value != 0 && next == NULL);
    ADD(taskwaits_ended, 1);
  }
  if (status == kCancelled) ADD(cancelled, 1);
}

static void on_dependences(data_t* task, const dependence_t* list, int count) {
  if (count > longest_list) longest_list = count;
  if (list[0].type == kSource) {
    const uint64_t row = list[0].variable.value, column = list[1].variable.value;
    EXPECT(count == 2 && list[1].type == kSource && row < kRows && column < kColumns);
    if (row < kRows && column < kColumns) ADD(point_seen[row][column], 1);
    ADD(sources, 1);
  } else if (list[0].type == kSink) {
    EXPECT(count == 2 && list[1].type == kSink &&
           point_seen[list[0].variable.value][list[1].variable.value] == 1);
    ADD(sinks, 1);
  } else {
    EXPECT(task->value != 0);
  }
}

static void on_task_dependence(data_t* source, data_t* sink) {
  EXPECT(source->value != 0 && sink->value > source->value);
  ADD(dependence_pairs, 1);
}

static void on_work(int kind, int endpoint, data_t* parallel, data_t* task, uint64_t count,
                    const void* codeptr) {
  (void)parallel, (void)task;
  if (kind != kTaskloop) return;
  EXPECT(count == kIterations && codeptr != NULL);
  if (endpoint == kBegin)
    ADD(loops_begun, 1);
  else
    ADD(loops_ended, 1);
}

static void on_dispatch(data_t* parallel, data_t* task, int kind, data_t instance) {
  (void)parallel;
  if (kind != kTaskloopChunk) return;
  const chunk_t* chunk = instance.ptr;
  EXPECT(task->value != 0 && chunk->iterations > 0 && chunk->start + chunk->iterations <= kIterations);
  for (uint64_t i = 0; i < chunk->iterations; ++i) ADD(iteration_seen[chunk->start + i], 1);
  ADD(chunk_iterations, chunk->iterations);
}

static int initialize(lookup_t lookup, int device, data_t* tool) {
  (void)device, (void)tool;
  int (*set)(int, function_t) = (int (*)(int, function_t))lookup("ompt_set_callback");
  task_info = (int (*)(int, int*, data_t**, frame_t**, data_t**, int*))lookup("ompt_get_task_info");
  set(kTaskCreate, (function_t)on_task_create);
  set(kTaskSchedule, (function_t)on_task_schedule);
  set(kDependences, (function_t)on_dependences);
  set(kTaskDependence, (function_t)on_task_dependence);
  set(kWork, (function_t)on_work);
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
static volatile int false_here;

static int flags_at(int level) {
  int flags = 0;
  data_t *task, *parallel;
  frame_t* frame;
  int thread;
  EXPECT(task_info(level, &flags, &task, &frame, &parallel, &thread) == 2);
  return flags;
}

static frame_t frame_at(int level) {
  int flags, thread;
  data_t *task, *parallel;
  frame_t* frame = NULL;
  EXPECT(task_info(level, &flags, &task, &frame, &parallel, &thread) == 2 && frame != NULL);
  return *frame;
}

static void kinds(void) {
  // Alone, everything is undeferred.
  const int always = omp_get_num_threads() == 1 ? kUndeferred : 0;
#pragma omp task
  EXPECT(flags_at(0) == (kExplicit | always));
#pragma omp task if (false_here)
  {
    EXPECT(flags_at(0) == (kExplicit | kUndeferred));
    // The encountering task is in the runtime for as long as this one runs.
    EXPECT(frame_at(0).exit.ptr != NULL && frame_at(0).enter.ptr == NULL);
    EXPECT(frame_at(1).exit.ptr != NULL && frame_at(1).enter.ptr != NULL);
  }
  EXPECT(frame_at(0).enter.ptr == NULL);
#pragma omp task final(!false_here)
  {
    EXPECT(flags_at(0) == (kExplicit | kFinal | always));
#pragma omp task
    EXPECT(flags_at(0) == (kExplicit | kFinal | kUndeferred));
  }
#pragma omp taskwait
}

static void waits(void) {
  int a = 0, b = 0;
#pragma omp task depend(out : a) shared(a)
  a = 1;
#pragma omp taskwait depend(in : a)
  EXPECT(a == 1);
  EXPECT(taskwaits == 1 && taskwaits_ended == 1);
#pragma omp task depend(out : b) shared(b)
  b = 1;
#pragma omp task depend(inout : b) shared(b) if (false_here)
  b = b == 1 ? 2 : 0;
  EXPECT(b == 2);
  EXPECT(taskwaits == 2 && taskwaits_ended == 2);
  EXPECT(dependence_pairs <= 2);  // none for a predecessor that had finished
  // A list of any length.
  static char many[kManyDependences];
#pragma omp task depend(iterator(i = 0 : kManyDependences), in : many[i])
  sink = many[0];
#pragma omp taskwait
  EXPECT(longest_list == kManyDependences);
}

static void loops(void) {
#pragma omp taskloop grainsize(7)
  for (int i = 0; i < kIterations; ++i) sink = i;
  EXPECT(loops_begun == 1 && loops_ended == 1 && chunk_iterations == kIterations);
#pragma omp taskloop num_tasks(3) if (false_here)
  for (int i = 1000; i > 1000 - 2 * kIterations; i -= 2) sink = i;
  EXPECT(loops_begun == 2 && loops_ended == 2 && chunk_iterations == 2 * kIterations);
  for (int i = 0; i < kIterations; ++i) EXPECT(iteration_seen[i] == 2);
}

static void cancels(void) {
#pragma omp taskgroup
  {
#pragma omp task if (false_here)
    {
#pragma omp cancel taskgroup
      EXPECT(!"reached after the cancellation");
    }
  }
  EXPECT(cancelled == 1);
  // What follows has nothing to do with that.
#pragma omp task if (false_here)
  sink = 1;
  EXPECT(cancelled == 1);
}

static void doacross(void) {
#pragma omp parallel
  {
#pragma omp for ordered(2) schedule(static, 1)
    for (int i = 0; i < kRows; ++i)
      for (int j = 0; j < kColumns; ++j) {
#pragma omp ordered depend(sink : i - 1, j)
        sink = i + j;
#pragma omp ordered depend(source)
      }
  }
  if (omp_get_max_threads() == 1) return;  // nobody waits for anybody
  EXPECT(sources == kRows * kColumns && sinks == (kRows - 1) * kColumns);
}

int main(void) {
  omp_set_dynamic(0);
  EXPECT(started);
#pragma omp parallel
#pragma omp single
  {
    kinds();
    waits();
    loops();
    cancels();
  }
  doacross();
  return wrong != 0;
}
