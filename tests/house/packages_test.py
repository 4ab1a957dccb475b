#!/usr/bin/env python3
"""Packages tell one version and one history: CMakeLists.txt, CHANGELOG.md and what is made from it.

Usage: packages_test.py SOURCE
"""
import pathlib
import re
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(sys.argv[1])
sys.dont_write_bytecode = True
sys.path.insert(0, str(SOURCE / "packaging/parts"))

import common  # noqa: E402
import deb  # noqa: E402
import sbom  # noqa: E402


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

    def test_recipes_have_no_version_of_their_own(self):
        for path in (SOURCE / "packaging/recipes").rglob("*"):
            if path.is_file():
                self.assertNotIn(common.version(), path.read_text(), path)

    def test_every_library_that_is_built_with_is_in_the_bill_of_materials(self):
        wanted = re.search(r"^build_packages=\((.*?)^\)", (SOURCE / "tools/setup").read_text(), re.M | re.S)[1]
        names = {name for name in re.findall(r'"([^:"]+):', wanted) if name.endswith("-dev") or name == "g++"}
        self.assertEqual(names, set(sbom.COMPONENTS))

    def test_the_bill_of_materials_has_every_file_once(self):
        with tempfile.TemporaryDirectory() as folder:
            prefix = pathlib.Path(folder)
            (prefix / "bin").mkdir()
            (prefix / "bin/hearth").write_bytes(b"abc")
            (prefix / "bin/link").symlink_to("hearth")
            told = sbom.document(prefix, lambda package: "1")
        self.assertEqual([file["fileName"] for file in told["files"]], ["./bin/hearth"])
        self.assertEqual(told["files"][0]["checksums"][1]["checksumValue"],
                         "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        names = [part["SPDXID"] for part in told["packages"] + told["files"]]
        self.assertEqual(len(names), len(set(names)))
        self.assertLessEqual({end for relation in told["relationships"] for end in (relation["spdxElementId"], relation["relatedSpdxElement"])},
                             {*names, "SPDXRef-DOCUMENT"})

    def test_what_goes_into_an_archive_is_the_source(self):
        files = common.source_files()
        self.assertIn("CMakeLists.txt", files)
        self.assertEqual([name for name in files if name.startswith("build/")], [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
