// A load that may fault: the handler of crash.h lets it end with 0 instead of the process.
//
// For memory that is there as a rule, and that another thread may give back to the kernel between any look and the load:
// the C library shortens the heap while others run. Any thread.
#pragma once

#include <cstdint>

namespace hearth::rt {

/// Whether a fault of probe_load() is caught: the program has no handler of its own. Looked up every millisecond.
bool catches_faults();

/// The word at `address`, a multiple of its size; 0 when it cannot be read. Only where catches_faults().
std::uint64_t probe_load(std::uint64_t address);

/// For the handler: whether the fault was one of probe_load(), which then ends with 0 once the handler returns.
/// `context` is the handler's third argument.
bool end_probe_load(void* context);

}  // namespace hearth::rt
