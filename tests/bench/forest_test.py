#!/usr/bin/env python3
"""The nested programs of bench/forest at small sizes, compiled by gcc and by clang: right results on Hearth and on the
stock runtimes, with every plan of Twisted-STREAM; and what they print. Usage: forest_test.py FOLDER-OF-LIBHEARTH"""
import json
import os
import pathlib
import subprocess
import sys
import types
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "numa"))

from lab import forest, measure  # noqa: E402  (the path has to be set first)

SMALL = ["--teams", "2", "--threads", "2", "--bytes", "16K", "--passes", "2", "--repeats", "2"]
OWN = {"nested_lu": ["--size", "75"],
       "amr": ["--passes", "4", "--blocks", "16"], "growing": ["--growths", "1"], "nested_regions": ["--regions", "20"]}
RUNTIMES = {"gcc": ("hearth", "libgomp", "libomp"), "clang": ("hearth", "libomp")}
PLANS = ("stay", "choose", "threads", "mixed", "all", "read", "written")
library = None


def run(name, compiler, *arguments, runtime="hearth", **environment):
    environment = {**os.environ, **environment}
    folder = measure.runtime_folder(runtime, types.SimpleNamespace(library=library))
    if runtime == "libomp" and compiler == "gcc":  # under libgomp's name
        folder = ROOT / "build" / "numa-lab" / "libomp-for-gcc"
        folder.mkdir(parents=True, exist_ok=True)
        link = folder / "libgomp.so.1"
        if not link.is_symlink():
            link.symlink_to(measure.LIBOMP / "libomp.so.5")
    environment["LD_LIBRARY_PATH"] = str(folder)
    return subprocess.run([forest.program(name, compiler), *SMALL, *OWN.get(name, []), *arguments], env=environment,
                          capture_output=True, text=True, timeout=120, check=False)


class Results(unittest.TestCase):
    def right(self, name, compiler, *arguments, **options):
        with self.subTest(name=name, compiler=compiler, arguments=arguments, **options):
            done = run(name, compiler, "--json", *arguments, **options)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            said = json.loads(done.stdout)
            self.assertEqual((said["program"], said["verified"], said["threads"]), (name, True, 2))
            for row in said["rows"].values():
                self.assertEqual(len(row["ns"]), 2)
            return said

    def test_every_program_by_both_compilers_on_every_runtime(self):
        for name in forest.PROGRAMS:
            for compiler, runtimes in RUNTIMES.items():
                for runtime in runtimes:
                    self.right(name, compiler, runtime=runtime)

    def test_every_plan_of_twisted_stream(self):
        for remote in ("2", "3"):
            for plan in PLANS:
                self.right("twisted_stream", "gcc", f"--remote={remote}", f"--plan={plan}")
        for when in ("touch", "trap"):
            self.right("twisted_stream", "clang", "--plan=all", f"--when={when}")
        self.right("twisted_stream", "clang", "--plan=threads", "--say=team")
        self.right("amr", "clang", "--plan=touch")

    def test_hints_are_absent_where_the_runtime_has_none(self):
        self.assertFalse(self.right("twisted_stream", "gcc", "--plan=mixed", "--remote=2", runtime="libgomp")["hints"])

    def test_the_best_balance_of_zones_is_told(self):
        self.assertGreaterEqual(self.right("zones", "gcc")["lpt"], 1)


class Words(unittest.TestCase):
    def test_rows_are_printed_as_worst_and_best(self):
        done = run("stream", "gcc")
        self.assertRegex(done.stdout, r"triad +\d+-\d+ MB/s worst-best, median \d+")

    def test_a_bad_argument_is_named(self):
        for arguments, said in ((["--bytes=1"], "--bytes=\"1\"; legal: a number from 4096"),
                                (["--plan=sideways"], "--plan=\"sideways\""), (["--teems=2"], "usage"),
                                (["--teams"], "usage")):
            done = run("twisted_stream", "gcc", *arguments)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertIn(said, done.stderr)


if __name__ == "__main__":
    library = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
