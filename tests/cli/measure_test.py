#!/usr/bin/env python3
"""`hearth topo --measure`: the file that it makes is a model, or there is none. Never how long anything takes."""
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import tomllib
import unittest

from common import HEARTH, LIBRARY, SOURCE, hearth, run


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

    def test_a_kept_model_is_what_memory_costs(self):
        cache = pathlib.Path(self.folder.name)
        kept = cache / "hearth" / f"{socket.gethostname()}.toml"
        made = hearth("topo", "--measure", "--quick", "--keep", env={"XDG_CACHE_HOME": cache})
        self.assertEqual(made.returncode, 0, made.stderr)
        self.assertIn(str(kept), made.stdout)
        source = cache / "costs.c"
        source.write_text("#include <hearth/hearth.h>\n#include <stdio.h>\n"
                          "int main(void) { printf(\"%g\\n\", hearth_cost_read(0, 0, 64)); return 0; }\n")
        subprocess.run(["gcc", source, f"-I{SOURCE}/include", f"-L{pathlib.Path(LIBRARY).parent}", "-lhearth", "-o", cache / "costs"],
                       check=True)

        def told():
            done = run(cache / "costs", env={"XDG_CACHE_HOME": cache, "LD_LIBRARY_PATH": pathlib.Path(LIBRARY).parent})
            self.assertEqual(done.returncode, 0, done.stderr)
            return float(done.stdout), done.stderr

        kept.rename(cache / "aside")
        without = told()
        (cache / "aside").rename(kept)
        measured = tomllib.loads(kept.read_text())["latency"]["read_ns"][0][0]
        self.assertAlmostEqual(told()[0], measured / 10, delta=measured / 1000)  # ten lines at a time
        kept.write_text(kept.read_text().replace("[latency]", "[no_such_table]", 1))
        cost, said = told()
        self.assertEqual(cost, without[0])  # as if nothing were kept
        self.assertIn("no_such_table", said)

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
                 (("--keep",), 2, "--measure"),
                 (("--measure", "--keep", "--write", self.file), 2, "--write"),
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
