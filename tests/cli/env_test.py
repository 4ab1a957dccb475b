#!/usr/bin/env python3
"""`hearth env` tells every option, its value and where that came from; the manual page has every one of them."""
import json
import re
import sys
import unittest

from common import SOURCE, hearth


def options(env=None):
    result = hearth("env", "--json", env=env)
    assert result.returncode == 0, result.stderr
    return {item["name"]: item for item in json.loads(result.stdout)}


class Env(unittest.TestCase):
    def test_every_row_is_complete(self):
        rows = options()
        self.assertGreater(len(rows), 80)
        for name, row in rows.items():
            for key in ("value", "source", "status", "type", "legal", "meaning"):
                self.assertTrue(row[key], f"{name} has no {key}")

    def test_values_and_sources(self):
        rows = options({"OMP_NUM_THREADS": "7,2", "KMP_STACKSIZE": "1M", "KMP_ALL_THREADS": "9", "KMP_TASKING": "2"})
        self.assertEqual((rows["OMP_NUM_THREADS"]["value"], rows["OMP_NUM_THREADS"]["source"]), ("7,2", "OMP_NUM_THREADS"))
        self.assertEqual((rows["OMP_STACKSIZE"]["value"], rows["OMP_STACKSIZE"]["source"]), ("1M", "KMP_STACKSIZE"))
        self.assertEqual((rows["KMP_DEVICE_THREAD_LIMIT"]["value"], rows["KMP_DEVICE_THREAD_LIMIT"]["source"]),
                         ("9", "KMP_ALL_THREADS"))
        self.assertEqual((rows["KMP_TASKING"]["status"], rows["KMP_TASKING"]["source"]), ("ignored", "KMP_TASKING"))
        self.assertEqual(rows["OMP_SCHEDULE"]["source"], "default")

    def test_text_names_value_source_meaning_and_legal_values(self):
        text = hearth("env", env={"HEARTH_POLICY": "central"}).stdout
        self.assertIn("HEARTH_POLICY = central   (from HEARTH_POLICY)", text)
        self.assertIn("legal: adaptive, locality, work-stealing, central or home-cache", text)
        for name in options():
            self.assertRegex(text, rf"(?m)^{name}( = |: ignored)")

    def test_a_selection(self):
        result = hearth("env", "--json", "OMP_DYNAMIC", "KMP_MAX_THREADS")
        self.assertEqual([row["name"] for row in json.loads(result.stdout)], ["OMP_DYNAMIC", "KMP_DEVICE_THREAD_LIMIT"])
        unknown = hearth("env", "OMP_NONSENSE")
        self.assertEqual(unknown.returncode, 2)
        self.assertIn("OMP_NONSENSE: no such option", unknown.stderr)

    def test_a_bad_value_is_reported_and_the_default_shown(self):
        result = hearth("env", "OMP_DYNAMIC", env={"OMP_DYNAMIC": "maybe"})
        self.assertIn('hearth: OMP_DYNAMIC="maybe": unknown word at column 1; legal: ', result.stderr)
        self.assertIn("OMP_DYNAMIC = FALSE", result.stdout)


class Manual(unittest.TestCase):
    page = (SOURCE / "docs/reference/libhearth.7").read_text()

    def test_every_option_is_in_libhearth_7(self):
        documented = set(re.findall(r"^\.(?:It|Li) Ev (\w+)", self.page, re.M)) | set(re.findall(r"^\.Ev (\w+)", self.page, re.M))
        for name, row in options().items():
            self.assertIn(name, documented, "docs/reference/libhearth.7 does not have it; run tools/options-to-man")
            for alias in row["aliases"]:
                self.assertIn(alias, documented)

    def test_legal_values_and_defaults_are_those_of_the_table(self):
        plain = re.sub(r"\s+", " ", self.page.replace("\\(dq", '"').replace("\\&", "").replace("\\e", "\\").replace("\\-", "-"))
        for name, row in options().items():
            if row["status"] == "ignored":
                continue
            for key in ("legal", "default", "meaning"):
                self.assertIn(re.sub(r"\s+", " ", row[key]), plain, f"{name}: {key}; run tools/options-to-man")

    def test_options_of_the_command_line_are_in_hearth_1(self):
        page = (SOURCE / "docs/reference/hearth.1").read_text()
        for subcommand in ("run", "env", "topo", "sim"):
            text = hearth(subcommand, "--help").stdout
            self.assertIn(f".Cm {subcommand}", page)
            for option in set(re.findall(r"--([a-z-]+)", text)) - {"help", "helpopt"}:
                self.assertIn(f"Fl \\-{option}".replace("\\", ""), page.replace("\\-", "-").replace("Fl -", "Fl -"),
                              f"hearth {subcommand} --{option} is not in hearth(1)")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
