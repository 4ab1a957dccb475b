// What an arrangement would take: the time of a pass, and of moving there. The search for the best one is in plan.cpp.
#include "policy/relocation.h"

#include <algorithm>

#include "policy/arrangement.h"
#include "policy/pass_time.h"

namespace hearth::policy {
namespace {

bool reads(const Attachment& facts) { return (static_cast<unsigned>(facts.access) & 1U) != 0; }
bool writes(const Attachment& facts) { return (static_cast<unsigned>(facts.access) & 2U) != 0; }

void run_pass(const Standing& s, const Arrangement& then, Targets& targets, PassTime& pass) {
  const BubbleTree& tree = s.tree;
  pass.clear();
  for (EntityId e = BubbleTree::kRoot; e != kNoEntity; e = tree.next_inside(e, BubbleTree::kRoot)) {
    if (!tree[e].is_thread) continue;
    const Location here = location_of(s, e, then.place[e]);
    if (here == kUnknown) continue;
    for_each_use(tree, e, [&](AttachmentId a, double part) {
      const Attachment& facts = tree.attachment(a);
      const double times = part * static_cast<double>(facts.passes) / tree.users(a);
      const auto use = [&](Location where, double bytes) {
        pass.use(here, where, reads(facts) ? bytes : 0, writes(facts) ? bytes : 0);
      };
      std::uint64_t to = targets.of(a);
      if (to != 0) {
        const double bytes = bytes_of(tree, a) * times * part_of_each(to);
        for (; to != 0; to &= to - 1) use(__builtin_ctzll(to), bytes);
        return;
      }
      for (std::uint64_t rest = facts.where; rest != 0; rest &= rest - 1) {
        const Location i = __builtin_ctzll(rest);
        use(i, static_cast<double>(tree.bytes(a)[i]) * times);
      }
    });
    pass.end_thread(then.place[e], static_cast<double>(tree[e].work_ns));
  }
}

// All that moves, at once: either one thread for each owner moves what is attached to it, or every thread its part of all
// that it uses. Returns the pages.
std::uint64_t run_moves(const Standing& s, Mover mover, Targets& targets, PassTime& pass) {
  std::uint64_t pages_of_all = 0;
  pass.clear();
  for (EntityId e = BubbleTree::kRoot; e != kNoEntity; e = s.tree.next_inside(e, BubbleTree::kRoot)) {
    const bool is_member = mover == Mover::members && s.tree[e].is_thread;
    double alone = 0;
    for (AttachmentId a = s.tree[e].first_attachment; a != kNoAttachment; a = s.tree.attachment(a).next) {
      if (!s.tree.leads(a)) continue;  // what moves is moved once
      for_each_move(s, a, 1, targets.of(a), [&](Location from, Location to, double bytes, std::uint64_t pages) {
        pages_of_all += pages;
        // The kernel copies on the CPU of who asked, at the new place.
        pass.take(to, from, bytes, 0);
        pass.take(to, to, 0, bytes);
        if (mover == Mover::touch)
          alone += s.costs.touch_ns(from, to, pages);
        else if (mover == Mover::owner || is_member)
          alone += s.costs.migrate_ns(from, to, pages);
      });
    }
    if (is_member)
      for_each_use_of_bubbles(s.tree, e, [&](AttachmentId a, double part) {
        if (!s.tree.leads(a)) return;
        for_each_move(s, a, part, targets.of(a), [&](Location from, Location to, double, std::uint64_t pages) {
          alone += s.costs.migrate_ns(from, to, pages);
        });
      });
    pass.end_thread(kNoPlace, alone);
  }
  return pages_of_all;
}

}  // namespace

const char* action_name(Action action) {
  switch (action) {
    case Action::stay: return "stay";
    case Action::move_threads: return "move threads";
    case Action::migrate_data: return "migrate data";
    case Action::mixed: return "mixed";
    case Action::steal_group: return "steal group";
    case Action::spread_data: return "spread data";
    case Action::gather_data: return "gather data";
  }
  return "?";
}

Prediction predict(const Standing& s, const Arrangement& then, Mover mover, void* memory, float fed_cpus) {
  PassTime pass(s.places, s.costs, memory, fed_cpus);
  Targets targets(s, then);
  Prediction prediction;
  run_pass(s, then, targets, pass);
  prediction.pass_ns = pass.ns();
  prediction.mean_ns = pass.mean_ns();
  for (EntityId e = BubbleTree::kRoot; e != kNoEntity; e = s.tree.next_inside(e, BubbleTree::kRoot)) {
    if (!s.tree[e].is_thread || then.place[e] == kNoPlace || s.place[e] == kNoPlace) continue;
    // Whoever may run where it did before has nothing to move for.
    prediction.threads += !s.places.holds(then.place[e], s.place[e]);
  }
  prediction.pages = run_moves(s, mover, targets, pass);
  if (prediction.pages != 0) prediction.first_ns = pass.ns();
  if (prediction.threads != 0)
    prediction.first_ns += s.costs.thread_arrive_ns + prediction.threads * s.costs.thread_move_ns;
  return prediction;
}

}  // namespace hearth::policy
