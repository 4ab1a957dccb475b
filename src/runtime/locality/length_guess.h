// Lengths that gcc does not pass: it hands over the addresses of a depend clause alone.
//
// A length is guessed from the gap to the next address that tasks of the same function have named in the same
// item of the clause: blocks of one array lie behind each other. Addresses count for one region only, since
// memory may be given back and taken anew, a little beside where it was; until enough of a region's are
// known, the length of the last region's blocks is taken into account, too. The very first addresses, which
// have no neighbour yet, get one page. Each thread keeps what it has seen for a few functions; nobody else
// looks.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hearth::rt {

struct Thread;

/// Bytes from `address` on that a task which runs `body` is likely to mean.
/// `slot`: which item of the clause, in the order in which the compiler passes them.
std::uint64_t guess_length(Thread* self, const void* body, std::size_t slot, std::uint64_t address);
/// When the thread ends.
void drop_length_guesses(Thread* self);

}  // namespace hearth::rt
