#!/usr/bin/env python3
"""The benchmarks of bench/las at the smallest sizes, compiled by gcc and by clang: right results on Hearth (on a machine that
it pretends), on the stock runtimes, and when they run as the best assignment; and what they and blocks.c touch is what
they declare. Usage: las_test.py FOLDER-OF-LIBHEARTH"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import types
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "numa"))

from lab import las, measure, parts  # noqa: E402  (the path has to be set first)

SIZES = {"map": ["vectors=16", "kib=8"], "vecmul": ["vectors=16", "kib=8"], "matmul": ["size=128", "block=32"],
         "jacobi": ["size=128", "block=32"], "reduction": ["kib=128", "depth=4"], "sparselu": ["size=192", "block=32"]}
COMPILERS = ("gcc", "clang")
library = None


def run(name, compiler, *arguments, runtime="hearth", **environment):
    folder = measure.runtime_folder(runtime, types.SimpleNamespace(library=library))
    done = subprocess.run([las.program(name, compiler), *SIZES[name], "repeats=2", *arguments],
                          env={**os.environ, "LD_LIBRARY_PATH": str(folder), "OMP_NUM_THREADS": "4", **environment},
                          capture_output=True, text=True, timeout=120, check=False)
    return done.returncode, done.stdout, done.stderr


class Results(unittest.TestCase):
    def right(self, name, compiler, *arguments, **options):
        with self.subTest(name=name, compiler=compiler, arguments=arguments, **options):
            status, out, err = run(name, compiler, *arguments, **options)
            self.assertEqual(status, 0, out + err)
            self.assertEqual(out.count("repeat "), 2)

    def test_each_distribution_by_each_policy(self):
        for name, distributions in las.PROGRAMS.items():
            for compiler in COMPILERS:
                for distribution in distributions:
                    for policy in ("locality", "work-stealing"):
                        self.right(name, compiler, f"distribution={distribution}", HEARTH_POLICY=policy,
                                   HEARTH_MACHINE=str(ROOT / "models" / "opteron-6172x4.toml"))

    def test_the_best_assignment_runs_every_task_once_and_in_order(self):
        for name in las.PROGRAMS:
            self.right(name, "gcc", "by=optimal")

    def test_the_same_binary_runs_on_the_stock_runtimes(self):
        for name in las.PROGRAMS:
            for compiler in COMPILERS:
                self.right(name, compiler, runtime=measure.STOCK[compiler])

    def test_what_a_runtime_cannot_do_is_an_error(self):
        status, _, err = run("map", "gcc", "distribution=coarse", runtime="libgomp")
        self.assertEqual(status, 1)
        self.assertIn("omp_malloc_specific", err)
        status, _, err = run("map", "gcc", "distribution=course")
        self.assertEqual(status, 2)


class Footprints(unittest.TestCase):
    """`hearth check`: the programs touch what their clauses declare, and nothing that they declare for nothing. Blocks are of
    whole pages, at a page, or their neighbours' pages would be theirs too."""
    SIZES = {"map": ["vectors=16", "kib=16"], "vecmul": ["vectors=16", "kib=16"], "matmul": ["size=256", "block=64"],
             "jacobi": ["size=256", "block=64", "exact=1"], "reduction": ["kib=256", "depth=4"],
             "sparselu": ["size=384", "block=64"]}

    def right(self, program, *arguments, **environment):
        hearth = library.parent.parent / "bin" / "hearth"
        with tempfile.TemporaryDirectory() as folder:
            report = pathlib.Path(folder) / "check.json"
            done = subprocess.run([hearth, "check", f"--json={report}", "--", program, *arguments],
                                  env={**os.environ, **environment}, capture_output=True, text=True, timeout=240, check=False)
            said = report.read_text() if report.exists() else "no report"
        with self.subTest(program=program.name, arguments=arguments, **environment):
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr + said)
            found = json.loads(said)
            self.assertTrue(found["ok"])
            self.assertGreater(found["tasks"], 0)
            self.assertEqual(found["without"], 0)

    def test_the_six_benchmarks_touch_what_they_declare(self):
        for name in las.PROGRAMS:
            for compiler in COMPILERS:
                self.right(las.program(name, compiler), *self.SIZES[name], "repeats=1")

    def test_blocks_that_are_rewritten_are_declared(self):
        # With gcc `affinity` names nothing: it drops the clause.
        for compiler, clause in (("gcc", "depend"), ("clang", "depend"), ("clang", "affinity")):
            program = parts.program(measure.BLOCKS, compiler, more=measure.BLOCKS_FRAME)
            for memory in measure.MEMORY:
                for order in ("in-order", "shuffled"):
                    self.right(program, f"clause={clause}", f"memory={memory}", f"order={order}", "blocks=32", "rounds=2",
                               "repeats=1")


class BestAssignment(unittest.TestCase):
    def test_is_what_trying_all_finds(self):
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / "best"
            parts.build(["gcc", "-O2", "-std=gnu11", "-Wall", "-Wextra"],
                        [ROOT / "tests" / "bench" / "best_assignment.c", las.SOURCES / "optimal.c"], program, ["-lm"])
            done = subprocess.run([program], capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual(done.returncode, 0, done.stdout)


if __name__ == "__main__":
    library = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
