#!/usr/bin/env python3
"""The library's names, versions and kinds are those of packaging/abi: libabigail compares the library of the archive with what is
kept there. A name that is gone or changed breaks programs that exist. New names are kept by: abi_test.py --write

The library of the archive has no types (it is stripped): what a call takes is held by tests/abi and the tests of hearth.h.
"""
import pathlib
import subprocess
import sys
import tempfile
import unittest

from packages import OUT, ROOT

KEPT = ROOT / "packaging/abi/libhearth.abi"
LIBRARY = "lib/hearth/libhearth.so"


def unpacked(folder):
    archives = list(OUT.glob("hearth-*-linux-x86_64.tar.gz"))
    assert len(archives) == 1, f"{archives}; packaging/package tarball makes it"
    subprocess.run(["tar", "-xf", archives[0], "-C", folder, "--strip-components=1"], check=True)
    return pathlib.Path(folder) / LIBRARY


def describe(library, to):
    subprocess.run(["abidw", "--no-show-locs", "--no-corpus-path", "--no-comp-dir-path", "--no-elf-needed", "--out-file", to, library], check=True)


class Interface(unittest.TestCase):
    def test_is_the_one_that_is_kept(self):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(["abidiff", KEPT, unpacked(folder)], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (0, ""), "if only names were added: abi_test.py --write")

    def test_a_name_that_is_gone_is_found(self):
        with tempfile.TemporaryDirectory() as folder:
            more = pathlib.Path(folder) / "more.abi"
            lines = KEPT.read_text().splitlines(keepends=True)
            place = next(i for i, line in enumerate(lines) if "name='hearth_num_locations'" in line)
            lines.insert(place, lines[place].replace("hearth_num_locations", "hearth_was_there_before"))
            more.write_text("".join(lines))
            done = subprocess.run(["abidiff", more, unpacked(folder)], capture_output=True, text=True)
        self.assertEqual(done.returncode, 12, done.stdout + done.stderr)  # changed, and not compatibly
        self.assertIn("hearth_was_there_before", done.stdout)


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        with tempfile.TemporaryDirectory() as there:
            describe(unpacked(there), KEPT)
    else:
        unittest.main(verbosity=2)
