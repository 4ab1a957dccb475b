#!/usr/bin/env python3
"""`hearth model`: every shipped model is good and goes by name; faults have file, line and status."""
import json
import pathlib
import sys
import tempfile
import unittest

from common import SOURCE, hearth

MODELS = sorted(path.stem for path in (SOURCE / "models").glob("*.toml"))


class List(unittest.TestCase):
    def test_all_models_go_by_name(self):
        rows = json.loads(hearth("model", "list", "--json").stdout)
        self.assertLessEqual(set(MODELS), {row["name"] for row in rows})
        for row in rows:
            self.assertTrue(row["title"], row)
            self.assertTrue(pathlib.Path(row["file"]).is_file(), row)
        for name in ("opteron-6172x4", "tilepro64", "opteron-8347hex4", "xeon-e5-2630v2x2", "epyc-9654x2-nps4",
                     "xeon-spr-snc4x2"):
            self.assertTrue(next(row for row in rows if row["name"] == name)["simulator"], name)
        text = hearth("model", "list").stdout
        self.assertIn("4 x AMD Opteron 6172", text)


class Check(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def file(self, text):
        path = pathlib.Path(self.folder.name) / "m.toml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def test_good_ones(self):
        result = hearth("model", "check", *MODELS, SOURCE / "models/tilepro64.toml")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(result.stdout.count(": good: "), len(MODELS) + 1)
        self.assertIn("63 home caches", result.stdout)

    def test_a_fault_of_either_reader_has_its_line(self):
        good = (SOURCE / "models/opteron-6172x4.toml").read_text()
        for old, new, what, where in (
                ("packages = 4", "packages = -4", '"packages" is not legal', None),
                ("llc_level = 3", "lcl_level = 3", 'unknown key "lcl_level" in [cache]', None),
                ('clock_ghz = { value = 2.1, mark = "P" }', "clock_ghz = 2.1", "has no mark", None),
                ("pairs = [[0, 1], [2, 3]", "pairs = [[0, 9], [2, 3]", "node 9, which does not exist", None),
                ("distance = 16", "distance = 17", "no [[simulator.latency]] for the distance 16", "[[simulator.latency]]"),
                ("gbs = { low = 6.4", "gbs = { low = 99", "is not in order", None)):
            with self.subTest(new=new):
                self.assertIn(old, good)
                path = self.file(good.replace(old, new, 1))
                line = good[:good.index(where or old)].count("\n") + 1
                result = hearth("model", "check", path)
                self.assertEqual(result.returncode, 1)
                self.assertEqual(result.stdout, "")
                first = result.stderr.splitlines()[0]
                self.assertTrue(first.startswith(f"{path}:{line}: "), first)
                self.assertIn(what, first)

    def test_all_faults_of_a_file_are_named(self):
        text = (SOURCE / "models/opteron-6172x4.toml").read_text()
        for old, new in (("clock_ghz", "clock_gzh"), ("create_ns", "create_sn"), ("fault_us", "fault_su")):
            text = text.replace(old, new, 1)
        result = hearth("model", "check", self.file(text))
        self.assertEqual(result.returncode, 1)
        for word in ("clock_gzh", "create_sn", "fault_su"):
            self.assertIn(word, result.stderr)
        lines = [int(row.split(":")[1]) for row in result.stderr.splitlines()]
        self.assertEqual(lines, sorted(lines))

    def test_cut_foreign_and_missing_files(self):
        whole = (SOURCE / "models/opteron-6172x4.toml").read_bytes()
        for size in range(0, len(whole), 97):
            result = hearth("model", "check", self.file(whole[:size]))
            self.assertIn(result.returncode, (0, 1), f"cut at {size}: {result.stderr}")
            self.assertEqual(result.returncode == 0, result.stderr == "")
        self.assertEqual(hearth("model", "check", self.file(b"\x7fELF\x02\x01\x00")).returncode, 1)
        missing = hearth("model", "check", "no-such-model")
        self.assertEqual(missing.returncode, 2)
        self.assertIn("no-such-model: ", missing.stderr)
        self.assertEqual(hearth("model", "check").returncode, 2)
        self.assertEqual(hearth("model").returncode, 2)

    def test_without_the_simulators_table_it_is_good_and_says_what_is_lost(self):
        result = hearth("model", "check", "epyc-nps4x2")
        self.assertEqual(result.returncode, 0)
        self.assertIn("hearth sim", result.stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
