#!/usr/bin/env python3
"""HEARTH_STATIC_BY_CAPACITY: how real programs' static loops are cut on machines whose cores differ."""
import glob
import shutil
import sys
import unittest

from common import Workshop, hearth

SHOP = Workshop()
CLANG = shutil.which("clang") or next(iter(sorted(glob.glob("/usr/bin/clang-[0-9]*"), reverse=True)), None)
# For each loop a line: its name, how many iterations each thread had, and whether each iteration was done once, by threads in
# rising order, and the last one's thread had the lastprivate value.
PROGRAM = r"""
#include <omp.h>
#include <stdio.h>
#include <string.h>
enum { N = 1200, THREADS = 4 };
static int done[N], who[N], last;
static void begin(void) { memset(done, 0, sizeof done); last = -1; }
static void end(const char* name, int trip) {
  int count[THREADS] = {0}, good = 1;
  for (int i = 0; i < trip; i++) { good &= done[i] == 1; count[who[i]]++; if (i > 0) good &= who[i] >= who[i - 1]; }
  printf("%s %d %d %d %d %s\n", name, count[0], count[1], count[2], count[3], good && (last == trip - 1 || last == -2) ? "good" : "bad");
}
#define MARK(i) (done[i]++, who[i] = omp_get_thread_num())
int main(void) {
  int k = -1;
  begin();
#pragma omp parallel for schedule(static) lastprivate(k)
  for (int i = 0; i < N; i++) { MARK(i); k = i; }
  last = k; end("int", N);
  begin();
#pragma omp parallel for schedule(static) lastprivate(k)
  for (unsigned i = 0; i < 2 * 600u; i += 2) { MARK(i / 2); k = i / 2; }
  last = k; end("unsigned", 600);
  begin();
#pragma omp parallel for schedule(static) lastprivate(k)
  for (long long i = N; i > 0; i--) { MARK(N - i); k = N - i; }
  last = k; end("down", N);
  begin();
#pragma omp parallel for schedule(static) lastprivate(k)
  for (unsigned long long i = 0; i < 3; i++) { MARK(i); k = i; }
  last = k; end("three", 3);
  begin();
#pragma omp parallel for schedule(runtime) lastprivate(k)
  for (int i = 0; i < N; i++) { MARK(i); k = i; }
  last = k; end("runtime", N);
  begin();
#pragma omp parallel for schedule(static, 300)
  for (int i = 0; i < N; i++) MARK(i);
  last = -2; end("chunked", N);
  begin();
#pragma omp teams distribute parallel for num_teams(1) thread_limit(4)
  for (int i = 0; i < N; i++) MARK(i);
  last = -2; end("distribute", N);
  begin();
#pragma omp parallel num_threads(2)
#pragma omp for schedule(static)
  for (int i = 0; i < N; i++) MARK(i);
  last = -2; end("two", N);
  return 0;
}
"""
BIG_LITTLE = """schema = 1
name = "big-little"
title = "two performance cores and two efficiency cores"
[[node]]
mark = "A"
number = 0
package = 0
cores = [{ count = 2, kind = "performance", capacity = 1024 }, { count = 2, kind = "efficiency", capacity = 512 }]
"""
BOUND = {"OMP_NUM_THREADS": "4", "OMP_PLACES": "cores", "OMP_PROC_BIND": "close", "OMP_SCHEDULE": "static"}


def parts(compiler, **more):
    """The threads' parts by loop, and what was said."""
    done = hearth("run", "--", SHOP.folder / compiler, env={**BOUND, "HEARTH_MACHINE": str(SHOP.folder / "machine.toml"), **more})
    assert done.returncode == 0, done.stderr
    rows = [line.split() for line in done.stdout.splitlines()]
    assert all(row[5] == "good" for row in rows), done.stdout
    return {row[0]: [int(n) for n in row[1:5]] for row in rows}, done.stderr


def setUpModule():
    (SHOP.folder / "machine.toml").write_text(BIG_LITTLE)
    SHOP.compile("gcc", PROGRAM, "-fopenmp")
    if CLANG:
        SHOP.compile("clang", PROGRAM, "-fopenmp", compiler=CLANG)


def tearDownModule():
    SHOP.close()


class Parts(unittest.TestCase):
    @unittest.skipUnless(CLANG, "no clang here")
    def test_clangs_loops_go_by_the_cores(self):
        found, said = parts("clang", HEARTH_STATIC_BY_CAPACITY="1")
        self.assertEqual(said, "")
        for loop in ("int", "down", "runtime", "distribute"):
            self.assertEqual(found[loop], [400, 400, 200, 200], loop)
        self.assertEqual(found["unsigned"], [200, 200, 100, 100])
        self.assertEqual(sum(found["three"]), 3)
        self.assertEqual(found["chunked"], [300] * 4)  # the program has said how much each gets
        self.assertEqual(found["two"], [600, 600, 0, 0])  # both are on performance cores

    def test_gccs_programs_cut_static_loops_themselves(self):
        found, said = parts("gcc", HEARTH_STATIC_BY_CAPACITY="1")
        self.assertEqual(said, "")
        self.assertEqual(found["runtime"], [400, 400, 200, 200])
        for loop in ("int", "down", "distribute", "chunked"):
            self.assertEqual(found[loop], [300] * 4, loop)

    def test_without_it_all_parts_are_equal(self):
        for compiler in ("gcc", "clang") if CLANG else ("gcc",):
            found, said = parts(compiler)
            self.assertEqual((found["int"], found["runtime"], said), ([300] * 4, [300] * 4, ""))

    def test_of_threads_that_are_not_bound_nobody_knows_their_cores(self):
        found, said = parts("gcc", HEARTH_STATIC_BY_CAPACITY="1", OMP_PLACES="", OMP_PROC_BIND="")
        self.assertEqual(found["runtime"], [300] * 4)
        self.assertEqual(said.count("HEARTH_STATIC_BY_CAPACITY: threads are not bound"), 1)

    def test_wrong_values_are_named(self):
        _, said = parts("gcc", HEARTH_STATIC_BY_CAPACITY="maybe")
        self.assertIn("HEARTH_STATIC_BY_CAPACITY", said)
        self.assertIn("maybe", said)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
