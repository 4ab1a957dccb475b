// See global_pass.h.
#include "policy/global_pass.h"

#include <algorithm>
#include <cmath>

#include "policy/arrangement.h"

namespace hearth::policy {

float unevenness(const Standing& s) {
  float load[placement::kMaxLocations] = {};
  float all = 0, cpus = 0, most = 0;
  for (EntityId e = BubbleTree::kRoot; e != kNoEntity; e = s.tree.next_inside(e, BubbleTree::kRoot)) {
    const Location here = s.tree[e].is_thread ? location_of(s, e, s.place[e]) : kUnknown;
    if (here == kUnknown) continue;
    load[here] += s.tree[e].load;
    all += s.tree[e].load;
  }
  for (Location i = 0; i < s.places.locations(); ++i) {
    const PlaceId place = s.places.place_of_location(i);
    if (place == kNoPlace) continue;
    const auto own = static_cast<float>(s.places[place].cpus);
    cpus += own;
    most = std::max(most, load[i] / own);
  }
  return all > 0 ? most * cpus / all : 1;
}

bool weigh_by_hints(BubbleTree& tree, const PlaceId* place) {
  const auto for_each_thread = [&](auto&& function) {
    for (EntityId e = BubbleTree::kRoot; e != kNoEntity; e = tree.next_inside(e, BubbleTree::kRoot))
      if (tree[e].is_thread) function(e);
  };
  for_each_thread([&](EntityId e) { tree[e].load = 1; });
  tree.sum_up();
  bool all_known = true;
  float most = 0;
  for_each_thread([&](EntityId e) {
    double uses = 0;
    for_each_use(tree, e, [&](AttachmentId a, double part) {
      const Attachment& facts = tree.attachment(a);
      const double read = facts.access != placement::Access::write ? 1 : 0;
      const double written = facts.access != placement::Access::read ? double{BubbleTree::kWrittenWeight} : 0;
      uses += (read + written) * bytes_of(tree, a) * part * double{facts.passes} / tree.users(a);
    });
    all_known = all_known && (uses > 0 || place[e] == kNoPlace);
    // The part of a thread's in its bubbles is what it was until they are summed up again.
    tree[e].load = static_cast<float>(uses);
    most = std::max(most, tree[e].load);
  });
  for_each_thread([&](EntityId e) { tree[e].load = all_known ? tree[e].load / most : 1; });
  tree.sum_up();
  return all_known;
}

void weigh_by_time(BubbleTree& tree, const PlaceTree& places, const CostModel& costs, const PlaceId* place) {
  const Standing standing{tree, places, costs, place};
  // Of a thread alone, all that it uses once.
  const auto memory_ns = [&](EntityId e) {
    double sum = 0;
    const Location here = location_of(standing, e, place[e]);
    if (here == kUnknown) return sum;
    for_each_use(tree, e, [&](AttachmentId a, double part) {
      const Attachment& facts = tree.attachment(a);
      for (std::uint64_t rest = facts.where; rest != 0; rest &= rest - 1) {
        const Location i = __builtin_ctzll(rest);
        const double bytes = static_cast<double>(tree.bytes(a)[i]) * part * double{facts.passes};
        if (facts.access != placement::Access::write) sum += costs.read_ns(here, i, bytes);
        if (facts.access != placement::Access::read) sum += costs.write_ns(here, i, bytes);
      }
    });
    return sum;
  };
  // By how much more often it is gone through than the attachments say.
  const auto times_more = [&](EntityId owner) {
    double busy = 0, memory = 0;
    for (EntityId e = owner; e != kNoEntity; e = tree.next_inside(e, owner)) {
      if (!tree[e].is_thread) continue;
      busy += double{tree[e].work_ns};
      memory += memory_ns(e);
    }
    return memory > 0 ? static_cast<float>(busy / memory) : 1;
  };
  const auto go_through = [&](EntityId owner, float times) {
    for (AttachmentId a = tree[owner].first_attachment; a != kNoAttachment; a = tree.attachment(a).next)
      tree.attachment(a).passes *= times;
  };
  const auto for_each_owner = [&](bool threads, auto&& function) {
    for (EntityId e = BubbleTree::kRoot; e != kNoEntity; e = tree.next_inside(e, BubbleTree::kRoot))
      if (tree[e].is_thread == threads && tree[e].first_attachment != kNoAttachment) function(e);
  };
  // Bubbles are asked first and changed last; their own work_ns is of no use, and keeps the answer.
  for_each_owner(false, [&](EntityId e) { tree[e].work_ns = times_more(e); });
  for_each_owner(true, [&](EntityId e) { go_through(e, times_more(e)); });
  for_each_owner(false, [&](EntityId e) {
    go_through(e, tree[e].work_ns);
    tree[e].work_ns = 0;
  });
  for (EntityId e = BubbleTree::kRoot; e != kNoEntity; e = tree.next_inside(e, BubbleTree::kRoot))
    if (tree[e].is_thread)
      tree[e].work_ns = std::max(0.F, tree[e].work_ns - static_cast<float>(memory_ns(e)));
}

GlobalPass::Turn GlobalPass::begin(const PassTimes& last, float unevenness) {
  seen_ += last.passes;
  seen_ns_ += last.passes * last.mean_ns;
  ++looks_;
  const double apart = std::max(kLeastApartNs, look_ns_ / kMostOfAllTime);
  const double passes = last.mean_ns > 0 ? std::ceil(apart / last.mean_ns) : 1;
  // A few short passes do not make it blind for the long ones that may follow.
  interval_ = static_cast<std::uint32_t>(std::clamp(passes, 1.0, 2.0 * interval_));
  if (on_trial_) return judge(last);
  usual_ns_ = last.mean_ns;
  if (looks_ <= rests_until_) return Turn::none;
  if (planned_for_ != 0 && std::abs(unevenness - planned_for_) <= kChange * planned_for_ &&
      seen_ < kMorePasses * planned_at_)
    return Turn::none;
  if (planned_for_ == 0 && unevenness <= kBalanced) return Turn::none;
  planned_for_ = unevenness;
  planned_at_ = seen_;
  return Turn::look;
}

GlobalPass::Turn GlobalPass::judge(const PassTimes& last) {
  if (settles_) {
    settles_ = false;
    return Turn::none;
  }
  trial_ns_ += last.mean_ns * last.passes;
  trial_ += last.passes;
  blamed_ = blamed_ || last.slowest_has_moved;
  const double after = trial_ns_ / trial_;
  if (trial_ < kTrial && (after < kPlainHarm * usual_ns_ || !blamed_)) return Turn::none;
  on_trial_ = false;
  if (blamed_ || after < usual_ns_) spent_ns_ = std::max(0.0, spent_ns_ + trial_ns_ - usual_ns_ * trial_);
  if (after < kGain * usual_ns_) return Turn::none;
  rests_until_ = looks_ + std::min(looks_, kMostRest);
  if (after <= kHarm * usual_ns_ || !blamed_) return Turn::none;
  spent_ns_ += move_ns_;
  return Turn::undo;
}

void GlobalPass::moved(double ns) {
  spent_ns_ += move_ns_ = ns;
  on_trial_ = settles_ = true;
  blamed_ = false;
  trial_ns_ = 0;
  trial_ = 0;
}

double GlobalPass::budget_ns() const { return std::max(0.0, kFreeNs + kMostSpent * seen_ns_ - spent_ns_) / 2; }

}  // namespace hearth::policy
