// Tasks that say nothing of their data: what was seen of the tasks of a construct foretells where the next one's data is.
//
// Two signs. A word of the task's arguments may be the address of what it uses: the memory there tells where the task
// belongs. And a task with the same arguments as an earlier one belongs where that one ran. A construct is watched first:
// its tasks run wherever they do, and each sign is held against the clock. Only if tasks take longer elsewhere is the sign
// followed; then the construct's account (account.h) goes on comparing. Where no memory is far in truth (a pretended or an
// emulated machine) the clock tells nothing, and a sign is followed as soon as it tells places apart.
//
// Pure. Any thread, at any time: all numbers are hints, relaxed, and of two that write at once one may be lost.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "placement/need.h"
#include "policy/tuning.h"

namespace hearth::policy {

using placement::Location;

/// By what the place of a task's data is foretold.
enum class Sign : std::uint8_t {
  none,       // by its clauses
  arguments,  // by the memory that its arguments point to
  runs,       // by where the last task with the same arguments ran
};

/// One word of the arguments of a construct's tasks.
class ArgumentWord {
 public:
  /// A task has this value there. `is_mapped(value)` tells whether there is memory at that address; it is asked about few.
  template <class IsMapped>
  void saw(std::uint64_t value, IsMapped is_mapped) {
    note_change(value);
    if (tells_kind()) return;
    if (value == 0) return;
    if (could_be_address(value) && is_mapped(value))
      addresses_.store(get(addresses_) + 1, std::memory_order_relaxed);
    else
      others_.store(get(others_) + 1, std::memory_order_relaxed);
  }
  /// The tasks have addresses there, and different ones: what is the same for all tells nothing of one.
  bool is_sign() const { return is_address() && varies(); }
  bool is_address() const { return get(addresses_) >= tuning::kTellingWords && get(others_) == 0; }
  bool varies() const { return get(seen_) != 0 && often(get(changes_)); }
  /// What of the value tells the task from others that are to count as different: an address as a whole; of numbers the halves
  /// that differ from task to task, since two of 32 bits may share a word. What changes now and then counts rounds, or is
  /// what lay in memory before.
  std::uint64_t name_of(std::uint64_t value) const {
    if (is_address()) return value;
    const std::uint64_t low = often(get(low_changes_)) ? value & UINT32_MAX : 0;
    return often(get(high_changes_)) ? value >> 32 << 32 | low : low;
  }
  /// How many bytes from there on a task is taken to use: what lies between the nearest two; where that is less than a page,
  /// which no block is, some pages. A byte until two were seen.
  std::uint64_t reach() const;

  /// A user's address beyond the first pages.
  static bool could_be_address(std::uint64_t value) { return value >= tuning::kLeastAddress && value >> 47 == 0; }

 private:
  using Count = std::atomic<std::uint32_t>;
  template <class Number>
  static Number get(const std::atomic<Number>& number) {
    return number.load(std::memory_order_relaxed);
  }
  bool often(std::uint32_t changes) const { return changes * tuning::kVaryingPart >= get(seen_); }
  bool tells_kind() const { return get(others_) != 0 || get(addresses_) >= tuning::kTellingWords; }
  void note_change(std::uint64_t value);

  // The latest values; of any two that follow each other so closely some are neighbours.
  static constexpr std::uint32_t kKept = 32;
  std::atomic<std::uint64_t> kept_[kKept] = {}, gap_{UINT64_MAX};
  Count seen_{0}, changes_{0}, low_changes_{0}, high_changes_{0}, addresses_{0}, others_{0};
};

/// How long tasks take where a sign says that they belong, and elsewhere: logarithms, since tasks of one construct may be
/// of very different lengths.
class Comparison {
 public:
  enum class Answer : std::uint8_t { unknown, longer_elsewhere, the_same };
  void ran(bool at_home, std::uint64_t time);
  /// Tasks took longer elsewhere by more than chance makes likely and by enough to matter; or by so many they did not.
  Answer answer() const;
  void forget();

 private:
  struct Side {
    std::atomic<std::int64_t> count{0}, sum{0}, squares{0};
    double mean() const;
    double square_of_error() const;  // of the mean
  };
  Side home_, far_;
};

/// Where tasks ran, by a hash of their arguments. Of two that fall together the later one counts.
class RunMemory {
 public:
  static constexpr std::size_t kEntries = 4096;
  /// Unknown: no such task has run.
  Location where(std::uint64_t signature) const;
  /// One that ran somewhere else than it belongs may have done so by chance: it belongs elsewhere after kMovesRun in a row.
  void ran(std::uint64_t signature, Location here);

 private:
  std::atomic<std::uint32_t> entries_[kEntries] = {};  // 16 bits of the hash, then location + 1, then strays
};

/// A construct's tasks.
class SilentConstruct {
 public:
  static constexpr std::size_t kWords = 24;

  enum class State : std::uint8_t { watched, followed, dropped };
  State state() const { return get(state_); }
  /// Of one that is followed.
  Sign sign() const { return get(sign_); }
  /// How long a task takes (ns); 0: none has ended.
  std::uint64_t task_time() const { return get(time_); }

  /// One task of a dropped construct came by. True: it is to be watched anew, since programs have phases.
  bool comes_again();

  /// A watched task is over. Unknown locations: the sign has told nothing.
  struct Seen {
    Location by_arguments = placement::kUnknown;
    Location by_runs = placement::kUnknown;
    Location here = placement::kUnknown;
    std::uint64_t time = 0;                             // 0: it has run others meanwhile, so its time says nothing
    bool clock_tells = true;                            // memory far away takes longer
    std::int32_t locations = placement::kMaxLocations;  // of the machine
  };
  /// True: the construct is followed from now on.
  bool watched(const Seen& seen);
  /// Following has brought nothing.
  void drop();
  /// Some of the first `count` words change from task to task. Where none does, where the last task ran tells nothing of the
  /// next one.
  bool tells_tasks_apart(std::size_t count) const;

  ArgumentWord words[kWords];

 private:
  template <class Number>
  static Number get(const std::atomic<Number>& number) {
    return number.load(std::memory_order_relaxed);
  }
  // Where a sign says that tasks belong.
  struct Homes {
    std::atomic<std::uint32_t> told{0}, at[placement::kMaxLocations] = {};
    void add(Location where);
    bool tell_places_apart(std::int32_t locations) const;
    void forget();
  };
  Sign judged(const Seen& seen) const;
  void begin_anew();

  std::atomic<State> state_{State::watched};
  std::atomic<Sign> sign_{Sign::none};
  std::atomic<std::uint32_t> watched_{0}, came_{0}, timed_{0};
  std::atomic<std::uint64_t> time_{0};
  Homes argument_homes_, run_homes_;
  Comparison by_arguments_, by_runs_;
};

/// A hash of words, one after the other; begin with 0.
constexpr std::uint64_t hash_word(std::uint64_t hash, std::uint64_t word) {
  hash = (hash ^ word) * 0x9e3779b97f4a7c15;
  return hash ^ hash >> 32;
}

}  // namespace hearth::policy
