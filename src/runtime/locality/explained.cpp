#include "runtime/locality/explained.h"

#include "base/clock.h"
#include "memory/homes.h"
#include "policy/policies.h"
#include "runtime/locality/accounts.h"
#include "runtime/locality/dealing.h"
#include "runtime/locality/footprint.h"
#include "runtime/locality/machine_view.h"
#include "runtime/state/process.h"
#include "runtime/tools/decisions.h"
#include "runtime/tools/explain.h"
#include "runtime/tools/told_bytes.h"

namespace hearth::rt {
namespace {

using policy::Why;

// Constant while anybody asks.
AsksWhere plain_asks_where = nullptr;
AsksWhereReleased plain_asks_where_released = nullptr;

// The account has said no: what is not believed is foretold to save nothing.
Why why_account(const Task* task) { return account_of(task).believes() ? Why::saves_little : Why::no_slower; }

// The loads are refreshed much more rarely than a policy is asked twice in a row.
policy::LoadView load_of(const Thread* self) {
  return load_at(self, self->member->location.load(std::memory_order_relaxed), counter_ns());
}

policy::Asking told_asks_where(Thread* self, const Task* task) {
  const policy::Asking asks = plain_asks_where(self, task);
  if (task->priority != 0 || asks == policy::Asking::yes) return asks;
  explain::not_asked(self, task, asks == policy::Asking::left ? why_account(task)
                                                              : process.policy->why_not_asked(load_of(self), false));
  return asks;
}

bool told_asks_where_released(Thread* self, const Task* task) {
  const bool asks = plain_asks_where_released(self, task);
  if (asks) return true;
  const policy::LoadView load = load_of(self);
  const Location here = self->member->location.load(std::memory_order_relaxed);
  const bool wanted = process.policy->asks_released(machine_view(), load, as_released(task, here));
  explain::not_asked(self, task, wanted ? why_account(task) : process.policy->why_not_asked(load, true));
  return false;
}

// Where the task loses nothing, and what elsewhere: adaptive works that out for all policies that do not themselves.
void foretell(const policy::MachineView& view, const policy::Decision& decision, Task* task) {
  static constexpr std::uint64_t kNoWait[placement::kMaxLocations] = {};
  policy::LoadView load = decision.load;
  load.wait = load.guest_wait = kNoWait;
  load.stake = &task->stake;
  load.home = &task->data_home;
  policy::adaptive.deal(view, decision.need, decision.creator, load);
}

void explain_decision(Thread* self, Task* task, const policy::Decision& decision) {
  const policy::MachineTables& machine = machine_tables();
  const policy::MachineView& view = decision.stated ? machine.stated : machine.view;
  // The clock is not read where nobody explains, so it is all done once more.
  const std::uint64_t begun = ticks();
  placement::Need need(decision.need.read.locations);
  resolve(*task->footprint, need);
  const Why why = process.policy->why(view, decision.need, decision.creator, decision.load);
  const std::uint64_t took = to_ns(ticks() - begun);
  if (!process.weighs_load) foretell(view, decision, task);
  explain::answered(self, task, {.why = why, .foretold = task->stake, .took = took});
}

}  // namespace

void explain_dealing() {
  plain_asks_where = asks_where;
  plain_asks_where_released = asks_where_released;
  asks_where = told_asks_where;
  asks_where_released = told_asks_where_released;
}

void tell_decision(Thread* self, Task* task, const policy::Decision& decision) {
  if (decisions::on) decisions::note(task, machine_view(), decision);
  if (told_bytes::wanted()) {
    const policy::MachineTables& machine = machine_tables();
    const policy::MachineView& view = decision.stated ? machine.stated : machine.view;
    told_bytes::decided(task, decision, process.policy->why(view, decision.need, decision.creator, decision.load));
  }
  if (explain::on) explain_decision(self, task, decision);
}

void tell_bytes_at_end(Task* task) {
  const memory::MemoryHomes& homes = memory::memory_homes();
  if (task->footprint->told || homes.locations < 2) return;
  placement::Need need(homes.locations);
  resolve(*task->footprint, need);
  told_bytes::ended(task, need);
}

}  // namespace hearth::rt
