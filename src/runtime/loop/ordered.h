// The ordered construct in a worksharing loop.
//
// The slot of the loop (workshare.h) holds the first iteration of the chunk whose turn it is. A member waits
// for its chunk's turn, runs the ordered regions of its iterations, and passes the turn on after the last
// one; or, if some iterations had none, when it asks for its next chunk. Only the member whose turn it is
// writes the word.
#pragma once

#include "runtime/state/thread.h"

namespace hearth::rt {

void ordered_begin(Thread* self);
void ordered_end(Thread* self);
/// The chunk has no further ordered regions.
void pass_ordered_turn(Thread* self);

}  // namespace hearth::rt
