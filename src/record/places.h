// Where things are, as a runtime tells that knows it (hearth/ompt.h): the machine, where threads are on a pretended one,
// where the bytes of tasks are and what the policy made of that.
#pragma once

#include "base/cpu.h"
#include "record/tool_thread.h"

namespace hearth::record {

/// From the tool's initializer, when the process's file is open.
void note_machine(ompt_function_lookup_t lookup);

/// A noted block is about to be freed.
void on_free(std::uint64_t address, std::uint64_t bytes);
/// How malloc's block is distributed: what stands in a block's record, or 0 where the system places it.
std::uint64_t facts_of(std::uint64_t address);
/// As the program ends: where its blocks are.
void note_homes();

/// On a pretended machine only the runtime knows where its threads are; else null.
extern int (*location_here)();
void note_changed_place(Writer* mine);
/// The calling thread is about to run something.
inline void note_place(Writer* mine) {
  if (HEARTH_UNLIKELY(location_here != nullptr)) note_changed_place(mine);
}

}  // namespace hearth::record
