// What compiled programs call in place of the functions that create threads. The thread gets its seat before its
// routine
// runs: by the attributes with which it is made where there are any, else by itself.
//
// Any thread may call these. A record belongs to the creator until the thread has started, then to the thread.
#include <cerrno>
#include <cstring>
#include <new>

#include <pthread.h>
#include <sched.h>
#include <threads.h>

#include "btlp/support/seats.h"
#include "topology/allowance.h"

#define HEARTH_BTLP_EXPORT extern "C" [[gnu::visibility("default")]]

namespace hearth::btlp {
namespace {

constexpr std::size_t kMaskBytes = 1024;  // 8192 CPUs, Linux's bound

struct Record {
  void* (*routine)(void*) = nullptr;
  int (*returns_int)(void*) = nullptr;
  void* argument = nullptr;
  Placed placed;
  bool by_itself = false;  // the thread binds itself, if it still has the mask that it inherits
  topology::CpuMask inherited;
};

void* run(void* pointer) {
  auto* record = static_cast<Record*>(pointer);
  if (record->by_itself && record->placed.bind && topology::current_affinity() == record->inherited)
    topology::set_affinity(0, record->placed.mask);
  sit_down(record->placed);
  void* (*const routine)(void*) = record->routine;
  int (*const returns_int)(void*) = record->returns_int;
  void* const argument = record->argument;
  delete record;
  if (returns_int != nullptr) return reinterpret_cast<void*>(static_cast<std::intptr_t>(returns_int(argument)));
  return routine(argument);
}

int run_for_int(void* pointer) { return static_cast<int>(reinterpret_cast<std::intptr_t>(run(pointer))); }

/// Has the program chosen CPUs in the attributes? Without a choice glibc answers with all bits set.
bool chooses_cpus(const pthread_attr_t* attributes) {
  unsigned char bits[kMaskBytes];
  if (attributes == nullptr) return false;
  if (pthread_attr_getaffinity_np(attributes, sizeof(bits), reinterpret_cast<cpu_set_t*>(bits)) != 0) return true;
  for (const unsigned char byte : bits)
    if (byte != 0xff) return true;
  return false;
}

/// The same attributes in an object of our own; glibc has no call for it. The mask of signals is not taken along,
/// so such
/// attributes are not copied (false).
bool copy(const pthread_attr_t* from, pthread_attr_t* to) {
  if (pthread_attr_init(to) != 0) return false;
  if (from == nullptr) return true;
  int detached = 0, inherits = 0, policy = 0, scope = 0;
  std::size_t guard = 0, stack = 0;
  sched_param parameters{};
  void* address = nullptr;
  bool good = pthread_attr_getdetachstate(from, &detached) == 0 && pthread_attr_setdetachstate(to, detached) == 0;
  good = good && pthread_attr_getguardsize(from, &guard) == 0 && pthread_attr_setguardsize(to, guard) == 0;
  good = good && pthread_attr_getinheritsched(from, &inherits) == 0 && pthread_attr_setinheritsched(to, inherits) == 0;
  good = good && pthread_attr_getschedpolicy(from, &policy) == 0 && pthread_attr_setschedpolicy(to, policy) == 0;
  good = good && pthread_attr_getschedparam(from, &parameters) == 0 && pthread_attr_setschedparam(to, &parameters) == 0;
  good = good && pthread_attr_getscope(from, &scope) == 0 && pthread_attr_setscope(to, scope) == 0;
  good = good && pthread_attr_getstack(from, &address, &stack) == 0;
  if (good && address != nullptr && stack != 0)
    good = pthread_attr_setstack(to, address, stack) == 0;
  else if (good && pthread_attr_getstacksize(from, &stack) == 0 && stack != 0)
    good = pthread_attr_setstacksize(to, stack) == 0;
  if (!good) pthread_attr_destroy(to);
  return good;
}

int create(pthread_t* thread, const pthread_attr_t* attributes, Record* record) {
  // Binding through the attributes leaves no moment in which the thread is elsewhere, or in which our mask could
  // replace
  // one that the creator sets behind pthread_create().
  pthread_attr_t own;
  if (attributes == nullptr && record->placed.bind && copy(attributes, &own)) {
    int problem = pthread_attr_setaffinity_np(&own, record->placed.mask.bytes(),
                                              reinterpret_cast<const cpu_set_t*>(record->placed.mask.words()));
    if (problem == 0) problem = pthread_create(thread, &own, run, record);
    pthread_attr_destroy(&own);
    if (problem != EINVAL) return problem;
    record->placed.bind = false;  // the mask shrank meanwhile
    return pthread_create(thread, nullptr, run, record);
  }
  record->by_itself = record->placed.bind;
  if (record->by_itself) record->inherited = topology::current_affinity();
  return pthread_create(thread, attributes, run, record);
}

void drop(Record* record) {
  give_back(record->placed);
  delete record;
}

/// The paper's form: no trampoline, the creator binds the thread.
int create_then_bind(pthread_t* thread, const pthread_attr_t* attributes, Record* record) {
  const Placed placed = record->placed;
  const int problem = pthread_create(thread, attributes, record->routine, record->argument);
  if (problem != 0) {
    drop(record);
    return problem;
  }
  delete record;
  bind_behind(*thread, placed);
  return 0;
}

Record* record_for(hearth_btlp_site* site, const pthread_attr_t* attributes) {
  auto* record = new (std::nothrow) Record;
  if (record != nullptr) record->placed = take_seat(*site, chooses_cpus(attributes));
  return record;
}

/// libstdc++'s std::thread::_State: the first word leads to its table: two destructors, then _M_run().
struct State {
  void* const* table;
};

/// Ours in its place: sits down, then runs the other one.
struct Wrapper : State {
  State* inner;
  Record* record;
};

void destroy_only(Wrapper* self) {
  if (self->inner != nullptr) reinterpret_cast<void (*)(State*)>(self->inner->table[1])(self->inner);
  if (self->record != nullptr) drop(self->record);
}

void destroy_and_free(Wrapper* self) {
  destroy_only(self);
  delete self;
}

void* run_inner(void* pointer) {
  auto* inner = static_cast<State*>(pointer);
  reinterpret_cast<void (*)(State*)>(inner->table[2])(inner);
  return nullptr;
}

void run_state(Wrapper* self) {
  Record* record = self->record;
  self->record = nullptr;
  record->routine = run_inner;
  record->argument = self->inner;
  run(record);
}

/// As a compiler lays it out: to the top, type information, then what the object's first word points to.
void* const kTable[] = {nullptr, nullptr, reinterpret_cast<void*>(destroy_only),
                        reinterpret_cast<void*>(destroy_and_free), reinterpret_cast<void*>(run_state)};

}  // namespace
}  // namespace hearth::btlp

using namespace hearth;
using namespace hearth::btlp;

HEARTH_BTLP_EXPORT int hearth_btlp_pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                                                  void* (*routine)(void*), void* argument, hearth_btlp_site* site) {
  Record* record = is_on() ? record_for(site, attributes) : nullptr;
  if (record == nullptr) return pthread_create(thread, attributes, routine, argument);
  record->routine = routine;
  record->argument = argument;
  if (record->placed.after) return create_then_bind(thread, attributes, record);
  const int problem = create(thread, attributes, record);
  if (problem != 0) drop(record);
  return problem;
}

HEARTH_BTLP_EXPORT int hearth_btlp_thrd_create(thrd_t* thread, int (*routine)(void*), void* argument,
                                               hearth_btlp_site* site) {
  // glibc's thrd_create() is younger than what we may need; its threads are POSIX threads whose result is an int.
  Record* record = is_on() ? record_for(site, nullptr) : new (std::nothrow) Record;
  if (record == nullptr) return thrd_nomem;
  record->returns_int = routine;
  record->argument = argument;
  const bool after = record->placed.after;
  const Placed placed = record->placed;
  if (after) record->placed = {};  // the new thread has nothing to do
  const int problem = create(thread, nullptr, record);
  if (problem == 0 && after) bind_behind(*thread, placed);
  if (problem == 0) return thrd_success;
  record->placed = placed;
  drop(record);
  return problem == ENOMEM ? thrd_nomem : thrd_error;
}

/// Before std::thread's constructor hands its state over.
HEARTH_BTLP_EXPORT void hearth_btlp_state(void** holder, hearth_btlp_site* site) {
  if (!is_on() || *holder == nullptr) return;
  Record* record = record_for(site, nullptr);
  if (record == nullptr) return;
  auto* wrapper = new (std::nothrow) Wrapper;
  if (wrapper == nullptr) return drop(record);
  record->by_itself = record->placed.bind;
  if (record->by_itself) record->inherited = topology::current_affinity();
  wrapper->table = kTable + 2;
  wrapper->inner = static_cast<State*>(*holder);
  wrapper->record = record;
  *holder = wrapper;
}

/// Before any other creator: what it is to call instead, and with what. Where it fails, the record is lost.
HEARTH_BTLP_EXPORT void hearth_btlp_wrap(void** routine, void** argument, int returns_int, hearth_btlp_site* site) {
  Record* record = is_on() ? record_for(site, nullptr) : nullptr;
  if (record == nullptr) return;
  record->by_itself = record->placed.bind;
  if (record->by_itself) record->inherited = topology::current_affinity();
  std::memcpy(
      returns_int != 0 ? reinterpret_cast<void*>(&record->returns_int) : reinterpret_cast<void*>(&record->routine),
      routine, sizeof(void*));
  record->argument = *argument;
  *routine = returns_int != 0 ? reinterpret_cast<void*>(run_for_int) : reinterpret_cast<void*>(run);
  *argument = record;
}
