// The same when tasks are dealt by what they would wait, and when kept ones are anybody's.
// env: HEARTH_MACHINE=opteron-6172x4 HEARTH_POLICY=adaptive
#include "inboxes.c"
