#!/usr/bin/env python3
"""`hearth record` and `hearth export`: what real programs of gcc and clang do, on Hearth and on LLVM's runtime, is in the
file, also when they are killed, the disk is full or files are cut."""
import json
import os
import random
import re
import shutil
import sqlite3
import subprocess
import sys
import unittest

from common import LIBRARY, Workshop, hearth, run

SHOP = Workshop()
CLANG = shutil.which("clang-19") or shutil.which("clang")
TOOL = os.path.join(os.path.dirname(LIBRARY), "libhearth-record.so")

# fib(N) by tasks, a loop of 16 chunks, and eight pairs of tasks of which the second reads what the first has written.
PROGRAM = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <signal.h>
#include <unistd.h>
#include <sys/wait.h>
#include <omp.h>
static double x[1024], y[1024];
static int fib(int n) {
  if (n < 2) return n;
  int a, b;
#pragma omp task shared(a)
  a = fib(n - 1);
#pragma omp task shared(b)
  b = fib(n - 2);
#pragma omp taskwait
  return a + b;
}
int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "";
  int r = 0;
#pragma omp parallel
#pragma omp single
  r = fib(10);
#pragma omp parallel for schedule(dynamic, 64)
  for (int i = 0; i < 1024; i++) x[i] = i;
  if (strcmp(what, "fork") == 0) {
    pid_t child = fork();
    if (child == 0) {
#pragma omp parallel
#pragma omp single
      r = fib(12);
      exit(r == 144 ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    if (status != 0) return 1;
  }
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 1024; i += 128) {
#pragma omp task depend(inout : x[i : 128])
    for (int k = 0; k < 128; k++) x[i + k] += 1;
#pragma omp task depend(in : x[i : 128]) depend(out : y[i : 128])
    for (int k = 0; k < 128; k++) y[i + k] = x[i + k];
  }
  if (strcmp(what, "kill") == 0) kill(getpid(), SIGKILL);
  if (strcmp(what, "many") == 0) {
#pragma omp parallel
#pragma omp single
    r = fib(20);
  }
  printf("%d %g\n", r, y[1023]);
  return 0;
}
"""
FIB_TASKS = 2 * 88  # fib(10) calls itself 88 times with n >= 2
PROGRAMS = {}
NUMBERS = iter(range(1000))


def program(compiler):
    if compiler not in PROGRAMS:
        PROGRAMS[compiler] = SHOP.compile(f"program{len(PROGRAMS)}", PROGRAM, "-fopenmp", "-g", compiler=compiler)
    return PROGRAMS[compiler]


def recorded(*command, options=(), **more):
    path = SHOP.folder / f"run{next(NUMBERS)}.db"
    result = hearth("record", "-o", path, *options, "--", *command, **more)
    return result, path


def ask(path, sql):
    with sqlite3.connect(path) as database:
        return database.execute(sql).fetchall()


def one(path, sql):
    return ask(path, sql)[0][0]


def spills(name, *arguments, env=None):
    """A recording folder that was not converted: the tool, without the command line."""
    folder = SHOP.folder / name
    folder.mkdir()
    result = run(program(CLANG), *arguments, env={"HEARTH_RECORD": folder, "OMP_TOOL_LIBRARIES": TOOL,
                                                  "LD_LIBRARY_PATH": os.path.dirname(LIBRARY), "OMP_NUM_THREADS": 2,
                                                  **(env or {})})
    return result, folder


def recover(folder, path):
    path.unlink(missing_ok=True)
    return hearth("record", "--recover", folder, "-o", path)


def tearDownModule():
    SHOP.close()


class Record(unittest.TestCase):
    BUILDS = [("gcc", ()), (CLANG, ()), (CLANG, ("--runtime", "stock"))]

    def test_tasks_parents_and_dependences(self):
        for compiler, options in self.BUILDS:
            with self.subTest(compiler=compiler, options=options):
                result, path = recorded(program(compiler), options=options, env={"OMP_NUM_THREADS": 2})
                self.assertEqual((result.returncode, result.stdout), (0, "55 1024\n"), result.stderr)
                self.assertEqual(ask(path, "SELECT kind, count(*) FROM task GROUP BY kind ORDER BY kind"),
                                 [("explicit", FIB_TASKS + 16), ("implicit", 6), ("initial", 1)])
                self.assertEqual(one(path, "SELECT count(*) FROM region WHERE team = 2"), 3)
                self.assertEqual(one(path, "SELECT count(*) FROM problem"), 0, result.stderr)
                # Every call of fib() makes two tasks or none; two of them hang on the region's single.
                children = ask(path, "SELECT n, count(*) FROM (SELECT count(c.id) AS n FROM task t LEFT JOIN task c ON "
                               "c.parent = t.id WHERE t.kind = 'explicit' GROUP BY t.id) GROUP BY n ORDER BY n")
                self.assertEqual(children, [(0, FIB_TASKS + 16 - 87), (2, 87)])
                self.assertEqual(one(path, "SELECT count(*) FROM task WHERE (parent IS NULL) != (kind = 'initial')"), 0)
                # Begin, end and place of each; nobody before it was made.
                self.assertEqual(one(path, "SELECT count(*) FROM task WHERE begin_ns IS NULL OR end_ns < begin_ns OR cpu IS NULL "
                                     "OR thread IS NULL OR work_ns < 0 OR wait_ns < 0 OR created_ns > begin_ns + 1000"), 0)
                self.assertEqual(one(path, "SELECT count(DISTINCT key) = count(*) FROM task"), 1)
                # The second of each pair waits for the first, and begins after its end.
                self.assertEqual(one(path, "SELECT count(*) FROM edge"), 8)
                self.assertEqual(one(path, "SELECT count(*) FROM edge e JOIN task t ON t.id = e.task JOIN task p ON p.id = "
                                     "e.predecessor WHERE t.begin_ns < p.end_ns - 1000"), 0)
                self.assertEqual(ask(path, "SELECT kind, count(*) FROM dependence GROUP BY kind ORDER BY kind")[0], ("in", 8))
                self.assertEqual(ask(path, "SELECT sum(iterations), count(*) FROM chunk"), [(1024, 16)])
                self.assertEqual(one(path, "SELECT count(*) FROM wait WHERE kind = 'taskwait'"), 88)

    def test_ids_are_the_same_in_every_run_and_on_every_runtime(self):
        seen = set()
        for compiler, options in self.BUILDS:
            for threads in (1, 2, 2, 3):
                if threads == 1 and options:
                    continue  # LLVM's runtime tells of an undeferred implicit task otherwise
                _, path = recorded(program(compiler), options=options, env={"OMP_NUM_THREADS": threads})
                tasks = ask(path, "SELECT t.id - (SELECT count(*) FROM task i WHERE i.kind = 'implicit' AND i.id < t.id), t.key, "
                            "path FROM task t JOIN path ON task = t.id WHERE kind = 'explicit' ORDER BY t.id")
                seen.add(tuple(tasks))
        self.assertEqual(len(seen), 1)
        paths = {path for _, _, path in seen.pop()}
        self.assertIn("i0/r0/s0.0", paths)
        self.assertIn("i0/r0/s0.1/0/1", paths)
        self.assertIn("i0/r2/s0.15", paths)

    def test_two_runs_are_compared_in_one_query(self):
        _, first = recorded(program(CLANG))
        _, second = recorded(program(CLANG), options=("--runtime", "stock"))
        with sqlite3.connect(first) as database:
            database.execute("ATTACH ? AS other", (str(second),))
            rows = database.execute("SELECT construct, count(*), sum(b.work_ns) * 1.0 / sum(a.work_ns) FROM comparable a JOIN "
                                    "other.comparable b USING (key, construct) GROUP BY construct").fetchall()
        self.assertGreaterEqual(sum(row[1] for row in rows), FIB_TASKS + 16)

    def test_footprints_where_the_runtime_knows_them(self):
        _, path = recorded(program(CLANG))
        self.assertEqual(ask(path, "SELECT length, access, inferred, count(*) FROM footprint GROUP BY 1, 2, 3 ORDER BY 2"),
                         [(1024, "read", 0, 8), (1024, "read-write", 0, 16)])
        self.assertEqual(one(path, "SELECT value FROM meta WHERE key = 'lacks'"), "")
        _, path = recorded(program("gcc"))  # passes no lengths
        self.assertEqual(one(path, "SELECT count(*) FROM footprint WHERE inferred"), 24)
        result, path = recorded(program(CLANG), options=("--runtime", "stock"))
        self.assertEqual(one(path, "SELECT count(*) FROM footprint"), 0)
        self.assertIn("no footprints", one(path, "SELECT value FROM meta WHERE key = 'lacks'"))
        self.assertIn("no footprints", result.stderr)

    def test_constructs_are_named(self):
        if not shutil.which("addr2line"):
            self.skipTest("addr2line names them")
        _, path = recorded(program(CLANG))
        names = dict(ask(path, "SELECT construct, sum(tasks) FROM work_by_construct WHERE kind = 'explicit' GROUP BY 1"))
        lines = PROGRAM.split("\n")
        expected = {f"program1.c:{lines.index(line) + 1}" for line in lines if "omp task" in line and "wait" not in line}
        stem = program(CLANG).name
        self.assertEqual({name.replace(stem, "program1") for name in names}, expected)
        for view in ("who_ran_what", "waiting", "thread_time", "comparable", "construct", "path"):
            self.assertTrue(ask(path, f"SELECT * FROM {view}"), view)

    def test_a_wait_is_named_by_the_program(self):
        # At -O2 clang jumps to the barrier at this region's end, so the runtime itself is what called it.
        source = r"""
static double x[64];
int main(void) {
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 64; i++) {
#pragma omp task firstprivate(i)
    x[i] = i;
  }
  return x[63] != 63;
}
"""
        at_O2 = SHOP.compile("waits", source, "-fopenmp", "-g", "-O2", compiler=CLANG)
        for options in ((), ("--runtime", "stock")):
            _, path = recorded(at_O2, options=options, env={"OMP_NUM_THREADS": 2})
            self.assertGreater(one(path, "SELECT count(*) FROM wait"), 0)
            modules = {module for module, in ask(path, "SELECT c.module FROM wait w JOIN code c ON c.id = w.code")}
            self.assertEqual({os.path.basename(module).split(".")[0] for module in modules}, {at_O2.name})

    def test_what_was_inlined_from_a_system_header_is_named_by_who_uses_it(self):
        program = SHOP.compile("inlined", r"""
#line 1 "/usr/include/made-up.h"
static inline __attribute__((always_inline)) void inner(void) {
#pragma omp barrier
}
#line 1 "/src/own.h"
static inline __attribute__((always_inline)) void own(void) {
#pragma omp barrier
}
#line 1 "/src/app.c"
int main(void) {
#pragma omp parallel num_threads(2)
  {
    inner();
    own();
  }
  return 0;
}
""", "-fopenmp", "-g")
        path = SHOP.folder / "inlined.db"
        self.assertEqual(hearth("record", "-o", path, "--", program).returncode, 0)
        places = {row[0] for row in sqlite3.connect(path).execute(
            "SELECT DISTINCT c.file || ':' || c.line FROM wait w JOIN code c ON c.id = w.code WHERE w.kind = 'barrier'")}
        self.assertEqual(places, {"/src/app.c:4", "/src/own.h:2"})

    def test_time_is_accounted_for(self):
        _, path = recorded(program(CLANG), env={"OMP_NUM_THREADS": 2})
        for spans, split in ask(path, "SELECT (SELECT sum(end_ns - begin_ns) FROM span WHERE task = t.id), work_ns + wait_ns + "
                                "create_ns FROM task t"):
            self.assertLessEqual(abs(spans - split), 1000 + spans // 50)
        self.assertEqual(one(path, "SELECT count(*) FROM span a JOIN span b ON a.thread = b.thread AND a.rowid < b.rowid AND "
                             "a.begin_ns < b.end_ns - 100 AND b.begin_ns < a.end_ns - 100"), 0, "a thread runs one task at a time")

    def test_a_killed_program(self):
        result, path = recorded(program(CLANG), "kill", env={"OMP_NUM_THREADS": 2})
        self.assertEqual(result.returncode, -9)
        self.assertEqual(one(path, "SELECT count(*) FROM task WHERE kind = 'explicit'"), FIB_TASKS + 16)
        self.assertIn("killed", result.stderr)
        self.assertFalse(path.with_suffix(".db.spill").exists())

    def test_a_killed_recorder_leaves_what_can_be_recovered(self):
        path = SHOP.folder / "cut_off.db"
        source = "kill -KILL $PPID; sleep 5"
        result = hearth("record", "-o", path, "--", "sh", "-c", f"{program(CLANG)} && {source}")
        self.assertEqual(result.returncode, -9)
        self.assertFalse(path.exists())
        again = hearth("record", "-o", path, "--", program(CLANG))
        self.assertEqual(again.returncode, 2)
        self.assertIn("--recover", again.stderr)
        self.assertEqual(hearth("record", "--recover", f"{path}.spill").returncode, 0)
        self.assertEqual(one(path, "SELECT count(*) FROM task WHERE kind = 'explicit'"), FIB_TASKS + 16)

    def test_a_file_size_limit(self):
        # Under the limit a write beyond it would be a signal, and a mapped page without disk another one.
        for kib in (8, 64, 300, 600):
            limited = f"ulimit -f {kib}; exec {program(CLANG)} many"
            result, path = recorded("bash", "-c", limited, env={"OMP_NUM_THREADS": 2})
            self.assertEqual((result.returncode, result.stdout), (0 if path.exists() else 1, "6765 1024\n"), result.stderr)
            self.assertEqual(result.stderr.count("Recording stops here"), 1, result.stderr)
            if kib >= 300:
                self.assertGreater(one(path, "SELECT count(*) FROM task"), 1000)
                self.assertGreater(one(path, "SELECT count(*) FROM problem WHERE text LIKE '%stopped%'"), 0)

    def test_a_full_disk(self):
        folder = SHOP.folder / "small"
        folder.mkdir()
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", folder], capture_output=True).returncode != 0:
            self.skipTest("a small file system needs root; the limit above is the same path")
        try:
            inside = folder / "rec"
            inside.mkdir()
            result = run(program(CLANG), "many", env={"HEARTH_RECORD": inside, "OMP_TOOL_LIBRARIES": TOOL, "OMP_NUM_THREADS": 2,
                                                      "LD_LIBRARY_PATH": os.path.dirname(LIBRARY)})
            self.assertEqual((result.returncode, result.stdout), (0, "6765 1024\n"), result.stderr)
            self.assertIn("No space left on device", result.stderr)
            path = SHOP.folder / "full.db"
            self.assertEqual(recover(inside, path).returncode, 0)
            self.assertGreater(one(path, "SELECT count(*) FROM task"), 1000)
        finally:
            subprocess.run(["umount", folder], check=True)

    def test_files_that_were_cut_anywhere(self):
        result, folder = spills("whole", "many")
        self.assertEqual(result.returncode, 0, result.stderr)
        path = SHOP.folder / "cut.db"
        recover(folder, path)
        everything = one(path, "SELECT count(*) FROM task")
        # fib(20) has 10945 calls with n >= 2.
        self.assertEqual(one(path, "SELECT count(*) FROM task WHERE kind = 'explicit'"), FIB_TASKS + 16 + 2 * 10945)
        random.seed(1)
        names = sorted(entry.name for entry in folder.iterdir())
        for name in names:
            size = (folder / name).stat().st_size
            edges = [0, 1, 7, 8, 63, 64, 65, 72, size - 1, size - 8, 65535, 65536, 65537, 65536 + 63, 2 * 65536]
            for cut in [c for c in edges if c < size] + [random.randrange(size) for _ in range(12)]:
                copy = SHOP.folder / "copy"
                shutil.copytree(folder, copy)
                os.truncate(copy / name, cut)
                result = recover(copy, path)
                self.assertEqual(result.returncode, 0, (name, cut, result.stderr))
                tasks = one(path, "SELECT count(*) FROM task")
                problems = one(path, "SELECT count(*) FROM problem")
                self.assertLessEqual(tasks, everything)
                self.assertGreater(problems, 0, (name, cut))
                shutil.rmtree(copy)
            copy = SHOP.folder / "copy"
            shutil.copytree(folder, copy)
            (copy / name).unlink()
            self.assertEqual(recover(copy, path).returncode, 0, name)
            self.assertGreater(one(path, "SELECT count(*) FROM problem"), 0, name)
            shutil.rmtree(copy)

    def test_a_byte_that_was_changed(self):
        _, folder = spills("changed", "many")
        path = SHOP.folder / "changed.db"
        name = max(folder.iterdir(), key=lambda entry: entry.stat().st_size)
        whole = bytearray(name.read_bytes())
        for at in (8, 16, 24, 70, 30000, 65536 + 100):
            damaged = bytearray(whole)
            damaged[at] ^= 1
            name.write_bytes(damaged)
            result = recover(folder, path)
            self.assertEqual(result.returncode, 0)
            self.assertRegex(result.stderr, "checksum is wrong|no block of a recording")

    def test_a_database_that_was_cut(self):
        _, path = recorded(program(CLANG))
        size = path.stat().st_size
        for cut in (0, 1, 50, 71, 72, 100, 4095, 4096, 5000, size // 2, size - 4096, size - 1):
            copy = SHOP.folder / "cut_copy.db"
            shutil.copy(path, copy)
            os.truncate(copy, cut)
            result = hearth("export", copy, "--perfetto", SHOP.folder / "out.json")
            self.assertIn(result.returncode, (1, 2), (cut, result.stderr))
            self.assertIn("cut_copy.db: ", result.stderr)
            self.assertFalse((SHOP.folder / "out.json").exists())

    def test_children_by_fork_are_counted_and_not_recorded(self):
        result, path = recorded(program(CLANG), "fork", env={"OMP_NUM_THREADS": 2})
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(one(path, "SELECT count(*) FROM task WHERE kind = 'explicit'"), FIB_TASKS + 16)
        self.assertEqual(ask(path, "SELECT forks FROM process"), [(1,)])
        self.assertIn("children by fork() are not recorded", result.stderr)

    def test_programs_that_it_starts_have_files_of_their_own(self):
        result, path = recorded("sh", "-c", f"{program(CLANG)}; exec {program('gcc')}")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(ask(path, "SELECT process, count(*) FROM task WHERE kind = 'explicit' GROUP BY 1"),
                         [(0, FIB_TASKS + 16), (1, FIB_TASKS + 16)])
        # An image that replaces another one in the same process.
        result, path = recorded("sh", "-c", f"OMP_NUM_THREADS=1 {program(CLANG)} & wait; exec {program(CLANG)}")
        self.assertEqual(one(path, "SELECT count(*) FROM process"), 2)

    def test_counters_or_why_not(self):
        result, path = recorded(program(CLANG), options=("--counters",))
        self.assertEqual(result.returncode, 0)
        counted = one(path, "SELECT count(*) FROM task WHERE cycles IS NOT NULL")
        if counted == 0:
            self.assertEqual(result.stderr.count("no hardware counters: perf_event_open"), 1, result.stderr)
        else:
            self.assertGreater(one(path, "SELECT sum(instructions) FROM task"), 0)

    def test_perfetto(self):
        _, path = recorded(program(CLANG), env={"OMP_NUM_THREADS": 2})
        out = SHOP.folder / "trace.json"
        self.assertEqual(hearth("export", path, "--perfetto", out).returncode, 0)
        events = json.loads(out.read_text())["traceEvents"]
        work = [e for e in events if e.get("cat") == "task"]
        self.assertEqual(len({e["args"]["task"] for e in work} & {id for id, in ask(path, "SELECT id FROM task WHERE kind = 'explicit'")}),
                         FIB_TASKS + 16)
        self.assertEqual(sum(e["ph"] == "s" for e in events), sum(e["ph"] == "f" for e in events))
        named = {(e["pid"], e["tid"]) for e in events if e["name"] == "thread_name"}
        self.assertEqual({(e["pid"], e["tid"]) for e in work} - named, set())
        total = sum(e["dur"] for e in events if e["ph"] == "X") * 1000
        self.assertAlmostEqual(total, one(path, "SELECT sum(end_ns - begin_ns) FROM span"), delta=len(events))

    def test_paraver(self):
        _, path = recorded(program(CLANG), env={"OMP_NUM_THREADS": 2})
        self.assertEqual(hearth("export", path, "--paraver", SHOP.folder / "trace.prv").returncode, 0)
        head, *lines = (SHOP.folder / "trace.prv").read_text().splitlines()
        match = re.fullmatch(r"#Paraver \(\d\d/\d\d/\d{4} at \d\d:\d\d\):(\d+)_ns:(\d+)\(([\d,]+)\):1:1\(2:1\)", head)
        self.assertTrue(match, head)
        end, cpus = int(match[1]), sum(map(int, match[3].split(",")))
        last = 0
        for line in lines:
            fields = [int(field) for field in line.split(":")]
            self.assertIn(fields[0], (1, 2))
            self.assertLessEqual(fields[1], cpus)
            self.assertEqual(fields[2:4], [1, 1])
            self.assertIn(fields[4], (1, 2))
            self.assertLessEqual(last, fields[5])
            last = fields[5]
            if fields[0] == 1:
                self.assertLess(fields[5], fields[6])
                self.assertLessEqual(fields[6], end)
            else:
                self.assertEqual(len(fields), 12)
        tasks = {int(line.split(":")[9]) for line in lines if line.startswith("2:")} - {0}
        self.assertLessEqual({id + 1 for id, in ask(path, "SELECT id FROM task WHERE kind = 'explicit'")}, tasks)
        self.assertIn("EVENT_TYPE", (SHOP.folder / "trace.pcf").read_text())
        self.assertIn("LEVEL THREAD SIZE 2", (SHOP.folder / "trace.row").read_text())

    def simulated(self, path, *options):
        out = SHOP.folder / "sim.json"
        result = hearth("sim", path, "--machine", "opteron-6172x4", "--nominal", "--seeds", "1", "--policy", "work-stealing",
                        "--distribution", "fine", "--json", out, *options)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result, json.loads(out.read_text())

    def test_a_recording_is_simulated(self):
        # Tasks that stream, four over each pair of blocks, one after the other.
        source = r"""
#include <stdlib.h>
enum { BLOCKS = 16, LENGTH = 1 << 15, ROUNDS = 4 };
int main(void) {
  double *x = calloc(BLOCKS * LENGTH, 8), *y = calloc(BLOCKS * LENGTH, 8);
#pragma omp parallel
#pragma omp single
  for (int r = 0; r < ROUNDS; r++)
    for (int i = 0; i < BLOCKS; i++) {
      double *from = x + (long)i * LENGTH, *to = y + (long)i * LENGTH;
#pragma omp task depend(in : from[0 : LENGTH]) depend(inout : to[0 : LENGTH])
      for (int k = 0; k < LENGTH; k++) to[k] += 2 * from[k] + r;
    }
  return y[0] != 6;
}
"""
        program_of_blocks = SHOP.compile("blocks", source, "-fopenmp", compiler=CLANG)
        result, path = recorded(program_of_blocks)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(one(path, "SELECT count(*) FROM edge"), 16 * 3)
        _, json_of_run = self.simulated(path)
        self.assertEqual(json_of_run["tasks"], 64)
        self.assertLess(json_of_run["unexplained"], 0.5)
        (way,) = json_of_run["ways"]
        self.assertGreaterEqual(way["runs"][0]["bytes"] + way["runs"][0]["cache_hit_bytes"], 16 * 8 << 15)
        # Rounds wait for each other: no faster than four of a block's tasks, whatever the number of threads.
        self.assertGreaterEqual(way["runs"][0]["ms"], 4 * 2 * (8 << 15) / 60e6)
        result, _ = self.simulated(path, "--threads", "1")
        self.assertNotIn("no footprint", result.stderr)
        result = hearth("sim", path, "--machine", "opteron-6172x4", "--nominal", "--seeds", "2", "--advise", "--json", SHOP.folder / "advice.json")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("To put it in force: hearth run --policy=adaptive", result.stdout)
        advice = json.loads((SHOP.folder / "advice.json").read_text())["advice"]
        self.assertGreaterEqual(sum(allocation["bytes"] for allocation in advice["allocations"]), 2 * 16 * 8 << 15)
        for allocation in advice["allocations"]:
            self.assertRegex(allocation["name"], r"^\S+ #\d+$")
            self.assertIn(allocation["advised"], ("standard", "fine", "coarse", "blocked", "nearest"))

    def test_a_recording_without_footprints_is_simulated_with_a_word(self):
        _, path = recorded(program(CLANG), options=("--runtime", "stock"), env={"OMP_NUM_THREADS": 2})
        result, json_of_run = self.simulated(path)
        self.assertEqual(json_of_run["unexplained"], 1)
        self.assertIn("No task has a footprint", result.stderr)
        self.assertIn("100 % of the tasks' time is not explained", result.stdout)
        self.assertGreaterEqual(json_of_run["tasks"], FIB_TASKS + 16)
        result = hearth("sim", path, "--machine", "opteron-6172x4", "--nominal", "--seeds", "1", "--advise")
        self.assertIn("No allocation of 128 KiB or more is known that tasks touch.", result.stdout)
        copy = SHOP.folder / "sim_cut.db"
        shutil.copy(path, copy)
        os.truncate(copy, path.stat().st_size - 1)
        result = hearth("sim", copy, "--machine", "opteron-6172x4")
        self.assertEqual(result.returncode, 2)
        self.assertIn("it was cut", result.stderr)
        self.assertEqual(hearth("sim", SHOP.folder / "nowhere.db", "--machine", "opteron-6172x4").returncode, 2)

    def test_wrong_usage_and_nothing_to_record(self):
        clean = program(CLANG)
        self.assertEqual(hearth("record").returncode, 2)
        self.assertEqual(hearth("record", "--runtime", "other", "--", clean).returncode, 2)
        self.assertEqual(hearth("record", "--recover", SHOP.folder / "nowhere").returncode, 2)
        self.assertEqual(hearth("export", SHOP.folder / "nowhere.db", "--perfetto", "x").returncode, 2)
        self.assertEqual(hearth("export", clean, "--perfetto", "x").returncode, 2)
        self.assertEqual(hearth("record", "-o", SHOP.folder / "none.db", "--", "/nowhere/at/all").returncode, 127)
        precious = SHOP.folder / "precious"
        precious.write_text("a letter\n" * 100)
        self.assertEqual(hearth("record", "-o", precious, "--", clean).returncode, 2)
        self.assertEqual(precious.read_text(), "a letter\n" * 100)
        result, path = recorded("true")
        self.assertEqual((result.returncode, path.exists()), (1, False))
        self.assertIn("nothing was recorded", result.stderr)
        self.assertEqual([p for p in SHOP.folder.iterdir() if p.name.endswith(".spill") and "cut_off" not in p.name], [])

    def test_without_the_recorder_the_tool_does_nothing(self):
        result = run(program(CLANG), env={"OMP_TOOL_LIBRARIES": TOOL, "LD_LIBRARY_PATH": os.path.dirname(LIBRARY)})
        self.assertEqual((result.stdout, result.stderr), ("55 1024\n", ""))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
