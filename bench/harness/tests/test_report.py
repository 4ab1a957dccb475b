"""What the brief table promises: the ratio of a line is that of the times in it."""
import random
import unittest

from harness import report, series, verdict


class Brief(unittest.TestCase):
    def test_both_binaries_of_a_benchmark_stand_in_one_line_with_the_ratios_of_its_times(self):
        results = series.Results()
        times = {"libgomp": 5e6, "libomp": 4e6, "hearth": 1e6}
        for compiler, runtimes in (("gcc", ("libgomp", "libomp", "hearth")), ("clang", ("libomp", "hearth"))):
            results.medians[("tasks", "fib", compiler, True)] = {runtime: [times[runtime]] for runtime in runtimes}
        results.medians[("tasks", "sort", "gcc", True)] = {"libgomp": [2e6], "libomp": [None], "hearth": [1e6]}
        results.rounds = 1
        results.floor = {name: [1.0] for name in results.floor}
        results.errors[("tasks", "sort", "gcc", True)] = {"libomp": "no end"}
        lines = report.brief(verdict.Verdict(results, random.Random(1)), results).splitlines()
        self.assertEqual(lines[1].split(), "fib 5 ms 4 ms 1 ms 0.25 x 4 ms 1 ms 0.25 x".split())
        self.assertEqual(lines[2].split(), "sort 2 ms failed 1 ms 0.50 x – – –".split())
        self.assertEqual(lines[3], "geometric mean of the ratios: 0.31 x")
        self.assertEqual(lines[4], "sort (gcc) on libomp: no end")


if __name__ == "__main__":
    unittest.main()
