#!/usr/bin/env python3
"""Packages tell one version and one history: CMakeLists.txt, CHANGELOG.md and what is made from it.

Usage: packages_test.py SOURCE
"""
import pathlib
import re
import sys
import unittest

SOURCE = pathlib.Path(sys.argv[1])
sys.dont_write_bytecode = True
sys.path.insert(0, str(SOURCE / "packaging/parts"))

import common  # noqa: E402
import deb  # noqa: E402


class Packages(unittest.TestCase):
    def test_the_newest_change_is_of_this_version(self):
        changes = common.changes()
        self.assertEqual(changes[0][0], common.version())
        self.assertTrue(all(points for _, _, points in changes))
        days = [day for _, day, _ in changes]
        self.assertEqual(days, sorted(days, reverse=True))

    def test_debians_changelog_has_its_form(self):
        entries = re.findall(r"hearth \(([\d.]+)-1\) unstable; urgency=medium\n\n(?:  [* ] .{1,76}\n)+\n"
                             r" -- [^<>]+ <[^<>]+>  \w{3}, \d\d \w{3} \d{4} 00:00:00 \+0000\n\n", deb.changelog())
        self.assertEqual(entries, [number for number, _, _ in common.changes()])

    def test_every_file_of_debian_says_what_is_installed(self):
        packages = re.findall(r"^Package: (\S+)", (SOURCE / "packaging/debian/control.in").read_text(), re.M)
        for path in (SOURCE / "packaging/debian").glob("*.*"):
            if path.name != "control.in":
                self.assertIn(path.name.split(".")[0], packages, path.name)

    def test_what_goes_into_an_archive_is_the_source(self):
        files = common.source_files()
        self.assertIn("CMakeLists.txt", files)
        self.assertEqual([name for name in files if name.startswith("build/")], [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
