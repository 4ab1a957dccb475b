#!/usr/bin/env python3
"""`hearth check`: what tasks touch beside what they declare, in real programs of gcc and clang."""
import json
import os
import shutil
import sys
import unittest

from common import LIBRARY, SOURCE, Workshop, hearth

SHOP = Workshop()
CLANG = shutil.which("clang-19") or shutil.which("clang")

# An array of 16 blocks of 16 pages; what a task does with its block, and declares, is put in.
PROGRAM = r"""
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <fcntl.h>
enum { BLOCKS = 16, BLOCK = 16 * 4096 };
static char *data, *other;
static long sum;
#define HERE(i) (data + (size_t)(i) * BLOCK)
int main(int argc, char **argv) {
  data = aligned_alloc(4096, BLOCKS * BLOCK);
  other = mmap(0, BLOCKS * BLOCK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memset(data, 1, BLOCKS * BLOCK);
  memset(other, 1, BLOCKS * BLOCK);
#pragma omp parallel num_threads(4)
#pragma omp single
  for (int i = 0; i < BLOCKS; i++) {
    char *block = HERE(i), *foreign = other + (size_t)i * BLOCK;
    (void)foreign;
#pragma omp task firstprivate(i, block, foreign) CLAUSE
    { BODY }
  }
  AFTER
  return argc > 1 ? atoi(argv[1]) : 0;
}
"""
INOUT = "depend(inout : block[0 : BLOCK])"
NUMBERS = {}


def program(clause, body, after="", compiler=None):
    key = (clause, body, after, compiler)
    if key not in NUMBERS:
        source = PROGRAM.replace("CLAUSE", clause).replace("BODY", body).replace("AFTER", after)
        NUMBERS[key] = SHOP.compile(f"program{len(NUMBERS)}", source, "-fopenmp", "-g", "-D_GNU_SOURCE",
                                    compiler=compiler or CLANG)
    return NUMBERS[key]


def checked(path, *arguments, **more):
    report = SHOP.folder / "check.json"
    report.unlink(missing_ok=True)
    result = hearth("check", f"--json={report}", "--", path, *arguments, **more)
    return result, json.loads(report.read_text()) if report.exists() else None


def tearDownModule():
    SHOP.close()


class Check(unittest.TestCase):
    def assert_clean(self, path, *arguments, tasks=16):
        result, report = checked(path, *arguments)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr + json.dumps(report, indent=1))
        self.assertTrue(report["ok"])
        self.assertEqual(report["tasks"], tasks)
        return result, report

    def finding(self, path, kind):
        """The one function's one finding: the others are empty."""
        result, report = checked(path)
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertFalse(report["ok"])
        (function,) = report["functions"]
        for other in {"undeclared", "written_as_read", "untouched"} - {kind}:
            self.assertEqual(function[other]["tasks"], 0, (other, report))
        return function[kind]

    def test_tasks_that_do_what_they_say(self):
        self.assert_clean(program(INOUT, "memset(block, i, BLOCK);"))
        self.assert_clean(program("depend(in : block[0 : BLOCK])", "for (int k = 0; k < BLOCK; k += 64) sum += block[k];"))
        self.assert_clean(program("affinity(block[0 : BLOCK])", "memset(block, i, BLOCK);"))

    def test_the_lengths_that_gcc_does_not_pass_are_the_gaps(self):
        self.assert_clean(program(INOUT, "memset(block, i, BLOCK);", compiler="gcc"))
        found = self.finding(program(INOUT, "memset(block, i, BLOCK); if (i) block[-4096] = 1;", compiler="gcc"), "undeclared")
        self.assertEqual((found["tasks"], found["most_bytes"]), (15, 4096))

    def test_what_all_tasks_touch_between_blocks_of_the_heap(self):
        # A small object of everybody's, in the gap that gcc's lengths take in.
        def in_the_heap(body):
            source = PROGRAM.replace("CLAUSE", INOUT).replace("BODY", body).replace("AFTER", "").replace(
                "data = aligned", "mallopt(M_MMAP_THRESHOLD, 1 << 24);\n  data = aligned", 1)
            return SHOP.compile(f"heap{len(body)}", "#include <malloc.h>\n" + source, "-fopenmp", "-D_GNU_SOURCE", compiler="gcc")
        own = "memset(block, i, BLOCK - 4096); "
        self.assert_clean(in_the_heap(own + "HERE(8)[-100]++;"))
        found = self.finding(in_the_heap(own + "HERE((i + 1) % BLOCKS)[5000]++;"), "undeclared")
        self.assertEqual((found["tasks"], found["most_bytes"]), (16, 4096))

    def test_a_neighbours_page(self):
        found = self.finding(program(INOUT, "memset(block, i, BLOCK); sum += HERE((i + 1) % BLOCKS)[5000];"), "undeclared")
        self.assertEqual((found["tasks"], found["most_bytes"]), (16, 4096))
        self.assertEqual([example["bytes"] for example in found["examples"]], [4096])

    def test_memory_that_nobody_declares(self):
        found = self.finding(program("depend(inout : block[0 : BLOCK]) depend(in : foreign[0 : 4096])",
                                     "memset(block, i, BLOCK); sum += foreign[9] + other[BLOCK * BLOCKS - 1];"), "undeclared")
        self.assertEqual((found["tasks"], found["most_bytes"]), (16, 4096))

    def test_written_though_declared_as_read(self):
        found = self.finding(program("depend(in : block[0 : BLOCK])", "for (int k = 0; k < BLOCK; k += 64) sum += block[k];"
                                     "block[8192] = 1; block[8200] = 2;"), "written_as_read")
        self.assertEqual((found["tasks"], found["most_bytes"]), (16, 4096))

    def test_declared_and_not_touched(self):
        found = self.finding(program(INOUT, "memset(block, i, BLOCK / 2);"), "untouched")
        self.assertEqual((found["tasks"], found["most_bytes"]), (16, 8 * 4096))

    def test_a_footprint_of_half_the_address_space_harms_nobody(self):
        found = self.finding(program("depend(inout : data[0 : (size_t)1 << 45])", "memset(block, i, BLOCK);"), "untouched")
        self.assertEqual(found["tasks"], 16)

    def test_what_a_child_touches_is_the_childs(self):
        child = "char *half = block + BLOCK / 2;\n_Pragma(\"omp task depend(inout : half[0 : BLOCK / 2])\") memset(half, 1, BLOCK / 2);"
        _, report = self.assert_clean(program("depend(inout : block[0 : BLOCK / 2])", "block[0] = 1;" + child +
                                              "memset(block, 2, BLOCK / 2);"), tasks=32)
        self.assertEqual(len(report["functions"]), 2)
        no_footprint = "_Pragma(\"omp task\") memset(foreign, 1, BLOCK);"
        _, report = self.assert_clean(program(INOUT, no_footprint + "memset(block, 2, BLOCK);"))
        self.assertEqual(report["without"], 16)

    def test_the_calls_of_hearth(self):
        calls = '#include <hearth/hearth.h>\n#include <stdlib.h>\n'
        source = calls + r"""
int main(void) {
  enum { N = 64, PAGE = 4096 };
  char *a = aligned_alloc(PAGE, N * PAGE);
#pragma omp parallel
#pragma omp single
  {
    hearth_taskloop_footprint(a, PAGE, HEARTH_WRITE);
#pragma omp taskloop grainsize(8)
    for (int i = 0; i < N; i++) a[i * PAGE + 1] = 1;
    hearth_task_footprint_strided(a, 8, 100, 8 * PAGE, HEARTH_READ);
#pragma omp task
    for (int i = 0; i < N; i += 8) a[0] += a[i * PAGE];
  }
}
"""
        for compiler in ("gcc", CLANG):
            path = SHOP.compile("calls", source, "-fopenmp", f"-I{SOURCE}/include", LIBRARY, f"-Wl,-rpath,{os.path.dirname(LIBRARY)}",
                                compiler=compiler)
            result, report = checked(path)
            self.assertEqual(result.returncode, 1, result.stderr)
            findings = [(f["undeclared"]["tasks"], f["written_as_read"]["tasks"], f["untouched"]["tasks"], f["tasks"])
                        for f in report["functions"]]
            self.assertEqual(sorted(findings), [(0, 0, 0, 8), (0, 1, 0, 1)], report)

    def test_the_program_does_not_notice(self):
        # System calls on data of tasks, in both directions, also through the C library's buffers.
        body = r"""
          memset(block, i + 1, BLOCK);
          int pipes[2];
          if (pipe(pipes) != 0) abort();
          if (write(pipes[1], block + 100, 20000) != 20000) abort();
          if (read(pipes[0], block + 30000, 20000) != 20000 || block[49999] != i + 1) abort();
          close(pipes[0]);
          close(pipes[1]);
          printf("task %d\n", i);
          fflush(stdout);
        """
        result, report = self.assert_clean(program(INOUT, body))
        self.assertEqual(result.stdout, "".join(f"task {i}\n" for i in range(16)))
        self.assertTrue(report["system_calls"])
        # What changes the process is let through, and said.
        body = r"""
          memset(block, i + 1, BLOCK);
          pid_t child = fork();
          if (child == 0) _exit(block[0] == i + 1 ? 7 : 0);
          int status;
          if (waitpid(child, &status, 0) != child || WEXITSTATUS(status) != 7) abort();
          block = mremap(mmap(0, 4096, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 4096, 65536, MREMAP_MAYMOVE);
          block[65535] = 1;
        """
        result, report = self.assert_clean(program(INOUT, body))
        self.assertEqual(report["functions"][0]["blind"], 16)
        # Its own handler for its own fault.
        source = PROGRAM.replace("int main(", r"""
static char *closed;
static int caught;
static void on_fault(int n, siginfo_t *info, void *c) {
  (void)n; (void)c;
  if ((char *)info->si_addr != closed) abort();
  caught++;
  mprotect(closed, 4096, PROT_READ | PROT_WRITE);
}
int main(""").replace("CLAUSE", INOUT).replace("BODY", "memset(block, 1, BLOCK); closed[0]++; if (i % 2) mprotect(closed, 4096, PROT_NONE);"
                                         ).replace("AFTER", "if (caught != 8) abort();").replace("memset(data", r"""
  struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
  sigaction(SIGSEGV, &action, 0);
  closed = mmap(0, 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memset(data""", 1)
        path = SHOP.compile("own_handler", source, "-fopenmp", "-D_GNU_SOURCE", compiler=CLANG)
        result, report = checked(path)
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_the_programs_own_files_are_left_alone(self):
        own = SHOP.folder / "data.out"
        after = f"""
          for (int file = 3; file < 1024; file++) close(file);  // as closefrom(3)
          int mine = open("{own}", O_RDWR | O_CREAT | O_TRUNC, 0644);
          for (int file = mine + 1; file < 1024; file++) dup2(mine, file);
        """
        self.assert_clean(program(INOUT, "memset(block, 1, BLOCK);", after))
        self.assertEqual(own.read_text(), "")

    def test_other_threads_of_the_program(self):
        source = PROGRAM.replace("int main(", r"""
#include <pthread.h>
static volatile int stop;
static void *meddle(void *p) {
  (void)p;
  while (!stop)
    for (int i = 0; i < BLOCKS; i++) HERE(i)[4096]++;
  return 0;
}
int main(""").replace("CLAUSE", INOUT).replace("BODY", "memset(block, i, BLOCK);").replace(
            "memset(other", "pthread_t thread; pthread_create(&thread, 0, meddle, 0); memset(other", 1).replace(
                "AFTER", "stop = 1; pthread_join(thread, 0);")
        path = SHOP.compile("threads", source, "-fopenmp", "-pthread", "-D_GNU_SOURCE", compiler=CLANG)
        result, report = checked(path)
        self.assertIn(result.returncode, (0, 1), result.stderr)
        self.assertEqual(report["functions"][0]["undeclared"]["tasks"], 0, "that was the other thread")

    def test_the_report_names_function_and_line(self):
        result = hearth("check", program(INOUT, "memset(block, i, BLOCK / 2);", compiler=CLANG))
        self.assertEqual(result.returncode, 1)
        self.assertEqual(result.stdout, "")
        self.assertIn("declared, not touched:        16 tasks, up to 32 KiB: 0x", result.stderr)
        self.assertIn("hearth: 16 tasks with a footprint, 0 without; 1 of 1 task function touches something else than "
                      "declared.", result.stderr)
        if shutil.which("addr2line"):
            self.assertRegex(result.stderr, r"\S+ at \S+\.c:\d+: 16 tasks")

    def test_guessed_lengths_are_said_to_be_guesses(self):
        half = program(INOUT.replace("[0 : BLOCK]", "[0 : BLOCK / 2]"), "memset(block, i, BLOCK);", compiler="gcc")
        result, report = checked(half)
        self.assertEqual((result.returncode, report["guessed"]), (0, 16), "gcc does not tell it apart")
        result = hearth("check", "--", half)
        self.assertIn("for 16 tasks the lengths were guessed", result.stderr)
        told, report = checked(program(INOUT, "memset(block, i, BLOCK);", compiler=CLANG))
        self.assertEqual(report["guessed"], 0)
        self.assertNotIn("guessed", told.stderr)

    def test_exit_statuses(self):
        clean = program(INOUT, "memset(block, i, BLOCK);")
        self.assertEqual(checked(clean, "9")[0].returncode, 9)
        self.assertEqual(hearth("check").returncode, 2)
        self.assertEqual(hearth("check", "--nonsense", "--", clean).returncode, 2)
        self.assertEqual(hearth("check", "--", "/nowhere/at/all").returncode, 127)
        nothing = hearth("check", "--", "true")
        self.assertEqual(nothing.returncode, 1)
        self.assertIn("nothing was checked", nothing.stderr)

    def test_nothing_is_left_behind(self):
        folder = SHOP.folder / "tmp"
        folder.mkdir()
        hearth("check", "--", program(INOUT, "memset(block, i, BLOCK);"), env={"TMPDIR": folder})
        hearth("check", "--", "sh", "-c", "kill -KILL $$", env={"TMPDIR": folder})
        self.assertEqual(list(folder.iterdir()), [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
