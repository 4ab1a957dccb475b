#!/usr/bin/env python3
"""Recordings know what the program allocated, so guessed lengths join nothing that is apart, and advice can be followed."""
import json
import shutil
import sqlite3
import sys
import unittest

from common import Workshop, hearth, run

SHOP = Workshop()
MACHINE = "opteron-6172x4"
BLOCKS, KIB = 64, 512
# Blocks of their own, each the neighbour of the next, the last one's being the first: the guessed length from the last to the
# first covers them all.
BLOCKS_SOURCE = r"""
#include <stdlib.h>
enum { BLOCKS = %d, LENGTH = %d };
static double *block[BLOCKS];
int main(void) {
  for (int i = 0; i < BLOCKS; i++) block[i] = calloc(LENGTH, sizeof(double));
#pragma omp parallel
#pragma omp single
  for (int r = 0; r < 4; r++)
    for (int i = 0; i < BLOCKS; i++) {
      double *own = block[i], *next = block[(i + 1) %% BLOCKS];
#pragma omp task depend(inout : own[0 : LENGTH]) depend(in : next[0 : LENGTH])
      for (int k = 0; k < LENGTH; k++) own[k] += next[k] + r;
    }
  return 0;
}
""" % (BLOCKS, KIB * 128)
BLOCKS_LINE = next(i + 1 for i, line in enumerate(BLOCKS_SOURCE.split("\n")) if "calloc" in line)
# A static array, a thread's block and memory that was used before.
MIXED_SOURCE = r"""
#include <pthread.h>
#include <stdlib.h>
enum { LENGTH = 1 << 16 };
static double fixed[LENGTH];
static double *other;
static void *allocate(void *p) { (void)p; other = malloc(LENGTH * sizeof(double)); return NULL; }
int main(void) {
  pthread_t thread;
#pragma omp parallel
  { }
  pthread_create(&thread, NULL, allocate, NULL);
  pthread_join(thread, NULL);
  for (int r = 0; r < 3; r++) {
    double *again = malloc(LENGTH * sizeof(double) * (r + 1));
#pragma omp parallel
#pragma omp single
    {
#pragma omp task depend(inout : again[0 : LENGTH]) depend(in : fixed[0 : LENGTH])
      for (int k = 0; k < LENGTH; k++) again[k] = fixed[k];
#pragma omp task depend(inout : other[0 : LENGTH])
      for (int k = 0; k < LENGTH; k++) other[k] = k;
    }
    free(again);
  }
  return 0;
}
"""


def tearDownModule():
    SHOP.close()


def record(name, source, compiler="gcc"):
    program = SHOP.compile(name, source, "-fopenmp", "-g", "-pthread", compiler=compiler)
    path = SHOP.folder / f"{name}.db"
    done = hearth("record", "-o", path, "--threads", "2", "--", program)
    assert done.returncode == 0, done.stderr
    return path


def ask(path, sql):
    with sqlite3.connect(path) as database:
        return database.execute(sql).fetchall()


def sim(path, *arguments):
    done = hearth("sim", path, "--machine", MACHINE, "--nominal", "--seeds", "1", *arguments)
    assert done.returncode == 0, done.stderr
    return done


class Allocations(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.path = record("blocks", BLOCKS_SOURCE)

    def test_they_are_in_the_recording(self):
        self.assertEqual(ask(self.path, "SELECT value FROM meta WHERE key = 'schema'"), [("4",)])
        named = f"blocks.c:{BLOCKS_LINE}" if shutil.which("addr2line") else "%"
        self.assertEqual(ask(self.path, f"SELECT count(*), count(DISTINCT address) FROM allocation a JOIN code c ON c.id = a.code "
                             f"WHERE length = {KIB * 1024} AND c.name LIKE '{named}'"), [(BLOCKS, BLOCKS)])

    def test_guessed_lengths_do_not_join_them(self):
        self.assertGreater(ask(self.path, "SELECT count(*) FROM footprint WHERE inferred")[0][0], 0)
        out = SHOP.folder / "blocks.json"
        done = sim(self.path, "--advise", "--json", out)
        advice = json.loads(out.read_text())["advice"]["allocations"]
        self.assertEqual(len(advice), BLOCKS)
        self.assertEqual({one["bytes"] for one in advice}, {KIB * 1024})
        self.assertIn("guesses", done.stderr)
        if shutil.which("addr2line"):
            self.assertIn(f"blocks.c:{BLOCKS_LINE} #1 and {BLOCKS - 1} more", done.stdout)
        self.assertIn("To put it in force", done.stdout)
        self.assertNotIn("0x", done.stdout)

    def test_without_them_advice_is_not_put_in_force(self):
        old = SHOP.folder / "old.db"
        shutil.copy(self.path, old)
        with sqlite3.connect(old) as database:
            database.execute("DROP TABLE allocation")
            database.execute("UPDATE meta SET value = '1' WHERE key = 'schema'")
        done = sim(old, "--advise")
        self.assertNotIn("To put it in force", done.stdout)
        self.assertIn("record the program anew", done.stdout)
        self.assertIn("guesses", done.stderr)

    def test_a_block_of_another_thread_memory_used_again_and_static_data(self):
        path = record("mixed", MIXED_SOURCE)
        out = SHOP.folder / "mixed.json"
        sim(path, "--distribution", "fine", "--json", out)
        # Three times `again` and once `other`; `fixed` is nobody's to distribute.
        self.assertEqual(json.loads(out.read_text())["allocations"], 4)

    def test_programs_in_cpp(self):
        if not shutil.which("g++"):
            self.skipTest("no g++")
        source = BLOCKS_SOURCE.replace("calloc(LENGTH, sizeof(double))", "new double[LENGTH]()")
        folder = SHOP.folder / "cpp"
        folder.mkdir()
        (folder / "blocks.cpp").write_text(source)
        built = run("g++", "-O1", "-g", "-fopenmp", folder / "blocks.cpp", "-o", folder / "blocks")
        self.assertEqual(built.returncode, 0, built.stderr)
        path = folder / "blocks.db"
        self.assertEqual(hearth("record", "-o", path, "--", folder / "blocks").returncode, 0)
        named = f"blocks.cpp:{BLOCKS_LINE}" if shutil.which("addr2line") else "%"
        self.assertEqual(ask(path, f"SELECT count(*) FROM allocation a JOIN code c ON c.id = a.code WHERE length = {KIB * 1024} AND "
                             f"c.name LIKE '{named}'"), [(BLOCKS,)])

    def test_cpp_in_a_library_that_a_program_of_c_opens(self):
        if not shutil.which("g++"):
            self.skipTest("no g++")
        folder = SHOP.folder / "opened"
        folder.mkdir()
        (folder / "part.cpp").write_text('extern "C" double* part(int n) { return new double[n](); }\n'
                                         'extern "C" int* one() { return new int(1); }\n')
        (folder / "main.c").write_text("#include <dlfcn.h>\n#include <stdio.h>\n#include <stdlib.h>\nint main(int argc, char** argv) {\n"
                                       "  void* library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);\n"
                                       f"  double* block = ((double* (*)(int))dlsym(library, \"part\"))({KIB * 128});\n"
                                       "  int* one = ((int* (*)(void))dlsym(library, \"one\"))();\n"
                                       "#pragma omp parallel\n#pragma omp single\n#pragma omp task\n  block[0] = *one;\n"
                                       "  printf(\"%d\\n\", (int)block[0]);\n  return 0;\n}\n")
        for command in (["g++", "-O1", "-g", "-shared", "-fPIC", folder / "part.cpp", "-o", folder / "part.so"],
                        ["gcc", "-O1", "-fopenmp", folder / "main.c", "-o", folder / "main", "-ldl"]):
            built = run(*command)
            self.assertEqual(built.returncode, 0, built.stderr)
        path = folder / "main.db"
        done = hearth("record", "-o", path, "--", folder / "main", folder / "part.so")
        self.assertEqual((done.returncode, done.stdout), (0, "1\n"), done.stderr)
        self.assertEqual(ask(path, f"SELECT count(*) FROM allocation a JOIN code c ON c.id = a.code WHERE length = {KIB * 1024} AND "
                             "c.function LIKE '%part%'"), [(1,)])

    def test_rows_beyond_reason_are_left_out(self):
        for rows, pitch in ((2**31 - 1, 8), (2**31, 512), (2**40, 1 << 20), (2**62, 0)):
            wild = SHOP.folder / "wild.db"
            shutil.copy(self.path, wild)
            with sqlite3.connect(wild) as database:
                database.execute("UPDATE footprint SET rows = ?, pitch = ?, length = 8 WHERE rowid = 1", (rows, pitch))
            sim(wild, "--policy", "locality", "--distribution", "fine")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
