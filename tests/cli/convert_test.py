#!/usr/bin/env python3
"""Making a file of what was recorded: it can be interrupted, and it may run out of memory; the spill stays."""
import os
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
import unittest

from common import HEARTH, LIBRARY, Workshop, clean_environment, hearth, run

SHOP = Workshop()
TOOL = os.path.join(os.path.dirname(LIBRARY), "libhearth-record.so")
TASKS = 300_000
SOURCE_TEXT = r"""
static int ran;
int main(void) {
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < %d; i++)
#pragma omp task
    __atomic_fetch_add(&ran, 1, __ATOMIC_RELAXED);
  return 0;
}
""" % TASKS


def setUpModule():
    program = SHOP.compile("many", SOURCE_TEXT, "-fopenmp")
    SHOP.spill = SHOP.folder / "rec.db.spill"
    SHOP.spill.mkdir()
    done = hearth("run", "--threads", "2", "--", program, env={"HEARTH_RECORD": SHOP.spill, "OMP_TOOL_LIBRARIES": TOOL})
    assert done.returncode == 0, done.stderr


def tearDownModule():
    SHOP.close()


class Convert(unittest.TestCase):
    def setUp(self):
        self.path = SHOP.folder / (self.id().rsplit(".", 1)[1] + ".db")

    def tearDown(self):
        self.assertTrue(any(SHOP.spill.iterdir()), "the spill is gone")

    def test_signals_end_it_and_leave_what_was_recorded(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            process = subprocess.Popen([HEARTH, "record", "--recover", SHOP.spill, "-o", self.path], text=True,
                                       env=clean_environment(), stderr=subprocess.PIPE)
            status = f"/proc/{process.pid}/status"
            while process.poll() is None:  # until it looks for signals
                caught = next(line for line in open(status) if line.startswith("SigCgt"))
                if int(caught.split()[1], 16) >> (number - 1) & 1:
                    break
                time.sleep(0.001)
            process.send_signal(number)
            err = process.communicate(timeout=100)[1]
            self.assertEqual(process.returncode, -number, err)
            self.assertIn(f"hearth record --recover {SHOP.spill}", err)
            self.assertFalse(self.path.exists())
            self.assertEqual([name for name in os.listdir(SHOP.folder) if name.endswith(".part")], [])

    def test_too_little_memory_is_said(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (160 << 20, 160 << 20))
        done = run(HEARTH, "record", "--recover", SHOP.spill, "-o", self.path, preexec_fn=limit)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("not enough memory", done.stderr)
        self.assertIn(f"hearth record --recover {SHOP.spill}", done.stderr)
        self.assertFalse(self.path.exists())

    def test_all_of_it_is_there(self):
        done = hearth("record", "--recover", SHOP.spill, "-o", self.path)
        self.assertEqual(done.returncode, 0, done.stderr)
        with sqlite3.connect(self.path) as database:
            self.assertEqual(database.execute("SELECT count(*) FROM task WHERE kind = 'explicit'").fetchone(), (TASKS,))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
