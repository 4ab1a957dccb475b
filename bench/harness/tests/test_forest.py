"""bench/run forest: who competes, and what a row of its table says."""
import random
import types
import unittest
import unittest.mock

from harness import forest, runtimes, series

COMPETITORS = [runtimes.Runtime(name, None, None, ("gcc",)) for name in ("hearth", "libomp", "libomp, best")]


def results(**by_runtime):
    """Results of one row, a list of ns per round for each runtime."""
    found = series.Results()
    found.rounds = 3
    found.medians[KEY] = {name.replace("_best", ", best"): values for name, values in by_runtime.items()}
    return found


KEY = ("forest", "zones", "gcc", True)


class Competitors(unittest.TestCase):
    def test_every_rival_runs_with_nothing_set_and_with_its_best_settings(self):
        every = [runtimes.Runtime(name, None, None, ("gcc",)) for name in
                 ("hearth", "hearth again", "libgomp", "libomp", "libiomp5")]
        options = types.SimpleNamespace(lib=None, no_intel=True)
        with unittest.mock.patch.object(runtimes, "find", return_value=every):
            found = {runtime.name: runtime.settings for runtime in forest._competitors(options)}
        self.assertEqual(list(found), ["hearth", "libgomp", "libgomp, best", "libomp", "libomp, best", "libiomp5",
                                       "libiomp5, best"])
        self.assertEqual((found["hearth"], found["libomp"]), ({}, {}))
        self.assertEqual(found["libomp, best"]["KMP_HOT_TEAMS_MAX_LEVEL"], "2")
        self.assertEqual(found["libgomp, best"], {"OMP_PLACES": "cores", "OMP_PROC_BIND": "spread,close"})


class Table(unittest.TestCase):
    def test_the_ratio_is_to_the_fastest_rival_whatever_its_settings(self):
        found = results(hearth=[1000.0] * 3, libomp=[4000.0] * 3, libomp_best=[2000.0] * 3)
        cells = forest._cells(found, KEY, COMPETITORS, random.Random(1))
        self.assertEqual(cells, ["1 µs ±0%", "4 µs ±0%", "2 µs ±0%", "0.50 [0.50, 0.50]"])

    def test_who_failed_and_who_has_no_part_are_told_apart(self):
        found = results(hearth=[1000.0] * 3, libomp=[None] * 3)
        found.errors[KEY] = {"libomp": "hung"}
        self.assertEqual(forest._cells(found, KEY, COMPETITORS, random.Random(1))[1:3], ["failed", "–"])

    def test_a_program_of_one_row_is_called_by_its_name(self):
        self.assertEqual([forest._label("zones", "zones"), forest._label("STREAM", "triad")], ["zones", "STREAM: triad"])


if __name__ == "__main__":
    unittest.main()
