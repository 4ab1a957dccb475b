"""A folder for each test, and `hearth cc` as a person calls it. Import it first: it takes BUILD off the command line."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(sys.argv.pop()).resolve()
CC, CXX = BUILD / "bin/hearth-cc", BUILD / "bin/hearth-c++"
PAPERS_MACHINE = "numa:2 core:6 pu:2"  # two sockets of six cores with two hardware threads each


class Shop(unittest.TestCase):
    limit = 120  # seconds for one command

    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.temporary.name)

    def tearDown(self):
        self.temporary.cleanup()

    def write(self, name, text):
        (self.folder / name).write_text(text)
        return name

    def run_it(self, *command, env=None, good=True):
        result = subprocess.run([str(word) for word in command], cwd=self.folder, capture_output=True, text=True, timeout=self.limit,
                                env={**os.environ, **(env or {})})
        if good:
            self.assertEqual(result.returncode, 0, f"{command}: {result.stderr}")
        return result

    def explained(self, name="out.json"):
        return json.loads((self.folder / name).read_text())

    def threads(self, text, *flags, name="prog.c"):
        """What hearth cc says of the threads of a program, by routine."""
        self.write(name, text)
        self.run_it(CC, "-O1", "-w", *flags, name, "-o", "prog", "-pthread", "--explain=out.json")
        return {each["routine"]: each for each in self.explained()["threads"]}

    def classes(self, text, *flags):
        return {routine: each["class"] for routine, each in self.threads(text, *flags).items()}

    def places(self, machine=PAPERS_MACHINE):
        """Where the threads of the program sit on a pretended machine, in order of creation: [(routine, place)]."""
        lines = self.run_it("./prog", env={"HEARTH_BTLP": "print", "HEARTH_MACHINE": machine}).stderr.splitlines()
        seats = []
        for line in lines:
            self.assertRegex(line, r"^hearth: thread \d+, ")
            head, place = line.split(": ", 2)[1:]
            seats.append((head.split(", ")[1].split(" from ")[0], place.split(", ", 1)[1].replace(" (pretended)", "")))
        return seats
