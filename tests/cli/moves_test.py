#!/usr/bin/env python3
"""`hearth record` tells which threads and pages were moved, by whom and why. On a pretended machine: nothing moves, and is told
as if it did."""
import json
import sqlite3
import sys
import unittest

from common import Workshop, hearth

SHOP = Workshop()
# Four nodes of four cores.
MACHINE = {"HEARTH_MACHINE": "opteron-8347hex4", "OMP_NUM_THREADS": 4}
PAGES = 4096
PROGRAM = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <omp.h>
void *hearth_mem_alloc(size_t, int, int) __attribute__((weak));
int hearth_mem_migrate(void *, size_t, int) __attribute__((weak));
int hearth_mem_distribute(void *, const int *, int) __attribute__((weak));
int hearth_mem_next_touch(void *, size_t, int) __attribute__((weak));
int hearth_affinity(void *, size_t, int, int) __attribute__((weak));
enum { kBytes = 4096 * 4096 };
int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "";
  char *memory = hearth_mem_alloc(kBytes, 2, 3);
  if (strcmp(what, "call") == 0) {
    int turns[2] = {0, 1};
#pragma omp parallel
#pragma omp masked
    if (hearth_mem_migrate(memory, kBytes, 1)) exit(1);
    if (hearth_mem_distribute(memory, turns, 2)) return 1;
  } else if (strcmp(what, "touch") == 0) {
    if (hearth_mem_next_touch(memory, 0, 0)) return 1;
#pragma omp parallel
    memory[0] = 1;
  } else if (strcmp(what, "hint") == 0) {
    for (int i = 0; i < 3; i++)
#pragma omp parallel
    {
      int me = omp_get_thread_num();
      if (hearth_affinity(memory + me * (kBytes / 4), kBytes / 4, 2, 1)) exit(1);
#pragma omp barrier
    }
  } else {
#pragma omp parallel
    memory[omp_get_thread_num()] = 1;
  }
  return 0;
}
"""


class Moves(unittest.TestCase):
    program = None

    @classmethod
    def setUpClass(cls):
        cls.program = SHOP.compile("moves", PROGRAM, "-fopenmp", "-g")

    def record(self, what, **environment):
        path = SHOP.folder / f"{what}.db"
        result = hearth("record", "-o", path, "--", self.program, what, env={**MACHINE, **environment})
        self.assertEqual(result.returncode, 0, result.stderr)
        with sqlite3.connect(path) as database:
            rows = database.execute("SELECT what, why, count, location, address, thread, moved_ns, process FROM move").fetchall()
            views = dict(((what, why), count) for what, why, count in database.execute("SELECT what, why, count FROM moves"))
            blocks = database.execute("SELECT count(*) FROM thread").fetchone()[0]
        for row in rows:
            self.assertTrue(0 <= row[5] < blocks and row[6] >= 0 and row[7] == 0, row)
        return rows, views, result.stderr

    def test_calls_of_the_program_say_so_and_where_to(self):
        rows, views, said = self.record("call")
        self.assertEqual(views, {("pages", "call"): PAGES + PAGES // 2})
        self.assertIn(f"Moved to each other: {PAGES + PAGES // 2} pages (call).", said)
        to_one = [row for row in rows if row[3] == 1]
        self.assertEqual(sum(row[2] for row in to_one), PAGES)
        self.assertEqual({row[3] for row in rows}, {1, -1})  # one location, then several
        self.assertTrue(all(row[4] != 0 for row in rows))

    def test_exports_show_them(self):
        rows, _, _ = self.record("call")
        path = SHOP.folder / "call.db"
        self.assertEqual(hearth("export", path, "--perfetto", SHOP.folder / "call.json", "--paraver", SHOP.folder / "call").returncode, 0)
        events = json.loads((SHOP.folder / "call.json").read_text())["traceEvents"]
        shown = [event for event in events if event.get("cat") == "move"]
        self.assertEqual(sorted(event["args"]["count"] for event in shown), sorted(row[2] for row in rows))
        self.assertEqual({event["args"]["why"] for event in shown}, {"call"})
        self.assertEqual({event["name"].split(" to ")[1] for event in shown}, {"location 1", "several locations"})
        lines = [line.split(":") for line in (SHOP.folder / "call.prv").read_text().splitlines()[1:]]
        self.assertEqual(sorted(int(line[7]) for line in lines if line[6] == "70000004"), sorted(row[2] for row in rows))
        times = [int(line[5]) for line in lines]
        self.assertEqual(times, sorted(times))
        self.assertIn("70000006    Why they were moved", (SHOP.folder / "call.pcf").read_text())

    def test_an_announced_touch_is_moved_by_each_member(self):
        rows, views, said = self.record("touch")
        self.assertLessEqual(views[("pages", "touch")], PAGES)
        self.assertEqual(set(views), {("pages", "touch")})
        self.assertIn("(touch)", said)
        self.assertGreater(len({row[5] for row in rows}), 1)

    def test_hints_move_threads_or_pages(self):
        _, views, said = self.record("hint")
        self.assertTrue(views and {why for _, why in views} == {"hint"}, views)
        self.assertIn("(hint)", said)

    def test_nothing_moved_is_nothing_said(self):
        rows, _, said = self.record("nothing")
        self.assertEqual(rows, [])
        self.assertNotIn("Moved", said)

    def test_a_trap_is_told_when_the_rest_is_opened(self):
        # Nothing can be closed on a pretended machine: announced instead, and told as that.
        _, views, _ = self.record("touch", HEARTH_NEXT_TOUCH="trap")
        self.assertEqual(set(views), {("pages", "touch")})


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
