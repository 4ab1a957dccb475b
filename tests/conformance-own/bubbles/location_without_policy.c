// Where a thread is does not depend on how tasks are dealt: with work-stealing, too, a pretended machine has threads at all of
// its locations.
// env: HEARTH_MACHINE=opteron-8347hex4 HEARTH_POLICY=work-stealing
#include <omp.h>

#include "expect.h"

int hearth_location(void) __attribute__((weak));

int main(void) {
  if (!hearth_location) return 0;
  int seen[4] = {0};
#pragma omp parallel num_threads(16)
  {
    const int here = hearth_location();
    expect(here >= 0 && here < 4, "a location");
    if (here >= 0 && here < 4)
#pragma omp atomic
      seen[here]++;
  }
  for (int i = 0; i < 4; i++) expect(seen[i] == 4, "four threads at each");
  return failures != 0;
}
