// Finding a policy by name, and what several policies use.
#include "policy/policies.h"

#include <cstring>

#include <algorithm>

#include "base/policies.h"

namespace hearth::policy {

// No table: a table of references to other files' objects would be filled in at run time.
const TaskPolicy* policy_at(std::size_t index) {
  std::size_t at = 0;
#define HEARTH_POLICY(object, word, meaning) \
  if (index == at++) return &object;
#include "base/policies.def"
#undef HEARTH_POLICY
  return nullptr;
}

const char* TaskPolicy::name() const {
  for (std::size_t i = 0; policy_at(i) != nullptr; ++i)
    if (policy_at(i) == this) return kPolicyNames[i].data();  // a literal, so it ends in a zero
  return "unregistered";
}

const TaskPolicy* find_policy(const char* name) {
  for (std::size_t i = 0;; ++i) {
    const TaskPolicy* policy = policy_at(i);
    if (policy == nullptr || std::strcmp(policy->name(), name) == 0) return policy;
  }
}

void fill_prices(const MachineView& machine, float* price) {
  const std::int32_t count = machine.locations, row = price_row(count);
  for (Location i = 0; i < row; ++i)
    for (Location n = 0; n < row; ++n) {
      const Location where = n < count ? n : 0;
      const std::uint32_t distance = i < count ? machine.distance_between(where, i) : 0;
      price[i * row + n] = static_cast<float>(std::min(distance, kLargestDistance));
    }
}

void order_by_distance(const MachineView& machine, Location from, Location* order) {
  const std::int32_t count = machine.locations;
  for (std::int32_t i = 0; i < count; ++i) {
    const Location next = (from + i) % count;
    std::int32_t at = i;
    // Insertion keeps equals in the order in which they come.
    for (; at > 0 && machine.hops_between(from, order[at - 1]) > machine.hops_between(from, next); --at)
      order[at] = order[at - 1];
    order[at] = next;
  }
}

}  // namespace hearth::policy
