// A thread's records, in their order, into the Recording: what a thread runs is known from its own records, and what it
// says of other threads' tasks is their numbers.
#pragma once

#include <functional>

#include "record/process_assembly.h"

namespace hearth::record {

/// `read` calls what it is given for each record. `thread`: whose they are.
void assemble_thread(ProcessAssembly& all, Index thread,
                     const std::function<void(const std::function<void(const Record&)>&)>& read);

}  // namespace hearth::record
