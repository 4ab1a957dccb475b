// Reads pointers of the program that its clauses name. A clause may name an invented address, or memory that
// was given back meanwhile; the program never reads these, so a load here would crash a program that is
// right.
//
// What is worked out about the process is published once, atomically; a thread's stack is noted in its
// Thread.
#pragma once

#include <cstdint>

namespace hearth::rt {

struct Thread;

/// The pointer-sized object at `address`, a multiple of that size, which the program may write meanwhile; 0
/// when it cannot be read. A plain load where addresses stay readable whatever the program does: its static
/// data, the calling thread's stack, small managed blocks; and on the heap a load whose fault is caught. Elsewhere,
/// and where the program has a handler of its own for such faults, the kernel reads, some 300 ns.
std::uint64_t program_word(Thread* self, std::uint64_t address);

/// An address in the part of the calling thread's stack that is in use.
bool is_on_stack(Thread* self, std::uint64_t address);

}  // namespace hearth::rt
