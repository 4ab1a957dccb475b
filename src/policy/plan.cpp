// The search for the arrangement that costs least: a few ways to place the threads, each with a few ways to place memory.
#include <algorithm>

#include "policy/arrangement.h"
#include "policy/pass_time.h"

namespace hearth::policy {
namespace {

enum class Threads : std::uint8_t { stay, to_memory, rebalanced, stolen };
enum class Data : std::uint8_t { stays, all, written, only_read, used_most, used_often, over_neighbours, over_all };

// Of how often the bytes are used that are used most: what counts as used so, too.
constexpr float kMost = 0.5F, kOften = 0.1F;

// One more arrangement has to be this much better than the best so far: of equals, the one with less to move, which is
// tried first.
constexpr double kBetter = 1 - 1e-6;

bool is_written(const Attachment& facts) { return facts.access != placement::Access::read; }

class Search {
 public:
  Search(const BubbleStack& stack, const Standing& standing, EntityId top, const Horizon& horizon, PlaceId* place,
         Location* target, void* memory)
      : stack_(stack), s_(standing), top_(top), horizon_(horizon), best_place_(place), best_target_(target) {
    auto* at = static_cast<std::byte*>(memory);
    scratch_ = at;
    at += scratch_bytes(s_.tree, s_.places);
    place_ = reinterpret_cast<PlaceId*>(at);
    target_ = reinterpret_cast<Location*>(place_ + s_.tree.entities());
  }

  static std::size_t scratch_bytes(const BubbleTree& tree, const PlaceTree& places) {
    const std::size_t most = std::max(PassTime::bytes_for(places), planning_bytes(tree, places));
    return (most + 7) / 8 * 8;
  }

  Relocation run() {
    Relocation found;
    std::copy_n(s_.place, s_.tree.entities(), best_place_);
    std::fill_n(best_target_, s_.tree.attachments(), kStays);
    for (AttachmentId a = 0; a < s_.tree.attachments(); ++a)
      if (s_.tree.is_inside(s_.tree.attachment(a).owner, top_))
        most_uses_ = std::max(most_uses_, uses(s_.tree.attachment(a)));
    found.now = found.then = predict(s_, {s_.place, best_target_}, horizon_.mover, scratch_, horizon_.fed_cpus);
    // Where threads only wait for lines, memory that is farther away helps nobody.
    lacks_bandwidth_ = found.now.pass_ns > 1.1 * found.now.mean_ns;
    const double stay = found.now.score(horizon_.passes);
    double best = stay;
    for (const Threads threads : {Threads::stay, Threads::to_memory, Threads::rebalanced, Threads::stolen}) {
      if (!place_threads(threads)) continue;
      for (const Data data : {Data::stays, Data::only_read, Data::written, Data::used_most, Data::used_often, Data::all,
                              Data::over_neighbours, Data::over_all}) {
        if (!place_data(threads, data)) continue;
        const Prediction then = predict(s_, {place_, target_}, horizon_.mover, scratch_, horizon_.fed_cpus);
        // If the neighbours' bandwidth does not help, that of all does not.
        if (data == Data::over_neighbours) lacks_bandwidth_ = then.pass_ns < found.now.pass_ns;
        if (horizon_.most_first_ns > 0 && then.first_ns > horizon_.most_first_ns) continue;
        const double score = then.score(horizon_.passes);
        if (score >= kBetter * best || then.ns(horizon_.passes) > found.now.ns(horizon_.passes)) continue;
        best = score;
        found = {action_of(threads, data), found.now, then};
        std::copy_n(place_, s_.tree.entities(), best_place_);
        std::copy_n(target_, s_.tree.attachments(), best_target_);
      }
    }
    if (best <= (1 - kLeastGain) * stay) return found;
    std::copy_n(s_.place, s_.tree.entities(), best_place_);
    std::fill_n(best_target_, s_.tree.attachments(), kStays);
    return {Action::stay, found.now, found.now};
  }

 private:
  // False: there is no such way, or it is one that was tried.
  bool place_threads(Threads way) {
    std::copy_n(s_.place, s_.tree.entities(), place_);
    if (way == Threads::stay) return true;
    if (!horizon_.may_move_threads || stack_.above == nullptr) return false;
    if (way == Threads::to_memory && horizon_.only_balances) return false;
    switch (way) {
      case Threads::to_memory:
        distribute(stack_, s_.tree, s_.places, s_.costs, top_, placement::kWholeMachine, place_, scratch_);
        break;
      case Threads::rebalanced: rebalance(stack_, s_, top_, place_, scratch_); break;
      default: steal(); break;
    }
    return somebody_moves();
  }

  bool somebody_moves() const {
    for (EntityId e = top_; e != kNoEntity; e = s_.tree.next_inside(e, top_))
      if (s_.tree[e].is_thread && s_.place[e] != kNoPlace && !s_.places.holds(place_[e], s_.place[e])) return true;
    return false;
  }

  // For the first location where nobody is.
  void steal() {
    for (Location i = 0; i < s_.places.locations(); ++i) {
      const PlaceId idle = s_.places.place_of_location(i);
      if (idle == kNoPlace || somebody_is_at(idle)) continue;
      const EntityId entity = stack_.above->steal(s_, idle);
      if (entity == kNoEntity || !s_.tree.is_inside(entity, top_)) return;
      distribute(stack_, s_.tree, s_.places, s_.costs, entity, idle, place_, scratch_);
      return;
    }
  }

  bool somebody_is_at(PlaceId place) const {
    for (EntityId e = BubbleTree::kRoot; e != kNoEntity; e = s_.tree.next_inside(e, BubbleTree::kRoot))
      if (s_.tree[e].is_thread && s_.place[e] != kNoPlace && s_.places.holds(place, s_.place[e])) return true;
    return false;
  }

  // False: no byte would move, or this way is not for these threads.
  bool place_data(Threads threads, Data way) {
    std::fill_n(target_, s_.tree.attachments(), kStays);
    if (way == Data::stays) return threads != Threads::stay;
    if (!horizon_.may_move_data) return false;
    const bool spreads = way == Data::over_neighbours || way == Data::over_all;
    if (spreads && (threads != Threads::stay || !lacks_bandwidth_)) return false;
    bool moves = false, all_of_them = true;
    for (EntityId e = top_; e != kNoEntity; e = s_.tree.next_inside(e, top_)) {
      if (s_.tree[e].first_attachment == kNoAttachment) continue;
      const Location of_owner = location_of_owner(s_, e, place_);
      for (AttachmentId a = s_.tree[e].first_attachment; a != kNoAttachment; a = s_.tree.attachment(a).next) {
        if (!s_.tree.leads(a)) continue;
        const bool shared = s_.tree.users(a) > 1;
        const Location here = shared ? location_of_users(s_, a, place_) : of_owner;
        // Memory whose users are at several locations stays, or goes to all of them.
        if (here == kUnknown && !(shared && way == Data::over_all)) continue;
        if (!may_move(a, here, spreads)) continue;
        if (!is_wanted(a, way)) {
          all_of_them = false;
          continue;
        }
        target_[a] = way == Data::over_neighbours ? kOverNeighbours : way == Data::over_all ? kOverAll : here;
        moves = true;
      }
    }
    // Without a rest it is what Data::all tries.
    return moves && (spreads || way == Data::all || !all_of_them);
  }

  bool may_move(AttachmentId a, Location here, bool spreads) const {
    const Attachment& facts = s_.tree.attachment(a);
    if (!facts.movable) return false;
    const double sum = bytes_of(s_.tree, a);
    return spreads ? sum > 0 : sum > static_cast<double>(s_.tree.bytes(a)[here]);
  }

  // By those who share the memory, all together.
  bool is_wanted(AttachmentId leader, Data way) const {
    bool written = false;
    float most = 0;
    s_.tree.for_each_sharer(leader, [&](AttachmentId each) {
      const Attachment& facts = s_.tree.attachment(each);
      written = written || is_written(facts);
      most = std::max(most, uses(facts));
    });
    if (way == Data::written) return written;
    if (way == Data::only_read) return !written;
    if (way == Data::used_most) return most >= kMost * most_uses_;
    if (way == Data::used_often) return most >= kOften * most_uses_;
    return true;
  }

  static float uses(const Attachment& facts) {
    const float times = facts.access == placement::Access::read    ? 1
                        : facts.access == placement::Access::write ? BubbleTree::kWrittenWeight
                                                                   : 1 + BubbleTree::kWrittenWeight;
    return times * facts.passes;
  }

  Action action_of(Threads threads, Data data) const {
    if (data == Data::over_neighbours || data == Data::over_all) return Action::spread_data;
    if (threads == Threads::rebalanced || threads == Threads::stolen) return Action::steal_group;
    if (threads == Threads::to_memory) return data == Data::stays ? Action::move_threads : Action::mixed;
    return was_spread() ? Action::gather_data : Action::migrate_data;
  }

  // What moves lay at several locations.
  bool was_spread() const {
    for (AttachmentId a = 0; a < s_.tree.attachments(); ++a) {
      if (target_[a] == kStays) continue;
      const std::uint64_t where = s_.tree.attachment(a).where;
      if ((where & (where - 1)) != 0) return true;
    }
    return false;
  }

  const BubbleStack& stack_;
  const Standing& s_;
  EntityId top_;
  const Horizon& horizon_;
  PlaceId* best_place_;
  Location* best_target_;
  void* scratch_;
  PlaceId* place_;
  Location* target_;
  float most_uses_ = 0;
  bool lacks_bandwidth_ = false;
};

}  // namespace

std::size_t relocation_bytes(const BubbleTree& tree, const PlaceTree& places) {
  return Search::scratch_bytes(tree, places) + static_cast<std::size_t>(tree.entities()) * sizeof(PlaceId) +
         static_cast<std::size_t>(tree.attachments()) * sizeof(Location);
}

Relocation plan_relocation(const BubbleStack& stack, const Standing& standing, EntityId top, const Horizon& horizon,
                           PlaceId* place, Location* target, void* memory) {
  return Search(stack, standing, top, horizon, place, target, memory).run();
}

Location best_layout(const Standing& s, EntityId top, bool uses_are_known, void* memory) {
  auto* const target = reinterpret_cast<Location*>(static_cast<std::byte*>(memory) +
                                                   Search::scratch_bytes(s.tree, s.places));
  bool known = uses_are_known, full = false;
  std::uint64_t busy = 0;
  for (EntityId e = BubbleTree::kRoot; e != kNoEntity; e = s.tree.next_inside(e, BubbleTree::kRoot)) {
    const Location here = s.tree[e].is_thread ? location_of(s, e, s.place[e]) : kUnknown;
    if (here != kUnknown) busy |= std::uint64_t{1} << here;
  }
  for (Location i = 0; i < s.places.locations(); ++i) {
    if ((busy >> i & 1) == 0) continue;
    known = known && s.costs.memory_gbs(i) > 0;
    std::int32_t threads = 0;
    for (EntityId e = top; e != kNoEntity; e = s.tree.next_inside(e, top))
      threads += s.tree[e].is_thread && location_of(s, e, s.place[e]) == i;
    full = full || threads >= s.places[s.places.place_of_location(i)].cpus;
  }
  if (!known) {
    const bool few = 2 * __builtin_popcountll(busy) <= __builtin_popcountll(s.costs.memory_locations());
    return few && full ? kOverNeighbours : kStays;
  }
  Location best = kStays;
  double least = 0;
  for (const Location way : {kStays, kOverNeighbours, kOverAll}) {
    std::fill_n(target, s.tree.attachments(), kStays);
    for (EntityId e = top; e != kNoEntity; e = s.tree.next_inside(e, top))
      for (AttachmentId a = s.tree[e].first_attachment; a != kNoAttachment; a = s.tree.attachment(a).next)
        target[a] = way == kStays ? location_of_owner(s, e, s.place) : way;
    const double pass = predict(s, {s.place, target}, Mover::members, memory).pass_ns;
    if (way != kStays && pass >= (1 - kLeastGain) * least) continue;
    best = way;
    least = pass;
  }
  return best;
}

}  // namespace hearth::policy
