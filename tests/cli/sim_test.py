#!/usr/bin/env python3
"""`hearth sim`: what it prints and writes, what it refuses, and how it ends when it is interrupted."""
import json
import os
import pathlib
import pty
import re
import select
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

from common import HEARTH, SOURCE, hearth

MACHINE = "opteron-6172x4"


def sim(*arguments, **more):
    return hearth("sim", *arguments, **more)


def results(*arguments):
    done = sim(*arguments, "--json", "-")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


class Results(unittest.TestCase):
    def test_the_table_has_a_row_for_each_way(self):
        done = sim("map", "--machine", MACHINE, "--seeds", "3", "--policy", "locality,work-stealing", "--distribution",
                   "coarse,interleaved")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        head, _, titles, *rest = done.stdout.splitlines()
        rows, legend = rest[:rest.index("")], rest[rest.index("") + 1:]
        self.assertTrue(any(line.startswith("by stealing + fine: ") for line in legend), legend)
        self.assertRegex(head, r"^map on .*: 48 tasks, 48 threads; median \(5 % - 95 %\) of 3 seeds")
        self.assertTrue(titles.startswith("policy"))
        self.assertEqual([row.split()[:2] for row in rows],
                         [["work-stealing", "fine"], ["locality", "coarse"], ["locality", "interleaved"],
                          ["work-stealing", "coarse"], ["work-stealing", "interleaved"]])

    def test_json_has_everything_and_comes_again(self):
        arguments = ("map", "--machine", MACHINE, "--seeds", "4", "--set", "vectors=20", "--set", "kib=64", "--threads", "7")
        found = results(*arguments)
        self.assertEqual(found, results(*arguments))
        self.assertEqual((found["program"], found["tasks"], found["threads"], found["seeds"]), ("map", 20, 7, 4))
        self.assertEqual(found["settings"], ["vectors=20", "kib=64"])
        self.assertTrue(found["ranges"])
        self.assertEqual([len(draw) for draw in found["draws"]], 4 * [len(found["ranges"])])
        for way in found["ways"]:
            self.assertEqual(len(way["runs"]), 4)
            self.assertLessEqual(way["ms"]["low"], way["ms"]["median"])
            self.assertLessEqual(way["ms"]["median"], way["ms"]["high"])
            self.assertGreater(way["ms"]["low"], 0)
        self.assertEqual(found["ways"][0]["ratio"], {"median": 1, "low": 1, "high": 1})
        other = results(*arguments, "--first-seed", "77")
        self.assertNotEqual([way["ms"] for way in found["ways"]], [way["ms"] for way in other["ways"]])

    def test_a_policy_that_knows_where_data_is_runs_tasks_there(self):
        found = results("map", "--machine", MACHINE, "--seeds", "5", "--set", "kib=4096", "--policy", "work-stealing,default,locality")
        local = {(way["policy"], way["distribution"]): way["local_share"]["median"] for way in found["ways"]}
        self.assertAlmostEqual(local["work-stealing", "fine"], 1 / 8, delta=0.02)
        self.assertGreater(local["locality", "coarse"], 0.9)
        self.assertGreater(local["adaptive", "coarse"], 0.9, "it is the default")
        self.assertLess(local["work-stealing", "coarse"], 0.5)

    def test_nominal_draws_nothing(self):
        found = results("map", "--machine", MACHINE, "--seeds", "2", "--nominal")
        self.assertEqual((found["ranges"], found["draws"]), ([], [[], []]))

    def test_a_file_gets_the_json_beside_the_table(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "out.json")
            done = sim("map", "--machine", MACHINE, "--seeds", "1", "--json", path)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertRegex(done.stdout, r"policy +distribution +time +by stealing")
            self.assertIn("below 1 is faster", done.stdout)
            self.assertEqual(json.loads(path.read_text())["program"], "map")

    def test_a_model_file_by_its_path(self):
        path = SOURCE / "models" / f"{MACHINE}.toml"
        found = results("map", "--machine", path, "--seeds", "1")
        self.assertEqual(found["model"], str(path))

    def test_advice_is_better_than_the_rules_and_told_by_allocation(self):
        arguments = ("vecmul", "--machine", MACHINE, "--set", "inputs=paper", "--seeds", "3", "--advise")
        done = sim(*arguments)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        head, _, titles, *rows = done.stdout.splitlines()
        self.assertIn("by the rules", titles)
        self.assertEqual([row.split()[0] for row in rows[:4]], ["work-stealing"] + 3 * ["adaptive"])
        self.assertRegex(done.stdout, r"(?m)^a\[0\] and 255 more +256 MiB +initial thread +each task all of it, read +fine +coarse$")
        self.assertRegex(done.stdout, r"(?m)^c\[0\] and 127 more +128 MiB +initial thread +each task all of it, written +coarse +coarse$")
        self.assertIn("hearth run --policy=adaptive -- PROGRAM", done.stdout)
        self.assertIn("omp_malloc_specific(size, OMP_MALLOC_FINE)", done.stdout)
        found = results(*arguments)
        self.assertEqual(found, results(*arguments))
        self.assertEqual([(way["policy"], way["distribution"]) for way in found["ways"]],
                         [("work-stealing", "standard"), ("adaptive", "standard"), ("adaptive", "by the rules"), ("adaptive", "advised")])
        standard, same, rules, advised = (way["ms"]["median"] for way in found["ways"])
        self.assertLess(advised, rules)
        self.assertLess(rules, standard)
        self.assertEqual(found["advice"]["policy"], "adaptive")
        self.assertEqual(len(found["advice"]["allocations"]), found["allocations"])
        self.assertEqual(found["advice"]["allocations"][0]["advised"], "fine")

    def test_advice_for_all_allocations_alike_is_an_option_of_hearth_run(self):
        done = sim("map", "--machine", MACHINE, "--set", "inputs=paper", "--seeds", "2", "--advise", "--policy", "central,adaptive")
        self.assertIn("hearth run --policy=adaptive --distribute=coarse -- PROGRAM", done.stdout)

    def test_every_program_runs(self):
        listed = sim("--list").stdout
        for program in ("map", "reduction", "vecmul", "matmul", "jacobi", "sparselu", "random"):
            self.assertIn(f"\n{program}: ", listed)
            found = results(program, "--machine", MACHINE, "--seeds", "1", "--distribution", "standard")
            self.assertGreater(found["ways"][1]["ms"]["median"], 0)


class Recorded(unittest.TestCase):
    """--record: what hearth record would have written of the simulated run."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def record(self, program, distribution, *more, policy="locality"):
        path = pathlib.Path(self.folder.name, f"{program}-{distribution}.db")
        done = sim(program, "--machine", MACHINE, "--seeds", "1", "--nominal", "--policy", policy, "--distribution", distribution,
                   "--record", path, *more)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return path

    def ask(self, path, sql):
        with sqlite3.connect(path) as database:
            return database.execute(sql).fetchall()

    def test_every_program_is_whole(self):
        for program in ("map", "reduction", "vecmul", "matmul", "jacobi", "sparselu", "random"):
            with self.subTest(program=program):
                found = results(program, "--machine", MACHINE, "--seeds", "1", "--nominal", "--policy", "locality",
                                "--distribution", "standard")
                path = self.record(program, "standard")
                self.assertEqual(self.ask(path, "SELECT count(*) FROM task WHERE kind = 'explicit'"), [(found["tasks"],)])
                self.assertEqual(self.ask(path, "SELECT count(*) FROM thread"), [(found["threads"],)])
                length = self.ask(path, "SELECT max(end_ns) FROM span")[0][0]
                self.assertAlmostEqual(length / 1e6, found["ways"][1]["ms"]["median"], delta=found["ways"][1]["ms"]["median"] * 1e-3)
                for lost in ("FROM task WHERE kind = 'explicit' AND (begin_ns IS NULL OR begin_ns < created_ns OR end_ns < begin_ns)",
                             "FROM span a JOIN span b ON a.thread = b.thread AND a.rowid < b.rowid AND a.begin_ns < b.end_ns "
                             "AND b.begin_ns < a.end_ns",
                             "FROM edge e JOIN task a ON a.id = e.predecessor JOIN task b ON b.id = e.task WHERE b.begin_ns < a.end_ns",
                             "FROM task t WHERE kind = 'explicit' AND abs((SELECT sum(end_ns - begin_ns) FROM span WHERE task = t.id)"
                             " - work_ns - wait_ns - create_ns) > 1000"):
                    self.assertEqual(self.ask(path, "SELECT count(*) " + lost), [(0,)], lost)
                self.assertEqual(hearth("report", path, "-o", path.with_suffix(".html")).returncode, 0)

    def test_bytes_homes_and_decisions(self):
        path = self.record("map", "coarse", "--set", "vectors=16", "--set", "kib=64", "--threads", "8", "--seating", "spread")
        self.assertEqual(self.ask(path, "SELECT sum(read), sum(written) FROM task_bytes"), [(16 * 65536,) * 2])
        self.assertEqual(self.ask(path, "SELECT count(DISTINCT allocation), count(DISTINCT location), sum(bytes) FROM home"),
                         [(16, 8, 16 * 65536)])
        self.assertEqual(self.ask(path, "SELECT DISTINCT distribution FROM allocation"), [("coarse",)])
        self.assertEqual(self.ask(path, "SELECT count(*) FROM decision d JOIN home h ON h.allocation = d.task - "
                                  "(SELECT min(task) FROM decision) WHERE coalesce(d.chosen, d.location) = h.location"), [(16,)])
        self.assertEqual(self.ask(path, "SELECT count(*), min(distance) FROM distance WHERE location = memory"), [(8, 10)])

    def test_advice_is_for_what_is_not_so_already(self):
        advised = hearth("report", "--text", self.record("map", "fine")).stdout
        self.assertIn("Distribute this memory (12.0 MiB) as coarse", advised)
        self.assertNotIn("Distribute this memory", hearth("report", "--text", self.record("map", "coarse")).stdout)

    def test_the_same_bytes_again(self):
        first = self.record("vecmul", "coarse").read_bytes()
        self.assertEqual(first, self.record("vecmul", "coarse").read_bytes())

    def test_what_cannot_be_recorded(self):
        arguments = ("map", "--machine", MACHINE, "--seeds", "1")
        for more, why in ((("--policy", "locality,adaptive", "--distribution", "fine"), "name one of each"),
                          (("--advise",), "leave --advise out")):
            done = sim(*arguments, *more, "--record", "x.db")
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn('--record="x.db"', done.stderr)
            self.assertIn(why, done.stderr)
        done = sim(*arguments, "--policy", "locality", "--distribution", "fine", "--record", "/nonexistent/x.db")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("/nonexistent/x.db: cannot be written", done.stderr)


class Refusals(unittest.TestCase):
    def refused(self, *arguments):
        done = sim(*arguments)
        self.assertEqual((done.returncode, done.stdout), (2, ""), arguments)
        self.assertTrue(done.stderr.startswith("hearth: "), done.stderr)
        self.assertIn("Try: hearth", done.stderr)
        return done.stderr

    def test_unknown_words_come_with_what_is_legal(self):
        for arguments, what, legal in (
                (("mop", "--machine", MACHINE), '"mop"', "map, reduction, vecmul"),
                (("--machine", MACHINE), "program is needed", "map, reduction"),
                (("map",), "--machine is needed", MACHINE),
                (("map", "--machine", "cray-1"), '--machine="cray-1"', MACHINE),
                (("map", "--machine", "numa:2 core:2 pu:1"), "not how fast it is", MACHINE),
                (("map", "--machine", MACHINE, "--policy", "locality,luck"), '--policy="luck"', "default, adaptive, locality, work-stealing"),
                (("map", "--machine", MACHINE, "--distribution", "fin"), '--distribution="fin"', "standard, fine, coarse"),
                (("map", "--machine", MACHINE, "--advise", "--distribution", "fine"), '--distribution="fine"', "leave one of both out"),
                (("map", "--machine", MACHINE, "--advise", "--log-decisions", "x"), '--log-decisions="x"', "leave --advise out"),
                (("map", "--machine", MACHINE, "--advise", "--policy", "luck"), '--policy="luck"', "default, adaptive, locality, work-stealing"),
                (("map", "--machine", MACHINE, "--significance", "big"), '--significance="big"', "gain, paper"),
                (("map", "--machine", MACHINE, "--steal-threshold", "7"), '--steal-threshold="7"', "hops, slit, none"),
                (("map", "--machine", MACHINE, "--vicinity", "5"), '--vicinity="5"', "all, 1, 4, 8, 16"),
                (("map", "--machine", MACHINE, "--seating", "sofa"), '--seating="sofa"', "close, spread"),
                (("map", "--machine", MACHINE, "--caches", "hot"), '--caches="hot"', "cold, warm"),
                (("map", "--machine", MACHINE, "--threads", "49"), '--threads="49"', "48 CPUs"),
                (("map", "--machine", MACHINE, "--set", "kib=0"), 'map: kib="0"', "from 1 to"),
                (("map", "--machine", MACHINE, "--set", "rows=3"), '"rows"', "inputs, vectors, kib"),
                (("map", "--machine", MACHINE, "--set", "fast"), '"fast"', "name=value")):
            message = self.refused(*arguments)
            self.assertIn(what, message)
            self.assertIn(legal, message)

    def test_numbers_that_are_none(self):
        for option, values in (("--threads", ("-1", "x", "99999999999999")), ("--seeds", ("0", "-3", "many", "1e9")),
                               ("--first-seed", ("-1", "first"))):
            for value in values:
                self.assertIn("legal: ", self.refused("map", "--machine", MACHINE, option, value))

    def test_model_files_that_are_wrong(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "bad.toml")
            self.assertIn("bad.toml", self.refused("map", "--machine", path))
            path.write_text("schema = 1\nnonsense\n")
            self.assertRegex(self.refused("map", "--machine", path), r"bad\.toml:2")
            text = (SOURCE / "models" / f"{MACHINE}.toml").read_text()
            path.write_text(text[:text.index("[simulator]")])
            self.assertIn("simulator", self.refused("map", "--machine", path))

    def test_a_file_that_cannot_be_written(self):
        done = sim("map", "--machine", MACHINE, "--seeds", "1", "--json", "/nonexistent/out.json")
        self.assertEqual(done.returncode, 1)
        self.assertIn("/nonexistent/out.json: cannot be written", done.stderr)


class Interrupts(unittest.TestCase):
    LONG = (HEARTH, "sim", "jacobi", "--machine", MACHINE, "--seeds", "10000")

    def wait_for_handler(self, process):
        status = pathlib.Path(f"/proc/{process.pid}/status")
        for _ in range(6000):
            caught = int(re.search(r"SigCgt:\s+(\w+)", status.read_text())[1], 16)
            if caught >> (signal.SIGINT - 1) & 1:
                return
            time.sleep(0.01)
        self.fail("it never looks for Ctrl-C")

    def test_without_a_terminal_there_is_no_bar_and_ctrl_c_ends_it(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "out.json")
            process = subprocess.Popen([*self.LONG, "--json", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            self.wait_for_handler(process)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)
            self.assertEqual(process.returncode, -signal.SIGINT)
            self.assertEqual((out, err), ("", "hearth: sim: interrupted; nothing is written\n"))
            self.assertFalse(path.exists())

    def test_a_search_ends_at_ctrl_c_too(self):
        process = subprocess.Popen([HEARTH, "sim", "sparselu", "--machine", MACHINE, "--set", "inputs=paper", "--advise"],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.wait_for_handler(process)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, -signal.SIGINT)
        self.assertEqual((out, err), ("", "hearth: sim: interrupted; nothing is written\n"))

    def test_on_a_terminal_a_bar_moves(self):
        master, slave = pty.openpty()
        process = subprocess.Popen(self.LONG, stdout=subprocess.DEVNULL, stderr=slave)
        os.close(slave)
        seen = ""
        try:
            while "%" not in seen and select.select([master], [], [], 60)[0]:
                seen += os.read(master, 4096).decode()
            self.assertRegex(seen, r"\rsimulating \[#*\.+\] +\d+%")
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(timeout=60)
            os.close(master)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
