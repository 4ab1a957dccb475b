// A tool whose initializer calls every omp_* routine, and runs a region and tasks. Nothing of that is told to
// it; of the program's own regions it then hears from the start: each thread has begun before its first task.
// gcc has no omp-tools.h, so the few declarations that are needed stand here (OpenMP 5.2, chapter 19).
//
// flags: -rdynamic
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef union {
  uint64_t value;
  void* ptr;
} data_t;
typedef void (*function_t)(void);
typedef function_t (*lookup_t)(const char* name);
typedef struct {
  int (*initialize)(lookup_t lookup, int device, data_t* tool);
  void (*finalize)(data_t* tool);
  data_t tool;
} start_t;

enum { kThreadBegin = 1, kImplicitTask = 7 };  // ompt_callbacks_t
enum { kBegin = 1 };                           // ompt_scope_endpoint_t
enum { kInitialTask = 1 };                     // ompt_task_flag_t
enum { kRegions = 3 };

static data_t* (*thread_data)(void);
static int in_initializer, ended_initializer, wrong;
static int threads, initial_tasks, implicit_tasks;

#define ADD(x, n) __atomic_fetch_add(&(x), n, __ATOMIC_RELAXED)
#define EXPECT(x)                                          \
  do {                                                     \
    if (!(x)) {                                            \
      ADD(wrong, 1);                                       \
      fprintf(stderr, "line %d: not so: %s\n", __LINE__, #x); \
    }                                                      \
  } while (0)

static void on_thread_begin(int type, data_t* thread) {
  (void)type;
  EXPECT(!in_initializer);
  thread->value = 7;
  ADD(threads, 1);
}

static void on_implicit_task(int endpoint, data_t* parallel, data_t* task, unsigned size, unsigned index, int flags) {
  (void)parallel, (void)task, (void)size, (void)index;
  EXPECT(!in_initializer);
  EXPECT(thread_data() != NULL && thread_data()->value == 7);
  if (endpoint == kBegin) ADD(*((flags & kInitialTask) ? &initial_tasks : &implicit_tasks), 1);
}

static void ask_icvs(void) {
  omp_sched_t kind;
  int chunk;
  omp_set_num_threads(omp_get_max_threads());
  omp_set_dynamic(omp_get_dynamic());
  omp_set_max_active_levels(omp_get_max_active_levels());
  omp_get_schedule(&kind, &chunk);
  omp_set_schedule(kind, chunk);
  omp_set_default_device(omp_get_default_device());
  omp_set_num_teams(omp_get_max_teams());
  omp_set_teams_thread_limit(omp_get_teams_thread_limit());
  EXPECT(omp_get_num_threads() == 1 && omp_get_thread_num() == 0);
  EXPECT(!omp_in_parallel() && !omp_in_final());
  EXPECT(omp_get_level() == 0 && omp_get_active_level() == 0);
  EXPECT(omp_get_ancestor_thread_num(0) == 0 && omp_get_team_size(0) == 1);
  EXPECT(omp_get_team_num() == 0 && omp_get_num_teams() == 1);
  EXPECT(omp_get_thread_limit() >= 1 && omp_get_supported_active_levels() >= 1 && omp_get_num_procs() >= 1);
  omp_get_cancellation();
  omp_get_max_task_priority();
  omp_get_wtime();
  omp_get_wtick();
}

static void ask_places(void) {
  int ids[1024];
  char text[512];
  omp_get_proc_bind();
  for (int place = 0; place < omp_get_num_places() && omp_get_place_num_procs(place) <= 1024; ++place)
    omp_get_place_proc_ids(place, ids);
  omp_get_place_num();
  if (omp_get_partition_num_places() <= 1024) omp_get_partition_place_nums(ids);
  omp_get_affinity_format(text, sizeof text);
  omp_set_affinity_format("%P");
  omp_capture_affinity(text, sizeof text, NULL);
  omp_display_affinity(NULL);
  omp_set_affinity_format(text);
}

static void use_locks(void) {
  omp_lock_t lock;
  omp_nest_lock_t nest;
  omp_init_lock(&lock);
  omp_set_lock(&lock);
  omp_unset_lock(&lock);
  EXPECT(omp_test_lock(&lock));
  omp_unset_lock(&lock);
  omp_destroy_lock(&lock);
#ifdef __clang__  // gcc declares the calls with hints, and its library has none
  omp_init_lock_with_hint(&lock, omp_sync_hint_none);
  omp_destroy_lock(&lock);
  omp_init_nest_lock_with_hint(&nest, omp_sync_hint_none);
  omp_destroy_nest_lock(&nest);
#endif
  omp_init_nest_lock(&nest);
  omp_set_nest_lock(&nest);
  EXPECT(omp_test_nest_lock(&nest) == 2);
  omp_unset_nest_lock(&nest);
  omp_unset_nest_lock(&nest);
  omp_destroy_nest_lock(&nest);
}

static void use_memory(void) {
  omp_set_default_allocator(omp_get_default_allocator());
  omp_allocator_handle_t own = omp_init_allocator(omp_default_mem_space, 0, NULL);
  void* block = omp_alloc(64, own);
  block = omp_realloc(block, 128, own, own);
  omp_free(block, own);
  omp_free(omp_calloc(2, 8, own), own);
  omp_free(omp_aligned_alloc(64, 64, own), own);
  omp_free(omp_aligned_calloc(64, 1, 64, own), own);
  omp_destroy_allocator(own);
}

static void use_devices(void) {
  const int host = omp_get_initial_device();
  EXPECT(omp_get_num_devices() == 0 && omp_get_device_num() == host && omp_is_initial_device());
#ifndef __clang__  // in a library of its own there
  int from = 5, to = 0;
  void* block = omp_target_alloc(8, host);
  EXPECT(block != NULL && omp_target_is_present(block, host));
  omp_target_free(block, host);
  EXPECT(omp_target_memcpy(&to, &from, sizeof to, 0, 0, host, host) == 0 && to == 5);
  const size_t one = 1, none = 0;
  omp_target_memcpy_rect(&to, &from, sizeof to, 1, &one, &none, &none, &one, &one, host, host);
  omp_target_associate_ptr(&to, &from, sizeof to, 0, host);
  omp_target_disassociate_ptr(&to, host);
#endif
}

static void run_regions(void) {
  int members = 0, tasks = 0;
#pragma omp parallel
  {
    ADD(members, 1);
    EXPECT(omp_get_num_threads() >= 1 && omp_get_num_places() >= 0);
#pragma omp single
    for (int i = 0; i < 10; ++i)
#pragma omp task
      ADD(tasks, 1);
  }
  EXPECT(members == omp_get_max_threads() && tasks == 10);
  omp_event_handle_t event;
  int done = 0;
#pragma omp task detach(event) shared(done)
  {
    done = 1;
    omp_fulfill_event(event);
  }
#pragma omp taskwait
  EXPECT(done);
}

static int initialize(lookup_t lookup, int device, data_t* tool) {
  (void)device, (void)tool;
  int (*set)(int, function_t) = (int (*)(int, function_t))lookup("ompt_set_callback");
  thread_data = (data_t * (*)(void)) lookup("ompt_get_thread_data");
  set(kThreadBegin, (function_t)on_thread_begin);
  set(kImplicitTask, (function_t)on_implicit_task);
  in_initializer = 1;
  ask_icvs();
  ask_places();
  use_locks();
  use_memory();
  use_devices();
  run_regions();
  omp_pause_resource(omp_pause_soft, omp_get_initial_device());
  omp_pause_resource_all(omp_pause_hard);
#ifndef __clang__  // each omp.h lacks what the other has
  omp_display_env(0);
#else
  omp_control_tool(omp_control_tool_start, 0, NULL);
#endif
  run_regions();
  in_initializer = 0;
  ended_initializer = 1;
  return 1;
}
static void finalize(data_t* tool) { (void)tool; }

__attribute__((visibility("default"))) start_t* ompt_start_tool(unsigned version, const char* runtime) {
  static start_t start = {initialize, finalize, {0}};
  (void)version, (void)runtime;
  omp_get_max_threads();
  return &start;
}

int main(void) {
  omp_set_dynamic(0);
  EXPECT(ended_initializer);
  EXPECT(threads == 1 && initial_tasks == 1 && implicit_tasks == 0);
  for (int i = 0; i < kRegions; ++i) {
#pragma omp parallel
    EXPECT(!in_initializer);
  }
  EXPECT(threads == omp_get_max_threads());
  EXPECT(initial_tasks == 1 && implicit_tasks == kRegions * omp_get_max_threads());
  return wrong != 0;
}
