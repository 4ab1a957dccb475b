// Loops whose iterations wait for earlier ones: ordered(n) with depend(source) and depend(sink:...), or
// doacross.
//
// Two forms, by what the compilers pass. gcc numbers the iterations of the distributed loop (collapsed loops
// flattened), all of whose inner iterations one member runs in order: a word per iteration says how far it
// has come. clang passes all loops' indices and does not say how many are collapsed: a bit per point of the
// iteration space. Either lives in a slot (workshare.h) that the last member to leave empties. Writers
// release, waiters acquire.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/state/thread.h"

namespace hearth::rt {

/// `counts`: iterations of the distributed loop, then of each inner one.
void rows_begin(Thread* self, std::size_t dims, const std::uint64_t* counts);
void rows_post(Thread* self, const std::uint64_t* indices);
void rows_wait(Thread* self, const std::uint64_t* indices);

struct DoacrossDim {
  std::int64_t lower, upper, step;  // upper is inclusive
};
void points_begin(Thread* self, std::size_t dims, const DoacrossDim* space);
void points_post(Thread* self, const std::int64_t* values);
/// Returns at once for a point outside of the iteration space.
void points_wait(Thread* self, const std::int64_t* values);

/// Either form: the member has left the loop.
void doacross_end(Thread* self);

}  // namespace hearth::rt
