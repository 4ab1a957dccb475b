// One budget of threads for many processes: the page that they share, and what each of them does with it.
//
// The page has one token for each thread of the budget. A process owns the tokens that carry its tag: the number of its slot
// and the slot's generation. So the sum of all is never more than there are tokens, whatever happens to whom. A tag whose
// generation is not its slot's any more is stale: such a token is as free as one with 0. Whoever makes a slot's generation
// larger thereby frees all of its tokens with one write: of a process that is dead, or that has had no region open for kKeep.
// A process with a region open is never robbed: the slot's word holds both, so one compare-and-swap decides who is first.
//
// A process keeps its tokens between regions: it then writes its own slot only. One that is short of its part says so in
// `wanted`; the others read that at the ends of their regions, and give back what they have above their parts.
//
// Nobody waits for anybody. Every value read is checked or used as a number only: the page may hold anything.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/cacheline.h"

namespace hearth {

inline constexpr std::uint32_t kBudgetMost = 4096;   // threads
inline constexpr std::uint32_t kBudgetSlots = 1024;  // processes
inline constexpr std::uint64_t kBudgetMagic = 0x3154'4745'4455'4248;  // "HBUDGET1"

/// One process's. Zero: nobody's.
struct alignas(kCacheLinePair) BudgetSlot {
  std::atomic<std::uint64_t> owner{0};  // budget_owner()
  std::atomic<std::uint64_t> word{0};   // generation << 32 | whether a region is open
  std::atomic<std::int64_t> ended{0};   // when the last region ended: CLOCK_MONOTONIC, ns
};

/// All zero at first.
struct BudgetPage {
  std::atomic<std::uint64_t> magic{0};
  std::atomic<std::uint32_t> slots_used{0};  // those beyond have never had an owner; grows
  alignas(kCacheLinePair) std::atomic<std::int64_t> wanted{0};  // when a process was short of its part last
  alignas(kCacheLinePair) std::atomic<std::uint64_t> tokens[kBudgetMost]{};  // 0, or generation << 32 | slot + 1
  BudgetSlot slots[kBudgetSlots]{};
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free && std::atomic<std::int64_t>::is_always_lock_free);

/// A process, for as long as the machine runs: its number and when it began, in clock ticks since the machine's start.
constexpr std::uint64_t budget_owner(std::uint32_t pid, std::uint64_t started) {
  return std::uint64_t{pid} << 42 | (started & ((std::uint64_t{1} << 42) - 1));
}
/// The owner that the process `pid` is now, from /proc; kBudgetNobody: it has ended; 0: that cannot be found out.
inline constexpr std::uint64_t kBudgetNobody = 1;  // as no process's number is 0
std::uint64_t budget_owner_now(std::uint32_t pid);
/// Whether the owner still runs, or may.
bool budget_owner_lives(std::uint64_t owner);

/// Maps the page that the file holds, which is made if it is not there. Null, with `why` and perhaps errno (0: it says nothing).
BudgetPage* map_budget_page(const char* path, const char*& why);
void unmap_budget_page(BudgetPage* page);

/// What one process has of a budget. One call at a time.
class ThreadBudget {
 public:
  using Lives = bool (*)(std::uint64_t owner);
  static constexpr std::int64_t kKeep = 10'000'000;    // ns without a region after which others may take the tokens
  static constexpr std::int64_t kLook = 20'000'000;    // between two looks for whom to take tokens from
  static constexpr std::int64_t kWanted = 50'000'000;  // how long `wanted` counts

  constexpr ThreadBudget() = default;

  /// Takes a slot for `owner`. It counts on the first `size` tokens. False: the page is no such page, or has no slot left.
  bool join(BudgetPage* page, std::uint32_t size, std::uint64_t owner, Lives lives);
  bool joined() const { return page_ != nullptr; }
  /// Gives all back.
  void leave();
  /// Leaves the slot to whom it belongs: for a child by fork().
  void forget() { *this = ThreadBudget(); }

  /// Up to `want` threads for a region that begins now; each call is followed by one of give().
  std::uint32_t take(std::uint32_t want, std::int64_t now);
  /// The region has ended that took so many.
  void give(std::uint32_t count, std::int64_t now);

  std::uint32_t held() const { return held_; }
  std::uint32_t in_use() const { return in_use_; }

 private:
  void open();
  void gather(std::uint32_t target, std::int64_t now);
  void collect(std::uint32_t goal);
  void drop_to(std::uint32_t goal);
  void look_around(std::int64_t now);
  std::uint32_t part(std::int64_t now);
  std::uint64_t tag() const { return std::uint64_t{generation_} << 32 | (slot_ + 1); }
  bool is_free(std::uint64_t token) const;
  bool is_wanted(std::int64_t now) const;
  bool claim(std::uint32_t slot, std::uint64_t before, std::uint64_t owner);
  BudgetSlot& mine() { return page_->slots[slot_]; }
  std::uint32_t slots_used() const;

  BudgetPage* page_ = nullptr;
  Lives lives_ = nullptr;
  std::uint64_t owner_ = 0;
  std::uint32_t size_ = 0, slot_ = 0, generation_ = 0;
  std::uint32_t held_ = 0, in_use_ = 0, regions_ = 0;
  std::int64_t next_look_ = 0;
};

}  // namespace hearth
