#!/usr/bin/env python3
"""The pretended machine (bench/pretended): where the real runtimes put their threads on it, what moves, and that the six task
benchmarks do what the simulator's do. Times are no test.

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
runner.MB = 16
ROWS = runner.timed.ROW_OF
SMALL = {"map": {"vectors": 5, "kib": 65}, "reduction": {"kib": 512, "depth": 3}, "vecmul": {"vectors": 3, "kib": 70},
         "matmul": {"size": 192, "block": 64}, "jacobi": {"size": 192, "block": 64, "sweeps": 3}, "sparselu": {"size": 320, "block": 64}}
VECTOR_PAGES = 16 * (16_000_000 // 4 // (64 * 1024)) * 4  # whole blocks of 16 pages, of four teams


def shares(one):
    """What was local, and what each node's threads used, in parts of all."""
    memory = one["memory"]
    whole = sum(map(sum, memory))
    return sum(memory[node][node] for node in range(4)) / whole, [sum(row) / whole for row in memory]


class OnMachine(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.model = self.folder / "model"
        self.model.write_text(runner.model_words(runner.clock.Model(), 1))
        self.hearth = runner.main.Hearth(HEARTH, HEARTH.parents[1] / "bin" / "hearth")


class Teams(OnMachine):
    def run_row(self, name, compiler, way):
        return runner.one_of_teams(ROWS[name], compiler, way, 0, self.hearth, self.model)

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


class Tasks(OnMachine):
    def run_one(self, benchmark, memory, compiler, way, distribution="coarse"):
        """Fails where a task ran twice, never, or before what its clauses name."""
        words = runner.tasks.command(runner.program("tasks", compiler), self.hearth, benchmark, SMALL[benchmark], memory, way, distribution)
        said, = runner.lines_of(words, runner.environment_of(compiler, way, self.hearth, self.model, 1), benchmark)
        return said

    def test_tasks_and_bytes_are_the_simulator_s_on_every_runtime(self):
        model = runner.tasks.without_caches(self.folder)
        for benchmark, settings in SMALL.items():
            wanted = runner.tasks.simulated(self.hearth, benchmark, settings, model, seeds=1)
            for compiler in ("gcc", "clang"):
                for way in runner.forest.WAYS:
                    runner.tasks.check(self.run_one(benchmark, "parallel", compiler, way), wanted, f"{benchmark}, {compiler}, {way}")

    def test_another_number_of_tasks_or_bytes_is_refused(self):
        said = self.run_one("map", "initial", "gcc", "stock")
        model = runner.tasks.without_caches(self.folder)
        wanted = runner.tasks.simulated(self.hearth, "map", SMALL["map"], model, seeds=1)
        for wrong in ({"tasks": 6}, {"bytes": wanted["bytes"] + 4096}):
            with self.assertRaises(runner.parts.MissingPart):
                runner.tasks.check(said, {**wanted, **wrong}, "map")

    def test_memory_lies_as_asked(self):
        whole = 5 * 65 * 1024
        for way in ("stock", "hearth"):
            self.assertEqual(homes(self.run_one("map", "initial", "gcc", way)), [whole, 0, 0, 0], way)
        # 17 pages each, the last of which is used in part; dealt out from the first node.
        pages, rest = 4096, whole // 5 - 16 * 4096
        self.assertEqual(homes(self.run_one("map", "distributed", "gcc", "stock")), [5 * (4 * pages + rest)] + [5 * 4 * pages] * 3)
        by_hearth = homes(self.run_one("map", "distributed", "gcc", "hearth"))
        self.assertEqual(sorted(by_hearth), [whole // 5] * 3 + [whole // 5 * 2])


def homes(said):
    return [sum(row[home] for row in said["memory"]) for home in range(4)]


if __name__ == "__main__":
    unittest.main()
