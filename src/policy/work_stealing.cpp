// The two policies that know nothing of places: work stealing, the baseline of every comparison, and the
// central queue, the yardstick below it.
#include "policy/policies.h"

namespace hearth::policy {
namespace {

// Every task stays where it was made ready; whoever is idle steals from whomever it likes.
class WorkStealing final : public TaskPolicy {
 public:
  Location deal(const MachineView&, const Need&, Location, const LoadView&) const override { return kHere; }
  bool may_steal(const MachineView&, Location, Location, std::uint32_t) const override { return true; }
  bool may_steal_dealt(const MachineView&, Location, Location, const FarTasks&,
                       const Idleness&) const override {
    return true;
  }
  bool deals_here_always() const override { return true; }
};

// One queue for the team, first in first out.
class Central final : public TaskPolicy {
 public:
  Location deal(const MachineView&, const Need&, Location, const LoadView&) const override { return kHere; }
  bool may_steal(const MachineView&, Location, Location, std::uint32_t) const override { return true; }
  bool may_steal_dealt(const MachineView&, Location, Location, const FarTasks&,
                       const Idleness&) const override {
    return true;
  }
  bool one_queue() const override { return true; }
};

constinit const WorkStealing the_work_stealing;
constinit const Central the_central;

}  // namespace

constinit const TaskPolicy& work_stealing = the_work_stealing;
constinit const TaskPolicy& central = the_central;

}  // namespace hearth::policy
