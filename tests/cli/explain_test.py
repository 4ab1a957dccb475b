#!/usr/bin/env python3
"""`hearth run --explain`: what became of the tasks of each construct, in programs of gcc and clang."""
import os
import re
import shutil
import signal
import sys
import unittest

from common import SOURCE, Workshop, hearth, run

SHOP = Workshop()
CLANG = shutil.which("clang-19") or shutil.which("clang")
LIBRARY = hearth("--version").stdout.split("library: ")[1].strip()

# Constructs that are told apart by their lines, which MARK names. The first argument says which of them is met, the second
# one how the program ends. Tasks that know where their data is sleep longer elsewhere.
PROGRAM = r"""
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/wait.h>
#include "hearth/hearth.h"
#pragma weak hearth_task_footprint
#pragma weak hearth_taskloop_footprint
#pragma weak hearth_location
#pragma weak hearth_owner
#pragma weak omp_malloc_specific
enum { BLOCKS = 16, BYTES = 1 << 20 };
static char* block[BLOCKS];
static char small[BLOCKS][64];
static int ran;
static void work(int i) {
  usleep(hearth_location && hearth_location() == hearth_owner(block[i]) ? 1000 : 4000);
}
static void sent(int rounds) {
  for (int k = 0; k < rounds; k++) {
    for (int i = 0; i < BLOCKS; i++) {
      if (hearth_task_footprint) hearth_task_footprint(block[i], BYTES, HEARTH_READ_WRITE);
#pragma omp task /* MARK sent */
      work(i);
    }
#pragma omp taskwait
  }
}
/* Nothing but the argument says what the task uses. */
static void pointed(int rounds) {
  for (int k = 0; k < rounds; k++) {
    for (int i = 0; i < BLOCKS; i++) {
      char* mine = block[i];
#pragma omp task firstprivate(mine) /* MARK pointed */
      usleep(hearth_location && hearth_location() == hearth_owner(mine) ? 1000 : 4000);
    }
#pragma omp taskwait
  }
}
static void same(int rounds) {
  for (int k = 0; k < rounds; k++) {
    for (int i = 0; i < BLOCKS; i++) {
      char* mine = block[i];
#pragma omp task firstprivate(mine) /* MARK same */
      usleep(mine ? 1000 : 0);
    }
#pragma omp taskwait
  }
}
static void brief(int tasks) {
  for (int i = 0; i < tasks; i++) {
#pragma omp task depend(in : small[i % BLOCKS]) /* MARK brief */
    __atomic_fetch_add(&ran, 1, __ATOMIC_RELAXED);
  }
#pragma omp taskwait
}
static void silent(int tasks) {
  for (int i = 0; i < tasks; i++) {
#pragma omp task /* MARK silent */
    __atomic_fetch_add(&ran, 1, __ATOMIC_RELAXED);
  }
#pragma omp taskwait
}
static void loop(void) {
#pragma omp taskloop num_tasks(64) /* MARK loop */
  for (int i = 0; i < 64; i++) usleep(20);
}
static void dealt_loop(void) {
  if (hearth_taskloop_footprint) hearth_taskloop_footprint(block[0], BYTES / 64, HEARTH_READ_WRITE);
#pragma omp taskloop num_tasks(64) /* MARK dealt_loop */
  for (int i = 0; i < 64; i++) usleep(20);
}
static void urgent(int tasks) {
  for (int i = 0; i < tasks; i++) {
#pragma omp task depend(in : small[i % BLOCKS]) priority(1) /* MARK urgent */
    __atomic_fetch_add(&ran, 1, __ATOMIC_RELAXED);
  }
#pragma omp taskwait
}
static void meet(const char* what) {
  if (strstr(what, "sent")) sent(40);
  if (strstr(what, "pointed")) pointed(60);
  if (strstr(what, "same")) same(60);
  if (strstr(what, "brief")) brief(2000);
  if (strstr(what, "silent")) silent(500);
  if (strstr(what, "dealtloop")) dealt_loop();
  else if (strstr(what, "loop")) loop();
  if (strstr(what, "urgent")) urgent(50);
}
int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  const char* end = argc > 2 ? argv[2] : "";
  for (int i = 0; i < BLOCKS; i++)
    block[i] = omp_malloc_specific ? omp_malloc_specific(BYTES, OMP_MALLOC_COARSE) : malloc(BYTES);
#pragma omp parallel
#pragma omp masked
  {
    meet(what);
    if (!strcmp(end, "exit")) exit(0);
  }
  if (!strcmp(end, "nested")) {
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
    {
#pragma omp parallel num_threads(2)
#pragma omp masked
      silent(10);
    }
  }
  if (!strcmp(end, "fork")) {
    if (fork() == 0) {
#pragma omp parallel
#pragma omp masked
      silent(20);
      exit(0);
    }
    wait(NULL);
  }
  if (!strcmp(end, "idle")) {
    if (fork() == 0) exit(0);
    wait(NULL);
  }
  if (!strcmp(end, "abort")) abort();
  if (!strcmp(end, "_exit")) _exit(0);
  return 0;
}
"""
LINES = {}


def setUpModule():
    for number, line in enumerate(PROGRAM.splitlines(), 1):
        if found := re.search(r"MARK (\w+)", line):
            LINES[found[1]] = number
    include = f"-I{SOURCE}/include"
    SHOP.programs = {"gcc": SHOP.compile("by_gcc", PROGRAM, "-g", "-fopenmp", include)}
    if CLANG:
        SHOP.programs["clang"] = SHOP.compile("by_clang", PROGRAM, "-g", "-fopenmp", include, compiler=CLANG)
    SHOP.bare = SHOP.compile("bare", PROGRAM, "-s", "-fopenmp", include)


def tearDownModule():
    SHOP.close()


class Construct:
    def __init__(self, head, lines):
        self.head, self.lines = head, lines
        self.verdict = lines[0].strip()
        self.text = "\n".join(lines)

    def number(self, pattern):
        return int(re.search(pattern, self.text)[1])


class Told:
    """A text of --explain: for each process its head and its constructs."""

    def __init__(self, text):
        self.processes = []
        for line in text.splitlines():
            if line.startswith("hearth: the tasks of "):
                self.processes.append((line, []))
            elif line.startswith("task "):
                self.processes[-1][1].append((line, []))
            else:
                self.processes[-1][1][-1][1].append(line)

    def all(self, process=0):
        return [Construct(*one) for one in self.processes[process][1]]

    def construct(self, name, process=0):
        """The construct that is marked so; gcc counts from the body."""
        for one in self.all(process):
            line = re.search(r":(\d+)$", one.head)
            if line and 0 <= int(line[1]) - LINES[name] <= 1:
                return one
        raise AssertionError(f"{name}: not among {[one.head for one in self.all(process)]}")


def with_each_compiler(test):
    def all_of_them(self):
        for compiler in SHOP.programs:
            with self.subTest(compiler=compiler):
                test(self, compiler)
    return all_of_them


class Explain(unittest.TestCase):
    policy, machine = "adaptive", SOURCE / "models/opteron-6172x4.toml"

    def explain(self, what, end="", compiler="gcc", status=0, **environment):
        path = SHOP.folder / "told.txt"
        path.unlink(missing_ok=True)
        # The tasks imitate far memory, so the clock shall be asked, as on a real machine.
        environment = {"OMP_NUM_THREADS": 8, "HEARTH_POLICY": self.policy, "HEARTH_MACHINE": self.machine, "HEARTH_SLOWDOWN": 1, **environment}
        done = hearth("run", f"--explain={path}", "--", SHOP.programs[compiler], what, end, env=environment)
        self.assertEqual(done.returncode, status, done.stderr)
        self.said = done.stderr
        return Told(path.read_text())

    @with_each_compiler
    def test_tasks_that_take_longer_elsewhere(self, compiler):
        one = self.explain("sent", compiler=compiler).construct("sent")
        self.assertRegex(one.verdict, r"dealt: tasks take \d+ % longer elsewhere$")
        self.assertGreater(one.number(r"takes? (\d+) % longer"), 30)
        self.assertEqual(one.number(r"(\d+) tasks, mean "), 640)
        self.assertGreater(one.number(r"ran at home: (\d+), mean "), one.number(r"elsewhere: (\d+), mean"))
        self.assertRegex(one.text, r"(?m)^  won [\d.]+ m?s of all threads' time \(an estimate\): saved .*, dealing has cost ")

    @with_each_compiler
    def test_short_tasks(self, compiler):
        one = self.explain("brief", compiler=compiler).construct("brief")
        self.assertEqual(one.number(r"(\d+) tasks"), 2000)
        # On a busy machine threads are interrupted within tasks, which then seem longer than they are.
        self.assertRegex(one.verdict, r"^not dealt: ")

    @with_each_compiler
    def test_tasks_that_say_nothing(self, compiler):
        one = self.explain("silent", compiler=compiler).construct("silent")
        self.assertEqual((one.verdict, one.number(r"(\d+) tasks")),
                         ("not dealt: no depend or affinity says what they touch", 500))

    @with_each_compiler
    def test_tasks_whose_arguments_tell_where_their_data_is(self, compiler):
        one = self.explain("pointed", compiler=compiler).construct("pointed")
        self.assertRegex(one.text, r"no clause says what they touch; footprint of \d+: from their arguments")
        self.assertGreater(one.number(r"of which (\d+) dealt"), 100)
        self.assertGreater(one.number(r"ran at home: (\d+), mean "), one.number(r"elsewhere: (\d+), mean"))

    @with_each_compiler
    def test_tasks_whose_place_does_not_matter_are_left_where_they_were_made(self, compiler):
        one = self.explain("same", compiler=compiler).construct("same")
        # On a busy machine chance may have some asked about, until the account knows better; else nearly all would be dealt.
        self.assertLess(sum(map(int, re.findall(r"of which (\d+) dealt", one.text))), 960 // 2)

    def test_tasks_without_clauses_can_be_left_alone(self):
        one = self.explain("pointed", HEARTH_INFER="false").construct("pointed")
        self.assertEqual(one.verdict, "not dealt: no depend or affinity says what they touch")

    def test_where_it_is_in_the_source(self):
        self.assertRegex(self.explain("silent").construct("silent").head, r"^task in silent at /.*/by_gcc\.c:\d+$")
        if CLANG:
            self.assertRegex(self.explain("silent", compiler="clang").construct("silent").head,
                             r"^task (in silent )?at /.*/by_clang\.c:\d+$")

    def test_without_symbols_the_place_in_the_file_is_told(self):
        done = hearth("run", "--explain", "--", SHOP.bare, "silent")
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r"(?m)^task at /.*/bare\+0x[0-9a-f]+$")

    def test_priorities(self):
        one = self.explain("urgent", OMP_MAX_TASK_PRIORITY=1).construct("urgent")
        self.assertEqual(one.verdict, "not dealt: tasks with a priority go into one queue for all")

    @with_each_compiler
    def test_loops_of_tasks(self, compiler):
        one = self.explain("loop", compiler=compiler).construct("loop")
        self.assertEqual(one.number(r"(\d+) tasks"), 64)
        self.assertRegex(one.verdict, "^not dealt: the loop says nothing of its data")
        one = self.explain("dealtloop", compiler=compiler, HEARTH_POLICY="locality").construct("dealt_loop")
        self.assertEqual(one.number(r"(\d+) tasks"), 64)
        self.assertRegex(one.text, r"asked about \d+ pieces of the loop")

    def test_several_constructs(self):
        told = self.explain("sent,brief,silent")
        self.assertRegex(told.processes[0][0], r"by_gcc \(process \d+\): policy adaptive, 8 locations, 3 task constructs$")
        self.assertEqual(told.construct("sent").head, told.all()[0].head)  # which took longest

    def test_every_policy(self):
        for policy, verdict in (("locality", r"^dealt: .*policy locality keeps no account, and deals whatever that brings$"),
                                ("home-cache", r"dealt: "), ("work-stealing", r"^not dealt: the policy deals nothing$"),
                                ("central", r"^not dealt: the policy deals nothing$")):
            with self.subTest(policy=policy):
                told = self.explain("sent", HEARTH_POLICY=policy)
                self.assertIn(f"policy {policy}, 8 locations", told.processes[0][0])
                self.assertRegex(told.construct("sent").verdict, verdict)
                self.assertRegex(told.construct("sent").text, r"640 tasks, mean ")

    def test_one_location(self):
        for policy in ("locality", "adaptive", "work-stealing"):
            told = self.explain("sent", HEARTH_POLICY=policy, HEARTH_MACHINE="numa:1 core:4 pu:1")
            self.assertEqual(told.construct("sent").verdict, "not dealt: one location only")

    @with_each_compiler
    def test_nested_regions(self, compiler):
        one = self.explain("silent", "nested", compiler=compiler).construct("silent")
        self.assertEqual(one.number(r"(\d+) tasks"), 520)

    @with_each_compiler
    def test_exit_inside_a_region(self, compiler):
        one = self.explain("silent", "exit", compiler=compiler).construct("silent")
        self.assertEqual(one.number(r"(\d+) tasks"), 500)

    @with_each_compiler
    def test_a_child_by_fork_tells_its_own(self, compiler):
        told = self.explain("brief,silent", "fork", compiler=compiler)
        self.assertEqual(len(told.processes), 2)
        counts = sorted(tuple(sorted(c.number(r"(\d+) tasks") for c in told.all(i))) for i in range(2))
        self.assertEqual(counts, [(20,), (500, 2000)])

    def test_a_child_without_tasks_tells_nothing(self):
        self.assertEqual(len(self.explain("silent", "idle").processes), 1)

    def test_a_program_without_tasks(self):
        told = self.explain("")
        self.assertEqual((told.processes, self.said), ([], "hearth: no process made a task on Hearth; there is nothing to explain.\n"))

    def test_after_a_crash_it_says_so(self):
        told = self.explain("silent", "abort", status=-signal.SIGABRT)
        self.assertEqual(told.processes, [])
        self.assertRegex(self.said, r"(?m)^hearth: 1 process with tasks ended without exit\(\), the program by signal 6 \(Aborted\); "
                                    r"what became of those tasks is not known\.$")
        self.explain("silent", "_exit")
        self.assertIn("1 process with tasks ended without exit(); what became of those tasks is not known.", self.said)

    def test_switched_off(self):
        self.assertEqual(self.explain("silent", HEARTH="off").processes, [])
        self.assertIn("HEARTH=off: the program kept the runtime it came with", self.said)

    def test_the_programs_own_output_and_status_are_kept(self):
        done = hearth("run", "--explain", "--", "sh", "-c", "echo out; exit 7")
        self.assertEqual((done.returncode, done.stdout), (7, "out\n"))

    def test_a_file_that_cannot_be_written(self):
        done = hearth("run", f"--explain={SHOP.folder}/nowhere/told", "--", SHOP.programs["gcc"], "silent")
        self.assertEqual(done.returncode, 1)
        self.assertIn("nowhere/told", done.stderr)


class Variable(unittest.TestCase):
    """HEARTH_EXPLAIN alone, without the command."""

    def start(self, value, what="silent", end=""):
        return run(SHOP.programs["gcc"], what, end, env={
            "LD_LIBRARY_PATH": os.path.dirname(LIBRARY), "OMP_NUM_THREADS": 4, "HEARTH_EXPLAIN": value})

    def test_on_standard_error(self):
        done = self.start("stderr")
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        self.assertRegex(done.stderr, r"(?s)^hearth: the tasks of .*\ntask at /.*/by_gcc\+0x[0-9a-f]+\n  not dealt: .*\n  500 tasks")

    def test_a_file_is_appended_to(self):
        path = SHOP.folder / "appended"
        for _ in range(2):
            self.assertEqual(self.start(path).stderr, "")
        self.assertEqual(len(Told(path.read_text()).processes), 2)

    def test_a_file_for_each_process(self):
        self.start(SHOP.folder / "of-%p", end="fork")
        self.assertEqual(len(list(SHOP.folder.glob("of-*"))), 2)

    def test_a_file_that_cannot_be_opened(self):
        done = self.start(SHOP.folder / "nowhere" / "told")
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r'hearth: HEARTH_EXPLAIN=".*/nowhere/told": cannot be opened \(No such file')

    def test_a_full_disk_is_said(self):
        self.assertRegex(self.start("/dev/full").stderr, r'^hearth: HEARTH_EXPLAIN="/dev/full": cannot be written \(No space')


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
