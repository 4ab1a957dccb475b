// Forest: a program of teams on a visit's machine, as bubbles that the policies of the runtime place; and what the simulator
// says of every arrangement of its threads and vectors. Policies plan with the figures that the simulator charges
// (sim/cost/costs.h), by their own, plainer, reckoning.
//
// Used by one thread; the visit and the streams outlive it.
#pragma once

#include <memory>
#include <vector>

#include "papers/cells.h"
#include "policy/global_pass.h"
#include "stream.h"

namespace hearth::papers {

class Forest {
 public:
  Forest(const Visit& visit, const sim::StreamMachine& streams);

  using Team = placement::EntityId;
  using Node = placement::Location;

  Team add_team(std::uint32_t threads);
  /// Memory that all threads of a team use, a part each: so many bytes on one node.
  void give(Team team, double bytes, Node on, bool written);
  void end_teams();
  /// From now on its threads go through its memory so often in a pass, while hints say otherwise.
  void use(Team team, double passes, double hinted);
  /// Policies do not know what memories can give.
  void forget_bandwidths();

  /// Where everybody is, and every attachment's memory; kStays: where it was given.
  struct Arrangement {
    std::vector<placement::PlaceId> place;
    std::vector<placement::Location> target;
  };
  /// Nobody has moved yet: as place() has left them.
  const Arrangement& now() const { return now_; }
  /// Places all teams by a stack of policies, given by its name.
  void place(const char* word);
  /// A team by `cache`, on the cores of one node.
  void place_at(Team team, Node node);
  /// The threads go where the policies put them now that memory is known.
  Arrangement threads_to_memory() const;
  /// The memory that is written, or read, or both, goes to where its team is.
  Arrangement memory_to_threads(const Arrangement& threads, bool read, bool written) const;
  policy::Relocation plan(double passes, Arrangement& then) const;
  placement::Location best_layout() const;
  Arrangement laid_out(placement::Location target) const;

  policy::Prediction predicted(const Arrangement& then, policy::Mover mover) const;
  /// A pass begins, and the last one took so long (0: there was none). What `pass` wants is done; returns how long moving
  /// takes.
  double balance(policy::GlobalPass& pass, double last_ns);

  /// By the simulator.
  double first_ns(const Arrangement& then, policy::Mover mover) const;
  double pass_ns(const Arrangement& then) const;
  /// By thread, in the order in which they were added.
  std::vector<std::uint32_t> nodes() const;

 private:
  std::vector<double> parts(placement::AttachmentId attachment, const Arrangement& then) const;
  double times(placement::AttachmentId attachment) const;
  double move(const Arrangement& then);
  policy::Standing standing() const { return {tree_, places_, *costs_, now_.place.data()}; }

  const sim::StreamMachine& streams_;
  placement::PlaceTree places_;
  std::unique_ptr<placement::CostModel> costs_;
  placement::BubbleTree tree_;
  Arrangement now_, before_;  // before_: what undoes the last move
  std::vector<double> times_;  // by attachment: how often it is gone through; empty: once
  std::vector<std::uint64_t> place_memory_, tree_memory_;
  mutable std::vector<std::uint64_t> scratch_;
};

}  // namespace hearth::papers
