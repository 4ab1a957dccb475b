// The two policies that know nothing of places: work stealing, the baseline of every comparison, and the
// central queue, the yardstick below it.
#include "policy/task_policy.h"

#include <cstring>

namespace hearth::policy {
namespace {

// Every task stays where it was made ready; whoever is idle robs whomever it likes.
class WorkStealing final : public TaskPolicy {
 public:
  const char* name() const override { return "work-stealing"; }
  Location deal(const Need&, Location, const LoadView&) const override { return kHere; }
  bool may_rob(Location, Location, std::uint32_t) const override { return true; }
  bool deals_here_always() const override { return true; }
};

// One queue for the team, first in first out.
class Central final : public TaskPolicy {
 public:
  const char* name() const override { return "central"; }
  Location deal(const Need&, Location, const LoadView&) const override { return kHere; }
  bool may_rob(Location, Location, std::uint32_t) const override { return true; }
  bool one_queue() const override { return true; }
};

constinit const WorkStealing work_stealing;
constinit const Central central;
constexpr const TaskPolicy* kPolicies[] = {&work_stealing, &central};

}  // namespace

const TaskPolicy* policy_at(std::size_t index) {
  return index < sizeof(kPolicies) / sizeof(kPolicies[0]) ? kPolicies[index] : nullptr;
}

const TaskPolicy* find_policy(const char* name) {
  for (const TaskPolicy* policy : kPolicies)
    if (std::strcmp(policy->name(), name) == 0) return policy;
  return nullptr;
}

}  // namespace hearth::policy
