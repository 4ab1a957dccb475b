// The same as groups_leave_a_busy_node.c, but nobody may be moved.
// env: HEARTH_MACHINE=opteron-8347hex4 HEARTH_REBALANCE=off
#include "groups.h"

int main(void) {
  if (!hearth_mem_attach) return 0;
  expect(run_until_groups_move() == 0, "nobody moves");
  return failures != 0;
}
