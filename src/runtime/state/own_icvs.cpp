#include "runtime/state/own_icvs.h"

#include <cstdlib>
#include <new>

#include "base/log.h"

namespace hearth::rt {

Icvs& own_icvs(Thread* self) {
  Task* task = self->task;
  // In place only when nobody else can be reading the block: it is the task's own, and no child is alive.
  bool exclusive = task->is(kTaskOwnsIcvs) && task->children.all_complete();
  for (Taskgroup* group = task->group; exclusive && group != nullptr && group->task == task;
       group = group->outer)
    exclusive = group->brood.all_complete();
  if (exclusive) return *task->icvs;
  auto* block = static_cast<Icvs*>(std::malloc(sizeof(Icvs)));
  if (block == nullptr) fatal("out of memory: no room for a task's control variables");
  new (block) Icvs(*task->icvs);
  block->retired = task->is(kTaskOwnsIcvs) ? task->icvs : nullptr;
  task->icvs = block;
  task->flags |= kTaskOwnsIcvs;
  return *block;
}

}  // namespace hearth::rt
