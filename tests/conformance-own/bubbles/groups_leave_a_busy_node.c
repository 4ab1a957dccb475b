// Eight teams of two on four nodes, each with memory of its own; then the first one has much more to do than the others. The
// team beside it goes to another node, with its memory, and that is all that moves.
// env: HEARTH_MACHINE=opteron-8347hex4
#include "groups.h"

int main(void) {
  if (!hearth_mem_attach) return 0;
  const int moved = run_until_groups_move();
  expect(moved == 1, "one group moves");
  return failures != 0;
}
