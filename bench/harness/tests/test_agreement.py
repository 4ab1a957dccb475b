"""What `bench/run agreement` makes of a recording, without measuring anything."""
import pathlib
import tempfile
import unittest

from harness import agreement, sample


class FixedWork(agreement.Simulator):
    """Tasks of a million operations at 2 GHz, and half a millisecond of waiting for memory."""

    def __init__(self):
        super().__init__("hearth", "machine.toml")

    def way(self, program, threads, speed, *options):
        return {"runs": [{"threads_ms": {"work": 0.5 + 1e6 / (speed * 2e6)}}] * 3}


class Speed(unittest.TestCase):
    def test_it_is_the_one_with_which_the_tasks_take_what_was_recorded(self):
        self.assertAlmostEqual(FixedWork().speed("map", 1.5), 0.5, places=3)

    def test_tasks_that_cannot_be_so_fast_get_the_most_there_is(self):
        self.assertGreater(FixedWork().speed("map", 0.4), 50)


class CreationCost(unittest.TestCase):
    def write(self, text, create_ns):
        with tempfile.TemporaryDirectory() as folder:
            model = pathlib.Path(folder) / "machine.toml"
            model.write_text(text)
            return agreement._with_create_ns(model, model.with_name("copy.toml"), create_ns).read_text()

    def test_it_takes_the_place_of_the_assumed_one(self):
        text = "[simulator.scheduling]\ncreate_ns = { low = 50, value = 120, high = 300 }\ntake_ns = 5\n"
        self.assertEqual(self.write(text, 345.67),
                         '[simulator.scheduling]\ncreate_ns = { value = 345.7, mark = "H" }\ntake_ns = 5\n')

    def test_a_model_without_one_is_refused(self):
        with self.assertRaises(sample.SampleError):
            self.write("[simulator]\n", 1)


if __name__ == "__main__":
    unittest.main()
