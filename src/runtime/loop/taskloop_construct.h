// The taskloop construct: a plan of its tasks, which then run as ranges (taskloop_range.h), or, where a tool has to be told of each
// or each needs constructors, are created one by one. Used by the thread that meets the construct.
//
// `Skin` is what compilers differ in:
//   void begin_group(Thread*)                   right after the construct's own taskgroup has begun
//   Loop as_loop(const TaskloopPlan&)           the loop for taskloop_range.h; only if the request says `alike`
//   void create(Thread*, const TaskloopPlan&, number)
//                                               makes the tasks one by one, in order, and starts each
//   void end(Thread*)                           all tasks have been created
#pragma once

#include <cstdint>

#include "runtime/locality/footprint.h"
#include "runtime/loop/taskloop.h"
#include "runtime/loop/taskloop_range.h"
#include "runtime/task/ready.h"
#include "runtime/task/taskgroup.h"
#include "runtime/tools/events.h"

namespace hearth::rt {

/// What the construct's clauses say.
struct TaskloopRequest {
  std::uint64_t iterations = 0;
  TaskloopPlan::Clause clause = TaskloopPlan::Clause::none;
  std::uint64_t amount = 0;  // of the clause
  bool strict = false;
  bool grouped = true;   // no nogroup clause
  bool deferred = true;  // no if clause that is false
  bool final_ = false;
  bool alike = false;  // the tasks differ in their bounds only, and have no priority
};

template <class Skin>
void run_taskloop_construct(Thread* self, Skin& skin, const TaskloopRequest& request, const LoopFootprint& footprint) {
  if (request.grouped) {
    taskgroup_begin(self);
    skin.begin_group(self);
  }
  const TaskloopPlan plan = plan_taskloop(request.iterations, request.clause, request.amount, request.strict,
                                          self->team->size);
  if (request.alike && runs_as_ranges(self)) {
    auto loop = skin.as_loop(plan);
    TaskloopPast past;  // until the group has ended
    const bool deferrable = request.deferred && !request.final_;
    if (footprint && deferrable && !runs_at_once_always(self))
      deal_taskloop(self, loop, plan, footprint);
    else
      run_taskloop(self, loop, plan.tasks, deferrable, past);
    skin.end(self);
    if (request.grouped) taskgroup_end(self);
    return;
  }
  if (events::active()) events::work_begin(self, ompt_work_taskloop, request.iterations);
  for (std::uint64_t i = 0; i < plan.tasks; ++i) skin.create(self, plan, i);
  if (events::active()) events::work_end(self, ompt_work_taskloop, request.iterations);
  skin.end(self);
  if (request.grouped) taskgroup_end(self);
}

}  // namespace hearth::rt
