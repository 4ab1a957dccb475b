#!/usr/bin/env python3
"""`hearth top`: what it shows of programs that are told what to do, and what it says of those that it cannot look at."""
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import unittest

from common import HEARTH, LIBRARY, Workshop, clean_environment, hearth

SHOP = Workshop()
# Reads orders, a line each: "N" runs N tasks and as many are run when the answer comes; "fork", "clone": a child that obeys
# further orders, while this process waits; "exec": begins anew; "end". Says its pid, and "done" after each.
PROGRAM = r"""
#define _GNU_SOURCE
#include <omp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
static int ran;
static void run(long tasks) {
#pragma omp parallel num_threads(2)
#pragma omp single
  for (long i = 0; i < tasks; i++) {
#pragma omp task
    __atomic_fetch_add(&ran, 1, __ATOMIC_RELAXED);
  }
}
int main(void) {
  char line[64];
  setvbuf(stdin, NULL, _IONBF, 0);
  run(0);
  printf("%d\n", getpid());
  fflush(stdout);
  while (fgets(line, sizeof line, stdin) && strcmp(line, "end\n") != 0) {
    pid_t child = -1;
    if (strcmp(line, "fork\n") == 0) child = fork();
    else if (strcmp(line, "clone\n") == 0) child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    else if (strcmp(line, "exec\n") == 0) execl("/proc/self/exe", "obedient", NULL);
    else run(atol(line));
    if (child > 0) {
      waitpid(child, NULL, 0);
      return 0;
    }
    if (child == 0) {
      if (strcmp(line, "fork\n") == 0) run(0);
      printf("%d\n", (int)syscall(SYS_getpid));
    } else {
      puts("done");
    }
    fflush(stdout);
  }
  return 0;
}
"""
KEEPER = """
import os, sys
file = os.memfd_create("hearth-live")
os.write(file, bytes.fromhex(sys.argv[1]))
print(os.getpid(), flush=True)
sys.stdin.read()
"""


def setUpModule():
    SHOP.program = SHOP.compile("obedient", PROGRAM, "-fopenmp")


def tearDownModule():
    SHOP.close()


class Obedient:
    """The program under Hearth."""

    def __init__(self, command=None, **env):
        self.process = subprocess.Popen([HEARTH, "run", "--", SHOP.program] if command is None else command, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True, bufsize=1, env={**clean_environment(), **env})
        self.pid = int(self.process.stdout.readline())

    def order(self, line):
        self.process.stdin.write(f"{line}\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait(timeout=60)
        self.process.stdout.close()


class Stream:
    """`hearth top` as lines of JSON."""

    def __init__(self, pid):
        self.process = subprocess.Popen([HEARTH, "top", str(pid), "--json", "--interval", "0.05"], stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, env=clean_environment())

    def next(self):
        return json.loads(self.process.stdout.readline())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()


class Counts(unittest.TestCase):
    def test_every_task_and_region_is_counted_once(self):
        with Obedient() as program, Stream(program.pid) as stream:
            first = stream.next()
            self.assertEqual((first["pid"], first["name"], first["policy"]), (program.pid, "obedient", "adaptive"))
            self.assertEqual((first["all"]["tasks_per_s"], first["all"]["regions_per_s"]), (0, 0))
            self.assertEqual(program.order(12345), "done")
            tasks = regions = 0
            while tasks < 12344.5 or regions < 0.5:
                line = stream.next()
                tasks += line["all"]["tasks_per_s"] * line["seconds"]
                regions += line["all"]["regions_per_s"] * line["seconds"]
                self.assertAlmostEqual(sum(t["tasks_per_s"] for t in line["threads"]), line["all"]["tasks_per_s"], places=3)
            self.assertAlmostEqual(tasks, 12345, places=3)
            self.assertAlmostEqual(regions, 1, places=6)
            self.assertEqual(sorted(t["thread"] for t in line["threads"]), [0, 1])
            self.assertIn(program.pid, [t["tid"] for t in line["threads"]])

    def test_a_forked_child_counts_for_itself(self):
        with Obedient() as program:
            child = int(program.order("fork"))
            self.assertNotEqual(child, program.pid)
            with Stream(child) as stream, Stream(program.pid) as parents:
                stream.next()
                parents.next()
                self.assertEqual(program.order(777), "done")
                tasks = 0
                while tasks < 776.5:
                    line = stream.next()
                    tasks += line["all"]["tasks_per_s"] * line["seconds"]
                self.assertAlmostEqual(tasks, 777, places=3)
                self.assertEqual(parents.next()["all"]["tasks_per_s"], 0)

    def test_a_copy_by_clone_is_told_apart(self):
        with Obedient() as program:
            child = int(program.order("clone"))
            done = hearth("top", child, "--once")
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertIn(f"process {child}: it is a copy of process {program.pid} by clone()", done.stderr)

    def test_text_once(self):
        with Obedient() as program:
            done = hearth("top", program.pid, "--once", "--interval", "0.05")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertRegex(done.stdout, rf"^obedient \(process {program.pid}\), Hearth \S+, policy adaptive, \d+ locations?, up ")
            self.assertRegex(done.stdout, rf"\n +0 +{program.pid} ")

    def test_the_end_of_the_program_is_the_end(self):
        with Obedient() as program:
            stream = Stream(program.pid)
            stream.next()
        said = stream.process.communicate()[1]
        self.assertEqual(stream.process.returncode, 0)
        self.assertEqual(said, f"hearth: top: process {program.pid}: the program has ended.\n")

    def test_another_program_in_its_place_is_not_taken_for_it(self):
        with Obedient() as program, Stream(program.pid) as stream:
            stream.next()
            self.assertEqual(program.order("exec"), str(program.pid))
            said = stream.process.communicate(timeout=60)[1]
            self.assertEqual(stream.process.returncode, 0)
            self.assertRegex(said, r"(the program has ended|another program has taken its place)\.\n$")

    def test_ctrl_c(self):
        with Obedient() as program, Stream(program.pid) as stream:
            stream.next()
            stream.process.send_signal(signal.SIGINT)
            self.assertEqual(stream.process.wait(timeout=60), -signal.SIGINT)


class Choice(unittest.TestCase):
    def test_by_name_and_by_number(self):
        with Obedient() as one:
            self.assertEqual(json.loads(hearth("top", "obedient", "--once", "--json", "--interval", "0.05").stdout)["pid"], one.pid)
            with Obedient() as two:
                done = hearth("top", "obedient", "--once")
                self.assertEqual((done.returncode, done.stdout), (1, ""))
                for program in (one, two):
                    self.assertIn(str(program.pid), done.stderr)
                listed = hearth("top")
                self.assertEqual(listed.returncode, 0, listed.stderr)
                for program in (one, two):
                    self.assertRegex(listed.stdout, rf"\n +{program.pid}  obedient")

    def test_who_is_not_there(self):
        with Obedient(HEARTH_LIVE="false") as quiet, Obedient(command=[SHOP.program]) as stock:
            for pid in (quiet.pid, stock.pid, os.getpid()):
                done = hearth("top", pid, "--once")
                self.assertEqual((done.returncode, done.stdout), (1, ""))
                self.assertIn(f"process {pid}: it is not served by Hearth, has not reached OpenMP yet, was told not to count",
                              done.stderr)
                self.assertIn("as daemons do", done.stderr)
        for pid in (2 ** 30, 0):
            self.assertIn("there is no such process", hearth("top", pid).stderr)
        self.assertIn("no program of this name", hearth("top", "no-such-name").stderr)

    def test_arguments(self):
        for value in ("0", "-1", "x", "1e9"):
            done = hearth("top", "1", "--interval", value)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn("--interval", done.stderr)


class Hostile(unittest.TestCase):
    """A page that somebody else has written."""
    MAGIC = 0x31455649_4C485445

    def look(self, content):
        with Obedient(command=[sys.executable, "-c", KEEPER, content.hex()]) as keeper:
            return hearth("top", keeper.pid, "--once", "--json", "--interval", "0.05"), keeper.pid

    def header(self, pid=0, magic=MAGIC, layout=1, oldest=1, header=4096, line=128, lines=4096, threads=1, version=b"9.9"):
        return struct.pack("<QIIIIIiQII32s32sIIQQ", magic, layout, oldest, header, line, lines, pid, 0, 2, 1, version, b"adaptive",
                           threads, 0, 0, 0)

    def test_what_makes_no_sense_is_refused(self):
        for content, why in ((b"", "makes no sense"), (b"x" * 50, "makes no sense"), (bytes(4096), "just starting"),
                             (self.header(layout=99, oldest=99), "counts in another way (layout 99"),
                             (self.header(oldest=0), "counts in another way"), (self.header(header=8), "makes no sense"),
                             (self.header(line=2 ** 31), "makes no sense"), (self.header(lines=2 ** 31), "makes no sense")):
            done, _ = self.look(content)
            self.assertEqual((done.returncode, done.stdout), (1, ""), why)
            self.assertIn(why, done.stderr)
        self.assertIn("by clone(), and counts there", self.look(self.header(pid=1))[0].stderr)

    def test_what_is_strange_is_shown_without_harm(self):
        keeper = "import os, sys; file = os.memfd_create('hearth-live'); b = bytearray(bytes.fromhex(sys.argv[1])); " \
                 "b[28:32] = os.getpid().to_bytes(4, 'little'); os.write(file, b); print(os.getpid(), flush=True); sys.stdin.read()"
        line = struct.pack("<QQQQQQiiII", *[2 ** 64 - 1] * 6, 2 ** 31 - 1, -2 ** 31, 2 ** 32 - 1, 2 ** 32 - 1).ljust(128, b"\xff")
        content = self.header(threads=2 ** 32 - 1, version=b"\x1b[31m\n" + b"A" * 26).ljust(4096, b"\0") + 3 * line + b"cut"
        with Obedient(command=[sys.executable, "-c", keeper, content.hex()]) as there:
            done = hearth("top", there.pid, "--once", "--json", "--interval", "0.05")
            self.assertEqual(done.returncode, 0, done.stderr)
            shown = json.loads(done.stdout)
            self.assertEqual(len(shown["threads"]), 3)
            self.assertTrue(shown["hearth"].startswith("?[31m?AAA"), shown["hearth"])
            self.assertNotIn("\x1b", hearth("top", there.pid, "--once", "--interval", "0.05").stdout)


class Terminal(unittest.TestCase):
    def test_a_screen_that_leaves_no_trace(self):
        for end in (b"q", b"\x03"):
            with Obedient() as program:
                pid, master = pty.fork()
                if pid == 0:
                    os.execve(HEARTH, [HEARTH, "top", str(program.pid), "--interval", "0.05"], clean_environment())
                seen = b""
                while seen.count(b"q: quit") < 2:
                    self.assertTrue(select.select([master], [], [], 60)[0], seen)
                    seen += os.read(master, 4096)
                os.write(master, end)
                try:
                    while select.select([master], [], [], 60)[0] and (more := os.read(master, 4096)):
                        seen += more
                except OSError:  # the other side is closed
                    pass
                self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 0)
                os.close(master)
                self.assertTrue(seen.startswith(b"\x1b[?1049h\x1b[?25l"), seen[:40])
                self.assertTrue(re.search(rb"\x1b\[\?25h\x1b\[\?1049l(\^C)?$", seen), seen[-60:])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
