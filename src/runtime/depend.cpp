#include "runtime/depend.h"

namespace hearth::rt {

void release_dependences(Thread*, Task*) {}
void drop_depend_table(Thread*, Task*) {}

}  // namespace hearth::rt
