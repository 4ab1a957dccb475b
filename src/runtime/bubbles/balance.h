// Balance: the global pass (policy/global_pass.h) of the live tree. When the program begins an outermost region, now and then,
// how busy each thread was is compared by location; if a location has much more to do than the others, groups move away
// from there with the memory that is attached to them, if that pays; what did harm goes back.
//
// Called by threads of the program, outside of regions. All of it is under the lock of the live tree.
#pragma once

#include "runtime/state/thread.h"

namespace hearth::rt {

/// At start-up, when the live tree is there and HEARTH_REBALANCE is on: from now on waits are measured.
void begin_to_balance();

/// An outermost region begins.
void look_at_balance_slowly(Thread* self);
inline void look_at_balance(Thread* self) {
  if (HEARTH_LIKELY(self->passes_to_look > 1)) {
    --self->passes_to_look;
    return;
  }
  look_at_balance_slowly(self);
}

/// In a fork child.
void forget_balance();

}  // namespace hearth::rt
