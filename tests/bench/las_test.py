#!/usr/bin/env python3
"""The benchmarks of bench/las at the smallest sizes, compiled by gcc and by clang: right results on Hearth (on a machine that
it pretends), on the stock runtimes, and when they run as the best assignment. Usage: las_test.py FOLDER-OF-LIBHEARTH"""
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
