#!/usr/bin/env python3
"""`hearth bench`: tiny programs on every runtime that is here; its files are as documented, also after Ctrl-C, and hold nothing
personal. Never how long anything takes."""
import json
import os
import pathlib
import signal
import socket
import subprocess
import shutil
import sys
import unittest

from common import HEARTH, LIBRARY, SOURCE, Workshop, clean_environment, hearth, run

SHOP = Workshop()
SCHEMA = SOURCE / "src/trial/bench.schema.json"
TINY = ("--size", "tiny", "--rounds", "2", "--threads", "2")


class Bench(unittest.TestCase):
    def setUp(self):
        self.folder = SHOP.folder / self.id().rsplit(".", 1)[-1]
        self.folder.mkdir()

    def bench(self, *arguments, status=0, **more):
        done = hearth("bench", *arguments, cwd=self.folder, env={"TMPDIR": SHOP.folder / "tmp"}, **more)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    @classmethod
    def setUpClass(cls):
        (SHOP.folder / "tmp").mkdir(exist_ok=True)

    def tearDown(self):
        self.assertEqual(os.listdir(SHOP.folder / "tmp"), [], "temporary files are left")

    def read(self, name="hearth-bench.json"):
        return json.loads((self.folder / name).read_text())


class Results(Bench):
    def test_all_sets_on_all_runtimes(self):
        done = self.bench(*TINY)
        self.assertEqual(sorted(os.listdir(self.folder)), ["hearth-bench.html", "hearth-bench.json"])
        result = self.read()
        self.assertEqual((result["ended"], result["rounds"]), ("complete", 2))
        self.assertEqual({row["state"] for row in result["rows"]}, {"measured"}, done.stderr)
        self.assertEqual({row["set"] for row in result["rows"]}, {"overheads", "tasks", "las", "nested"})
        names = {one["name"] for one in result["runtimes"]}
        self.assertTrue({"hearth", "hearth locality", "hearth adaptive", "hearth work-stealing"} <= names)
        self.assertTrue(all(row["runtime"] in names for row in result["rows"]))
        las = {(row["name"], row["data"], row["runtime"]) for row in result["rows"] if row["set"] == "las"}
        for data in ("standard", "fine", "coarse"):
            self.assertIn(("map", data, "hearth adaptive"), las)
        self.assertTrue(all(len(row["ns"]) == 2 for row in result["rows"]))
        self.assertEqual({ratio["claim"] for ratio in result["ratios"]} - {"too few rounds"}, set(), "two rounds claim nothing")
        self.assertGreater(result["machine"]["measured"]["read_ns"][0][0], 0)
        self.assertIn("Nothing was sent", done.stdout)

        text = (self.folder / "hearth-bench.json").read_text() + (self.folder / "hearth-bench.html").read_text().split("<body>")[1]
        for secret in (socket.gethostname(), str(pathlib.Path.home()), str(SHOP.folder), str(pathlib.Path(LIBRARY).parent)):
            if len(secret) > 5:
                self.assertNotIn(secret, text)

    def test_the_json_is_as_the_schema_says(self):
        self.bench(*TINY, "--only", "tasks,las", "-o", "x")
        self.assertEqual(sorted(os.listdir(self.folder)), ["x.html", "x.json"])
        self.assertIn("version 1", self.bench("--check", "x.json").stdout)
        try:
            import jsonschema
        except ImportError:
            self.skipTest("python3-jsonschema is missing; the command's own check has passed")
        jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text())).validate(self.read("x.json"))

    def test_an_earlier_result_is_not_written_over(self):
        for _ in range(2):
            self.bench(*TINY, "--only", "tasks")
        self.assertIn("hearth-bench-2.json", os.listdir(self.folder))

    def test_to_standard_output(self):
        done = self.bench(*TINY, "--only", "tasks", "--json", "-")
        self.assertEqual(json.loads(done.stdout)["schema"], "hearth-bench")
        self.assertEqual(os.listdir(self.folder), [])

    def test_the_environment_does_not_choose_the_runtimes_settings(self):
        done = hearth("bench", *TINY, "--only", "tasks", "-o", self.folder / "x", env={"OMP_NUM_THREADS": "1", "HEARTH": "off",
                                                                                       "HEARTH_POLICY": "locality", "TMPDIR": SHOP.folder / "tmp"})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual({row["state"] for row in self.read("x.json")["rows"]}, {"measured"})

    def test_list(self):
        listed = self.bench("--list").stdout
        for word in ("machine", "overheads", "tasks", "las", "nested", "hearth adaptive"):
            self.assertIn(word, listed)
        self.assertEqual(os.listdir(self.folder), [])


RIVAL = r"""
// A libgomp that does wrong: the first region %s.
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
void GOMP_parallel(void (*f)(void*), void* d, unsigned n, unsigned g) { (void)f; (void)d; (void)n; (void)g; %s; }
void GOMP_task(void (*f)(void*), void* d, void (*c)(void*, void*), long s, long a, _Bool i, unsigned g, void** x, int p, void* e) {}
_Bool GOMP_single_start(void) { return 1; }
void GOMP_taskwait(void) {}
void GOMP_barrier(void) {}
void GOMP_atomic_start(void) {}
void GOMP_atomic_end(void) {}
int omp_get_max_threads(void) { return 2; }
int omp_get_thread_num(void) { return 0; }
int omp_get_num_threads(void) { return 1; }
int omp_get_num_procs(void) { return 1; }
double omp_get_wtime(void) { return 0; }
"""
VERSIONS = "GOMP_1.0 { *; }; GOMP_2.0 { } GOMP_1.0; GOMP_3.0 { } GOMP_2.0; GOMP_4.0 { GOMP_parallel; GOMP_task; } GOMP_3.0;\n" \
           "OMP_1.0 { omp_*; }; OMP_2.0 { omp_get_wtime; } OMP_1.0; GOMP_4.5 { } GOMP_4.0; GOMP_5.0 { } GOMP_4.5; OMP_3.0 { } OMP_2.0;\n"


class Rivals(Bench):
    """What goes wrong with a runtime is a row, and not the end."""

    def rival(self, name, what):
        script = SHOP.folder / "versions.map"
        script.write_text(VERSIONS)
        return SHOP.compile(name, RIVAL % (name, what), "-shared", "-fPIC", "-w", "-Wl,-soname,libgomp.so.1", f"-Wl,--version-script={script}")

    def states(self, what):
        name = "rival-" + what.split("(")[0].strip()
        library = self.rival(name, what)
        self.bench(*TINY, "--only", "tasks", "--runtime", f"{name}={library}", "-o", "x")
        self.assertIn("version 1", self.bench("--check", "x.json").stdout)
        rows = self.read("x.json")["rows"]
        self.assertIn("measured", {row["state"] for row in rows if row["runtime"] == "hearth"})
        return [row for row in rows if row["runtime"] == name]

    def test_a_wrong_result_is_no_time(self):
        rows = self.states("return")
        self.assertEqual([(row["state"], row["ns"]) for row in rows], [("wrong", [])])

    def test_a_crash_is_a_row(self):
        rows = self.states("abort()")
        self.assertEqual([(row["state"], row["why"]) for row in rows], [("crashed", "SIGABRT")])


class Interrupted(Bench):
    def test_ctrl_c_keeps_what_is_done(self):
        environment = {**clean_environment(), "TMPDIR": str(SHOP.folder / "tmp")}
        running = subprocess.Popen([HEARTH, "bench", "--size", "tiny", "--rounds", "1000", "--only", "tasks,las", "-o", str(self.folder / "x")],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
        while "a round takes" not in (line := running.stderr.readline()):
            self.assertNotEqual(line, "", "it ended by itself")
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=60)
        self.assertEqual(running.returncode, 130, err)
        self.assertIn("what was done is kept", err)
        result = self.read("x.json")
        self.assertEqual(result["ended"], "interrupted")
        self.assertGreaterEqual(result["rounds"], 1)
        self.assertIn("version 1", self.bench("--check", "x.json").stdout)
        self.assertIn("interrupted", (self.folder / "x.html").read_text())
        with self.assertRaises(ChildProcessError):
            os.waitpid(-1, os.WNOHANG)


class WrongInput(Bench):
    def test_command_lines(self):
        cases = ((("--only", "speed"), 2, "legal: machine, overheads, tasks, las, nested"),
                 (("--time", "0"), 2, "legal: 0.01 to 1440"),
                 (("--rounds", "0"), 2, "legal: 1 to 1000"),
                 (("--size", "huge"), 2, "legal: usual, tiny"),
                 (("--runtime", "nothing"), 1, "legal: NAME=PATH"),
                 (("--runtime", "mine=/bin/true"), 1, "a libgomp, libomp or libiomp5"),
                 (("--runtime", "hearth=/bin/true"), 1, "not beginning with hearth"),
                 (("-o", "/no/such/folder/x"), 1, "cannot be written"),
                 (("--compare", "a.json"), 2, "compare"),
                 (("--check", "missing.json"), 1, "cannot be read"))
        for arguments, status, words in cases:
            with self.subTest(arguments=arguments):
                done = self.bench(*arguments, status=status)
                self.assertIn(words, done.stderr)
                self.assertEqual(os.listdir(self.folder), [])

    def test_a_temporary_folder_that_the_loader_cannot_read(self):
        odd = self.folder / "a:b"
        odd.mkdir()
        done = hearth("bench", *TINY, "--only", "tasks", "-o", self.folder / "x", env={"TMPDIR": odd})
        self.assertEqual(done.returncode, 1)
        self.assertIn("legal: a folder without them", done.stderr)
        self.assertEqual(os.listdir(odd), [])

    def test_files(self):
        self.bench(*TINY, "--only", "tasks", "-o", "x")
        good = (self.folder / "x.json").read_text()
        cases = ((good[: len(good) // 2], "is no JSON here"),
                 (good.replace('"hearth-bench"', '"other"'), "schema"),
                 (good.replace('"version": 1', '"version": 2'), "version"),
                 (good.replace('"measured"', '"guessed"', 2), "legal: "),
                 (good.replace('"rounds": 2', '"rounds": -2', 1), "rounds: -2; legal: from 0"),
                 (good.replace('{\n "schema"', '{\n "host": "mine",\n "schema"'), "host: there is no such member"))
        for text, words in cases:
            (self.folder / "bad.json").write_text(text)
            for arguments, status in ((("--check", "bad.json"), 1), (("--compare", "x.json", "bad.json"), 2)):
                done = self.bench(*arguments, status=status)
                self.assertIn(words, done.stderr)
                self.assertRegex(done.stderr, r"bad.json: line \d+, column \d+: ")


class Compared(Bench):
    def test_two_results(self):
        self.bench("--size", "tiny", "--rounds", "5", "--only", "tasks", "-o", "a")
        same = self.bench("--compare", "a.json", "a.json").stdout
        self.assertIn("Machines of one description.", same)
        self.assertNotIn("takes less time", same)
        slow = self.read("a.json")
        for row in slow["rows"]:
            row["ns"] = [100 * ns for ns in row["ns"]]
        slow["machine"]["processor"] = "Another one"
        (self.folder / "b.json").write_text(json.dumps(slow))
        compared = self.bench("--compare", "a.json", "b.json").stdout
        self.assertIn("Another one", compared)
        self.assertEqual(compared.count("A takes less time"), len(slow["rows"]))


class Demo(unittest.TestCase):
    def test_it_runs_away_from_the_sources(self):
        done = run(HEARTH, "demo", cwd="/")
        self.assertEqual(done.returncode, 0, done.stderr)
        for word in ("fib", "strassen", "health", "hearth run ./app"):
            self.assertIn(word, done.stdout)

    def test_where_nothing_runs_it_fails(self):
        place = pathlib.Path(HEARTH).resolve().parent.parent
        prefix = SHOP.folder / "without-programs"
        (prefix / "bin").mkdir(parents=True)
        shutil.copy(HEARTH, prefix / "bin/hearth")
        shutil.copytree(place / "lib/hearth", prefix / "lib/hearth", symlinks=True)
        for program in (prefix / "lib/hearth/bench").iterdir():
            program.chmod(0o644)
        done = run(prefix / "bin/hearth", "demo", cwd="/")
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("no program ran on Hearth", done.stderr)


if __name__ == "__main__":
    try:
        unittest.main(argv=sys.argv[:1])
    finally:
        SHOP.close()
