// Task reductions of both ABIs: one private copy of each variable for each thread of the team.
//
// Registered with a taskgroup by the thread that starts it; looked up by the threads that run the group's
// tasks, which are ordered after the registration by the task's publication. Each thread touches its own
// copies only.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/state/thread.h"

namespace hearth::rt {

// --- gcc: the compiler initialises and combines; the runtime provides zeroed memory and finds a thread's
// part of it.
//
// An array of words per construct: [0] number of variables, [1] bytes a thread, [2] alignment, then replaced
// by the memory, [4] the next older array, [6] end of the memory; from [7] three words a variable: address,
// offset in a thread's part, unused.

/// With the current task's innermost group, started just before.
void register_gomp_reductions(Thread* self, std::uintptr_t* data);
/// With a group that a region starts with (GOMP_parallel_reductions).
void allocate_gomp_reductions(std::uintptr_t* data, std::int32_t threads);
void unregister_gomp_reductions(std::uintptr_t* data);
/// Replace addresses by the calling thread's copies; the first `originals` of them also get their original's
/// address, behind.
void remap_gomp_reductions(Thread* self, std::size_t count, std::size_t originals, void** addresses);

/// A worksharing construct with task reductions: each member's group around its share. `share` is the word
/// that members of the construct have in common (null for a team of one): the first one's array is found
/// there.
void begin_workshare_reductions(Thread* self, std::uintptr_t* data, std::atomic<void*>* share);
void end_workshare_reductions(Thread* self);

// --- clang: the runtime initialises, combines at the group's end, and finalises.

struct ReductionItem {
  void* shared;
  void* original;
  std::size_t size;
  void* init;  // void (*)(void* copy, void* original), or without `original` in the older form
  void (*fini)(void* copy);
  void (*combine)(void* shared, void* copy);
};

/// With the current task's innermost group. Returns the group.
Taskgroup* register_reductions(Thread* self, const ReductionItem* items, std::size_t count);
/// Reductions that a region (`worksharing` false) or a worksharing construct has with modifier `task`: called
/// by each member, each in a group of its own, with one set of copies for all. Returns the member's group.
Taskgroup* begin_shared_reductions(Thread* self, bool worksharing, const ReductionItem* items,
                                   std::size_t count);
void end_shared_reductions(Thread* self, bool worksharing);
/// The calling thread's copy of `variable` (an address of the original or of any thread's copy), searched
/// from `group` outward; null `group`: the current task's.
void* private_copy(Thread* self, Taskgroup* group, void* variable);
/// The group has ended: combine. Called by taskgroup_end().
void finish_reductions(Thread* self, Taskgroup* group);

}  // namespace hearth::rt
