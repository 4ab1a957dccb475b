// What is recorded: threads, objects, who touched which, and which threads met at the same bytes.
//
// One lock. In a sampled recording an access never waits for it: it is left out and counted. Creations, joins and the
// ends of memory do wait, since what they would miss makes later findings wrong. A thread that is inside already (a
// signal handler, or free() called by us) does nothing.
#pragma once

#include <cstdint>

#include <pthread.h>

#include "btlp/recorder/abi.h"
#include "btlp/recorder/arena.h"
#include "btlp/recorder/history.h"
#include "btlp/recorder/places.h"

namespace hearth::btlp::recorder {

struct Thread {
  std::int32_t creator = -1;
  const char* site = nullptr;     // where it was created; null: by code that is not recorded
  const char* routine = nullptr;  // its name; null: not known
  std::uint32_t instance = 0;     // of this site
  pthread_t handle{};
  bool has_handle = false, joined = false, failed = false;
  std::uint32_t* wanted = nullptr;  // its hearth_record_on; null: it has ended
};

struct Object {
  std::uint32_t kind = 0;  // HEARTH_RECORD_HEAP, _STACK, 0: a global, 3: of nobody
  const char* name = nullptr;
};

struct Touches {
  std::uint64_t reads = 0, writes = 0;
};

/// Two threads at the same bytes of one object; `a` < `b`.
struct Meeting {
  std::uint64_t a_to_b = 0, b_to_a = 0;  // reads of what the other one had written last
  bool a_writes_b_reads = false, b_writes_a_reads = false, both_write = false;
};

struct PairKey {
  std::uint32_t a = 0, b = 0, object = 0;
  bool operator==(const PairKey&) const = default;
};

struct TouchKey {
  std::uint32_t thread = 0, object = 0;
  bool operator==(const TouchKey&) const = default;
};

enum : std::uint32_t { kUnknownObject = 1, kSomeStack = 2, kOwnKinds = 3 };

struct Recording {
  bool exact = false;
  bool stopped = false;  // memory ran out
  List<Thread> threads;
  List<Object> objects;
  Table<TouchKey, Touches, BytesHash<TouchKey>> touches;
  Table<PairKey, Meeting, BytesHash<PairKey>> meetings;
  History history;
  Places places;
  std::uint64_t left_out = 0;  // accesses while another thread was inside
  std::uint64_t threads_left_out = 0;
};

/// The lock, and the protection against ourselves. `patient`: waits for it.
class Inside {
 public:
  explicit Inside(bool patient);
  ~Inside();
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
  explicit operator bool() const { return recording_ != nullptr; }
  Recording* operator->() const { return recording_; }
  Recording& operator*() const { return *recording_; }

 private:
  Recording* recording_ = nullptr;
};

/// The number of this thread, which it gets now if it has none. The caller is inside.
std::uint32_t own_number(Recording& recording);
/// A thread that this one is about to create; UINT32_MAX: there are too many.
std::uint32_t expect_thread(const char* site, const char* routine, const void* routine_address);
/// Called by the thread itself, first and last.
void begin_thread(std::uint32_t number);
void end_thread();
void thread_failed(std::uint32_t number);
void joined(pthread_t handle, std::uint32_t number);
/// The thread that has this handle; UINT32_MAX: none of ours.
std::uint32_t number_of(pthread_t handle);
/// free() is about to be called.
void freed(void* address);
/// No more recording in this process: it was forked, or it ends.
void close_recording();
/// The process that is recorded.
pid_t own_process();
/// Wakes this process's threads for another sample, again and again.
void start_timer();

/// file.cpp: what was recorded, into the file that HEARTH_RECORD_FILE names.
void remember_file();
void write_file(const Recording& recording);

}  // namespace hearth::btlp::recorder
