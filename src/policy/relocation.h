// Relocation: whether threads move to their memory, memory to its threads, both, or nobody. Whichever costs least over the
// passes that are to come (Broquedis et al. 2009, 4.4): cost = what moving takes + passes x the time of a pass.
//
// Pure: it sees where everybody is (Standing) and what everything costs (CostModel), works in the caller's memory, and says
// what to do; the runtime does it, the simulator simulates it. How it decides: docs/internals/bubbles.md.
#pragma once

#include "policy/bubble_policy.h"

namespace hearth::policy {

enum class Action : std::uint8_t {
  stay,
  move_threads,  // to their memory
  migrate_data,  // to those who use it
  mixed,         // the threads go, and what memory they had with them follows
  steal_group,   // threads, or a bubble, and their memory go to where is less to do
  spread_data,   // over several locations, for their bandwidth: the others have some to spare
  gather_data,   // that was spread: others need the bandwidth
};
const char* action_name(Action action);

/// Who moves pages, and when.
enum class Mover : std::uint8_t {
  owner,    // at once: one thread for each owner, all owners side by side
  members,  // announced: every thread that will touch them moves its part first, all side by side
  touch,    // trapped: page by page, as they are touched
};

/// What becomes of an attachment's memory: a location, or one of these.
inline constexpr Location kStays = -1;
inline constexpr Location kOverNeighbours = -2;  // the owner's location and those nearest to it
inline constexpr Location kOverAll = -3;

/// Where everybody would be. `place` by entity; `target` by attachment.
struct Arrangement {
  const PlaceId* place;
  const Location* target;
};

struct Prediction {
  double first_ns = 0;       // until all has moved
  double pass_ns = 0;        // of each pass then
  double mean_ns = 0;        // of a pass: what a thread takes alone, the mean of all
  std::int32_t threads = 0;  // that change places
  std::uint64_t pages = 0;   // that move

  double ns(double passes) const { return first_ns + passes * pass_ns; }
  /// What a plan is judged by. A pass is as long as its slowest part; but since what is slowest may change, what the others
  /// take counts a little, too.
  double score(double passes) const { return first_ns + passes * (pass_ns + kOthersCount * mean_ns); }
  static constexpr double kOthersCount = 0.1;
};

struct Horizon {
  double passes = 1;  // to come, as far as is known or hinted
  Mover mover = Mover::members;
  bool may_move_threads = true;
  bool may_move_data = true;
  /// Threads go to where is less to do, not to where they are drawn: for who is content with what hints have brought about.
  bool only_balances = false;
  /// Where nobody knows a memory's bandwidth: so large a part of its location's CPUs can get all lines that they ask for. 0: all
  /// of them can.
  float fed_cpus = 0;
  /// Moving may take so long; 0: as long as it likes.
  double most_first_ns = 0;
};

struct Relocation {
  Action action = Action::stay;
  Prediction now;   // if everybody stays
  Prediction then;  // as planned
};

/// Memory for the functions below: so many bytes, for 8-byte words, used only during a call.
std::size_t relocation_bytes(const BubbleTree& tree, const PlaceTree& places);

/// What an arrangement would take, from where everybody is now. `fed_cpus`: as in Horizon.
Prediction predict(const Standing& standing, const Arrangement& then, Mover mover, void* memory, float fed_cpus = 0);

/// The best that is found for what is inside `top`, which may use all CPUs; the others stay, and are reckoned with. Writes
/// `place` (as distribute() does, from standing.place) and `target`, whatever the action is. `stack` may be off: then only
/// memory moves. Something other than to stay has to gain at least kLeastGain.
Relocation plan_relocation(const BubbleStack& stack, const Standing& standing, EntityId top, const Horizon& horizon,
                           PlaceId* place, Location* target, void* memory);
inline constexpr double kLeastGain = 0.01;

/// Where memory had better be made that `top` is going to use, as its attachments say, whose bytes lie nowhere yet:
/// kStays (near its threads), kOverNeighbours or kOverAll (table 1 of the paper). Where bandwidth is not known, or not what
/// everybody uses: over the neighbours as long as no more than half of the locations have threads, and those of `top` have as
/// many as CPUs.
Location best_layout(const Standing& standing, EntityId top, bool uses_are_known, void* memory);

/// Moves threads and bubbles from locations that have most to do for their CPUs to those that have least, until none has
/// over kBalanced times the mean, those with least memory first. Writes `place`; returns how many were moved. The tree is
/// summed up; loads are what counts.
std::int32_t rebalance(const BubbleStack& stack, const Standing& standing, EntityId top, PlaceId* place, void* memory);
inline constexpr float kBalanced = 1.15F;

}  // namespace hearth::policy
