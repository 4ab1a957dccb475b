#!/usr/bin/env python3
"""`hearth topo --measure`: the file that it makes is a model, or there is none. Never how long anything takes."""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import tomllib
import unittest

from common import HEARTH, hearth


class Measure(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.file = pathlib.Path(self.folder.name) / "my.toml"

    def left(self):
        return sorted(os.listdir(self.folder.name))

    def test_the_file_is_a_good_model_that_can_be_pretended(self):
        made = hearth("topo", "--measure", "--quick", "--write", self.file)
        self.assertEqual(made.returncode, 0, made.stderr)
        self.assertEqual(self.left(), ["my.toml"])
        self.assertIn("HEARTH_MACHINE=", made.stdout)
        self.assertIn("Quick: ", made.stderr)

        checked = hearth("model", "check", self.file)
        self.assertEqual((checked.returncode, checked.stderr), (0, ""))
        self.assertIn("of the simulator's figures", checked.stdout)

        real = json.loads(hearth("topo", "--json").stdout)
        pretended = hearth("topo", "--json", env={"HEARTH_MACHINE": self.file})
        self.assertEqual(pretended.returncode, 0, pretended.stderr)
        model = json.loads(pretended.stdout)
        self.assertEqual(model["name"], "my")
        usable = [core for core in real["cores"] if core["allowed"]]
        self.assertEqual(len(model["cores"]), len(usable))
        self.assertEqual([node["number"] for node in model["nodes"]],
                         [node["number"] for node in real["nodes"] if node["allowed"] or node["memory_allowed"]])

        with open(self.file, "rb") as file:
            raw = tomllib.load(file)
        nodes = len(model["nodes"])
        self.assertEqual([len(row) for row in raw["latency"]["read_ns"]], [nodes] * nodes)
        self.assertEqual(raw["latency"]["mark"], "H")
        self.assertEqual(raw["simulator"]["clock_ghz"]["mark"], "H")
        self.assertEqual(raw["simulator"]["scheduling"]["mark"], "A", "what is not measured says so")
        for row in raw["latency"]["read_ns"]:
            for value in row:
                self.assertGreaterEqual(value, 0)
        for memory in raw["simulator"]["memory_gbs"]:
            self.assertGreater(memory["value"], 0)
        text = self.file.read_text()
        self.assertIn("# Assumed, because", text)
        if nodes == 1:
            self.assertIn("nothing between nodes", text)

    def test_without_a_file_it_is_printed(self):
        made = hearth("topo", "--measure", "--quick")
        self.assertEqual(made.returncode, 0, made.stderr)
        self.assertEqual(tomllib.loads(made.stdout)["name"], "measured")

    def test_an_interrupt_leaves_no_file_and_not_the_old_one_damaged(self):
        for before in (None, "precious"):
            with self.subTest(before=before):
                if before:
                    self.file.write_text(before)
                # Not quick: minutes, of which it gets as far as the first words.
                running = subprocess.Popen([HEARTH, "topo", "--measure", "--write", str(self.file)], stderr=subprocess.PIPE,
                                           stdout=subprocess.PIPE, text=True)
                self.assertIn("measuring", running.stderr.readline())
                running.send_signal(signal.SIGINT)
                out, err = running.communicate(timeout=100)
                self.assertEqual(running.returncode, 130, err)
                self.assertIn("nothing was written", err)
                self.assertEqual(out, "")
                self.assertEqual(self.left(), ["my.toml"] if before else [])
                if before:
                    self.assertEqual(self.file.read_text(), before)

    def test_wrong_command_lines(self):
        cases = ((("--measure", "--machine", "tilepro64"), 2, "--measure"),
                 (("--write", self.file), 2, "--measure"),
                 (("--quick",), 2, "--measure"),
                 (("--measure", "--quick", "--write", self.file.with_suffix(".txt")), 1, ".toml"),
                 (("--measure", "--quick", "--write", "/no/such/folder/my.toml"), 1, "cannot be written"))
        for arguments, status, words in cases:
            with self.subTest(arguments=arguments):
                result = hearth("topo", *arguments)
                self.assertEqual(result.returncode, status, result.stderr)
                self.assertIn(words, result.stderr)
                self.assertEqual(self.left(), [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
