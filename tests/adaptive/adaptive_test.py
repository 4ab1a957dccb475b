"""bench/adaptive on two programs: its form, its determinism, its messages, and the page made of it. Usage: adaptive_test.py PROGRAM"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(sys.argv.pop()).resolve()
sys.path.insert(0, str(ROOT / "bench/adaptive"))
import report  # noqa: E402


def adaptive(*arguments):
    return subprocess.run([PROGRAM, "--models", ROOT / "models", *arguments], capture_output=True, text=True, check=False)


class Adaptive(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        tiny = ("--only", "tiny", "--draws", "2")
        cls.first, cls.second = adaptive(*tiny, "--threads", "1"), adaptive(*tiny, "--threads", "3")
        cls.apart = adaptive(*tiny, "--apart", "--no-search")

    def test_the_same_bytes_whoever_takes_which_run(self):
        self.assertEqual(self.first.returncode, 0, self.first.stderr)
        self.assertEqual(self.first.stdout, self.second.stdout)

    def test_every_case_has_every_way(self):
        results = json.loads(self.first.stdout)
        self.assertEqual(results["draws"], 2)
        self.assertEqual(len(results["cases"]), 2)
        ways = {*report.WAYS, report.ALONE, *(f"{policy} + {kind}" for policy in ("work-stealing", "locality", "home-cache")
                                              for kind in ("standard", "fine", "coarse"))}
        for case in results["cases"]:
            self.assertEqual(set(case["runs"]), ways)
            for run in case["runs"].values():
                self.assertEqual([time > 0 for time in run["ms"]], [True, True])

    def test_what_is_searched_is_not_far_from_the_best_that_it_could_have_found(self):
        for case in json.loads(self.first.stdout)["cases"]:
            row = report.Row(case)
            self.assertLess(row.by_best[report.BOTH], 1.2, case["program"])

    def test_one_distribution_apart_and_no_search(self):
        for case in json.loads(self.apart.stdout)["cases"]:
            self.assertIn("adaptive + nearest", case["runs"])
            self.assertNotIn(report.SEARCHED, case["runs"])
            self.assertEqual(report.Row(case).ways, [report.OURS])

    def test_a_page_with_all_cases(self):
        results = json.loads(self.first.stdout)
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder) / "adaptive.md"
            page.write_text("old\n")
            report.write(results, page)
            text = page.read_text()
        self.assertTrue(text.startswith("# "))
        self.assertNotIn("old\n", text)
        for case in results["cases"]:
            self.assertIn(f"| {case['program']} |", text)
        for way in report.WAYS:
            self.assertIn(f"| **{way}** |", text)
        lines = [line for line in text.splitlines() if line.startswith("|")]
        for line, after in zip(lines, lines[1:]):
            if after.startswith("|---"):
                self.assertEqual(line.count(" | ") + 1, after.count("---"))

    def test_what_it_refuses(self):
        for arguments, what in ((("--only", "nothing"), "there is no such set"), (("--draws", "0"), "1 to 1000"),
                                (("--draws",), "wants a value"), (("--mode", "x"), "not understood")):
            done = adaptive(*arguments)
            self.assertEqual((done.returncode, done.stdout), (2, ""), arguments)
            self.assertIn(what, done.stderr)
        done = adaptive("--only", "tiny", "--no-search", "--draws", "1", "--out", "/nonexistent/out.json")
        self.assertEqual(done.returncode, 1)
        self.assertIn("/nonexistent/out.json", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
