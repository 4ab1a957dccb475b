#!/usr/bin/env python3
"""Several `hearth record` or `hearth run --verify` at once, as `mpirun -n 2 hearth record -- ./app` starts them: each rank has
files of its own."""
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import unittest

from common import HEARTH, PROGRAM, Workshop, clean_environment

SHOP = Workshop()
LAUNCHERS = [("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"), ("PMIX_RANK", None), ("PMI_RANK", "PMI_SIZE"),
             ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS")]


def setUpModule():
    SHOP.gcc = SHOP.compile("app", PROGRAM, "-fopenmp")


def tearDownModule():
    SHOP.close()


def start(folder, rank, *arguments, launcher=LAUNCHERS[0], size=2):
    environment = {**clean_environment(), "OMP_NUM_THREADS": "2", launcher[0]: str(rank)}
    if launcher[1]:
        environment[launcher[1]] = str(size)
    return subprocess.Popen([HEARTH, *map(str, arguments), "--", SHOP.gcc], cwd=folder, env=environment, text=True,
                            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


class Ranks(unittest.TestCase):
    def setUp(self):
        self.folder = SHOP.folder / self.id().rsplit(".", 1)[1]
        self.folder.mkdir()

    def at_once(self, *arguments, ranks=2, **more):
        """What files two ranks leave that run at the same time."""
        running = [start(self.folder, rank, *arguments, **more) for rank in range(ranks)]
        for process in running:
            err = process.communicate(timeout=100)[1]
            self.assertEqual(process.returncode, 0, err)
        return sorted(os.listdir(self.folder))

    def test_default_names_have_the_rank(self):
        for launcher in LAUNCHERS:
            with self.subTest(launcher=launcher[0]):
                self.assertEqual(self.at_once("record", launcher=launcher), ["app.0.db", "app.1.db"])
        with sqlite3.connect(self.folder / "app.1.db") as database:
            self.assertEqual(database.execute("SELECT count(*) FROM task WHERE kind = 'explicit'").fetchall(), [(10,)])

    def test_a_name_may_say_where_the_rank_goes(self):
        self.assertEqual(self.at_once("record", "-o", "r%r-x%%.db"), ["r0-x%.db", "r1-x%.db"])

    def test_a_name_without_a_rank_gets_one(self):
        self.assertEqual(self.at_once("record", "-o", "out.db"), ["out.0.db", "out.1.db"])

    def test_process_numbers(self):
        names = self.at_once("record", "-o", "%p.db")
        self.assertEqual(len(names), 2)
        for name in names:
            self.assertRegex(name, r"^\d+\.db$")

    def test_a_job_of_one_process_is_none(self):
        self.assertEqual(self.at_once("record", ranks=1, size=1), ["app.db"])

    def test_a_report_without_a_file_writes_none(self):
        self.assertEqual(self.at_once("run", "--verify"), [])
        self.assertEqual(self.at_once("run", "--explain"), [])

    def test_verify_has_a_file_for_each_rank(self):
        self.assertEqual(self.at_once("run", "--verify=all.json"), ["all.0.json", "all.1.json"])
        for rank in range(2):
            report = json.loads((self.folder / f"all.{rank}.json").read_text())
            self.assertEqual((report["rank"], report["regions"], report["tasks"], report["ok"]), (rank, 2, 10, True))

    def test_under_mpirun(self):
        if not shutil.which("mpirun"):
            self.skipTest("no mpirun")
        done = subprocess.run(["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "2", HEARTH, "record", "--", SHOP.gcc],
                              cwd=self.folder, env=clean_environment(), capture_output=True, text=True, timeout=100)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(sorted(os.listdir(self.folder)), ["app.0.db", "app.1.db"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
