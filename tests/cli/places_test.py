#!/usr/bin/env python3
"""A recording knows the machine, where threads are, where the bytes of each task are and what the policy made of that. On a
pretended machine, whose owners Hearth computes: each figure can be worked out by hand."""
import json
import shutil
import sqlite3
import sys
import unittest

from common import Workshop, hearth

SHOP = Workshop()
NODES, ROUNDS, BLOCKS, LENGTH = 4, 3, 16, 1 << 19
BLOCKED = 5  # OMP_MALLOC_BLOCKED
COMPILERS = [name for name in ("gcc", "clang-19") if shutil.which(name)]
MACHINE = {"HEARTH_MACHINE": "opteron-8347hex4", "OMP_NUM_THREADS": 4}
PROGRAM = r"""
#include <stdlib.h>
void *omp_malloc_specific(size_t, int) __attribute__((weak));
enum { BLOCKS = %d, LENGTH = %d, BLOCKED = %d };
int main(void) {
  char *data = omp_malloc_specific((size_t)BLOCKS * LENGTH, BLOCKED);
#pragma omp parallel
  {
#pragma omp barrier  // all are there: tasks are dealt only to locations with a thread
#pragma omp single
  for (int r = 0; r < %d; r++) {
    for (int b = 0; b < BLOCKS; b++) {
      char *own = data + (size_t)b * LENGTH;
#pragma omp task depend(inout : own[0 : LENGTH])
      for (int k = 0; k < LENGTH; k++) own[k] += r;
    }
#pragma omp task
    data[0]++;
#pragma omp taskwait
  }
  }
  return 0;
}
""" % (BLOCKS, LENGTH, BLOCKED, ROUNDS)


def tearDownModule():
    SHOP.close()


class Places(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.programs = {c: SHOP.compile("places-" + c, PROGRAM, "-fopenmp", "-g", compiler=c) for c in COMPILERS}

    def record(self, compiler, policy, **environment):
        path = SHOP.folder / f"{compiler}-{policy}.db"
        result = hearth("record", "-o", path, "--", self.programs[compiler], env={**MACHINE, "HEARTH_POLICY": policy, **environment})
        self.assertEqual(result.returncode, 0, result.stderr)
        database = sqlite3.connect(path)
        self.addCleanup(database.close)
        return path, lambda sql: database.execute(sql).fetchall()

    def test_the_machine_and_its_distances(self):
        _, ask = self.record(COMPILERS[0], "locality")
        self.assertEqual(ask("SELECT value FROM meta WHERE key = 'schema'"), [("4",)])
        self.assertEqual(ask("SELECT name, source, pretended, policy, locations, distances FROM machine"),
                         [("opteron-8347hex4", "model file", 1, "locality", "node", "model")])
        self.assertEqual(ask("SELECT id, node, cpus, holds_memory FROM location ORDER BY id"),
                         [(n, n, f"{4 * n}-{4 * n + 3}", 1) for n in range(NODES)])
        rows = ask("SELECT location, memory, distance, latency_ns, source FROM distance ORDER BY 1, 2")
        self.assertEqual([row[:2] for row in rows], [(a, b) for a in range(NODES) for b in range(NODES)])
        for here, there, distance, latency, source in rows:
            self.assertEqual(source, "model")
            self.assertGreater(latency, 0)
            self.assertTrue(distance == 10 if here == there else distance > 10)

    def test_bytes_of_each_task_are_where_the_memory_is(self):
        for compiler in COMPILERS:
            for policy in ("locality", "work-stealing", "adaptive"):
                with self.subTest(compiler=compiler, policy=policy):
                    self.check_bytes(compiler, policy)

    def check_bytes(self, compiler, policy):
        _, ask = self.record(compiler, policy)
        rows = ask("SELECT f.task, f.address - (SELECT min(address) FROM footprint), f.length, b.memory, b.read, b.written, "
                   "b.source FROM footprint f JOIN task_bytes b USING (task)")
        self.assertEqual(len(rows), ROUNDS * BLOCKS)
        self.assertEqual(len({row[0] for row in rows}), ROUNDS * BLOCKS)
        for _, offset, length, memory, read, written, source in rows:
            self.assertEqual((memory, read, written), (offset // LENGTH * NODES // BLOCKS, length, length))
            self.assertIn(source, ("policy",) if policy == "locality" else ("end",) if policy == "work-stealing" else ("policy", "end"))
        if compiler != "gcc":
            self.assertEqual({row[2] for row in rows}, {LENGTH})
        # Each byte once in the view, with the distance of where its task ran.
        self.assertEqual(ask("SELECT sum(read) FROM locality"), [(sum(row[4] for row in rows),)])
        self.assertEqual(ask("SELECT count(*) FROM task_bytes b JOIN task t ON t.id = b.task JOIN task_distance d ON d.task = t.id "
                             "JOIN distance x ON x.location = t.location AND x.memory = b.memory "
                             "WHERE abs(d.distance - x.distance) < 0.001"), [(ROUNDS * BLOCKS,)])

    def test_decisions_and_what_became_of_them(self):
        for compiler in COMPILERS:
            with self.subTest(compiler=compiler):
                # All of a block is at one location, and dealt there, be it the creator's own.
                _, ask = self.record(compiler, "locality")
                rows = ask("SELECT d.location, d.chosen, b.memory, d.why, d.stated, d.released FROM decision d "
                           "JOIN task_bytes b USING (task) ORDER BY d.task")
                self.assertEqual(len(rows), ROUNDS * BLOCKS)
                # gcc's first guess is a page.
                for location, chosen, memory, why, stated, released in rows[BLOCKS:]:
                    self.assertEqual((stated, released), (0, 0))
                    self.assertIn(location, range(NODES))
                    self.assertEqual((chosen, why), (memory, "dealt"))
                outcomes = dict(ask("SELECT outcome, count(*) FROM outcome GROUP BY 1"))
                self.assertEqual(sum(outcomes.values()), ROUNDS * BLOCKS)
                self.assertTrue(set(outcomes) <= {"kept", "kept, stolen", "dealt", "dealt, stolen"}, outcomes)
                ran = ask("SELECT o.outcome, t.location, o.chosen FROM outcome o JOIN task t ON t.id = o.task WHERE o.chosen IS NOT NULL")
                for outcome, location, chosen in ran:
                    self.assertEqual(outcome, "dealt" if location == chosen else "dealt, stolen")

    def test_a_policy_that_deals_nothing_decides_nothing(self):
        _, ask = self.record(COMPILERS[0], "work-stealing")
        self.assertEqual(ask("SELECT count(*) FROM decision"), [(0,)])

    def test_where_threads_were(self):
        _, ask = self.record(COMPILERS[0], "locality", OMP_PROC_BIND="spread")
        self.assertEqual(ask("SELECT DISTINCT location FROM task WHERE kind = 'implicit' ORDER BY 1"), [(n,) for n in range(NODES)])
        self.assertEqual(ask("SELECT count(*) FROM task t JOIN span s ON s.task = t.id AND s.begin_ns = t.begin_ns "
                             "WHERE s.location IS NOT t.location"), [(0,)])

    def test_here_the_kernel_tells(self):
        path = SHOP.folder / "here.db"
        program = SHOP.compile("here", "volatile int x;\nint main(void) {\n#pragma omp parallel\n  x = 1;\n  return 0;\n}\n", "-fopenmp")
        self.assertEqual(hearth("record", "-o", path, "--", program).returncode, 0)
        with sqlite3.connect(path) as database:
            self.assertEqual(database.execute("SELECT source, pretended FROM machine").fetchall(), [("sysfs", 0)])
            self.assertEqual(database.execute(
                "SELECT count(*) FROM task t JOIN cpu c ON c.cpu = t.cpu JOIN location l ON l.id = t.location "
                "WHERE l.node <> c.node").fetchall(), [(0,)])
            self.assertGreater(database.execute("SELECT count(location) FROM task").fetchone()[0], 0)


class FirstTouch(unittest.TestCase):
    PAGES = 4096
    PROGRAM = r"""
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
enum { SIZE = %d * 4096 };
static char *small_pages(void) {
  char *all = malloc(SIZE + 4096);
  madvise((void *)(((size_t)all + 4095) & -4096), SIZE, MADV_NOHUGEPAGE);
  return all;
}
int main(void) {
  char *by_one = small_pages(), *by_all = small_pages();
  memset(by_one, 1, SIZE);
#pragma omp parallel for schedule(static) num_threads(2)
  for (int i = 0; i < SIZE; i += 4096) by_all[i] = 1;
#pragma omp parallel num_threads(2)
#pragma omp single
  for (int i = 0; i < SIZE; i += SIZE / 8) {
#pragma omp task depend(inout : by_one[i : SIZE / 8])
    for (int k = 0; k < SIZE / 8; k += 64) by_one[i + k]++;
  }
  return by_one[7] - 1;
}
""" % PAGES

    @classmethod
    def setUpClass(cls):
        cls.path = SHOP.folder / "touch.db"
        program = SHOP.compile("touch", cls.PROGRAM, "-fopenmp", "-g", compiler=COMPILERS[-1])
        done = hearth("record", "-o", cls.path, "--", program, env={"OMP_NUM_THREADS": 2})
        assert done.returncode == 0, done.stderr
        cls.file = sqlite3.connect(cls.path)
        cls.told = cls.file.execute("SELECT value FROM meta WHERE key = 'first_touch'").fetchone()[0]
        cls.large = [row[0] for row in cls.file.execute(f"SELECT id FROM allocation WHERE length >= {cls.PAGES * 4096} ORDER BY allocated_ns")]

    def test_who_touched_memory_first(self):
        if self.told.startswith("not recorded: perf_event_open: "):
            self.skipTest(self.told)
        self.assertEqual(self.told, "sampled")
        by_one, by_all = ([(thread, pages) for thread, pages in self.file.execute(
            "SELECT t.number, sum(f.pages) FROM first_touch f JOIN thread t ON t.id = f.thread WHERE allocation = ? GROUP BY 1 ORDER BY 1",
            (which,))] for which in self.large)
        self.assertEqual([thread for thread, _ in by_one], [0])
        self.assertEqual([thread for thread, _ in by_all], [0, 1])
        for pages, wanted in ((by_one[0][1], self.PAGES), (by_all[0][1], self.PAGES // 2), (by_all[1][1], self.PAGES // 2)):
            self.assertLessEqual(abs(pages - wanted), 64)

    def test_where_blocks_lie_that_are_never_freed(self):
        for which in self.large:
            known, = self.file.execute("SELECT sum(bytes) FROM home WHERE allocation = ? AND location >= 0", (which,)).fetchone()
            self.assertLessEqual(known, self.PAGES * 4096 + 8192)
            self.assertGreaterEqual(known, self.PAGES * 4096 // 2)  # pages that the kernel has taken back meanwhile are nowhere

    def test_the_report_tells(self):
        rows = [a for a in json.loads(hearth("report", "--json", self.path).stdout)["allocations"] if a["id"] in self.large]
        self.assertEqual([(a["readers"], a["writers"]) for a in rows], [(8, 8), (0, 0)])
        if self.told == "sampled":
            self.assertEqual(rows[0]["first_part"], 1)
            self.assertLess(rows[1]["first_part"], 0.6)


class Older(unittest.TestCase):
    def test_older_recordings_open_in_every_command(self):
        program = SHOP.compile("older", PROGRAM, "-fopenmp", compiler=COMPILERS[0])
        new = SHOP.folder / "new.db"
        self.assertEqual(hearth("record", "-o", new, "--", program, env=MACHINE).returncode, 0)
        for schema in (4, 3, 2, 1):
            with self.subTest(schema=schema):
                old = SHOP.folder / f"old{schema}.db"
                shutil.copy(new, old)
                with sqlite3.connect(old) as database:
                    if schema < 4:
                        for view in ("locality", "task_distance", "outcome"):
                            database.execute("DROP VIEW " + view)
                        for table in ("machine", "location", "distance", "home", "first_touch", "task_bytes", "decision"):
                            database.execute("DROP TABLE " + table)
                        for column in ("task.location", "span.location", "allocation.freed_ns", "allocation.source",
                                       "allocation.distribution"):
                            table, name = column.split(".")
                            database.execute(f"ALTER TABLE {table} DROP COLUMN {name}")
                    if schema < 3:
                        database.execute("DROP VIEW moves")
                        database.execute("DROP TABLE move")
                    if schema < 2:
                        database.execute("DROP TABLE allocation")
                    database.execute("UPDATE meta SET value = ? WHERE key = 'schema'", (str(schema),))
                for command in (("export", old, "--perfetto", SHOP.folder / "old.json", "--paraver", SHOP.folder / "old"),
                                ("sim", old, "--machine", "opteron-8347hex4", "--nominal", "--seeds", "1"),
                                ("sim", old, "--machine", "opteron-8347hex4", "--nominal", "--seeds", "1", "--advise")):
                    done = hearth(*command)
                    self.assertEqual(done.returncode, 0, done.stderr)
        with sqlite3.connect(new) as database:
            database.execute("UPDATE meta SET value = '5' WHERE key = 'schema'")
        done = hearth("sim", new, "--machine", "opteron-8347hex4")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("this hearth reads 1 to 4", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
