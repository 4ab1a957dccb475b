"""What the verdict promises: a row misses only beyond its interval, a failed row misses, a biased A/A voids the run."""
import random
import unittest

from harness import series, verdict

ROUNDS = 15


def results_with(**runtimes):
    """One construct, built by gcc, each runtime with a constant time."""
    results = series.Results()
    for _ in range(ROUNDS):
        results.open_round()
        results.store_floor({"round_trip": {"ns": [100.0]}, "exchange": {"ns": [50.0]}})
    key = ("overhead", "parallel", "gcc", True)
    results.medians[key] = {name.replace("_", " "): [time] * ROUNDS for name, time in runtimes.items()}
    return results


def finding(judged, start):
    return next(found for found in judged.findings if found.text.startswith(start))


class Rows(unittest.TestCase):
    def judge(self, **runtimes):
        return verdict.Verdict(results_with(**runtimes), random.Random(1))

    def test_faster_than_both_rivals_passes(self):
        judged = self.judge(hearth=180.0, hearth_again=180.0, libgomp=300.0, libomp=400.0, libiomp5=190.0)
        self.assertTrue(judged.passed())

    def test_slower_than_the_faster_rival_misses_though_faster_than_the_other(self):
        judged = self.judge(hearth=180.0, hearth_again=180.0, libgomp=150.0, libomp=400.0, libiomp5=190.0)
        self.assertFalse(finding(judged, "every construct").holds)
        self.assertFalse(judged.passed())

    def test_within_the_limit_but_not_good_misses_the_two_thirds(self):
        judged = self.judge(hearth=180.0, hearth_again=180.0, libgomp=178.0, libomp=400.0, libiomp5=190.0)
        self.assertTrue(finding(judged, "every construct").holds)
        self.assertFalse(finding(judged, "two thirds").holds)

    def test_parallel_is_held_against_the_floor(self):
        judged = self.judge(hearth=230.0, hearth_again=230.0, libgomp=900.0, libomp=900.0, libiomp5=900.0)
        self.assertFalse(finding(judged, "parallel at most").holds)

    def test_a_row_that_hearth_cannot_run_misses(self):
        judged = self.judge(hearth=None, hearth_again=180.0, libgomp=300.0, libomp=400.0, libiomp5=190.0)
        self.assertFalse(finding(judged, "every construct").holds)

    def test_intel_not_measured_is_not_a_pass(self):
        judged = self.judge(hearth=180.0, hearth_again=180.0, libgomp=300.0, libomp=400.0)
        self.assertFalse(judged.passed())


class Void(unittest.TestCase):
    def judge(self, results):
        return verdict.Verdict(results, random.Random(1))

    def test_when_hearth_differs_from_itself(self):
        judged = self.judge(results_with(hearth=180.0, hearth_again=200.0, libgomp=300.0))
        self.assertIn("A/A", judged.void)

    def test_when_there_are_too_few_rounds(self):
        results = results_with(hearth=180.0, hearth_again=180.0, libgomp=300.0)
        results.rounds = verdict.FEWEST_ROUNDS - 1
        self.assertIn("rounds", self.judge(results).void)

    def test_when_the_machine_was_never_quiet(self):
        results = results_with(hearth=180.0, hearth_again=180.0, libgomp=300.0)
        results.samples, results.quiet = 100, 10
        self.assertIn("quiet", self.judge(results).void)

    def test_when_interrupted(self):
        results = results_with(hearth=180.0, hearth_again=180.0, libgomp=300.0)
        results.interrupted = True
        self.assertIn("interrupted", self.judge(results).void)


class InterruptedRound(unittest.TestCase):
    def test_leaves_no_trace(self):
        results = results_with(hearth=180.0)
        results.open_round()
        key = ("overhead", "parallel", "gcc", True)
        results.store(key, "hearth", {"ns": [1.0], "quiet": 1})
        results.close_round(complete=False)
        self.assertEqual(results.series(key, "hearth"), [180.0] * ROUNDS)
        self.assertEqual(len(results.floor["round trip"]), ROUNDS)


if __name__ == "__main__":
    unittest.main()
