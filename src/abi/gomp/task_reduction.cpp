// GCC's entry points for task reductions: translators to runtime/task/task_reduction.h. Any thread of the program.
#include <cstdint>

#include "abi/export.h"
#include "runtime/team/worker.h"
#include "runtime/team/barrier.h"
#include "runtime/tools/events.h"
#include "runtime/team/fork.h"
#include "runtime/task/task_reduction.h"
#include "runtime/state/region.h"

namespace rt = hearth::rt;
using rt::Thread;

HEARTH_EXPORT void GOMP_taskgroup_reduction_register(std::uintptr_t* data) {
  rt::register_gomp_reductions(Thread::current(), data);
}

HEARTH_EXPORT void GOMP_taskgroup_reduction_unregister(std::uintptr_t* data) {
  rt::unregister_gomp_reductions(data);
}

HEARTH_EXPORT void GOMP_task_reduction_remap(std::size_t count, std::size_t originals, void** addresses) {
  rt::remap_gomp_reductions(Thread::current(), count, originals, addresses);
}

HEARTH_EXPORT void GOMP_workshare_task_reduction_unregister(bool cancelled) {
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  rt::end_workshare_reductions(self);
  if (!cancelled) rt::barrier(self);
}

HEARTH_EXPORT unsigned GOMP_parallel_reductions(void (*fn)(void*), void* data, unsigned num_threads,
                                                unsigned flags) {
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  auto* reductions = *static_cast<std::uintptr_t**>(data);
  rt::Taskgroup group;
  group.worksharing = true;
  group.gomp_reductions = reductions;
  rt::Region region;
  region.function = reinterpret_cast<void*>(fn);
  region.data = data;
  region.num_threads = rt::decide_team_size(self, static_cast<std::int32_t>(num_threads));
  region.proc_bind = static_cast<std::int32_t>(flags & 7);
  region.group = &group;
  rt::allocate_gomp_reductions(reductions, region.num_threads);
  rt::Team* team = rt::begin_region(self, region);
  rt::run_share(self, team->fork);
  rt::end_region(self);
  return static_cast<unsigned>(team->size);
}
