#!/usr/bin/env python3
"""The Python module: recordings as frames, figures, the way onto Hearth, and what it says when something is missing.

Usage: module_test.py HEARTH SOURCE     HEARTH: the command; SOURCE: this tree, or "installed" to take the installed module

pandas, polars, pyarrow, matplotlib and threadpoolctl are tried where they are installed.
"""
import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

HEARTH, SOURCE = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
sys.dont_write_bytecode = True
MODULE = pathlib.Path(SOURCE) / "python" if SOURCE != "installed" else None
if MODULE is not None:
    sys.path.insert(0, str(MODULE))
os.environ["PATH"] = f"{HEARTH.parent}:{os.environ['PATH']}"

import hearth  # noqa: E402

FOLDER = tempfile.TemporaryDirectory(prefix="hearth-python-")
RUN = pathlib.Path(FOLDER.name) / "run.db"


def have(*modules):
    missing = [name for name in modules if importlib.util.find_spec(name) is None]
    return unittest.skipIf(missing, f"{', '.join(missing)} missing")


def recording():
    """A simulated run: the same numbers each time, with distances, on a machine with eight locations."""
    if not RUN.exists():
        subprocess.run([HEARTH, "sim", "jacobi", "--machine", "opteron-6172x4", "--policy", "locality", "--distribution", "fine",
                        "--set", "size=256", "--nominal", "--record", RUN], check=True, stdout=subprocess.DEVNULL)
    return hearth.open(RUN)


class Recordings(unittest.TestCase):
    def test_tables_and_rows_need_no_other_library(self):
        with recording() as run:
            names, rows = run.rows("SELECT kind, count(*) AS number FROM task GROUP BY kind ORDER BY kind")
            self.assertEqual(names, ["kind", "number"])
            self.assertGreater(dict(rows)["explicit"], 10)
            self.assertLessEqual({"task", "span", "who_ran_what"}, set(run.tables))
            self.assertIn(f"{dict(rows)['explicit'] + dict(rows)['implicit'] + dict(rows)['initial']} tasks", repr(run))

    def test_what_is_no_recording_is_named(self):
        for text, words in ((b"hello", "no recording of hearth record"), (b"", "no recording of hearth record")):
            other = pathlib.Path(FOLDER.name) / "other"
            other.write_bytes(text)
            with self.assertRaisesRegex(ValueError, f"other: {words}"):
                hearth.open(other)
        with self.assertRaises(FileNotFoundError):
            hearth.open(pathlib.Path(FOLDER.name) / "nowhere.db")

    def test_a_table_that_is_not_there_is_named_with_those_that_are(self):
        with recording() as run, self.assertRaisesRegex(KeyError, "'tasks': no such table; there are: .*task"):
            run.frame("tasks")

    def test_a_recording_cannot_be_changed(self):
        with recording() as run, self.assertRaisesRegex(Exception, "readonly"):
            run.rows("DELETE FROM task")

    def test_missing_libraries_are_named_with_what_brings_them(self):
        absent = {name: None for name in ("pandas", "polars", "pyarrow", "matplotlib")}
        with recording() as run, mock.patch.dict(sys.modules, absent):
            with self.assertRaisesRegex(ImportError, r"none of pandas, polars and pyarrow .*hearth-openmp\[pandas\]"):
                run.frame("task")
            with self.assertRaisesRegex(ImportError, r"pyarrow is not installed.*hearth-openmp\[arrow\]"):
                run.arrow("task")
            with self.assertRaisesRegex(ImportError, r"matplotlib is not installed.*hearth-openmp\[plot\]"):
                run.timeline()
        with recording() as run, self.assertRaisesRegex(ValueError, "library='numpy': legal: pandas, polars, arrow"):
            run.frame("task", library="numpy")

    def test_the_report_is_the_commands(self):
        with recording() as run:
            self.assertEqual(run.report["run"]["explicit_tasks"],
                             run.rows("SELECT count(*) FROM task WHERE kind = 'explicit'")[1][0][0])
            self.assertIn("Hearth", run.summary())
            page = pathlib.Path(FOLDER.name) / "run.html"
            self.assertIn("<html", pathlib.Path(run.page(page)).read_text())


class Frames(unittest.TestCase):
    """All of them have what SQL has, keys of 63 bits and missing values too."""

    def compare(self, library, rows_of):
        with recording() as run:
            for table in run.tables:
                names, rows = run.rows(f'SELECT * FROM "{table}"')
                frame = run.frame(table, library=library)
                self.assertEqual(rows_of(frame), (names, rows), table)

    @have("pandas")
    def test_pandas(self):
        import pandas
        def plain(value):
            return None if value is pandas.NA or value is None or value != value else value
        self.compare("pandas", lambda frame: (list(frame.columns), [tuple(map(plain, row)) for row in zip(
            *(frame[name].tolist() for name in frame.columns))]))
        with recording() as run:
            self.assertEqual(str(run.frame("task", library="pandas")["key"].dtype), "int64")
            self.assertEqual(str(run.frame("task", library="pandas")["parent"].dtype), "Int64")

    @have("polars")
    def test_polars(self):
        self.compare("polars", lambda frame: (frame.columns, frame.rows()))

    @have("pyarrow")
    def test_arrow(self):
        self.compare("arrow", lambda table: (table.column_names, [tuple(row.values()) for row in table.to_pylist()]))


@have("matplotlib")
class Figures(unittest.TestCase):
    """The numbers on the axes are those of the recording."""

    @classmethod
    def setUpClass(cls):
        import matplotlib
        matplotlib.use("Agg")

    def test_timeline(self):
        from hearth import _figures
        with recording() as run:
            columns = 300
            axes = run.timeline(columns=columns)
            picture = axes.images[0].get_array()
            threads = run.rows("SELECT count(*) FROM thread")[1][0][0]
            self.assertEqual(picture.shape[:2], (threads, columns))
            spans = run.rows(_figures.SPANS)[1]
            length = run.report["run"]["end_ns"] - run.report["run"]["begin_ns"]
            # Opacity is the share of time in tasks: its sum is the time of all tasks.
            self.assertAlmostEqual(float(picture[..., 3].sum()) * length / columns, sum(end - begin for _, begin, end, _ in spans),
                                   delta=length * 0.01)
            self.assertTrue(any(distance is not None and distance > 10 for *_, distance in spans))
            self.assertEqual(len(axes.figure.axes), 2)  # with a scale of distances

    def test_a_piece_of_time_is_shared_by_the_tasks_in_it(self):
        from hearth import _figures
        busy, far = _figures.binned([(0, 0, 10, 10), (0, 10, 15, 30), (1, 5, 25, None)], 2, 0, 40, 2)
        self.assertEqual(busy.tolist(), [[0.75, 0], [0.75, 0.25]])
        self.assertAlmostEqual(far[0, 0], (10 * 10 + 5 * 30) / 15)
        self.assertTrue((far[1] != far[1]).all())

    def test_locality_matrix(self):
        with recording() as run:
            axes = run.locality_matrix()
            locality = run.report["locality"]
            shown = [value for row in axes.images[0].get_array().tolist() for value in row]
            self.assertEqual(shown, [value / 2**20 for value in locality["matrix"]])
            self.assertIn(f"{100 * locality['remote_bytes'] / locality['bytes']:.0f} % remote", axes.get_title())

    def test_parallelism_on_axes_of_ones_own(self):
        from matplotlib import pyplot
        with recording() as run:
            mine = pyplot.subplots()[1]
            self.assertIs(run.parallelism(axes=mine), mine)
            self.assertEqual(mine.lines[-1].get_ydata().tolist(), run.report["parallelism"]["running"])


LOADED = r"""
int counted(void) {
  int threads = 0;
#pragma omp parallel reduction(+ : threads)
  threads++;
  return threads;
}
"""


class OntoHearth(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.library = pathlib.Path(FOLDER.name) / "counted.so"
        source = cls.library.with_suffix(".c")
        source.write_text(LOADED)
        subprocess.run(["gcc", "-O1", "-fopenmp", "-shared", "-fPIC", source, "-o", cls.library], check=True)

    def python(self, text, *arguments, under=(), **environment):
        script = pathlib.Path(FOLDER.name) / "script.py"
        script.write_text(text)
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("OMP_", "HEARTH", "LD_"))}
        if MODULE is not None:
            clean["PYTHONPATH"] = str(MODULE)
        return subprocess.run([*under, sys.executable, "-B", script, *arguments], capture_output=True, text=True,
                              env={**clean, "OMP_NUM_THREADS": "3", **environment}, timeout=120)

    USE = f"""
import ctypes, sys, hearth
print("begun", flush=True)
hearth.use()
before = hearth.info()
print(sys.argv[1:], before["on_hearth"], before["threads"])
print(ctypes.CDLL(sys.argv[1]).counted(), hearth.info()["library"].endswith("libhearth.so"), hearth.info()["threads"])
"""

    def test_the_interpreter_starts_again_once_with_its_arguments(self):
        done = self.python(self.USE, self.library, "two words")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout, f"begun\nbegun\n['{self.library}', 'two words'] True None\n3 True 3\n")
        self.assertEqual(done.stderr, "")

    def test_an_interpreter_on_hearth_goes_on(self):
        done = self.python(self.USE, self.library, "x", under=[HEARTH, "run", "--"])
        self.assertEqual(done.stdout, f"begun\n['{self.library}', 'x'] True None\n3 True 3\n", done.stderr)

    def refused(self, text, words, **environment):
        done = self.python(f"import hearth, sys\ntry:\n  {text}\nexcept hearth.NotOnHearth as problem:\n  print(problem)\n", **environment)
        self.assertRegex(done.stdout, words, done.stderr)

    def test_what_cannot_be_is_said(self):
        self.refused("hearth.use(restart=False)", r"this interpreter is not on Hearth; start it with: hearth run -- python")
        self.refused("sys.ps1 = '>>> '; hearth.use()", "a prompt or a notebook would lose its state")
        self.refused("hearth.use()", "HEARTH=off", HEARTH="off")

    def test_no_command_is_said(self):
        if SOURCE == "installed":
            self.skipTest("the wheel brings it")
        done = self.python("import hearth\nhearth.use()\n", PATH="/nowhere")
        self.assertIn("NotInstalled: the command hearth is nowhere on the PATH; `pip install hearth-openmp` brings it", done.stderr)

    def test_another_runtime_is_listed(self):
        done = self.python("import ctypes, sys, hearth\nctypes.CDLL(sys.argv[1]).counted()\n"
                           "info = hearth.info()\nprint(info['on_hearth'], info['library'], len(info['others']))\n", self.library)
        self.assertEqual(done.stdout, "False None 1\n", done.stderr)

    @have("threadpoolctl")
    def test_threadpoolctl_knows_it_by_name(self):
        done = self.python("import ctypes, sys, hearth, threadpoolctl\nhearth.use()\ncounted = ctypes.CDLL(sys.argv[1]).counted\ncounted()\n"
                           "def told(): return [(one['internal_api'], one['num_threads']) for one in threadpoolctl.threadpool_info()\n"
                           "                    if one['user_api'] == 'openmp']\n"
                           "print(told())\nwith threadpoolctl.threadpool_limits(2, user_api='openmp'):\n  print(told(), counted())\n"
                           "print(told(), counted())\n", self.library)
        self.assertEqual(done.stdout, "[('hearth', 3)]\n[('hearth', 2)] 2\n[('hearth', 3)] 3\n", done.stderr)


if __name__ == "__main__":
    try:
        unittest.main(argv=sys.argv[:1])
    finally:
        FOLDER.cleanup()
