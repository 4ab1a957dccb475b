// What a program that was compiled with `hearth cc --record` calls, and the data that it carries for that. The pass
// (pass/record.cpp) writes calls and data; keep the two in step.
//
// Constant, except for `hearth_record_on`, which belongs to its thread (the recorder's timer sets it, relaxed: late is
// good enough), and the `id` of names, which the recorder writes under its lock.
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { HEARTH_RECORD_READ = 1, HEARTH_RECORD_WRITE = 2 };
enum { HEARTH_RECORD_HEAP = 1, HEARTH_RECORD_STACK = 2 };

/// A place in the source that makes memory: an allocation or a variable.
struct hearth_record_name {
  const char* text;
  uint32_t kind;
  uint32_t id;  // 0: not met yet
};

/// A variable of the module, or with no bytes a function.
struct hearth_record_entry {
  const void* address;
  uint64_t bytes;
  const char* text;
};

#ifdef HEARTH_RECORDER
/// Not 0: this thread's accesses are wanted now.
extern __thread uint32_t hearth_record_on __attribute__((tls_model("initial-exec")));
#endif

void hearth_record_module(const struct hearth_record_entry* entries, uint32_t count, uint32_t exact);
/// `what`: bytes << 2 | HEARTH_RECORD_WRITE | HEARTH_RECORD_READ
void hearth_record_access(const void* address, uint32_t what);
void hearth_record_range(const void* address, uint64_t bytes, uint32_t how);
/// A string, to its end.
void hearth_record_text(const char* text, uint32_t how);
/// A variable on the stack begins to live.
void hearth_record_variable(const void* address, uint64_t bytes, struct hearth_record_name* name);
void hearth_record_allocated(const void* address, struct hearth_record_name* name);

#ifdef __cplusplus
}
#endif
