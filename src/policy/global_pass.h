// The global pass: from time to time, when an outermost region begins, everybody's load is looked at, and threads and memory
// move if that pays (Broquedis et al. 2009, 3.1 and "future work"). What is planned is relocation.h's business; here is
// when to look, whether it is worth a plan, and whether what has moved was to the good.
//
// A *pass* is what the program does from one begin of an outermost region to the next. Looks are some passes apart. Pure, no
// clock: the runtime and the simulator tell how long passes have taken. One thread at a time.
#pragma once

#include "policy/relocation.h"

namespace hearth::policy {

/// The largest load of a location, by its CPUs, as a multiple of the mean. 1 if nobody has any.
float unevenness(const Standing& standing);

/// Loads from what programs have said: a thread's is what it uses of the memory attached to it and to the bubbles around it, by
/// passes, at most 1. False: some thread that has a place uses nothing, so nobody knows; then all loads are 1.
bool weigh_by_hints(BubbleTree& tree, const PlaceId* place);
/// `work_ns` of each thread is what it was busy in a pass. What has memory attached is taken to go through that all the time: sets
/// the passes of attachments, and leaves in work_ns what they do not explain.
void weigh_by_time(BubbleTree& tree, const PlaceTree& places, const CostModel& costs, const PlaceId* place);

/// What the passes since the last look were like.
struct PassTimes {
  std::uint32_t passes = 1;
  double mean_ns = 0;
  /// The thread that worked longest has moved, or somebody has moved to its location: if passes take longer now, that is
  /// why.
  bool slowest_has_moved = false;
};

class GlobalPass {
 public:
  enum class Turn : std::uint8_t {
    none,
    look,  // whether something had better move: then moved() or stayed()
    undo,  // what moved last did harm: it goes back
  };

  /// At a look. `unevenness`: of what has been loaded how since the last one.
  Turn begin(const PassTimes& last, float unevenness);
  /// A plan was worth it, and is under way; it takes so long.
  void moved(double ns);
  /// How long what moves next may take: it may have to go back, and both together are to be a small part of all time, as is
  /// what earlier moves have lost. Moves that gained pay for others.
  double budget_ns() const;
  /// Nobody will tell what that was worth.
  void forget_trial() { on_trial_ = false; }
  bool on_trial() const { return on_trial_; }
  /// The look took its time, too.
  void took(double ns) { look_ns_ = ns; }
  /// The next look is so many passes after this one.
  std::uint32_t passes_to_next() const { return interval_; }
  /// How many passes a plan may count on: those that were seen, as nobody knows what is to come.
  double horizon() const { return static_cast<double>(seen_ < kLongestHorizon ? seen_ : kLongestHorizon); }

  static constexpr std::uint32_t kLongestHorizon = 1000;
  /// Looks are at least so far apart, and take at most so large a part of all time.
  static constexpr double kLeastApartNs = 1e6, kMostOfAllTime = 0.01;
  static constexpr double kMostSpent = 0.02;
  /// And so much in any case: looks begin with passes that are not much shorter.
  static constexpr double kFreeNs = 2e6;
  /// Passes from which it shows what a move was worth; not those in which it was made.
  static constexpr std::uint32_t kTrial = 2;
  /// They were longer, or shorter, by so much: harm, or gain.
  static constexpr double kHarm = 1.03, kGain = 0.99;
  /// So much longer, one is enough.
  static constexpr double kPlainHarm = 1.1;
  /// A load that has not changed by more than this is not planned for again…
  static constexpr float kChange = 0.1F;
  /// …until so many times as many passes have been seen: then a plan may pay that did not.
  static constexpr std::uint64_t kMorePasses = 2;
  /// After a move that gained nothing as many looks are left out as there were, at most so many.
  static constexpr std::uint64_t kMostRest = 1024;

 private:
  Turn judge(const PassTimes& last);

  std::uint64_t seen_ = 0;           // passes
  double seen_ns_ = 0;               // they took
  double spent_ns_ = 0;              // on moves, and on passes that were longer because of them
  double move_ns_ = 0;               // of the last move
  std::uint64_t looks_ = 0;
  std::uint64_t planned_at_ = 0;     // how many had been seen then
  float planned_for_ = 0;            // which unevenness; 0: no plan was made
  std::uint32_t interval_ = 1;       // passes
  double look_ns_ = 0;
  double usual_ns_ = 0;              // a pass before anything moved
  double trial_ns_ = 0;              // passes since, together
  std::uint32_t trial_ = 0;          // how many
  bool on_trial_ = false, settles_ = false, blamed_ = false;
  std::uint64_t rests_until_ = 0;    // looks
};

}  // namespace hearth::policy
