#include "runtime/workshare.h"

namespace hearth::rt {

void reset_workshares(Team*) {}
void free_workshares(Team*) {}

}  // namespace hearth::rt
