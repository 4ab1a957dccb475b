// A thread's way into its spill file: append-only, without locks, and without system calls but once in kBlock bytes.
//
// A Writer belongs to one thread. It writes into one mapped block of a file of its own, `<pid>.<thread>.open`, and copies
// it to the end of the spill file when it is full. So what is written lies in the page cache at once, whatever becomes of
// the process, and always in the same few pages, which stay in the core's cache. All of the mapped file is written with
// zeros first, so that a full disk is an error of pwrite() and no signal. No file stays open: a program that closes
// descriptors it does not know harms nobody.
#pragma once

#include <cstddef>
#include <cstdint>

#include "record/counters.h"
#include "record/page_faults.h"
#include "record/spill.h"

namespace hearth::record {

/// Where this process records to. Once, before the first Writer. False, and said, when it cannot be.
bool open_recording(const char* folder);
/// One more line of the process's text file; false when it cannot be written.
bool note(const char* format, ...) __attribute__((format(printf, 1, 2)));
/// Something ends the recording of the whole process: said once on standard error and in the text file.
void stop_recording(const char* what, int error);
bool recording_stopped();
/// The process is a child by fork() and shares its parent's files: it must not touch them.
void leave_recording();

/// How far the clock can tell where it was read: with the time comes the processor.
struct Moment {
  std::uint64_t ticks;
  std::uint32_t cpu;
};
Moment moment();

class Writer {
 public:
  /// For the calling thread; null when nothing is to be recorded.
  static Writer* make(std::uint32_t thread);
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  /// Seals and closes; `this` is gone.
  void close();
  std::uint64_t next_id() { return ++last_id_; }

  /// Room for a record of so many words, or null. publish() makes it one.
  std::uint64_t* room(std::size_t words) {
    if (static_cast<std::size_t>(end_ - next_) < words && !turn()) return nullptr;
    return next_;
  }
  void publish(Kind kind, std::size_t words, std::uint64_t ticks) {
    // Release, and last, so that the record is there as a whole or not at all. It pairs with the end of the process:
    // whoever reads what a killed one left sees a prefix of its stores.
    __atomic_store_n(next_, first_word(kind, words, ticks), __ATOMIC_RELEASE);
    next_ += words;
  }
  template <class... Words>
  void put(Kind kind, std::uint64_t ticks, Words... words) {
    std::uint64_t* const record = room(1 + sizeof...(words));
    if (record == nullptr) return;
    std::uint64_t* at = record;
    ((*++at = static_cast<std::uint64_t>(words)), ...);
    publish(kind, 1 + sizeof...(words), ticks);
  }

 private:
  // First what each record needs: in few cache lines, since the program has used the cache meanwhile.
  std::uint64_t* next_ = nullptr;
  std::uint64_t* end_ = nullptr;  // of the records' room, two words before that of the block
  std::uint64_t last_id_;

 public:
  /// What the present block has said last, which short forms of records lean on; zeros as it begins.
  struct Said {
    std::uint64_t parent = 0, task = 0, code = 0;  // of the last task_create
    std::uint64_t left = 0, entered = 0;           // by the last switch
    std::uint32_t cpu = 0;
  };
  Said said;  // look only after room(), which may begin a block

  // For the tool: what its thread is about.
  std::uint64_t created = 0;  // ticks as the last task was created; what is told of it then has the same time
  bool making = false;        // the runtime is at work on it
  // Of a series of created tasks: how many more come before the next one of which is told how long making it took.
  std::uint8_t until_timed = 0;
  bool counts = false;  // `counters` are open
  PageFaults faults;
  std::uint64_t lock_wanted = 0;  // ticks as it asked for a lock
  int place = -2;                 // on a pretended machine, as told last
  Counters counters;

 private:
  explicit Writer(std::uint32_t thread) : last_id_(first_id(thread)), thread_(thread) {}
  /// The next block; false when there is none any more.
  bool turn();
  /// The file for the block that is being written, or null.
  static std::byte* map_open_block(std::uint32_t thread);
  /// The present block, sealed, becomes part of the spill file; false, and the recording stopped, when it cannot.
  bool append_block();
  /// The present block is complete: readers can prove that it is whole.
  void seal();
  void open_block();

  std::byte* block_ = nullptr;  // the present one, mapped
  std::uint64_t blocks_ = 0;  // that were opened; the last is the present one
  std::uint32_t thread_;
};

}  // namespace hearth::record
