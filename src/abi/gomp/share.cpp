// What a construct of gcc's keeps for all members of the team: task reductions and zeroed memory; and the
// scope construct, which has nothing else. Each member of the team for itself.
#include <cstddef>
#include <cstdint>

#include "abi/export.h"
#include "abi/gomp/loop.h"
#include "abi/work_events.h"
#include "runtime/task/task_reduction.h"
#include "runtime/loop/workshare.h"

namespace hearth::abi {

void begin_gomp_share(rt::Thread* self, std::uintptr_t* reductions, void** mem) {
  if (reductions == nullptr && mem == nullptr) return;
  rt::LoopState& loop = self->member->loop;
  if (self->team->size > 1 && loop.share == nullptr) loop.share = rt::enter_share(self);
  if (reductions != nullptr)
    rt::begin_workshare_reductions(self, reductions,
                                   loop.share == nullptr ? nullptr : &loop.share->reductions);
  if (mem != nullptr) *mem = rt::share_memory(self, reinterpret_cast<std::uintptr_t>(*mem));
}

}  // namespace hearth::abi

// The end of a scope is GOMP_workshare_task_reduction_unregister(), so the slot is left here: what it held is
// the first member's array, which lives until that call's barrier.
HEARTH_EXPORT void GOMP_scope_start(std::uintptr_t* reductions) {
  hearth::rt::Thread* self = hearth::rt::Thread::current();
  HEARTH_ENTRY(self);
  if (reductions == nullptr) return;
  hearth::rt::WorkShare* share = self->team->size > 1 ? hearth::rt::enter_share(self) : nullptr;
  hearth::rt::begin_workshare_reductions(self, reductions, share == nullptr ? nullptr : &share->reductions);
  if (share != nullptr) hearth::rt::leave_share(self, share);
}
