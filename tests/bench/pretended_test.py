#!/usr/bin/env python3
"""The pretended machine (bench/pretended): where the real runtimes put their threads on it, and what moves. Times are no test.

Usage: pretended_test.py FOLDER_OF_LIBHEARTH
"""
import importlib.machinery
import importlib.util
import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
HEARTH = pathlib.Path(sys.argv.pop()) if len(sys.argv) > 1 else ROOT / "build" / "release" / "lib" / "hearth"


def load(path):
    loader = importlib.machinery.SourceFileLoader("pretended_run", str(path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("pretended_run", loader))
    loader.exec_module(module)
    return module


runner = load(ROOT / "bench" / "pretended" / "run")
runner.DILATION, runner.MB = 1, 16
ROWS = runner.timed.ROW_OF
VECTOR_PAGES = 16 * (16_000_000 // 4 // (64 * 1024)) * 4  # whole blocks of 16 pages, of four teams


def shares(one):
    """What was local, and what each node's threads used, in parts of all."""
    memory = one["memory"]
    whole = sum(map(sum, memory))
    return sum(memory[node][node] for node in range(4)) / whole, [sum(row) / whole for row in memory]


class Pretended(unittest.TestCase):
    def run_row(self, name, compiler, way):
        with tempfile.TemporaryDirectory() as folder:
            model = pathlib.Path(folder) / "model"
            model.write_text(runner.model_words(runner.clock.Model()))
            hearth = runner.main.Hearth(HEARTH, HEARTH.parents[1] / "bin" / "hearth")
            return runner.one_process(ROWS[name], compiler, way, hearth, model, 1)

    def test_bound_threads_are_spread_over_nodes_and_stay_with_their_memory(self):
        for compiler in ("gcc", "clang"):
            local, nodes = shares(self.run_row("Nested-STREAM", compiler, "stock, best settings"))
            self.assertEqual(local, 1, compiler)
            self.assertEqual(nodes, [0.25] * 4, compiler)

    def test_threads_that_nobody_binds_are_spread_over_all_nodes(self):
        for compiler in ("gcc", "clang"):
            _, nodes = shares(self.run_row("Nested-STREAM", compiler, "stock"))
            self.assertGreater(min(nodes), 0.05, compiler)

    def test_hearth_s_teams_stay_with_their_memory(self):
        for compiler in ("gcc", "clang"):
            local, nodes = shares(self.run_row("Nested-STREAM", compiler, "hearth"))
            self.assertEqual(local, 1, compiler)
            self.assertEqual(nodes, [0.25] * 4, compiler)

    def test_without_hints_all_of_the_next_team_s_data_is_remote(self):
        self.assertEqual(shares(self.run_row("Twisted, 3 of 3 remote: no hint", "gcc", "stock, best settings"))[0], 0)

    def test_threads_or_vectors_move_as_the_hints_say(self):
        threads = self.run_row("Twisted, 3 of 3 remote: threads move", "gcc", "hearth")
        self.assertEqual((shares(threads)[0], threads["pages"]), (1, 0))
        vectors = self.run_row("Twisted, 3 of 3 remote: vectors move now", "gcc", "hearth")
        self.assertEqual((shares(vectors)[0], vectors["pages"]), (1, 3 * VECTOR_PAGES))


if __name__ == "__main__":
    unittest.main()
