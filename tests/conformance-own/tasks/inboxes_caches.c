// The same where the locations are the last-level caches of eight nodes.
// env: HEARTH_MACHINE=epyc-nps4x2 HEARTH_LOCATION=llc HEARTH_POLICY=locality HEARTH_STEAL_THRESHOLD=hops
#define LOCATIONS 16
#define ROUNDS 30
#include "inboxes.c"
