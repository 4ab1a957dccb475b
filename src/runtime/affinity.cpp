#include "runtime/affinity.h"

namespace hearth::rt {

bool affinity_active() { return false; }
void place_team(Team*, std::int32_t) {}
void bind_to_place(Thread* self, std::int32_t place) { self->bound_place = place; }

}  // namespace hearth::rt
