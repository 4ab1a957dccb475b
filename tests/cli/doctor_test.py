#!/usr/bin/env python3
"""`hearth doctor`: what it finds in a program, a machine, a container and an environment, and its exit status."""
import json
import os
import pathlib
import sys
import tarfile
import unittest

from common import PROGRAM, SOURCE, Workshop, hearth, run

SHOP = Workshop()
TREES = SOURCE / "tests/topology/trees"


def doctor(*words, env=None):
    done = hearth("doctor", "--json", *words, env=env)
    shown = json.loads(done.stdout)
    return done.returncode, shown["findings"], shown["verdict"]


def of(findings, subject, weight):
    return [one for one in findings if (one["subject"], one["weight"]) == (subject, weight)]


class Programs(unittest.TestCase):
    def test_one_that_can_be_served(self):
        status, findings, verdict = doctor(SHOP.compile("app", PROGRAM, "-fopenmp"))
        self.assertEqual((status, len(of(findings, "program", "ok"))), (0, 1))
        self.assertIn("can serve the program", verdict)

    def test_a_static_one(self):
        status, findings, verdict = doctor(SHOP.compile("static", "int main(void) { return 0; }", "-static"))
        self.assertEqual(status, 1)
        self.assertIn("linked statically", of(findings, "program", "stops")[0]["what"])
        self.assertIn("cannot serve the program (1 reason)", verdict)

    def test_one_that_is_not_there(self):
        status, findings, _ = doctor("no-such-program")
        self.assertEqual(status, 1)
        self.assertIn("no-such-program", of(findings, "program", "stops")[0]["what"])

    def test_a_script_is_followed(self):
        script = SHOP.folder / "script"
        script.write_text("#!/bin/sh\n")
        script.chmod(0o755)
        _, findings, _ = doctor(script)
        self.assertIn("/bin/sh", of(findings, "program", "note")[0]["what"])

    def test_a_sanitizer_keeps_its_malloc(self):
        _, findings, _ = doctor(SHOP.compile("sanitized", "int main(void) { return 0; }", "-fsanitize=address"))
        self.assertIn("__asan_init", of(findings, "program", "note")[0]["what"])


class Machines(unittest.TestCase):
    def judge(self, tree):
        return doctor("--replay", TREES / f"{tree}.tar.gz")

    def test_several_nodes(self):
        _, findings, _ = self.judge("epyc-nps4")
        self.assertRegex(of(findings, "machine", "ok")[0]["what"], r"^8 locations \(memory nodes\) with 64 CPUs; .* 3\.2 times")

    def test_one_node_and_a_quota(self):
        _, findings, verdict = self.judge("container-v2")
        self.assertIn("One memory node with 8 CPUs", of(findings, "machine", "note")[0]["what"])
        quota = of(findings, "container", "loses")
        self.assertEqual(len(quota), 1)
        self.assertRegex(quota[0]["what"], r"3\.5 CPUs \(/sys/fs/cgroup/cpu\.max\); a team has 4 threads")
        self.assertIn("1 finding", verdict)

    def test_the_kernel_balances(self):
        folder = SHOP.folder / "tree"
        with tarfile.open(TREES / "epyc-nps4.tar.gz") as archive:
            archive.extractall(folder)
        for value, notes in (("0", 0), ("1", 1)):
            file = folder / "proc/sys/kernel/numa_balancing"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(value + "\n")
            found = of(doctor("--replay", folder)[1], "machine", "note")
            self.assertEqual(len(found), notes, found)
            self.assertTrue(all("kernel.numa_balancing" in one["what"] for one in found))

    def test_a_pretended_machine_is_named(self):
        _, findings, _ = doctor(env={"HEARTH_MACHINE": "opteron-6172x4"})
        self.assertTrue(any("opteron-6172x4" in one["what"] for one in of(findings, "machine", "note")))
        self.assertRegex(of(findings, "machine", "ok")[0]["what"], "^8 locations")

    def test_caches_as_locations(self):
        _, findings, _ = doctor(env={"HEARTH_MACHINE": "epyc-9654x2-nps4", "HEARTH_LOCATION": "llc"})
        self.assertIn("locations (caches)", of(findings, "machine", "ok")[0]["what"])

    def test_no_machine_there(self):
        empty = SHOP.folder / "empty"
        empty.mkdir(exist_ok=True)
        done = hearth("doctor", "--replay", empty)
        self.assertEqual(done.returncode, 2)
        self.assertIn("holds no recorded machine", done.stderr)


class Containers(unittest.TestCase):
    def test_refused_calls_are_named(self):
        refuse = SHOP.compile("refuse", (SOURCE / "tests/numa/programs/refuse.c").read_text(),
                              f"-I{SOURCE / 'tests/numa/programs'}")
        done = run(refuse, "mbind,move_pages,sched_setaffinity", "--", sys.argv[1], "doctor", "--json",
                   env={"HEARTH_MACHINE": "opteron-6172x4"})
        self.assertEqual(done.returncode, 0, done.stderr)
        lost = of(json.loads(done.stdout)["findings"], "container", "loses")
        self.assertEqual([one["what"].split()[0] for one in lost], ["mbind", "move_pages", "sched_setaffinity"])
        self.assertTrue(all("SYS_NICE" in one["remedy"] for one in lost))

    def test_fewer_cpus(self):
        if len(os.sched_getaffinity(0)) < 2:
            self.skipTest("one CPU")
        done = run("taskset", "-c", str(min(os.sched_getaffinity(0))), sys.argv[1], "doctor", "--json")
        self.assertRegex(of(json.loads(done.stdout)["findings"], "container", "note")[0]["what"], r"^1 of \d+ CPUs may be used")


class Environments(unittest.TestCase):
    def what(self, weight, **env):
        status, findings, _ = doctor(env={"HEARTH_MACHINE": "opteron-6172x4", **env})
        return status, [one["what"] for one in of(findings, "environment", weight)]

    def test_nothing_is_set(self):
        self.assertEqual(len(self.what("ok")[1]), 1)

    def test_switched_off(self):
        status, found = self.what("stops", HEARTH="off")
        self.assertEqual((status, len(found)), (1, 1))

    def test_variables_that_fight(self):
        _, found = self.what("loses", OMP_PLACES="cores", KMP_AFFINITY="compact")
        self.assertRegex(found[0], "^OMP_PLACES and KMP_AFFINITY say .*; OMP_PLACES counts")
        self.assertEqual(self.what("loses", OMP_PLACES="cores", OMP_PROC_BIND="close")[1], [])

    def test_more_threads_than_cpus(self):
        _, found = self.what("loses", OMP_NUM_THREADS="96", OMP_WAIT_POLICY="active")
        self.assertEqual(len(found), 2)
        self.assertRegex(found[0], "^OMP_NUM_THREADS asks for 96 threads, .* for 48")
        self.assertEqual(self.what("loses", OMP_NUM_THREADS="48", OMP_WAIT_POLICY="active")[1], [])

    def test_policies_that_place_nothing(self):
        self.assertIn("HEARTH_POLICY", self.what("loses", HEARTH_POLICY="work-stealing")[1][0])
        self.assertEqual(self.what("loses", HEARTH_POLICY="locality")[1], [])

    def test_the_text_has_the_same(self):
        env = {"HEARTH_MACHINE": "opteron-6172x4", "OMP_NUM_THREADS": "96"}
        text = " ".join(hearth("doctor", env=env).stdout.split())
        _, findings, verdict = doctor(env=env)
        for one in findings:
            self.assertIn(" ".join(one["what"].split()), text)
            self.assertIn(one["remedy"], text)
        self.assertTrue(text.endswith(verdict))


if __name__ == "__main__":
    try:
        unittest.main(argv=sys.argv[:1])
    finally:
        SHOP.close()
