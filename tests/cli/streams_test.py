#!/usr/bin/env python3
"""What `hearth` does when it cannot say or write what it wants to: closed and full standard streams, results that would
be written over their input."""
import os
import pathlib
import subprocess
import sys
import unittest

from common import HEARTH, PROGRAM, SOURCE, Workshop, clean_environment, hearth, run

SHOP = Workshop()
MACHINE = "opteron-6172x4"


def setUpModule():
    SHOP.gcc = SHOP.compile("app", PROGRAM, "-fopenmp")
    SHOP.recording = SHOP.folder / "m.db"
    done = hearth("record", "-o", SHOP.recording, "--", SHOP.gcc)
    assert done.returncode == 0, done.stderr


def tearDownModule():
    SHOP.close()


def shell(line, **more):
    """A line for sh, in which $HEARTH is the command."""
    return run("sh", "-c", line, env={"H": HEARTH, "APP": SHOP.gcc}, cwd=SHOP.folder, **more)


class Streams(unittest.TestCase):
    def test_a_closed_standard_error_ends_nothing(self):
        done = shell('"$H" run --verify -- "$APP" 5 2>&-')
        self.assertEqual((done.returncode, done.stderr), (5, ""))
        self.assertIn("mapped", done.stdout)
        done = shell('"$H" record -o closed.db -- "$APP" 2>&-; status=$?; ls -d closed.db*; exit $status')
        self.assertEqual(done.returncode, 0)
        self.assertEqual(done.stdout.split()[-1:], ["closed.db"], "no spill folder")
        self.assertEqual(shell('"$H" check -- "$APP" 2>&-').returncode, 0)
        self.assertEqual(shell('"$H" nonsense 2>&-').returncode, 2)

    def test_a_full_standard_error_does_not_end_a_measurement(self):
        done = shell('"$H" topo --measure --quick --write measured.toml 2> /dev/full')
        self.assertEqual(done.returncode, 0)
        self.assertTrue((SHOP.folder / "measured.toml").is_file())

    def test_programs_find_closed_streams_closed(self):
        done = shell('"$H" run -- sh -c "[ -e /proc/self/fd/2 ] || echo closed" 2>&-')
        self.assertEqual(done.stdout, "closed\n")

    def test_a_closed_standard_output_is_not_the_programs_file(self):
        path = SHOP.folder / "closed_out.json"
        done = shell(f'"$H" sim map --machine {MACHINE} --seeds 1 --json {path} >&-')
        self.assertTrue(path.read_text().startswith("{"), done.stderr)

    def test_a_full_device_is_an_error(self):
        for command in (f"topo", "env", "env --json", f"sim map --machine {MACHINE} --seeds 1", "sim --list", "model list",
                        f'check --json -- "$APP"'):
            done = shell(f'"$H" {command} > /dev/full')
            self.assertEqual(done.returncode, 1, (command, done.stderr))
            self.assertIn("standard output cannot be written", done.stderr, command)

    def test_a_reader_that_has_enough_is_none(self):
        done = shell('"$H" env | head -n 1')
        self.assertEqual((done.returncode, done.stderr), (0, ""))


class Inputs(unittest.TestCase):
    def test_a_result_does_not_go_over_its_input(self):
        before = SHOP.recording.read_bytes()
        link = SHOP.folder / "link.prv"
        hard = SHOP.folder / "hard.json"
        link.symlink_to(SHOP.recording)
        os.link(SHOP.recording, hard)
        for arguments in (("export", SHOP.recording, "--perfetto", SHOP.recording), ("export", SHOP.recording, "--perfetto", hard),
                          ("export", SHOP.recording, "--paraver", link),
                          ("sim", SHOP.recording, "--machine", MACHINE, "--seeds", "1", "--json", SHOP.recording),
                          ("sim", SHOP.recording, "--machine", MACHINE, "--seeds", "1", "--json", hard),
                          ("sim", SHOP.recording, "--machine", MACHINE, "--seeds", "1", "--policy", "locality",
                           "--distribution", "fine", "--log-decisions", link)):
            done = hearth(*arguments)
            self.assertEqual(done.returncode, 2, (arguments, done.stderr))
            self.assertIn("would destroy it", done.stderr)
            self.assertEqual(SHOP.recording.read_bytes(), before, arguments)

    def test_nor_over_the_machine(self):
        model = SHOP.folder / "m.toml"
        text = (SOURCE / "models" / f"{MACHINE}.toml").read_text()
        model.write_text(text)
        done = hearth("sim", "map", "--machine", model, "--seeds", "1", "--json", model)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(model.read_text(), text)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
