// What a team shares for its worksharing constructs.
//
// Members number the constructs that they meet, each kind for itself, over all regions of the team; since all
// members meet the same constructs in the same order, equal numbers mean the same construct. Numbers stand in
// the shared words, so that a word tells whether it is about my construct, about an older one (then I may
// take it over), or about a newer one. Nothing is set up before a construct, nothing is torn down after it,
// and a fast member runs ahead of a slow one:
//
// - `counter` (sections, monotonic and guided loops): number and next unit in one word. A member leaves such a construct
//   when nothing is left, so a member that finds a newer number knows that nothing is left of its own.
// - `ranges` (nonmonotonic loops): kWorkShares ranges a member, used in turn; loop.cpp tells the protocol.
// - `slots` (ordered, doacross, memory and reductions of a construct): state that a slow member still needs when a fast
//   one is at the next construct. Of kWorkShares in turn; a member waits for its slot until everybody has left the
//   construct that had it before.
//
// Numbers start again, and everything is wiped, when members may have met different numbers of constructs:
// after a cancelled region, and when the size of the team has changed (restart_workshares(), by the primary
// thread between regions).
#pragma once

#include <atomic>
#include <cstdint>

#include "runtime/state/team.h"
#include "runtime/state/thread.h"

namespace hearth::rt {

/// A slot. All fields but `number` and `left` are zero when a construct gets it.
struct alignas(kCacheLinePair) WorkShare {
  std::atomic<std::uint32_t> number{0};  // the construct that has it
  std::atomic<std::uint32_t> left{0};    // members that have left it
  std::atomic<void*> memory{nullptr};    // gcc's `mem`
  std::atomic<void*> reductions{nullptr};
  std::atomic<void*> flags{nullptr};  // doacross.cpp
  // First iteration of the chunk whose ordered regions may run. Its own line pair: the whole team polls it.
  alignas(kCacheLinePair) std::atomic<std::uint64_t> turn{0};
};

/// A member's iterations of a nonmonotonic loop (loop.cpp). Owner and thieves.
struct alignas(kCacheLinePair) StealRange {
  std::atomic<std::uint64_t> word;
  std::atomic<std::int32_t> location{-1};  // of the owner, in loop_affinity.h's loops; a hint
};

/// A member's turn to have its reduction data combined (reduction.cpp).
struct alignas(kCacheLinePair) ReduceCell {
  std::atomic<void*> data{nullptr};
};

struct LoopMemory;

struct WorkShares {
  alignas(kCacheLinePair) std::atomic<std::uint64_t> counter{0};
  alignas(kCacheLinePair) std::atomic<std::uint64_t> cancelled{0};  // mark of the cancelled construct
  alignas(kCacheLinePair) std::atomic<std::uint32_t> exhausted[Team::kWorkShares] = {};  // loop.cpp
  WorkShare slots[Team::kWorkShares];
  ReduceCell* reduce = nullptr;  // one a member
  StealRange* ranges = nullptr;  // capacity for each of kWorkShares
  LoopMemory* memory = nullptr;  // loop_affinity.h
};

/// Between regions, by the primary thread: members start counting anew. Makes the shared state of a team that
/// has none.
void restart_workshares(Team* team);
/// At the start of a region for which restart_workshares() was called, by each member.
void restart_member(Member* member);
void free_workshares(Team* team);

/// The next slot. Waits while members are more than kWorkShares constructs behind. Not for teams of one.
WorkShare* enter_share(Thread* self);
void leave_share(Thread* self, WorkShare* share);

/// Memory of the construct: `bytes` zeroed ones, the same for all members until the last has left.
void* share_memory(Thread* self, std::size_t bytes);
/// Leave what the construct kept in LoopState::share.
void end_share(Thread* self);

/// `cancel for` and `cancel sections`: such a construct ends in a barrier, so between two barriers of a
/// region at most one can be cancelled, and counting barriers names it.
void cancel_workshare(Thread* self);
bool workshare_cancelled(const Thread* self);
/// The same, or the region is cancelled: whoever waits in a construct for another member must not wait for
/// one that has left.
inline bool construct_cancelled(const Thread* self) {
  return self->team->cancel.load(std::memory_order_relaxed) != 0 || workshare_cancelled(self);
}

}  // namespace hearth::rt
