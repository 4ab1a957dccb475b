#!/usr/bin/env python3
"""`hearth run --distribute`: malloc's large blocks are taken over in programs that OpenMP serves, and in no others."""
import os
import pathlib
import sys
import unittest

from common import LIBRARY, SOURCE, Workshop, hearth, run

SHOP = Workshop()
HERE = pathlib.Path(__file__).resolve().parent
FOLDER = os.path.dirname(LIBRARY)
MALLOC = f"{FOLDER}/libhearth-malloc.so"
MACHINE = {"HEARTH_MACHINE": str(SOURCE / "models/opteron-6172x4.toml")}  # eight nodes
COMPILERS = {"gcc": ["gcc"], "g++": ["g++", "-x", "c++"], "clang": ["clang-19"], "clang++": ["clang++-19", "-x", "c++"]}


def build(name, compiler, source, *options):
    output = SHOP.folder / name
    built = run(*COMPILERS[compiler], "-O2", source, "-o", output, *options, "-pthread", "-ldl")
    assert built.returncode == 0, built.stderr
    return output


def setUpModule():
    SHOP.programs = {compiler: build(f"allocations-{compiler}", compiler, HERE / "allocations.c", "-fopenmp")
                     for compiler in COMPILERS}


def tearDownModule():
    SHOP.close()


def owner(size, *options, env=None):
    """The owner of a block of this size in a program on eight pretended nodes; -1: it was left alone."""
    result = hearth("run", *options, "--", SHOP.programs["gcc"], "owner", size, env={**MACHINE, **(env or {})})
    assert result.returncode == 0, result.stderr
    return int(result.stdout), result.stderr


class Arguments(unittest.TestCase):
    def test_mistakes_are_one_line_and_status_2(self):
        for value, text in [("far", "unknown word at column 1"), ("", "KIND missing"), ("fine,", "column 6"),
                            ("fine,128K", "unknown word at column 6"), ("fine,min=x", "not a number at column 10"),
                            ("coarse,min=4095", "out of range at column 12"), ("coarse,min=-1", "column 12"),
                            ("blocked,min=1M,max=2M", "unexpected characters at column 16"),
                            ("fine,min=999999999T", "out of range at column 10"), ("fine,min=1X", "column")]:
            result = hearth("run", f"--distribute={value}", "--", "echo", "ran")
            self.assertEqual((result.returncode, result.stdout), (2, ""), value)
            self.assertIn(text, result.stderr, value)
            if value:
                self.assertIn("legal: standard, fine, coarse, blocked, weighted or learn", result.stderr)

    def test_the_variable_has_the_same_words(self):
        for value, column in [("far", 1), ("fine,min=1K", 10), ("fine,min=1M,", 13)]:
            result = hearth("run", "--", SHOP.programs["gcc"], "owner", "1000000", env={**MACHINE, "HEARTH_DISTRIBUTE": value})
            self.assertEqual((result.returncode, result.stdout), (0, "-1\n"))
            self.assertRegex(result.stderr, rf'^hearth: HEARTH_DISTRIBUTE="{value}": .* at column {column}; legal: .*; using standard.\n$')

    def test_the_program_gets_a_variable_and_a_preload(self):
        script = 'echo $HEARTH_DISTRIBUTE $LD_PRELOAD'
        for option in (["--distribute=fine,min=1M"], ["--distribute", "fine,min=1M"]):
            self.assertEqual(hearth("run", *option, "sh", "-c", script).stdout, f"fine,min=1M {MALLOC}\n")
        result = hearth("run", "sh", "-c", script, env={"HEARTH_DISTRIBUTE": "coarse"})
        self.assertEqual(result.stdout, f"coarse {MALLOC}\n")
        self.assertEqual(hearth("run", "--distribute=standard", "sh", "-c", script).stdout, "standard\n")
        self.assertEqual(hearth("run", "--distribute=fine", "sh", "-c", script, env={"HEARTH": "off"}).stdout, "fine\n")
        self.assertEqual(hearth("run", "sh", "-c", script).stdout, "\n")


class Programs(unittest.TestCase):
    def test_everything_that_malloc_promises(self):
        for compiler, program in SHOP.programs.items():
            for kind in ("fine", "coarse", "blocked"):
                with self.subTest(compiler=compiler, kind=kind):
                    result = hearth("run", f"--distribute={kind}", "--", program, kind, env=MACHINE)
                    self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "right\n", ""))

    def test_weights_are_bandwidths(self):
        model = SHOP.folder / "uneven.toml"
        model.write_text("""
schema = 1
name = "uneven"
title = "three nodes, the last with half and a quarter of the first one's bandwidth"
node = [
  { number = 0, package = 0, memory_bytes = 1000000000, cores = [{ count = 2 }], mark = "A" },
  { number = 1, package = 0, memory_bytes = 1000000000, cores = [{ count = 2 }], mark = "A" },
  { number = 2, package = 0, memory_bytes = 1000000000, cores = [{ count = 2 }], mark = "A" },
]
[bandwidth]
mbs = { value = [[40000, 9000, 9000], [9000, 20000, 9000], [9000, 9000, 10000]], mark = "A" }
""")
        def owners(machine):
            done = hearth("run", "--distribute=weighted", "--", SHOP.programs["gcc"], "owners", 7 * 256 * 4096,
                          env={"HEARTH_MACHINE": machine})
            self.assertEqual(done.returncode, 0, done.stderr)
            return done.stdout.split("\n")[:-1], done.stderr
        self.assertEqual(owners(model), (["0: 1024", "1: 512", "2: 256"], ""))
        model.write_text(model.read_text().replace("10000]]", "0]]"))
        pages, said = owners(model)
        self.assertLess(max(int(line.split()[1]) for line in pages) - min(int(line.split()[1]) for line in pages), 256, pages)
        self.assertRegex(said, r"^hearth: HEARTH_DISTRIBUTE=weighted: how fast the memory of location 2 .*topo --measure --keep.*\n$")

    @unittest.skipIf(int(pathlib.Path("/proc/sys/vm/max_map_count").read_text()) > 70000, "this kernel has mappings for all")
    def test_more_blocks_than_mappings(self):
        for kind in ("fine", "coarse", "blocked"):
            result = hearth("run", f"--distribute={kind}", "--", SHOP.programs["gcc"], "many", env=MACHINE)
            self.assertEqual((result.returncode, result.stdout), (0, "right\n"), result.stderr)
            self.assertRegex(result.stderr, r"^hearth: malloc\(\d+\) is not distributed: .*\n$")

    def test_the_least_size(self):
        self.assertEqual(owner(128 << 10, "--distribute=blocked"), (0, ""))
        self.assertEqual(owner((128 << 10) - 1, "--distribute=blocked"), (-1, ""))
        self.assertEqual(owner(4096, "--distribute=blocked,min=4K"), (0, ""))
        self.assertEqual(owner(1 << 20, "--distribute=blocked,min=2M"), (-1, ""))
        self.assertEqual(owner(1 << 20, "--distribute=standard"), (-1, ""))
        self.assertEqual(owner(1 << 20), (-1, ""))

    def test_calls_of_openmp_and_of_hearth_work_beside_it(self):
        source = SHOP.folder / "beside.c"
        source.write_text(r"""
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "hearth/hearth.h"
int main(void) {
  for (size_t size = 1000; size < 9000000; size *= 3) {
    for (int partition = omp_atv_environment; partition <= omp_atv_interleaved; partition++) {
      omp_alloctrait_t traits[] = {{omp_atk_partition, partition}, {omp_atk_alignment, 4096}};
      omp_allocator_handle_t allocator = omp_init_allocator(omp_default_mem_space, 2, traits);
      char* block = omp_alloc(size, allocator);
      memset(block, 1, size);
      if ((size_t)block % 4096 != 0) return 1;
      omp_free(block, partition % 2 ? allocator : omp_null_allocator);
      omp_destroy_allocator(allocator);
    }
    for (int kind = 0; kind < 7; kind++) {
      if (kind == 3) continue;
      char* block = omp_malloc_specific(size, kind);
      memset(block, 1, size);
      block = omp_malloc_realloc(block, 2 * size);
      if (block[size - 1] != 1) return 2;
      omp_malloc_free(block);
      free(omp_malloc_specific(size, kind));
    }
  }
  puts("right");
}""")
        program = build("beside", "gcc", source, "-fopenmp", f"-I{SOURCE}/include", f"-L{FOLDER}", "-lhearth")
        result = hearth("run", "--distribute=coarse", "--", program, env={**MACHINE, "LD_LIBRARY_PATH": FOLDER})
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "right\n", ""))

    def test_children_of_the_program_too(self):
        program = SHOP.programs["gcc"]
        result = hearth("run", "--distribute=blocked", "--", "sh", "-c", f"{program} owner 1000000; {program} owner 1000",
                        env=MACHINE)
        self.assertEqual((result.stdout, result.stderr), ("0\n-1\n", ""))


class StaysOutOfTheWay(unittest.TestCase):
    def test_of_programs_without_openmp(self):
        source = SHOP.folder / "plain.c"
        source.write_text(r"""
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
int main(void) {
  char* block = malloc(1 << 20);
  for (int i = 0; i < 8; i++) block = realloc(block, 1 << (10 + i * 2));
  printf("%d\n", malloc_usable_size(block) >= 1 << 24 && mallinfo2().hblks == 1);
  free(block);
}""")
        program = build("plain", "gcc", source)
        result = hearth("run", "--distribute=fine", "--", program, env=MACHINE)
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "1\n", ""))

    def test_until_a_runtime_comes_by_dlopen(self):
        part = SHOP.folder / "part.c"
        part.write_text("int part(void) { int n = 0;\n#pragma omp parallel reduction(+ : n)\nn++;\nreturn n; }")
        library = build("part.so", "gcc", part, "-fopenmp", "-shared", "-fPIC")
        source = SHOP.folder / "opener.c"
        source.write_text(r"""
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char** argv) {
  char* before = malloc(1 << 20);
  memset(before, 5, 1 << 20);
  void* handle = dlopen(argv[1], RTLD_NOW);
  const char* error = dlerror();
  int (*owner)(const void*) = (int (*)(const void*))dlsym(handle, "hearth_owner");
  char* after = malloc(1 << 20);
  printf("%s %d %d", error ? error : "fine", owner(before), owner(after));
  before = realloc(before, 3 << 20);
  printf(" %d %d\n", owner(before + (2 << 20)), before[(1 << 20) - 1]);
  free(before);
  free(after);
}""")
        program = build("opener", "gcc", source)
        result = hearth("run", "--distribute=coarse", "--", program, library, env=MACHINE)
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "fine -1 0 1 5\n", ""))

    @unittest.skipIf(len(list(pathlib.Path("/sys/devices/system/node").glob("node[0-9]*"))) > 1, "this machine has several nodes")
    def test_of_machines_with_one_node(self):
        for env, taken in (({}, False), (MACHINE, True)):
            result = hearth("run", "--distribute=fine", "--", SHOP.programs["gcc"], "room", 1 << 20, env=env)
            self.assertEqual((int(result.stdout) == 0, result.stderr), (taken, ""))

    def test_one_line_where_nothing_is_preloaded(self):
        program = SHOP.programs["gcc"]
        result = run(program, "owner", "1000000", env={**MACHINE, "LD_LIBRARY_PATH": FOLDER, "HEARTH_DISTRIBUTE": "fine"})
        self.assertEqual(result.stdout, "-1\n")
        self.assertRegex(result.stderr, r"^hearth: HEARTH_DISTRIBUTE: libhearth-malloc.so is not preloaded, .*\n$")
        result = run(program, "owner", "1000000", env={**MACHINE, "LD_LIBRARY_PATH": FOLDER, "HEARTH_DISTRIBUTE": "blocked",
                                                       "LD_PRELOAD": MALLOC})
        self.assertEqual((result.stdout, result.stderr), ("0\n", ""))


# An allocator that hands out memory of its own and checks what comes back; with a call of its own, as jemalloc has.
ALLOCATOR = r"""
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static char arena[64 << 20] __attribute__((aligned(4096)));
static size_t used;
static void* take(size_t alignment, size_t size) {
  size_t at, next;
  do {
    at = __atomic_load_n(&used, __ATOMIC_RELAXED);
    next = (at + sizeof(size_t) + alignment - 1) / alignment * alignment + size;
  } while (!__atomic_compare_exchange_n(&used, &at, (next + 15) / 16 * 16, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  if (next > sizeof arena) _exit(98);
  char* block = arena + next - size;
  memcpy(block - sizeof size, &size, sizeof size);
  return block;
}
static size_t size_of(void* block) {
  size_t size;
  if ((char*)block < arena || (char*)block >= arena + sizeof arena) _exit(99);
  memcpy(&size, (char*)block - sizeof size, sizeof size);
  return size;
}
void* malloc(size_t size) { return take(16, size); }
void* calloc(size_t count, size_t size) { return take(16, count * size); }
void* aligned_alloc(size_t alignment, size_t size) { return take(alignment, size); }
void* memalign(size_t alignment, size_t size) { return take(alignment, size); }
int posix_memalign(void** out, size_t alignment, size_t size) { *out = take(alignment, size); return 0; }
void free(void* block) { if (block) size_of(block); }
size_t malloc_usable_size(void* block) { return block ? size_of(block) : 0; }
void* realloc(void* block, size_t size) {
  void* other = take(16, size);
  if (block) memcpy(other, block, size_of(block) < size ? size_of(block) : size);
  return other;
}
void* mallocx(size_t size, int flags) { (void)flags; return take(16, size); }
int mallctl(void) { return 0; }
"""
USER = r"""
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <dlfcn.h>
void* mallocx(size_t, int);
int main(void) {
  int (*owner)(const void*) = (int (*)(const void*))dlsym(RTLD_DEFAULT, "hearth_owner");
  int taken = 0;
#pragma omp parallel num_threads(3) reduction(+ : taken)
  for (int i = 0; i < 3; i++) {
    char* block = malloc(300000);
    char* own = mallocx(300000, 0);
    void* wide;
    taken += owner(block) >= 0;
    block = realloc(block, 600000);
    if (posix_memalign(&wide, 64, 200000)) abort();
    free(own);
    free(block);
    free(wide);
    free(strdup("text"));
  }
  printf("%d\n", taken);
}
"""


class OtherAllocators(unittest.TestCase):
    def setUp(self):
        (SHOP.folder / "allocator.c").write_text(ALLOCATOR)
        (SHOP.folder / "user.c").write_text(USER)

    def check(self, program, named):
        result = hearth("run", "--distribute=fine", "--", program, env=MACHINE)
        self.assertEqual((result.returncode, result.stdout), (0, "0\n"), result.stderr)
        self.assertRegex(result.stderr, rf"^hearth: HEARTH_DISTRIBUTE: malloc is \S*{named}'s in this program, .*are first touched.\n$")

    def test_a_library_s_malloc_serves_everything_and_is_named(self):
        library = build("liballoc.so", "gcc", SHOP.folder / "allocator.c", "-shared", "-fPIC", "-fno-builtin")
        self.check(build("with_library", "gcc", SHOP.folder / "user.c", library, f"-Wl,-rpath,{SHOP.folder}", "-fopenmp"),
                   "liballoc.so")

    def test_a_program_s_own_malloc_serves_everything_and_is_named(self):
        objects = SHOP.folder / "allocator.o"
        self.assertEqual(run("gcc", "-O1", "-fno-builtin", "-c", SHOP.folder / "allocator.c", "-o", objects).returncode, 0)
        self.check(build("with_own", "gcc", SHOP.folder / "user.c", objects, "-fopenmp"), "with_own")

    def test_an_allocator_beside_malloc_is_named(self):
        program = SHOP.compile("beside_malloc", "void* je_malloc(unsigned long n) { return (void*)n; }\n"
                               "int main(void) { return je_malloc(0) != 0; }")
        result = hearth("run", "--distribute=fine", "--", program)
        self.assertEqual(result.returncode, 0)
        self.assertRegex(result.stderr, r"^hearth: \S*beside_malloc contains its own allocator \(it defines je_malloc\).*\n$")
        self.assertEqual(hearth("run", "--", program).stderr, "")
        text = "void* scalable_malloc(unsigned long n) { return (void*)n; }"
        library = SHOP.compile("libscalable.so", text, "-shared", "-fPIC")
        source = SHOP.folder / "scalable.c"
        source.write_text("void* scalable_malloc(unsigned long);\n#include <omp.h>\n"
                          "int main(void) { return scalable_malloc(0) != 0 || omp_get_level(); }")
        program = build("scalable", "gcc", source, library, f"-Wl,-rpath,{SHOP.folder}", "-fopenmp")
        result = hearth("run", "--distribute=fine", "--", program, env=MACHINE)
        self.assertEqual(result.returncode, 0)
        self.assertRegex(result.stderr, r"^hearth: HEARTH_DISTRIBUTE: \S*libscalable.so has an allocator of its own beside malloc.*\n$")

    def test_a_sanitizer_s_malloc_is_kept_and_named(self):
        source = SHOP.folder / "sanitized.c"
        source.write_text(r"""
#include <stdio.h>
#include <stdlib.h>
int main(void) {
  volatile char* block = malloc(1 << 20);
  int n = 0;
#pragma omp parallel num_threads(2) reduction(+ : n)
  n++;
  printf("%d\n", n);
  block[1 << (20 + (getenv("OVERRUN") == NULL ? -1 : 0))] = 1;
  free((void*)block);
}""")
        # gcc's runtime is a library that refuses to come second; clang's is in the program.
        for compiler in ("gcc", "clang"):
            with self.subTest(compiler=compiler):
                program = build(f"sanitized-{compiler}", compiler, source, "-fopenmp", "-fsanitize=address")
                env = {**MACHINE, "ASAN_OPTIONS": "detect_leaks=0"}
                plain = hearth("run", "--", program, env=env)
                self.assertEqual((plain.returncode, plain.stdout, plain.stderr), (0, "2\n", ""))
                for option, variables in (("--distribute=fine", {}), ("--verify", {"HEARTH_DISTRIBUTE": "fine"})):
                    result = hearth("run", option, "--", program, env=env | variables)
                    self.assertEqual((result.returncode, result.stdout), (0, "2\n"), result.stderr)
                    self.assertRegex(result.stderr, r"^hearth: \S*sanitized-\w+ is built with a sanitizer \(it uses __asan_init\)")
                    self.assertNotIn("HEARTH_DISTRIBUTE", result.stderr)  # the runtime does not say it again
                overrun = hearth("run", "--distribute=fine", "--", program, env=env | {"OVERRUN": "1"})
                self.assertIn("heap-buffer-overflow", overrun.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
