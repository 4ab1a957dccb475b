#!/usr/bin/env python3
"""`hearth run --verify`: mapped is not served, and whatever Hearth did not serve fails the run."""
import json
import os
import shutil
import sys
import unittest

from common import PROGRAM, SOURCE, Workshop, hearth, run

SHOP = Workshop()


def setUpModule():
    SHOP.gcc = SHOP.compile("gcc_program", PROGRAM, "-fopenmp")


def tearDownModule():
    SHOP.close()


def verified(*command, **more):
    path = SHOP.folder / "verify.json"
    path.unlink(missing_ok=True)
    result = hearth("run", f"--verify={path}", "--", *command, **more)
    return result, json.loads(path.read_text())


class Verify(unittest.TestCase):
    def test_counts_regions_and_tasks(self):
        result, report = verified(SHOP.gcc, env={"OMP_NUM_THREADS": 2})
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(report["regions"], 2)
        self.assertEqual(report["tasks"], 10)
        self.assertEqual(report["foreign"], [])
        self.assertEqual(report["processes"], 1)
        self.assertIn("2 parallel regions and 10 tasks served by Hearth in 1 process.", result.stderr)

    def test_counts_the_kmpc_side_too(self):
        clang = shutil.which("clang-19") or shutil.which("clang")
        program = SHOP.compile("clang_program", PROGRAM, "-fopenmp", compiler=clang)
        result, report = verified(program, env={"OMP_NUM_THREADS": 2})
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual((report["regions"], report["tasks"]), (2, 10))

    def test_moves_are_counted(self):
        source = (SOURCE / "tests/conformance-own/bubbles/threads_follow_hints.c").read_text()
        moving = SHOP.compile("moving", source, "-fopenmp", f"-I{SOURCE}/tests/conformance-own/bubbles")
        result, report = verified(moving, env={"HEARTH_MACHINE": "opteron-8347hex4"})
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertEqual(report["moves"], {"plans": 2, "threads": 32, "pages": 0})
        self.assertIn("32 threads and 0 pages were moved to each other, by 2 plans", result.stderr)

    def test_children_add_up(self):
        result, report = verified("sh", "-c", f"{SHOP.gcc} & {SHOP.gcc}; wait")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual((report["processes"], report["regions"], report["tasks"]), (2, 4, 20))

    def test_the_programs_own_failure_comes_first(self):
        result, report = verified(SHOP.gcc, "9")
        self.assertEqual(result.returncode, 9)
        self.assertTrue(report["ok"])

    def test_a_program_without_openmp_fails_verification(self):
        result, report = verified("true")
        self.assertEqual(result.returncode, 3)
        self.assertFalse(report["ok"])
        self.assertIn("Hearth was not loaded", result.stderr)

    def test_off_fails_verification(self):
        result, _ = verified(SHOP.gcc, env={"HEARTH": "off"})
        self.assertEqual(result.returncode, 3)
        self.assertIn("HEARTH=off", result.stderr)

    def test_a_static_program_fails_verification_and_says_why(self):
        program = SHOP.compile("static_program", "int main(void) { return 0; }", "-static")
        result, _ = verified(program)
        self.assertEqual(result.returncode, 3)
        self.assertIn("Hearth was not loaded. ", result.stderr)
        self.assertIn("is linked statically", result.stderr)

    def test_a_runtime_built_into_an_object_is_foreign(self):
        # The library brings its own GOMP_parallel, and calls it: what MKL and static OpenMP builds do.
        built_in = SHOP.compile("libown.so", "void GOMP_parallel(void) {}\nvoid work(void) { GOMP_parallel(); }", "-shared",
                                "-fPIC")
        source = PROGRAM.replace("int main(", "void work(void);\nint main(").replace("int threads = 0;",
                                                                                      "int threads = 0; work();")
        program = SHOP.compile("with_own", source, "-fopenmp", built_in, f"-Wl,-rpath,{SHOP.folder}")
        result, report = verified(program)
        self.assertEqual(result.returncode, 3)
        self.assertEqual(report["foreign"], [str(built_in)])
        self.assertIn(str(built_in), result.stderr)

    def test_a_stock_runtime_that_nobody_calls_is_mapped_not_foreign(self):
        # Preloaded, libhearth serves the calls while libomp stays in memory (libgomp would not: Hearth has its soname).
        clang = shutil.which("clang-19") or shutil.which("clang")
        program = SHOP.compile("preloaded_program", PROGRAM, "-fopenmp", compiler=clang)
        report_file = SHOP.folder / "preload.jsonl"
        library = hearth("--version").stdout.split("library: ")[1].strip()
        result = run(program, env={"LD_PRELOAD": library, "HEARTH_VERIFY_FILE": report_file, "LD_BIND_NOW": "1"})
        self.assertEqual(result.returncode, 0, result.stderr)
        line = json.loads(report_file.read_text())
        self.assertEqual(line["foreign"], [])
        self.assertEqual([os.path.basename(path)[:6] for path in line["mapped"]], ["libomp"])
        self.assertEqual(line["regions"], 2)

    def test_nothing_is_left_behind(self):
        folder = SHOP.folder / "tmp"
        folder.mkdir()
        hearth("run", "--verify", "--", SHOP.gcc, env={"TMPDIR": folder})
        hearth("run", "--verify", "--", "sh", "-c", "kill -KILL $$", env={"TMPDIR": folder})
        self.assertEqual(list(folder.iterdir()), [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
