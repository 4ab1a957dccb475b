// What the caches of a machine that tells time (plugin/timed_caches.h) say of accesses whose answer is plain.
#include <stdint.h>
#include <stdio.h>

#include "../plugin/timed_caches.h"

enum { kMib = 16, kLine = 1 << kLineShift, kHomeBytes = 2 * kMib << 20, kL1Kib = 4, kL2Kib = 8, kLlcKib = 64 };

static int wrong;

static void expect(const char* what, struct served is, enum by_whom whom, int home, bool goes_back) {
  if (is.whom == whom && (whom == kByUpperCaches || is.home == home) && is.goes_back == goes_back) return;
  fprintf(stderr, "%s: served by %d of node %d, goes back %d; expected %d, %d, %d\n", what, is.whom, is.home,
          is.goes_back, whom, home, goes_back);
  wrong += 1;
}

// CPUs 0 and 1 are of node 0, 2 and 3 of node 1; memory of node 1 begins at kHomeBytes.
int main(void) {
  const double cpus[] = {0, 0, 1, 1}, homes[] = {0, 1}, mib[] = {kMib}, sizes[] = {kL1Kib, kL2Kib, kLlcKib};
  if (!caches_take_word("cpus", cpus, 4) || !caches_take_word("homes", homes, 2) || !caches_take_word("mib", mib, 1) ||
      !caches_take_word("caches_kib", sizes, 3) || caches_take_word("dilation", mib, 1)) {
    fputs("words are not taken as they should be\n", stderr);
    return 1;
  }
  caches_make(4);
  caches_new_region();
  for (unsigned cpu = 0; cpu < 4; ++cpu) caches_begin(cpu);

  const uint64_t line = kHomeBytes + 64 * kLine;
  expect("a cold read comes from its home", caches_touch(0, line, false), kByMemory, 1, false);
  expect("the next one from the CPU's own cache", caches_touch(0, line, false), kByUpperCaches, 0, false);
  expect("another CPU of the node has it from the last level", caches_touch(1, line, false), kByLlc, 1, false);
  expect("a CPU of the other node from memory", caches_touch(2, line, false), kByMemory, 1, false);
  expect("a store to it goes back once", caches_touch(0, line, true), kByUpperCaches, 1, true);
  expect("and not a second time", caches_touch(0, line, true), kByUpperCaches, 1, false);
  expect("the other node's copy is stale: the writer's cache has it", caches_touch(2, line, false), kByOtherCache, 0,
         false);

  expect("a cold store comes and goes back", caches_touch(3, 0, true), kByMemory, 0, true);
  for (int i = 1; i < 2 * kLlcKib * 1024 / kLine; ++i) caches_touch(3, (uint64_t)i * kLine, false);
  expect("what has left all caches comes from memory", caches_touch(3, 0, false), kByMemory, 0, false);
  expect("and goes back when it is written again", caches_touch(3, 0, true), kByUpperCaches, 0, true);

  caches_touch(1, line, true);
  caches_was_line(1, 7);
  if (!caches_same_line(1, 7, true) || !caches_same_line(1, 7, false) || caches_same_line(1, 8, false)) {
    fputs("the line of the last access is not known\n", stderr);
    wrong += 1;
  }
  caches_touch(0, line, true);
  if (caches_same_line(1, 7, false)) {
    fputs("a line that another CPU has written is taken for unchanged\n", stderr);
    wrong += 1;
  }
  caches_begin(0);
  caches_new_region();
  expect("a region begins cold", caches_touch(0, line, false), kByMemory, 1, false);
  return wrong == 0 ? 0 : 1;
}
