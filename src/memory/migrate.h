// Migration: pages of some ranges go to locations, moved by as many threads as like to help.
//
// One thread adds ranges; then any number call step(), each of which claims batches of 512 pages (huge pages whole) until
// none is left or its time is over. A batch is one question where its pages are, and one call that moves those that are
// elsewhere, both made by the claimant. Whoever ends the last batch tells the tables of owners and areas. The object must
// live until done(), and its ranges need not: pages that are gone are counted as untouched.
//
// Where the kernel knows nothing of the places (a pretended machine, home caches) no call is made; the new places are
// noted. A refused call ends the migration, costs one warning, and leaves the memory where it is.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "memory/homes.h"
#include "memory/kernel_pages.h"
#include "placement/need.h"

namespace hearth::memory {

/// Why pages move.
enum class MoveCause : std::uint8_t {
  call,     // of the program: migrate, distribute, follow
  hint,     // a plan that follows what the program has said
  balance,  // a plan of Hearth's own
  touch,    // announced next touch: the thread is about to use them
  trap,     // a touch of closed pages
};

/// Pages that the calling thread has moved, told once for many.
struct MoveNote {
  MoveCause cause = MoveCause::call;
  std::uint64_t pages = 0;
  Location to = kUnknown;   // kUnknown: several
  std::uint64_t begin = 0;  // an address among them; 0: all over memory
};
/// Called by the thread that has moved them, without locks; of closed pages by who opens the rest. Null: nobody wants to know.
using MoveObserver = void (*)(const MoveNote& note);
void set_move_observer(MoveObserver observer);
void tell_moved(const MoveNote& note);

struct MigrationCounts {
  std::uint64_t moved = 0;      // pages
  std::uint64_t there = 0;      // were where they should be
  std::uint64_t untouched = 0;  // nobody has touched them, or they are gone
  std::uint64_t pinned = 0;     // EBUSY: for devices, or somebody else moves them just now
  std::uint64_t shared = 0;     // EACCES: with another process, as after fork()
  std::uint64_t failed = 0;     // the target has no room, or another error
  bool refused = false;         // the system forbids the calls

  std::uint64_t stayed() const { return pinned + shared + failed; }
};

/// Counts that several threads add to.
class MigrationTally {
 public:
  void add(const MigrationCounts& more);
  MigrationCounts sum() const;
  bool refused() const { return refused_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> moved_{0}, there_{0}, untouched_{0}, pinned_{0}, shared_{0}, failed_{0};
  std::atomic<bool> refused_{false};
};

/// What one batch needs beside the counts; too large for a signal stack.
struct MigrationScratch {
  void* pages[kernel::kMostPagesAtOnce];  // all of them, then those that are to move
  int status[kernel::kMostPagesAtOnce];
  int moved[kernel::kMostPagesAtOnce];
  int nodes[kernel::kMostPagesAtOnce];
};

/// Where the pages of a range go: page i, counted from `first`, to at[i % count].
struct Targets {
  const Location* at = nullptr;
  std::int32_t count = 0;
  std::uint64_t first = 0;

  Location of(std::uint64_t address) const {
    return count == 1 ? *at : at[(address - first) / kPage % static_cast<std::uint64_t>(count)];
  }
};

/// Moves at most 512 whole pages, notes their places in PageMap, and corrects costs(). Async-signal-safe once costs() and
/// PageMap have been used.
void move_batch(placement::ByteRange pages, const Targets& targets, MigrationScratch& scratch, MigrationCounts& counts);

/// What all migrations of this process and all touches of closed pages have done so far.
MigrationCounts all_migrations();

class Migration {
 public:
  /// How long one step() holds its caller up unless it is told otherwise. A batch is not cut short.
  static constexpr std::uint64_t kHoldNs = 20'000'000;
  static constexpr std::uint64_t kNoLimit = UINT64_MAX;

  explicit Migration(MoveCause cause = MoveCause::call) : cause_(cause) {}
  ~Migration();
  Migration(const Migration&) = delete;
  Migration& operator=(const Migration&) = delete;

  /// Before the first step(), by one thread. `range`: whole pages. A location without memory stands for the nearest that
  /// has some. False: no memory, a location that does not exist, or pages that small managed blocks share.
  bool add(placement::ByteRange range, Location to) { return add_in_turn(range, &to, 1); }
  /// Page i of the range to at[i % count]; `at` is copied.
  bool add_in_turn(placement::ByteRange range, const Location* at, std::int32_t count);

  /// True: nothing is left to claim. Others may be busy with their last batch; done() tells.
  bool step(std::uint64_t hold_ns = kHoldNs);
  /// Every batch has ended, and the tables know. Acquire: what the movers counted is seen.
  bool done() const { return finished_.load(std::memory_order_acquire) == batches_; }
  /// Batches that nobody has claimed.
  std::uint64_t left() const;
  /// After done(); before, what has ended so far.
  MigrationCounts counts() const { return tally_.sum(); }

 private:
  struct Part {
    placement::ByteRange range;
    std::uint64_t first_batch;
    Location* at;  // one, or `count` in memory of their own
    std::int32_t count;
    Location one;
  };
  static constexpr std::int32_t kInline = 2;

  bool grow();
  const Part& part_of(std::uint64_t batch) const;
  static Targets targets_of(const Part& part);
  void run(std::uint64_t batch, MigrationScratch& scratch, MoveNote& note);
  void settle();

  const MoveCause cause_;
  Part* parts_ = inline_;
  std::int32_t count_ = 0, room_ = kInline;
  std::uint64_t batches_ = 0;
  Part inline_[kInline];
  std::atomic<std::uint64_t> next_{0};      // the next batch to claim
  std::atomic<std::uint64_t> finished_{0};  // batches; the last one counts when the tables know
  std::atomic<std::uint64_t> ended_{0};     // batches
  MigrationTally tally_;
};

}  // namespace hearth::memory
