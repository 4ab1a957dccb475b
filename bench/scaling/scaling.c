// Counts writes to shared cache lines per construct, in a Hearth built with -DHEARTH_COUNT_SHARED_WRITES.
//
// Two cores cannot show how a runtime behaves on 96, but what each construct writes to lines that other
// threads use can be counted with any number of oversubscribed threads: where that number per thread stays
// flat, no line becomes a queue. Each row runs twice, with few and with more repetitions, and the difference
// counts, so that opening the region around a loop of repetitions is not charged to the construct. One line
// per row: name, what it is counted per, writes. Main thread only outside the rows.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>

#include "../common/bench.h"
#include "../common/team.h"
#include "../overhead/constructs.h"

enum { kFew = 4, kMany = 12 };

typedef uint64_t (*Counter)(void);

int main(int argc, char** argv) {
  void* symbol = dlsym(RTLD_DEFAULT, "hearth_shared_writes");
  if (!symbol)
    bench_fail("%s counts no shared writes; build Hearth with -DHEARTH_COUNT_SHARED_WRITES",
               bench_runtime_file());
  Counter shared_writes;
  // Copied, since ISO C has no cast from an object pointer to a function pointer.
  memcpy(&shared_writes, &symbol, sizeof shared_writes);
  for (int r = 0; r < constructs_count; ++r) {
    const struct row* row = &constructs[r];
    if (argc > 1 && strcmp(argv[1], row->name) != 0) continue;
    constructs_verify(row, 1);
    const uint64_t start = shared_writes();
    const struct work few = row->run(kFew);
    const uint64_t middle = shared_writes();
    const struct work many = row->run(kMany);
    const uint64_t end = shared_writes();
    const double writes = (double)(end - middle) - (double)(middle - start);
    const double operations =
        (double)(many.operations - few.operations) * (row->everybody ? omp_get_max_threads() : 1);
    printf("%s\t%s%s\t%.3f\n", row->name, row->operation, row->everybody ? " and thread" : "",
           writes / operations);
    fflush(stdout);
  }
  return 0;
}
