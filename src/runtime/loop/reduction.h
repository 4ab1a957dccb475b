// Reductions of worksharing constructs and regions in clang's ABI (gcc combines in the program).
//
// Four methods. Alone: the caller combines. Atomic: the program's atomic updates, where it says it has some.
// Lock: one member at a time combines under the lock that the program provides. Tree, for large teams without atomic
// updates and for all teams where KMP_DETERMINISTIC_REDUCTION asks for one order: every member combines its children's
// data into its own, and the root the rest into the program's variables; a member's data stays on its stack until its
// parent has used it, which ReduceCell tells (release by the one who writes the cell, acquire by the other).
#pragma once

#include <cstdint>

#include "runtime/state/thread.h"

namespace hearth::rt {

/// What the program does next; the numbers are clang's ABI.
enum class ReduceStep : std::int32_t { nothing = 0, combine = 1, update_atomically = 2 };

/// `combine(mine, theirs)` adds theirs to mine.
ReduceStep reduce_begin(Thread* self, void* data, void (*combine)(void*, void*), Lock& lock, bool has_atomic);
/// After ReduceStep::combine: the variables are up to date.
void reduce_end(Thread* self, Lock& lock);

}  // namespace hearth::rt
