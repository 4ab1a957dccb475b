#!/usr/bin/env python3
"""The runtime and the simulator, each by itself, show their policies the same and get the same answers.

Two logs are compared. One is HEARTH_LOG_DECISIONS of a program of bench/las, compiled here, that runs on the library as it
is deployed, on a pretended machine with one thread for each of its locations. The other is `hearth sim --log-decisions` of
the generator of that name, with the same arguments, on the same model. Neither knows of the other: the program's footprints
come from the compiler's calls and the addresses that its allocations have got, the generator's from what is written in it.
A line is (task, creator's location, bytes read and written by location, what is stated and decided, staffed locations, turn)
-> where the task goes.

**In order** (map, vecmul, matmul): no task waits for another, so each is dealt as it is created, all by the one creator,
whose turns count up. Whole lines are compared, in the order of the log, however the threads race for the tasks. The programs
open a region before theirs, so that all threads have taken their places.

**Perturbed**: one distance of the model is another. Both logs change, and stay equal.

**Replayed**: the same programs, recorded by `hearth record` while they log, and the recording simulated. Compared are whole
lines but for the tasks' paths: in a recording the tasks of a region stand among those of the program.

**Released** (reduction, jacobi, sparselu): a task with predecessors is dealt by whoever ends the last of them, or by its
creator if they have all ended, and which of these it is the clock decides. So lines are compared task by task, without
`released`, `creator` and `turn`. The distances of their machine are all different and their blocks large, by which the
cheapest location depends on neither creator nor turn: the test checks for each task that it does not, with sums of its own,
and that it is the one chosen.

Not compared: distribution `standard`, since on a pretended machine nobody knows where the operating system's pages lie; what
gcc compiles, since its calls pass no lengths and the runtime guesses them, but for jacobi, which states its footprints itself;
`fine` on machines whose number of homes is no power of two, since where pages begin to go round depends on the addresses that
the kernel gives; and policy `adaptive`, which is shown times of the clock.

Usage: agreement_test.py HEARTH FOLDER-OF-LIBHEARTH
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "numa"))

from lab import las  # noqa: E402  (the path has to be set first)

MODEL = ROOT / "models" / "opteron-6172x4.toml"
LOCATIONS = 8
# What dealing costs, in bytes times tenths of the local distance; for less a task stays with its creator (policy/locality.cpp).
DEALING = 300 * 80

# Allocations of an odd number of pages, of one that is no whole number, and of one that is.
IN_ORDER = {"map": ["vectors=40", "kib=20"], "vecmul": ["vectors=40", "kib=28"], "matmul": ["size=512", "block=64"]}
TASKS = {"map": 40, "vecmul": 40, "matmul": 64}
RELEASED = [("clang", "reduction", ["kib=2048", "depth=4"], "blocked"),
            ("clang", "jacobi", ["size=1024", "block=128"], "blocked"),
            ("gcc", "jacobi", ["size=1024", "block=128", "exact=1"], "blocked"),
            ("clang", "sparselu", ["size=768", "block=64"], "coarse")]
# The distribution under which the policy has a choice to make, and what the perturbed distance becomes.
PERTURBED = {"map": ("fine", 11), "vecmul": ("coarse", 60), "matmul": ("coarse", 200)}
PLACE = (1, 0)

hearth = library = None


def model(folder, name, change):
    """A copy of the model whose distance from a to b is change(a, b, distance)."""
    text = MODEL.read_text()
    head, table, rest = re.match(r"(.*?\nslit = \[\n)(.*?)(\n\]\n.*)", text, re.DOTALL).groups()
    rows = [[int(number) for number in re.findall(r"\d+", line)] for line in table.splitlines()]
    rows = [[change(a, b, distance) for b, distance in enumerate(row)] for a, row in enumerate(rows)]
    # How much time each step of distance costs is for the distances that were; nothing here depends on time.
    rest = re.sub(r"\[\[simulator\.latency\]\]\n(?:\w.*\n)+", "", rest)
    path = folder / f"{name}.toml"
    path.write_text(head + "\n".join(f"  {row}," for row in rows) + rest)
    return path


class Log:
    def __init__(self, path):
        head, *self.lines, end = [json.loads(line) for line in path.read_text().splitlines()]
        assert end == {"decisions": len(self.lines), "left_out": 0}, end
        self.distance = head["distance"]

    def sequence(self, *without):
        return [{key: value for key, value in line.items() if key not in ("construct", *without)} for line in self.lines]

    def by_task(self, *without):
        return {line["task"]: line for line in self.sequence(*without)}

    def constructs(self):
        return {line["task"]: line["construct"] for line in self.lines}

    def chosen(self):
        return [line["chosen"] for line in self.lines]


class Agreement(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="hearth-agreement-")
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)

    def done(self, command, **environment):
        clean = {name: value for name, value in os.environ.items()
                 if not name.startswith(("OMP_", "GOMP_", "KMP_", "HEARTH", "LD_"))}
        wanted = {name: str(value) for name, value in environment.items()}
        done = subprocess.run(list(map(str, command)), env={**clean, **wanted}, capture_output=True, text=True, timeout=120,
                              check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def logs(self, compiler, program, arguments, distribution, machine=MODEL, policy="locality", significance="gain",
             threads=LOCATIONS):
        runtime, simulator = self.folder / "runtime.json", self.folder / "simulator.json"
        self.done([las.program(program, compiler), *arguments, f"distribution={distribution}", "repeats=1"],
                  LD_LIBRARY_PATH=library, OMP_NUM_THREADS=threads, HEARTH_MACHINE=machine, HEARTH_POLICY=policy,
                  HEARTH_SIGNIFICANCE=significance, HEARTH_LOG_DECISIONS=runtime)
        settings = [part for argument in arguments for part in ("--set", argument)]
        self.simulate(program, distribution, simulator, machine, *settings, policy=policy, significance=significance)
        return Log(runtime), Log(simulator)

    def simulate(self, program, distribution, log, machine, *settings, policy="locality", significance="gain"):
        self.done([hearth, "sim", program, *settings, "--machine", machine, "--seating", "one-per-location", "--policy", policy,
                   "--significance", significance, "--distribution", distribution, "--seeds", "1", "--log-decisions", log])

    def same(self, runtime, simulator, *without):
        """As lists, so that a failure shows the first line that differs."""
        self.assertEqual(runtime.distance, simulator.distance)
        self.assertEqual(runtime.sequence(*without), simulator.sequence(*without))


class InOrder(Agreement):
    def test_the_same_sequence(self):
        answers = set()
        for program, arguments in IN_ORDER.items():
            for distribution in ("fine", "coarse", "blocked"):
                for policy, significance in (("locality", "gain"), ("locality", "paper"), ("home-cache", "gain")):
                    with self.subTest(program=program, distribution=distribution, policy=policy, significance=significance):
                        runtime, simulator = self.logs("clang", program, arguments, distribution, policy=policy,
                                                       significance=significance)
                        self.same(runtime, simulator)
                        self.assertEqual(len(runtime.lines), TASKS[program])
                        self.assertEqual([line["turn"] for line in runtime.lines], list(range(TASKS[program])))
                        answers.update(runtime.chosen())
        self.assertEqual(answers, {None, *range(LOCATIONS)})  # all that there are

    def test_the_same_sequence_on_home_caches(self):
        tiles = 63
        runtime, simulator = self.logs("clang", "vecmul", IN_ORDER["vecmul"], "coarse", ROOT / "models" / "tilepro64.toml",
                                       policy="home-cache", threads=tiles)
        self.same(runtime, simulator)
        self.assertEqual(len(runtime.distance), tiles)
        self.assertEqual(runtime.lines[0]["staffed"], list(range(tiles)))
        self.assertGreater(len(set(runtime.chosen())), TASKS["vecmul"] // 2)

    def test_one_perturbed_distance_changes_both_alike(self):
        for program, (distribution, distance) in PERTURBED.items():
            with self.subTest(program=program):
                machine = model(self.folder, "perturbed", lambda a, b, before: distance if (a, b) == PLACE else before)
                plain = self.logs("clang", program, IN_ORDER[program], distribution)
                perturbed = self.logs("clang", program, IN_ORDER[program], distribution, machine)
                self.same(*plain)
                self.same(*perturbed)
                self.assertEqual(perturbed[0].distance[PLACE[0]][PLACE[1]], distance)
                for before, after in zip(plain, perturbed):
                    self.assertNotEqual(before.chosen(), after.chosen())
                    # Nothing but the answers: memory lies where it lay.
                    self.assertEqual(before.sequence("chosen"), after.sequence("chosen"))


class Replayed(Agreement):
    def replay(self, program, distribution):
        runtime, simulator, recording = (self.folder / name for name in ("runtime.json", "simulator.json", "recording.db"))
        self.done([hearth, "record", "-o", recording, "--", las.program(program, "clang"), *IN_ORDER[program],
                   f"distribution={distribution}", "repeats=1"], OMP_NUM_THREADS=LOCATIONS, HEARTH_MACHINE=MODEL,
                  HEARTH_LOG_DECISIONS=runtime, HEARTH_POLICY="locality")
        self.simulate(recording, distribution, simulator, MODEL)
        return Log(runtime), Log(simulator)

    def test_a_recording_gives_the_same_sequence(self):
        for program, (distribution, _) in PERTURBED.items():
            with self.subTest(program=program):
                # A thread that loses its processor in the region's body, which is empty but for the creator's, has worked there
                # as far as a recording knows. Then all bodies are tasks of the simulated program, and who gets the creator's is
                # left to its scheduling: such a recording says nothing here, and another one is made.
                for _ in range(5):
                    runtime, simulator = self.replay(program, distribution)
                    if all(line["task"].count(".") == 1 for line in simulator.lines):
                        break
                self.same(runtime, simulator, "task")
                self.assertEqual(len(runtime.lines), TASKS[program])


class Released(Agreement):
    def prices(self, log, line):
        """By location: what its bytes cost there, a written one twice."""
        bytes_at = [read + 2 * written for read, written in zip(line["read"], line["written"])]
        return [sum(row[home] * amount for home, amount in enumerate(bytes_at)) for row in log.distance]

    def test_the_same_answer_for_each_task(self):
        # Even ones, so that what differs does so by twice a block; in an order in which no sums cancel out.
        machine = model(self.folder, "unequal",
                        lambda a, b, before: before if a == b else 12 + 2 * ((LOCATIONS * a + b) * 22 % 97))
        for compiler, program, arguments, distribution in RELEASED:
            with self.subTest(compiler=compiler, program=program):
                runtime, simulator = self.logs(compiler, program, arguments, distribution, machine)
                self.assertEqual(runtime.distance, simulator.distance)
                by_clock = ("released", "creator", "turn")
                self.assertEqual(runtime.by_task(*by_clock), simulator.by_task(*by_clock))
                self.assertGreater(len(set(runtime.chosen())), LOCATIONS // 2)
                for line in runtime.lines:
                    best, second = sorted(self.prices(runtime, line))[:2]
                    self.assertGreater(second - best, DEALING, line)
                    self.assertEqual(line["chosen"], self.prices(runtime, line).index(best), line)

    def test_the_programs_constructs_are_the_generators(self):
        for compiler in ("clang", "gcc"):
            runtime, simulator = self.logs(compiler, "sparselu", ["size=512", "block=64"], "coarse")
            pairs = {(runtime.constructs()[task], kind) for task, kind in simulator.constructs().items()}
            self.assertEqual(sorted(kind for _, kind in pairs), ["bdiv", "bmod", "fwd", "lu0"])
            self.assertEqual(len({function for function, _ in pairs}), 4)


if __name__ == "__main__":
    hearth, library = (pathlib.Path(sys.argv.pop(1)).resolve() for _ in range(2))
    unittest.main()
