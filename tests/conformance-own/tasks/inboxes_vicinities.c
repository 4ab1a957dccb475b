// The same on a manycore whose threads leave tasks that were dealt to others alone for ever: only who waits
// for descendants may take them.
// env: HEARTH_BUBBLES=off HEARTH_MACHINE=tilepro64 HEARTH_POLICY=home-cache HEARTH_VICINITY=1
#define LOCATIONS 63
#define ROUNDS 10
#include "inboxes.c"
