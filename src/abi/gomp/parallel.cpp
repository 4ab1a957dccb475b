// GCC's entry points for parallel regions, barriers, single and tasks: translators to the core in runtime/.
//
// Any thread of the program. `flags` of GOMP_parallel carry the proc_bind clause; num_threads 0 means "from
// the ICVs", 1 that an if clause was false (or num_threads(1)).
#include <cstdint>

#include "abi/export.h"
#include "runtime/team/barrier.h"
#include "runtime/tools/events.h"
#include "runtime/team/fork.h"
#include "runtime/state/region.h"

using hearth::rt::Region;
using hearth::rt::Thread;

namespace {

Region gomp_region(void (*fn)(void*), void* data, unsigned num_threads, unsigned flags) {
  Region region;
  region.function = reinterpret_cast<void*>(fn);
  region.data = data;
  region.num_threads = static_cast<std::int32_t>(num_threads);
  region.proc_bind = static_cast<std::int32_t>(flags & 7);
  return region;
}

}  // namespace

HEARTH_EXPORT void GOMP_parallel(void (*fn)(void*), void* data, unsigned num_threads, unsigned flags) {
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  hearth::rt::parallel(self, gomp_region(fn, data, num_threads, flags));
}

HEARTH_EXPORT void GOMP_parallel_start(void (*fn)(void*), void* data, unsigned num_threads) {
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  hearth::rt::begin_region(self, gomp_region(fn, data, num_threads, 0));
  if (hearth::rt::events::active())
    hearth::rt::events::enter_user_code(self->task, __builtin_frame_address(0));
}

HEARTH_EXPORT void GOMP_parallel_end() {
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  hearth::rt::end_region(self);
}

HEARTH_EXPORT void GOMP_barrier() {
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  hearth::rt::barrier(self);
}
