"""What the statistics promise: paired ratios cancel drift, the fastest rival counts, the intervals cover what they claim."""
import random
import unittest

from harness import stats


class Median(unittest.TestCase):
    def test_of_even_count_lies_between_the_middle_two(self):
        self.assertEqual(stats.median([4, 1, 3, 2]), 2.5)

    def test_of_nothing_is_an_error(self):
        with self.assertRaises(ValueError):
            stats.median([])


class PairedRatio(unittest.TestCase):
    def test_drift_between_rounds_cancels(self):
        ours = [10.0, 20.0, 40.0, 80.0]
        theirs = [5.0, 10.0, 20.0, 40.0]
        ratio = stats.paired_ratio(ours, theirs, random.Random(1))
        self.assertEqual((ratio.low, ratio.value, ratio.high), (2.0, 2.0, 2.0))

    def test_rounds_in_which_one_side_is_missing_do_not_count(self):
        ratio = stats.paired_ratio([1.0, None, 3.0], [1.0, 1.0, None], random.Random(1))
        self.assertEqual(ratio.value, 1.0)

    def test_without_a_common_round_there_is_no_ratio(self):
        self.assertIsNone(stats.paired_ratio([1.0, None], [None, 1.0], random.Random(1)))

    def test_interval_holds_the_truth_about_as_often_as_it_says(self):
        generator = random.Random(7)
        held = 0
        for _ in range(120):
            ours = [generator.lognormvariate(0, 0.1) for _ in range(25)]
            theirs = [generator.lognormvariate(0, 0.1) for _ in range(25)]
            held += stats.paired_ratio(ours, theirs, generator).holds(1.0)
        self.assertGreaterEqual(held, 105)
        self.assertLess(held, 120)  # an interval that always holds would hide every difference


class RatioToFastest(unittest.TestCase):
    def test_is_taken_against_the_fastest(self):
        ratio = stats.ratio_to_fastest([3.0] * 5, [[6.0] * 5, [2.0] * 5], random.Random(1))
        self.assertEqual(ratio.value, 1.5)

    def test_rivals_that_never_ran_do_not_count(self):
        ratio = stats.ratio_to_fastest([3.0] * 5, [[None] * 5, [2.0] * 5], random.Random(1))
        self.assertEqual(ratio.value, 1.5)

    def test_without_rivals_there_is_no_ratio(self):
        self.assertIsNone(stats.ratio_to_fastest([3.0], [[None]], random.Random(1)))


class GeometricMean(unittest.TestCase):
    def test_of_rows_uses_the_fastest_rival_of_each(self):
        rows = [([1.0] * 3, [[2.0] * 3, [4.0] * 3]), ([8.0] * 3, [[4.0] * 3, [16.0] * 3])]
        self.assertAlmostEqual(stats.geometric_mean_to_fastest(rows, random.Random(1)).value, 1.0)


if __name__ == "__main__":
    unittest.main()
