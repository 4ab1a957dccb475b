// See recorder.h.
//
// Orders: `is_closed` is a switch that may be seen late; `hearth_record_on` likewise. All else is under the mutex.
#define HEARTH_RECORDER 1
#include "btlp/recorder/recorder.h"

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>
#include <ctime>
#include <new>

#include <malloc.h>
#include <unistd.h>

#include "base/log.h"
#include "btlp/recorder/real.h"

#define HEARTH_RECORD_EXPORT extern "C" [[gnu::visibility("default")]]

HEARTH_RECORD_EXPORT __thread std::uint32_t hearth_record_on __attribute__((tls_model("initial-exec")));
__thread std::uint32_t hearth_record_on = 1;

namespace hearth::btlp::recorder {
namespace {

// A sampled recording looks at each thread for some 0.2 ms in 40 ms of the process' CPU time, after a longer look at its
// beginning.
constexpr std::uint32_t kFirstSample = 20000;  // accesses
constexpr std::uint32_t kSample = 2000;
constexpr std::uint32_t kShortSample = 200;  // when there are more threads than this
constexpr std::size_t kManyThreads = 64;
constexpr long kPauseNs = 40'000'000;
constexpr std::uint64_t kSmallBlock = 4096;  // below, a sampled recording names a block only while it looks
constexpr std::size_t kMostThreads = 4096;
constexpr std::size_t kMostMemory = std::size_t{96} << 20U;  // of a sampled recording
constexpr std::size_t kMostMemoryExact = std::size_t{6} << 30U;

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
bool is_closed = false;  // read and written as an atomic
bool is_exact = false;
bool many_threads = false;   // as an atomic
std::uint64_t left_out = 0;  // accesses while another thread was inside; as an atomic
alignas(Recording) unsigned char storage[sizeof(Recording)];
Recording* the_recording = nullptr;  // under the mutex

pid_t process = 0;
// Its destructor is the end of a thread. It comes again until the last round of destructors: the program's own keys are
// younger, so their destructors run behind it in each.
pthread_key_t ending;
bool has_key = false;

struct Own {
  std::uint32_t number = UINT32_MAX;
  std::uint32_t left = 0;  // accesses of this sample
  std::uint32_t inside = 0;
  int endings = 0;  // rounds of its keys' destructors
};
__thread Own own __attribute__((tls_model("initial-exec")));

Recording& recording() {
  if (the_recording == nullptr) {
    the_recording = new (storage) Recording;
    the_recording->objects = List<Object>{{}, {kOwnKinds, "memory that is not known"}, {kOwnKinds, "a thread's stack"}};
  }
  return *the_recording;
}

bool closed() { return __atomic_load_n(&is_closed, __ATOMIC_RELAXED); }

void stop(Recording& all) {
  all.stopped = true;
  warn("the recording of this program has taken all the memory that it may have (%zu MiB), and ends here",
       taken() >> 20U);
  __atomic_store_n(&is_closed, true, __ATOMIC_RELAXED);
}

/// How many accesses a thread may record at its beginning.
std::uint32_t first_budget(const Recording& all) {
  if (all.threads.size() <= kManyThreads) return kFirstSample;
  __atomic_store_n(&many_threads, true, __ATOMIC_RELAXED);
  return kShortSample;
}

void meet(Recording& all, std::uint32_t me, const Conflict& conflict, std::uint32_t object) {
  const bool low = me < conflict.other;
  Meeting& meeting = all.meetings[{low ? me : conflict.other, low ? conflict.other : me, object}];
  if ((conflict.what & Conflict::reads_theirs) != 0) {
    (low ? meeting.b_writes_a_reads : meeting.a_writes_b_reads) = true;
    if ((conflict.what & Conflict::flow) != 0) ++(low ? meeting.b_to_a : meeting.a_to_b);
  }
  if ((conflict.what & Conflict::writes_where_read) != 0)
    (low ? meeting.a_writes_b_reads : meeting.b_writes_a_reads) = true;
  if ((conflict.what & Conflict::writes_where_written) != 0) meeting.both_write = true;
}

/// Bytes of one page. Bytes with one history are one step.
void touch_page(Recording& all, std::uint32_t me, std::uint64_t address, std::uint64_t bytes, bool write,
                std::uint32_t object) {
  std::uint32_t* histories = all.places.histories(address) + address % Places::kPage;
  for (std::uint64_t n = 0; n < bytes;) {
    const std::uint32_t before = histories[n];
    std::uint64_t same = n + 1;
    while (same < bytes && histories[same] == before) ++same;
    const History::Step step = all.history.step(before, me, write);
    if (step.next != before)
      for (std::uint64_t each = n; each < same; ++each) histories[each] = step.next;
    const Conflict* conflicts = all.history.conflicts(step);
    for (std::uint32_t each = 0; each < step.count; ++each) meet(all, me, conflicts[each], object);
    n = same;
  }
}

void touch(Recording& all, std::uint64_t address, std::uint64_t bytes, std::uint32_t how) {
  const std::uint32_t me = own_number(all);
  if (me == UINT32_MAX) return;
  std::uint32_t object = all.places.object_at(address);
  if (object == 0) object = kUnknownObject;
  Touches& touches = all.touches[{me, object}];
  touches.reads += (how & HEARTH_RECORD_READ) != 0 ? 1 : 0;
  touches.writes += (how & HEARTH_RECORD_WRITE) != 0 ? 1 : 0;
  while (bytes > 0) {
    const std::uint64_t here = bytes < Places::kPage - address % Places::kPage
                                   ? bytes
                                   : Places::kPage - address % Places::kPage;
    if ((how & HEARTH_RECORD_READ) != 0) touch_page(all, me, address, here, false, object);
    if ((how & HEARTH_RECORD_WRITE) != 0) touch_page(all, me, address, here, true, object);
    address += here;
    bytes -= here;
  }
  if (taken() > (all.exact ? kMostMemoryExact : kMostMemory)) stop(all);
}

void record(const void* address, std::uint64_t bytes, std::uint32_t how) {
  if (closed()) {
    hearth_record_on = 0;
    return;
  }
  const Inside all(is_exact);
  if (all)
    touch(*all, reinterpret_cast<std::uint64_t>(address), bytes, how);
  else
    __atomic_fetch_add(&left_out, 1U, __ATOMIC_RELAXED);
  if (is_exact) return;
  if (own.left == 0) own.left = __atomic_load_n(&many_threads, __ATOMIC_RELAXED) ? kShortSample : kSample;
  if (--own.left == 0) hearth_record_on = 0;
}

void* wake_threads(void*) {
  for (;;) {
    const timespec pause{0, kPauseNs};
    clock_nanosleep(CLOCK_PROCESS_CPUTIME_ID, 0, &pause, nullptr);
    const Inside all(true);
    if (!all) {
      if (closed()) return nullptr;
      continue;
    }
    for (const Thread& thread : all->threads)
      if (thread.wanted != nullptr) __atomic_store_n(thread.wanted, 1U, __ATOMIC_RELAXED);
  }
}

std::uint32_t name_number(Recording& all, hearth_record_name& name) {
  if (name.id == 0) {
    name.id = static_cast<std::uint32_t>(all.objects.size());
    all.objects.push_back({name.kind, name.text});
  }
  return name.id;
}

}  // namespace

Inside::Inside(bool patient) {
  if (own.inside != 0) return;
  own.inside = 1;
  const int error = errno;
  const bool got = patient ? pthread_mutex_lock(&mutex) == 0 : pthread_mutex_trylock(&mutex) == 0;
  errno = error;
  if (got && !closed()) {
    recording_ = &recording();
    return;
  }
  if (got) pthread_mutex_unlock(&mutex);
  own.inside = 0;
}

Inside::~Inside() {
  if (recording_ == nullptr) return;
  pthread_mutex_unlock(&mutex);
  own.inside = 0;
}

std::uint32_t own_number(Recording& all) {
  if (own.number != UINT32_MAX) return own.number;
  if (all.threads.size() >= kMostThreads) {
    ++all.threads_left_out;
    hearth_record_on = 0;
    return UINT32_MAX;
  }
  // The first one, or a thread that code without instrumentation has created.
  own.number = all.history.add_thread(-1);
  Thread thread;
  thread.handle = pthread_self();
  thread.has_handle = true;
  thread.wanted = &hearth_record_on;
  if (all.threads.empty()) thread.routine = "main";
  all.threads.push_back(thread);
  own.left = first_budget(all);
  return own.number;
}

std::uint32_t expect_thread(const char* site, const char* routine, const void* routine_address) {
  const Inside all(true);
  if (!all) return UINT32_MAX;
  const std::uint32_t creator = own_number(*all);
  if (creator == UINT32_MAX || all->threads.size() >= kMostThreads) {
    ++all->threads_left_out;
    return UINT32_MAX;
  }
  Thread thread;
  thread.creator = static_cast<std::int32_t>(creator);
  thread.site = site;
  thread.routine = routine != nullptr ? routine : all->places.function(routine_address);
  for (const Thread& other : all->threads)
    if (site != nullptr && other.site != nullptr && !other.failed && std::strcmp(site, other.site) == 0)
      ++thread.instance;
  const std::uint32_t number = all->history.add_thread(thread.creator);
  all->threads.push_back(thread);
  return number;
}

void begin_thread(std::uint32_t number) {
  own.number = number;
  if (number == UINT32_MAX) {
    hearth_record_on = 0;
    return;
  }
  pthread_attr_t attributes;
  void* stack = nullptr;
  std::size_t bytes = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
    pthread_attr_getstack(&attributes, &stack, &bytes);
    pthread_attr_destroy(&attributes);
  }
  const Inside all(true);
  if (!all) return;
  Thread& thread = all->threads[number];
  thread.handle = pthread_self();
  thread.has_handle = true;
  thread.wanted = &hearth_record_on;
  own.left = first_budget(*all);
  if (has_key) pthread_setspecific(ending, &ending);
  // The stack may have been another thread's.
  all->places.forget(reinterpret_cast<std::uint64_t>(stack), bytes);
}

void end_thread() {
  if (++own.endings < PTHREAD_DESTRUCTOR_ITERATIONS && pthread_setspecific(ending, &ending) == 0) return;
  const Inside all(true);
  hearth_record_on = 0;
  if (all && own.number != UINT32_MAX) all->threads[own.number].wanted = nullptr;
}

void thread_failed(std::uint32_t number) {
  const Inside all(true);
  if (all && number != UINT32_MAX) all->threads[number].failed = true;
}

std::uint32_t number_of(pthread_t handle) {
  const Inside all(true);
  if (!all) return UINT32_MAX;
  for (std::size_t n = all->threads.size(); n-- > 0;) {
    const Thread& thread = all->threads[n];
    if (thread.has_handle && !thread.joined && pthread_equal(thread.handle, handle) != 0)
      return static_cast<std::uint32_t>(n);
  }
  return UINT32_MAX;
}

void joined(pthread_t handle, std::uint32_t number) {
  // A thread that had not begun when its join did has told its handle by now.
  if (number == UINT32_MAX) number = number_of(handle);
  const Inside all(true);
  if (!all || number == UINT32_MAX) return;
  const std::uint32_t me = own_number(*all);
  all->threads[number].joined = true;
  if (me != UINT32_MAX) all->history.joined(me, number);
}

void freed(void* address) {
  if (address == nullptr || own.inside != 0 || closed() || the_recording == nullptr) return;
  const std::uint64_t bytes = malloc_usable_size(address);
  const auto from = reinterpret_cast<std::uint64_t>(address);
  // Without the lock: `places` is never moved or destroyed.
  if (!the_recording->places.may_hold(from, bytes)) return;
  const Inside all(true);
  if (all) all->places.forget(from, bytes);
}

void close_recording() {
  const Inside all(true);
  if (!all) return;
  __atomic_store_n(&is_closed, true, __ATOMIC_RELAXED);
  hearth_record_on = 0;
  all->left_out = __atomic_load_n(&left_out, __ATOMIC_RELAXED);
  write_file(*all);
}

pid_t own_process() { return process; }

void start_timer() {
  static bool started = false;  // under the program's first creation; a second timer would only be waste
  if (is_exact || closed() || __atomic_exchange_n(&started, true, __ATOMIC_RELAXED)) return;
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t timer;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  const int problem = real().create(&timer, &attributes, wake_threads, nullptr);
  pthread_attr_destroy(&attributes);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (problem != 0)
    warn("the recording has no timer (%s): it knows only how each thread began", std::strerror(problem));
}

namespace {

/// A child of fork() is another process: the recording is its parent's.
void in_child() { __atomic_store_n(&is_closed, true, __ATOMIC_RELAXED); }

[[gnu::constructor]] void begin() {
  process = getpid();
  remember_file();
  has_key = pthread_key_create(&ending, [](void*) { end_thread(); }) == 0;
  pthread_atfork(nullptr, nullptr, in_child);
}

[[gnu::destructor]] void end() { close_recording(); }

}  // namespace
}  // namespace hearth::btlp::recorder

using namespace hearth::btlp::recorder;

HEARTH_RECORD_EXPORT void hearth_record_module(const hearth_record_entry* entries, std::uint32_t count,
                                               std::uint32_t exact) {
  const Inside all(true);
  if (!all) return;
  own_number(*all);
  if (exact != 0 && !all->exact) {
    is_exact = all->exact = true;
    all->places.set_exact();
  }
  for (std::uint32_t n = 0; n < count; ++n) {
    const hearth_record_entry& entry = entries[n];
    if (entry.address == nullptr) continue;
    if (entry.bytes == 0) {
      all->places.add_function(entry.address, entry.text);
      continue;
    }
    all->places.add_global(entry.address, entry.bytes, static_cast<std::uint32_t>(all->objects.size()));
    all->objects.push_back({0, entry.text});
  }
}

HEARTH_RECORD_EXPORT void hearth_record_access(const void* address, std::uint32_t what) {
  record(address, what >> 2U, what & 3U);
}

HEARTH_RECORD_EXPORT void hearth_record_range(const void* address, std::uint64_t bytes, std::uint32_t how) {
  if (bytes != 0) record(address, bytes, how);
}

HEARTH_RECORD_EXPORT void hearth_record_text(const char* text, std::uint32_t how) {
  record(text, std::strlen(text) + 1, how);
}

HEARTH_RECORD_EXPORT void hearth_record_variable(const void* address, std::uint64_t bytes, hearth_record_name* name) {
  if (closed()) return;
  const Inside all(true);
  if (all) all->places.add(reinterpret_cast<std::uint64_t>(address), bytes, name_number(*all, *name));
}

HEARTH_RECORD_EXPORT void hearth_record_allocated(const void* address, hearth_record_name* name) {
  if (address == nullptr || closed()) return;
  const std::uint64_t bytes = malloc_usable_size(const_cast<void*>(address));
  if (!is_exact && hearth_record_on == 0 && bytes < kSmallBlock) return;
  const Inside all(true);
  if (all) all->places.add(reinterpret_cast<std::uint64_t>(address), bytes, name_number(*all, *name));
}
