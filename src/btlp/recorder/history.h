// Who has touched a byte, and whether that concerns the thread that touches it now.
//
// The history of a byte is a number: equal histories are stored once, and each step from one to the next is worked out
// once. Threads are ordered by creation and join alone (vector clocks), as the static analysis has it; locks order
// nothing. Not synchronised: the recorder holds its lock.
#pragma once

#include <cstdint>

#include "btlp/recorder/arena.h"

namespace hearth::btlp::recorder {

/// What an access has in common with earlier ones of another thread.
struct Conflict {
  enum : std::uint32_t {
    reads_theirs = 1,       // it reads what the other one wrote
    writes_where_read = 2,  // it writes what the other one read
    writes_where_written = 4,
    flow = 8,  // what it reads was written last by the other one
  };
  std::uint32_t other = 0;
  std::uint32_t what = 0;
};

class History {
 public:
  static constexpr std::uint32_t kUntouched = 0;

  /// The number of the thread: 0, 1, … The first one has no creator.
  std::uint32_t add_thread(std::int32_t creator);
  void joined(std::uint32_t by, std::uint32_t ended);

  struct Step {
    std::uint32_t next = 0;   // the history afterwards
    std::uint32_t first = 0;  // in conflicts()
    std::uint32_t count = 0;
  };
  /// Handed over at a creation, or overwritten before a join: no conflict.
  Step step(std::uint32_t history, std::uint32_t thread, bool write);
  const Conflict* conflicts(const Step& step) const { return conflicts_.data() + step.first; }
  /// Histories that have lost their oldest thread because they had too many.
  std::uint64_t forgotten() const { return forgotten_; }

 private:
  struct Touch {
    std::uint32_t thread = 0;
    std::uint32_t read = 0, write = 0;  // the thread's clock, when it did so last; 0: never
  };
  struct State {
    std::uint32_t first = 0, count = 0;  // in touches_, by thread
    std::uint32_t last_writer = kNobody;
  };
  struct Thread {
    std::int32_t creator = -1;
    std::uint32_t clock = 1;
    List<std::uint32_t> seen;  // of every other thread's clock: what came before by creations and joins
    List<std::uint32_t> birth;
  };
  enum class Order : std::uint8_t { concurrent, handed, joined };
  struct Key {
    std::uint32_t state = 0, thread = 0, clock = 0, write = 0;
    bool operator==(const Key&) const = default;
  };
  static constexpr std::uint32_t kNobody = UINT32_MAX;

  Order order(std::uint32_t earlier, std::uint32_t clock, std::uint32_t now) const;
  bool creates(std::uint32_t above, std::uint32_t below) const;
  std::uint32_t store(const List<Touch>& touches, std::uint32_t last_writer);

  List<Thread> threads_;
  List<Touch> touches_;
  List<State> states_{State()};
  List<Conflict> conflicts_;
  Table<std::uint64_t, List<std::uint32_t>> states_of_hash_;
  Table<Key, Step, BytesHash<Key>> steps_;
  std::uint64_t forgotten_ = 0;
};

}  // namespace hearth::btlp::recorder
