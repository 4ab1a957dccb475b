#!/usr/bin/env python3
"""HEARTH_LOG_DECISIONS as a file: who writes it, when it is refused, and how one sees that it is not whole. That what stands in
it is right is tests/agreement's."""
import fcntl
import json
import os
import sys
import unittest

from common import SOURCE, Workshop, hearth, run

SHOP = Workshop()
LIBRARY = hearth("--version").stdout.split("library: ")[1].strip()

# `tasks` tasks of the initial thread with a footprint, each with a child that has one. Its argument says how it ends.
PROGRAM = r"""
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/wait.h>
static char data[16][8192];
static void region(int tasks) {
#pragma omp parallel
#pragma omp masked
  for (int i = 0; i < tasks; i++) {
#pragma omp task depend(inout : data[i])
    {
      data[i][0]++;
#pragma omp task depend(inout : data[i + 8])
      data[i + 8][0]++;
    }
  }
}
int main(int argc, char** argv) {
  const char* end = argc > 1 ? argv[1] : "";
  region(argc > 2 ? atoi(argv[2]) : 4);
  if (!strcmp(end, "crash")) _exit(9);
  if (!strcmp(end, "closefrom")) {
    // As closefrom(3), which glibc has since 2.34; then the program's own files, on all numbers that were ours.
    for (int file = 3; file < 1024; file++) close(file);
    int own = open(argv[3], O_RDWR | O_CREAT | O_TRUNC, 0644);
    for (int file = own + 1; file < 1024; file++) dup2(own, file);
    region(4);
    off_t size = lseek(own, 0, SEEK_END);
    return size == 0 ? 0 : 3;
  }
  if (!strcmp(end, "fork")) {
    if (fork() == 0) {
      region(4);
      exit(0);
    }
    wait(NULL);
  }
  return 0;
}
"""


def setUpModule():
    SHOP.program = SHOP.compile("decides", PROGRAM, "-fopenmp")


def tearDownModule():
    SHOP.close()


def decide(log, *arguments, **environment):
    return run(SHOP.program, *arguments, env={
        "LD_LIBRARY_PATH": os.path.dirname(LIBRARY), "OMP_NUM_THREADS": 8, "HEARTH_LOG_DECISIONS": log, "HEARTH_POLICY": "locality",
        "HEARTH_MACHINE": SOURCE / "models/opteron-6172x4.toml", **environment})


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


class Log(unittest.TestCase):
    def setUp(self):
        self.path = SHOP.folder / "log.json"
        self.path.unlink(missing_ok=True)

    def whole(self, path, decisions=8):
        head, *middle, end = lines(path)
        self.assertEqual((head["log"], head["version"], head["policy"], head["machine"]),
                         ("decisions", 1, "locality", "opteron-6172x4"))
        self.assertEqual(end, {"decisions": decisions, "left_out": 0})
        self.assertEqual(len(middle), decisions)
        return middle

    def test_tasks_are_told_apart_by_their_paths(self):
        done = decide(self.path)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(sorted(line["task"] for line in self.whole(self.path)),
                         sorted(f"0.{i}{child}" for i in range(4) for child in ("", ".0")))

    def test_a_second_run_begins_anew(self):
        decide(self.path)
        decide(self.path)
        self.whole(self.path)

    def test_the_number_of_the_process_in_the_name(self):
        decide(SHOP.folder / "of-%p.json")
        found = list(SHOP.folder.glob("of-*.json"))
        self.assertEqual(len(found), 1)
        self.assertTrue(found[0].stem.removeprefix("of-").isdigit())
        self.whole(found[0])

    def test_a_process_that_decides_nothing_writes_nothing(self):
        done = decide(self.path, "", "0")
        self.assertEqual((done.returncode, done.stderr, self.path.exists()), (0, "", False))

    def test_the_programs_own_files_are_left_alone(self):
        own = SHOP.folder / "data.out"
        done = decide(self.path, "closefrom", 4, own)
        self.assertEqual((done.returncode, done.stderr, own.read_text()), (0, "", ""))
        self.whole(self.path, 16)

    def test_a_file_that_cannot_be_opened_anew_is_given_up(self):
        own = SHOP.folder / "data.out"
        done = decide("/proc/self/fd/1", "closefrom", 4, own)
        self.assertEqual((done.returncode, own.read_text()), (0, ""))

    def test_a_fork_child_writes_nothing(self):
        self.assertEqual(decide(self.path, "fork").returncode, 0)
        self.whole(self.path)

    def test_a_process_that_dies_loses_nothing_but_the_end(self):
        self.assertEqual(decide(self.path, "crash").returncode, 9)
        head, *middle = lines(self.path)
        self.assertEqual(len(middle), 8)
        self.assertNotIn("decisions", middle[-1])

    def test_a_file_that_cannot_be_made(self):
        done = decide(SHOP.folder / "nowhere" / "log")
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r'^hearth: HEARTH_LOG_DECISIONS=".*/nowhere/log": cannot be opened \(No such file.*\n$')

    def test_a_full_disk_is_said_once(self):
        done = decide("/dev/full")
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r"^hearth: .*cannot be written any more \(No space left on device\); .*\n$")

    def test_a_file_that_another_process_writes_is_left_to_it(self):
        self.path.write_text("theirs\n")
        with open(self.path, "r+") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            done = decide(self.path)
        self.assertIn("is being written by another process; put %p into the name", done.stderr)
        self.assertEqual(self.path.read_text(), "theirs\n")

    def test_where_nothing_can_be_decided_a_line_says_so(self):
        done = decide(self.path, HEARTH_POLICY="work-stealing")
        self.assertIn("nothing to log, since policy work-stealing deals no tasks on a machine with 8 locations", done.stderr)
        self.assertFalse(self.path.exists())


class Simulated(unittest.TestCase):
    def test_one_way_only(self):
        done = hearth("sim", "map", "--machine", "opteron-6172x4", "--policy", "locality,home-cache", "--distribution", "fine",
                      "--log-decisions", SHOP.folder / "sim.json")
        self.assertEqual(done.returncode, 2)
        self.assertIn("logs one policy with one distribution", done.stderr)

    def test_a_file_that_cannot_be_written(self):
        for path, why in ((SHOP.folder / "nowhere" / "log", "No such file"), ("/dev/full", "No space left")):
            done = hearth("sim", "map", "--machine", "opteron-6172x4", "--policy", "locality", "--distribution", "fine", "--seeds",
                          "1", "--log-decisions", path)
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, rf"^hearth: sim: {path}: cannot be written: {why}.*\n$")

    def test_a_recordings_tasks_have_paths(self):
        # Threads that all create tasks: the simulator knows one program, whose children they are.
        program = SHOP.compile("families", PROGRAM.replace("#pragma omp masked\n  for (int i = 0; i < tasks; i++) {",
                                                           "  for (int i = omp_get_thread_num(); i < 8; i += 4) {")
                               .replace("#include <stdlib.h>", "#include <omp.h>\n#include <stdlib.h>"), "-fopenmp")
        recording, path = SHOP.folder / "families.db", SHOP.folder / "sim.json"
        done = hearth("record", "-o", recording, "--", program, env={"OMP_NUM_THREADS": 4})
        self.assertEqual(done.returncode, 0, done.stderr)
        done = hearth("sim", recording, "--machine", "opteron-6172x4", "--policy", "locality", "--distribution", "fine",
                      "--seeds", "1", "--threads", "4", "--log-decisions", path)
        self.assertEqual(done.returncode, 0, done.stderr)
        _, *middle, _ = lines(path)
        self.assertEqual(sorted(line["task"] for line in middle),
                         sorted(f"0.{thread}.{i}{child}" for thread in range(4) for i in range(2) for child in ("", ".0")))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
