// What a construct of gcc's keeps for all members of the team: task reductions and zeroed memory.
#include <cstddef>
#include <cstdint>

#include "abi/gomp_loop.h"
#include "runtime/task_reduction.h"
#include "runtime/workshare.h"

namespace hearth::abi {

void begin_gomp_share(rt::Thread* self, std::uintptr_t* reductions, void** mem) {
  if (reductions == nullptr && mem == nullptr) return;
  rt::LoopState& loop = self->member->loop;
  if (self->team->size > 1 && loop.share == nullptr) loop.share = rt::enter_share(self);
  if (reductions != nullptr)
    rt::begin_workshare_reductions(self, reductions, loop.share == nullptr ? nullptr : &loop.share->reductions);
  if (mem != nullptr) *mem = rt::share_memory(self, reinterpret_cast<std::uintptr_t>(*mem));
}

}  // namespace hearth::abi
