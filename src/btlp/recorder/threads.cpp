// The functions that stand in front of libc's: creation and join of threads, and the end of heap memory. And those that
// compiled programs call at their creations, as in support/threads.cpp: here they only say which place it is.
//
// Compiled without base/glibc_compat.h, which would give our functions the names of older ones of libc.
//
// Any thread may call these. What a place has said is the calling thread's, until its next creation.
#define HEARTH_RECORDER 1
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <new>

#include <pthread.h>
#include <sys/syscall.h>
#include <threads.h>
#include <unistd.h>

#include "btlp/recorder/real.h"
#include "btlp/recorder/recorder.h"
#include "btlp/support/plan.h"

#define HEARTH_RECORD_EXPORT extern "C" [[gnu::visibility("default")]]

extern "C" {
void __libc_free(void*);
void* __libc_realloc(void*, std::size_t);
}

namespace hearth::btlp::recorder {
namespace {

struct Said {
  const char* site = nullptr;
  const void* routine = nullptr;  // what runs for the program, behind the C++ library's own function
};
__thread Said said __attribute__((tls_model("initial-exec")));

struct Start {
  void* (*routine)(void*) = nullptr;
  int (*returns_int)(void*) = nullptr;
  void* argument = nullptr;
  std::uint32_t number = 0;
};

void* run(void* pointer) {
  auto* start = static_cast<Start*>(pointer);
  const Start mine = *start;
  std::free(start);
  begin_thread(mine.number);
  if (mine.returns_int != nullptr)
    return reinterpret_cast<void*>(static_cast<std::intptr_t>(mine.returns_int(mine.argument)));
  return mine.routine(mine.argument);
}

int create(pthread_t* thread, const pthread_attr_t* attributes, const Start& what) {
  start_timer();
  const Said here = said;
  said = {};
  auto* start = static_cast<Start*>(std::malloc(sizeof(Start)));
  if (start == nullptr) return EAGAIN;
  *start = what;
  const void* routine = here.routine;
  if (routine == nullptr)
    routine = what.routine != nullptr ? reinterpret_cast<const void*>(what.routine)
                                      : reinterpret_cast<const void*>(what.returns_int);
  const std::uint32_t number = expect_thread(here.site, nullptr, routine);
  start->number = number;
  const int problem = real().create(thread, attributes, run, start);
  if (problem != 0) {
    std::free(start);
    thread_failed(number);
  }
  return problem;
}

}  // namespace

}  // namespace hearth::btlp::recorder

using namespace hearth::btlp::recorder;

HEARTH_RECORD_EXPORT int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*routine)(void*),
                                        void* argument) {
  Start start;
  start.routine = routine;
  start.argument = argument;
  return create(thread, attributes, start);
}

HEARTH_RECORD_EXPORT int pthread_join(pthread_t thread, void** result) {
  const std::uint32_t number = number_of(thread);
  const int problem = real().join(thread, result);
  if (problem == 0) joined(thread, number);
  return problem;
}

HEARTH_RECORD_EXPORT int pthread_tryjoin_np(pthread_t thread, void** result) {
  const std::uint32_t number = number_of(thread);
  const int problem = real().tryjoin(thread, result);
  if (problem == 0) joined(thread, number);
  return problem;
}

HEARTH_RECORD_EXPORT int pthread_timedjoin_np(pthread_t thread, void** result, const timespec* until) {
  const std::uint32_t number = number_of(thread);
  const int problem = real().timedjoin(thread, result, until);
  if (problem == 0) joined(thread, number);
  return problem;
}

HEARTH_RECORD_EXPORT int thrd_join(thrd_t thread, int* result) {
  const std::uint32_t number = number_of(thread);
  const int problem = real().thrd_join(thread, result);
  if (problem == thrd_success) joined(thread, number);
  return problem;
}

// A program may end without its destructors; so may a child of vfork(), in its parent's memory.
HEARTH_RECORD_EXPORT void _exit(int status) {
  if (getpid() == own_process()) close_recording();
  syscall(SYS_exit_group, status);
  __builtin_unreachable();
}

HEARTH_RECORD_EXPORT void _Exit(int status) { _exit(status); }

HEARTH_RECORD_EXPORT void free(void* block) {
  freed(block);
  __libc_free(block);
}

HEARTH_RECORD_EXPORT void* realloc(void* block, std::size_t bytes) {
  freed(block);
  return __libc_realloc(block, bytes);
}

HEARTH_RECORD_EXPORT int hearth_btlp_pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                                                    void* (*routine)(void*), void* argument, hearth_btlp_site* site) {
  said = {site->key, nullptr};
  return pthread_create(thread, attributes, routine, argument);
}

HEARTH_RECORD_EXPORT int hearth_btlp_thrd_create(thrd_t* thread, int (*routine)(void*), void* argument,
                                                 hearth_btlp_site* site) {
  said = {site->key, nullptr};
  Start start;
  start.returns_int = routine;
  start.argument = argument;
  const int problem = create(thread, nullptr, start);
  if (problem == 0) return thrd_success;
  return problem == ENOMEM || problem == EAGAIN ? thrd_nomem : thrd_error;
}

/// libstdc++'s state: its first word leads to a table with two destructors and _M_run().
HEARTH_RECORD_EXPORT void hearth_btlp_state(void** holder, hearth_btlp_site* site) {
  said = {site->key, *holder == nullptr ? nullptr : (*static_cast<void** const*>(*holder))[2]};
}

HEARTH_RECORD_EXPORT void hearth_btlp_wrap(void** routine, void**, int, hearth_btlp_site* site) {
  said = {site->key, *routine};
}
