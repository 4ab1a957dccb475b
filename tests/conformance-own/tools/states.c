// A tool that lists the states of threads and the kinds of mutual exclusion gets all of them, beginning with those that the
// specification names for a begin (OpenMP 5.2, 19.6.1.1 and 19.6.1.2).
// gcc has no omp-tools.h, so the few declarations that are needed stand here.
//
// flags: -rdynamic
#include <omp.h>
#include <stdint.h>
#include <stdio.h>

typedef union {
  uint64_t value;
  void* ptr;
} ompt_data_t;
typedef void (*function_t)(void);
typedef function_t (*ompt_function_lookup_t)(const char* name);
typedef struct {
  int (*initialize)(ompt_function_lookup_t lookup, int device, ompt_data_t* tool);
  void (*finalize)(ompt_data_t* tool);
  ompt_data_t tool;
} ompt_start_tool_result_t;
typedef int (*next_t)(int current, int* next, const char** name);

enum { ompt_state_idle = 0x100, ompt_state_undefined = 0x102 };

static int states, kinds, saw_idle;

static int start(ompt_function_lookup_t lookup, int device, ompt_data_t* data) {
  (void)device, (void)data;
  next_t next_state = (next_t)lookup("ompt_enumerate_states");
  next_t next_kind = (next_t)lookup("ompt_enumerate_mutex_impls");
  int state = ompt_state_undefined, kind = 0;
  const char* name = NULL;
  while (states < 1000 && next_state(state, &state, &name)) {
    ++states;
    saw_idle |= state == ompt_state_idle && name != NULL;
  }
  while (kinds < 1000 && next_kind(kind, &kind, &name)) ++kinds;
  return 1;
}

static void finish(ompt_data_t* data) { (void)data; }

ompt_start_tool_result_t* ompt_start_tool(unsigned version, const char* runtime) {
  (void)version, (void)runtime;
  static ompt_start_tool_result_t result = {start, finish, {0}};
  return &result;
}

int main(void) {
  int threads = 0;
#pragma omp parallel reduction(+ : threads)
  threads += 1;
  if (threads == 0 || states < 20 || states == 1000 || !saw_idle || kinds < 1 || kinds == 1000) {
    printf("%d states, idle %s, %d kinds of mutual exclusion\n", states, saw_idle ? "among them" : "missing", kinds);
    return 1;
  }
  return 0;
}
