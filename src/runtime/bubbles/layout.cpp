#include "runtime/bubbles/layout.h"

#include "memory/costs.h"
#include "policy/arrangement.h"
#include "policy/relocation.h"
#include "runtime/bubbles/live_tree.h"
#include "runtime/bubbles/seats.h"

namespace hearth::rt {
namespace {

// Under the lock.
bool all_uses_are_known() {
  const BubbleTree& tree = live->tree;
  for (EntityId e = BubbleTree::kRoot; e != kNoEntity; e = tree.next_inside(e, BubbleTree::kRoot)) {
    if (!tree[e].is_thread || live->place[e] == kNoPlace) continue;
    bool any = false;
    policy::for_each_use(tree, e, [&](AttachmentId, double) { any = true; });
    if (!any) return false;
  }
  return true;
}

Location best_layout_now() {
  LockGuard guard(live->lock);
  live->tree.sum_up();
  if (!live->make_room(policy::relocation_bytes(live->tree, live->places))) return policy::kStays;
  return policy::best_layout(live->standing(), BubbleTree::kRoot, all_uses_are_known(), live->planning);
}

}  // namespace

Spread spread_by_load(Thread* self) {
  Spread spread;
  const Location here = live == nullptr ? placement::kUnknown : location_of_caller(self);
  if (here < 0) return spread;
  const Location layout = best_layout_now();
  if (layout == policy::kStays) return spread;
  const std::uint64_t over = policy::spread_from(memory::costs(), here, layout);
  for (std::uint64_t left = over; left != 0; left &= left - 1) spread.at[spread.count++] = __builtin_ctzll(left);
  return spread;
}

}  // namespace hearth::rt
