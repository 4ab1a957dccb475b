"""bench/policies on a few programs: its form, its determinism, its messages, and the tables. Usage: policies_test.py PROGRAM"""
import datetime
import importlib.machinery
import importlib.util
import json
import pathlib
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(sys.argv.pop()).resolve()
sys.path.insert(0, str(ROOT / "bench/policies"))
import report  # noqa: E402  (the path has to be set first)

SMALL = ("--set", "blocks=12", "--set", "repeats=2", "--set", "kib=16", "--machines", "opteron-8347hex4", "--draws", "2")


def policies(*arguments):
    return subprocess.run([PROGRAM, "--models", ROOT / "models", *arguments], capture_output=True, text=True, check=False)


def runner():
    path = str(ROOT / "bench/policies/run")
    loader = importlib.machinery.SourceFileLoader("run", path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("run", loader))
    loader.exec_module(module)
    return module


class Policies(unittest.TestCase):
    def test_the_same_bytes_whoever_takes_which_program(self):
        words = ("--programs", "6", "--policies", "adaptive,locality", *SMALL)
        first, second = policies(*words, "--threads", "1"), policies(*words, "--threads", "3")
        self.assertEqual(first.returncode, 0, first.stderr)
        self.assertEqual(first.stdout, second.stdout)
        for case in json.loads(first.stdout)["cases"]:
            self.assertEqual(set(case["runs"]), {"standard", "fine", "coarse"})
            for runs in case["runs"].values():
                self.assertEqual(set(runs), {"work-stealing", "adaptive", "locality"})
                for run in runs.values():
                    self.assertEqual([time > 0 for time in run["ms"]], [True, True])

    def test_every_shape_runs_all_of_its_tasks(self):
        shapes = ("rounds", "stencil", "layers", "pipelines", "tree", "solver", "graph", "sort", "carried", "uneven", "phases",
                  "groups", "loops")
        for shape in shapes:
            done = policies("--programs", "1", "--set", f"shape={shape}", *SMALL)
            self.assertEqual(done.returncode, 0, done.stderr)
            case, = json.loads(done.stdout)["cases"]
            self.assertEqual(case["shape"], shape)
            self.assertGreater(case["properties"]["tasks"], 8)

    def test_the_tables(self):
        results = json.loads(policies("--programs", "4", *SMALL).stdout)
        for ratio, time in ((1.2, 12.0), (1.0, 10.0)):
            for runs in results["cases"][0]["runs"].values():
                runs["work-stealing"]["ms"], runs["adaptive"]["ms"] = [10.0, 20.0], [time, 2 * time]
            rows = [row for row in report.rows_of(results) if row.case is results["cases"][0]]
            self.assertEqual([row.ratio["adaptive"] for row in rows], [ratio] * 3)
        cells = report.line("all", rows, "adaptive")
        self.assertEqual(cells, ["all", "3", "1.000", "1.00", "0.0 %", "0.0 %"])
        text = report.text(results)
        for part in ("| adaptive, standard | 4 |", "| adaptive, fine | 4 |", "## adaptive, by shape", "## Where adaptive loses most"):
            self.assertIn(part, text)

    def test_seeds_of_a_day_are_nobody_elses(self):
        run = runner()
        seeds = [run.seed_of_the_day(datetime.date(2026, 1, day)) for day in (1, 2)]
        self.assertGreater(seeds[0], run.TUNING_SEED + run.MOST_TUNING_PROGRAMS)
        self.assertGreaterEqual(seeds[1] - seeds[0], run.MOST_TUNING_PROGRAMS)

    def test_what_it_refuses(self):
        for arguments, what in ((("--policies", "nobody"), "there is no policy"), (("--distributions", "even"), "no distribution"),
                                (("--programs", "0"), "--programs"), (("--machines", "abacus"), "abacus")):
            done = policies(*arguments)
            self.assertNotEqual(done.returncode, 0)
            self.assertEqual(done.stdout, "")
            self.assertIn(what, done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
