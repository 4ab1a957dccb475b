#!/usr/bin/env python3
"""HEARTH_THREAD_BUDGET: what real programs of gcc and clang get, alone and together."""
import glob
import os
import shutil
import signal
import subprocess
import sys
import unittest

from common import LIBRARY, Workshop, clean_environment

SHOP = Workshop()
# Reads orders, a line each, and answers each with a line. "N": opens a region of N threads (0: no clause) and says its size;
# "nested N M": a region of N, in each thread one of M, all open at once: says how many threads there were;
# "fork N", "forkin N": the size that a child by fork() gets, outside or inside of a region of N; "exec": begins anew. A region stays open until the next line.
PROGRAM = r"""
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>
static char line[64];
static int inside;  // a region around is no longer whole
static void region(int n, int hold) {
  int count = 0, size = 0;
  if (n == 0) n = omp_get_max_threads();
#pragma omp parallel num_threads(n)
  {
#pragma omp atomic
    count++;
#pragma omp barrier
#pragma omp master
    {
      size = omp_get_num_threads();
      if (count != size || omp_in_parallel() != (size > 1 || inside)) size = -1;
      printf("%d\n", size);
      if (hold && !fgets(line, sizeof line, stdin)) exit(0);
    }
  }
}
int main(int argc, char** argv) {
  setvbuf(stdin, NULL, _IONBF, 0);
  setvbuf(stdout, NULL, _IOLBF, 0);
  while (fgets(line, sizeof line, stdin)) {
    int n, m;
    if (!strncmp(line, "exec", 4)) execv(argv[0], argv);
    if (sscanf(line, "fork %d", &n) == 1) {
      if (fork() == 0) { region(n, 0); fflush(stdout); exit(0); }
      wait(NULL);
    } else if (sscanf(line, "forkin %d", &n) == 1) {
#pragma omp parallel num_threads(n)
#pragma omp master
      if (fork() == 0) { inside = 1; region(n, 0); fflush(stdout); _exit(0); } else wait(NULL);
    } else if (sscanf(line, "nested %d %d", &n, &m) == 2) {
      int threads = 0, open = 0, outer = 0;
#pragma omp parallel num_threads(n)
      {
#pragma omp single
        outer = omp_get_num_threads();
#pragma omp parallel num_threads(m)
        {
#pragma omp atomic
          threads++;
#pragma omp master
          {
            __atomic_fetch_add(&open, 1, __ATOMIC_ACQ_REL);
            while (__atomic_load_n(&open, __ATOMIC_ACQUIRE) < outer) sched_yield();
          }
        }
      }
      printf("%d\n", threads);
    } else if (sscanf(line, "%d", &n) == 1) {
      region(n, 1);
    }
  }
  return 0;
}
"""


class Obedient:
    """A program that waits for orders."""

    def __init__(self, program, budget, **environment):
        env = clean_environment()
        env["LD_LIBRARY_PATH"] = os.path.dirname(LIBRARY)
        env["HEARTH_THREAD_BUDGET"] = budget
        env.update(environment)
        self.said = None
        self.process = subprocess.Popen([program], env=env, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, bufsize=1)

    def tell(self, order):
        self.process.stdin.write(f"{order}\n")
        self.process.stdin.flush()

    def ask(self, order):
        self.tell(order)
        return int(self.process.stdout.readline())

    def open(self, threads=0):
        """The size of the region, which stays open."""
        return self.ask(threads)

    def close(self):
        self.tell("")

    def once(self, threads=0):
        size = self.open(threads)
        self.close()
        return size

    def end(self):
        """What it said on stderr."""
        if self.said is None:
            self.process.stdin.close()
            self.process.wait(60)
            self.process.stdout.close()
            with self.process.stderr as said:
                self.said = said.read()
        return self.said


class Budget(unittest.TestCase):
    number = 0

    def setUp(self):
        Budget.number += 1
        self.name = f"test-{os.getpid()}-{Budget.number}"
        self.started = []

    def tearDown(self):
        for one in self.started:
            if one.process.poll() is None:
                one.process.kill()
            one.end()
        for path in glob.glob(f"/dev/shm/hearth-budget.*.test-{os.getpid()}-*"):
            (shutil.rmtree if os.path.isdir(path) and not os.path.islink(path) else os.unlink)(path)

    def start(self, threads, program=None, **environment):
        environment.setdefault("OMP_NUM_THREADS", "4")
        self.started.append(Obedient(program or self.program, f"{threads},name={self.name}", **environment))
        return self.started[-1]

    def both_compilers(self):
        for name, program in PROGRAMS.items():
            with self.subTest(compiler=name):
                self.program = program
                yield
                self.tearDown()
                self.setUp()

    def until(self, expected, attempt):
        """The clock decides when somebody else's threads may be taken, so it is tried again."""
        for _ in range(10000):
            got = attempt()
            if got == expected:
                return
        self.fail(f"{got} instead of {expected}")

    def test_a_program_alone_gets_what_it_asks_for_and_no_more_than_there_is(self):
        for _ in self.both_compilers():
            one = self.start(3)
            self.assertEqual([one.once(), one.once(2), one.once(1), one.once(3), one.once(64)], [3, 2, 1, 3, 3])
            self.assertEqual(one.end(), "")

    def test_other_limits_hold(self):
        for _ in self.both_compilers():
            self.assertEqual(self.start(8, OMP_THREAD_LIMIT="3").once(8), 3)
            self.tearDown()
            self.assertLessEqual(self.start(64, OMP_DYNAMIC="true", OMP_NUM_THREADS="64").once(), os.cpu_count())
            self.tearDown()
            self.assertEqual(self.start("cpus", OMP_NUM_THREADS="999").once(), len(os.sched_getaffinity(0)))

    def test_while_one_has_all_the_other_has_its_own_thread(self):
        for _ in self.both_compilers():
            one, other = self.start(4), self.start(4)
            self.assertEqual(one.open(), 4)
            self.assertEqual(other.once(), 1)
            one.close()
            self.until(4, other.once)

    def test_two_that_want_all_have_half_each(self):
        for _ in self.both_compilers():
            one, other = self.start(4), self.start(4, PROGRAMS["gcc"])

            def together():
                sizes = one.open(), other.open()
                one.close()
                other.close()
                return sizes
            self.until((2, 2), together)

    def test_four_that_want_all_have_a_quarter_each(self):
        self.program = PROGRAMS["gcc"]
        all_four = [self.start(4) for _ in range(4)]

        def together():
            sizes = [one.open() for one in all_four]
            for one in all_four:
                one.close()
            return sizes
        self.until([1, 1, 1, 1], together)

    def test_regions_inside_regions_count(self):
        for _ in self.both_compilers():
            for threads, expected in ((4, 4), (3, 3), (2, 2), (1, 1)):
                one = self.start(threads, OMP_MAX_ACTIVE_LEVELS="2")
                self.assertEqual(one.ask("nested 2 2"), expected)
                self.assertEqual(one.once(4), threads, "all has come back")
                one.end()

    def test_a_killed_program_keeps_nothing(self):
        for _ in self.both_compilers():
            one, other = self.start(4), self.start(4)
            self.assertEqual(one.open(), 4)
            one.process.send_signal(signal.SIGKILL)
            self.until(4, other.once)

    def test_a_child_by_fork_has_its_own_part(self):
        for _ in self.both_compilers():
            one = self.start(4, OMP_MAX_ACTIVE_LEVELS="2")
            self.assertEqual(one.ask("forkin 4"), 1)
            self.until(4, lambda: one.ask("fork 4"))
            self.until(4, one.once)
            self.assertEqual(one.end(), "")

    def test_a_process_that_becomes_another_program_begins_anew(self):
        for _ in self.both_compilers():
            one = self.start(4)
            self.assertEqual(one.once(), 4)
            one.tell("exec")
            self.assertEqual(one.once(), 4)

    def test_budgets_of_other_names_are_others(self):
        self.program = PROGRAMS["gcc"]
        one = self.start(4)
        self.assertEqual(one.open(), 4)
        self.name += "-other"
        self.assertEqual(self.start(4).once(), 4)

    def test_without_a_page_it_is_said_once_and_there_is_no_budget(self):
        for _ in self.both_compilers():
            self.start(2).end()
            one = self.start(2)
            one.once()
            one.end()
            page, = glob.glob(f"/dev/shm/hearth-budget.*.{self.name}")
            self.assertEqual(os.stat(page).st_mode & 0o777, 0o600)
            os.chmod(page, 0o644)
            one = self.start(2)
            self.assertEqual([one.once(), one.once()], [4, 4])
            self.assertEqual(one.end().splitlines(), [
                f"hearth: HEARTH_THREAD_BUDGET: {page} may be read or written by others. This process runs without a budget: it "
                "starts as many threads as it is told to, and the processes that share the budget do not know of them."])
            os.unlink(page)
            os.symlink("/dev/null", page)
            one = self.start(2)
            self.assertEqual(one.once(), 4)
            self.assertIn("cannot be opened: Too many levels of symbolic links", one.end())

    def test_a_value_that_is_none_is_said_with_its_place(self):
        for value, wrong in (("many", "unknown word at column 1"), ("0", "at column 1"), ("4,n=x", "unknown word at column 3"),
                             ("4,name=a/b", "unknown word at column 9"), ("4,name=", "at column 8"), ("4097", "at column 1"),
                             ("4,name=x,y", "unexpected characters at column 10")):
            one = Obedient(PROGRAMS["gcc"], value, OMP_NUM_THREADS="4")
            self.started.append(one)
            self.assertEqual(one.once(), 4)
            said = one.end()
            self.assertIn(f'HEARTH_THREAD_BUDGET="{value}": ', said)
            self.assertIn(wrong, said)

    def test_the_display_shows_it(self):
        self.program = PROGRAMS["gcc"]
        one = self.start(3, OMP_DISPLAY_ENV="verbose")
        self.assertIn(f"HEARTH_THREAD_BUDGET = '3,name={self.name}'", one.end())


if __name__ == "__main__":
    PROGRAMS = {}
    for compiler in ("gcc", "clang"):
        if shutil.which(compiler):
            PROGRAMS[compiler] = SHOP.compile(f"obeys-{compiler}", PROGRAM, "-fopenmp", compiler=compiler)
    try:
        unittest.main(argv=sys.argv[:1])
    finally:
        SHOP.close()
