#!/usr/bin/env python3
"""Whatever a program asks of the dynamic loader under `hearth run`: one runtime, and plugins that find it."""
import shutil
import subprocess
import sys
import unittest

from common import Workshop, hearth, run

SHOP = Workshop()
NODES = ("GOMP_1.0 { global: GOMP_single_start; };\n"
         "GOMP_2.0 { global: GOMP_task; } GOMP_1.0;\nGOMP_4.0 { global: GOMP_parallel; } GOMP_2.0;\n")

PLUGIN = r"""
int answer(void) {
  int threads = 0;
#pragma omp parallel num_threads(3)
#pragma omp atomic
  threads++;
  return threads;
}
"""

# The words of the command line: "noload NAME", "open NAME", "space NAME" (dlmopen), "call PATH" (its answer() is printed).
OPENER = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
int main(int argc, char** argv) {
  for (int i = 1; i + 1 < argc; i += 2) {
    const char *what = argv[i], *name = argv[i + 1];
    if (!strcmp(what, "noload")) dlopen(name, RTLD_NOW | RTLD_NOLOAD);
    if (!strcmp(what, "open")) dlopen(name, RTLD_NOW);
    if (!strcmp(what, "space")) dlmopen(LM_ID_NEWLM, name, RTLD_NOW);
    if (strcmp(what, "call")) continue;
    void* plugin = dlopen(name, RTLD_NOW);
    int (*answer)(void) = plugin ? (int (*)(void))dlsym(plugin, "answer") : 0;
    if (answer) printf("%d\n", answer());
    else printf("%s\n", dlerror());
    fflush(stdout);
  }
  return 0;
}
"""


def stock_libgomp():
    return run("gcc", "-print-file-name=libgomp.so.1").stdout.strip()


def plugin(name, compiler="gcc"):
    return SHOP.compile(name, PLUGIN, "-fopenmp", "-shared", "-fPIC", compiler=compiler)


def renamed(names):
    """For each name a plugin that needs a runtime of that name, as in a wheel; the stock runtime lies beside under the name."""
    folder = SHOP.folder / "wheel.libs"
    folder.mkdir(exist_ok=True)
    versions = SHOP.folder / "versions.map"
    versions.write_text(NODES)
    plugins = []
    for name in names:
        link = SHOP.compile(f"link-{name}.so", "void GOMP_parallel(void) {}\nvoid GOMP_task(void) {}\n"
                            "int GOMP_single_start(void) { return 0; }", "-shared", "-fPIC", f"-Wl,-soname,{name}",
                            f"-Wl,--version-script={versions}")
        source = SHOP.folder / f"of-{name}.c"
        source.write_text(PLUGIN)
        out = SHOP.folder / f"of-{name}.plugin"
        subprocess.run(["gcc", "-fopenmp", "-fPIC", "-c", source, "-o", f"{out}.o"], check=True)
        subprocess.run(["gcc", "-shared", f"{out}.o", link, "-Wl,-rpath,$ORIGIN/wheel.libs", "-o", out], check=True)
        shutil.copy(stock_libgomp(), folder / name)
        plugins.append(out)
    return plugins


class Loader(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.opener = SHOP.compile("opener", OPENER, "-ldl")
        cls.by_gcc = plugin("by_gcc.so")
        clang = shutil.which("clang-19") or shutil.which("clang")
        cls.by_clang = plugin("by_clang.so", clang) if clang else cls.by_gcc
        # A library that needs the runtime and cannot be loaded: what an import that fails is.
        cls.broken = SHOP.compile("broken.so", PLUGIN + "int nowhere(void);\nint f(void) { return nowhere(); }", "-fopenmp",
                                  "-shared", "-fPIC", "-Wl,-z,now")

    def answers(self, *words):
        result = hearth("run", "--verify", "--", self.opener, *words)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        return result.stdout.split()

    def test_after_a_probe_that_loads_nothing_plugins_work(self):
        for name in ("libgomp.so.1", "libomp.so.5", "libiomp5.so", "libgomp-e985bcbb.so.1.0.0"):
            for first, second in ((self.by_gcc, self.by_clang), (self.by_clang, self.by_gcc)):
                self.assertEqual(self.answers("noload", name, "noload", name, "call", first, "call", second), ["3", "3"], name)

    def test_after_a_dlopen_that_fails_plugins_work(self):
        for first, second in ((self.by_gcc, self.by_clang), (self.by_clang, self.by_gcc)):
            self.assertEqual(self.answers("open", self.broken, "call", first, "open", self.broken, "call", second), ["3", "3"])

    def test_after_a_dlmopen_plugins_work(self):
        for inner in (self.by_gcc, self.by_clang):
            for outer in (self.by_gcc, self.by_clang):
                self.assertEqual(self.answers("space", inner, "call", outer), ["3"])

    def test_names_in_any_order(self):
        self.assertEqual(self.answers("open", "libiomp5.so", "open", "libomp.so.5", "open", "libgomp.so.1", "open", "libomp.so",
                                      "call", self.by_clang, "call", self.by_gcc), ["3", "3"])

    def test_a_dozen_renamed_runtimes_are_one(self):
        plugins = renamed([f"libgomp-{k:08x}.so.1.0.0" for k in range(12)])
        words = [word for path in plugins for word in ("call", path)]
        self.assertEqual(self.answers(*words), ["3"] * 12)

    def test_more_names_than_there_are_stand_ins_end_no_process(self):
        names = [word for k in range(60) for word in ("noload", f"libgomp-{k:08x}.so.1.0.0")]
        plugins = renamed(["libgomp-fffffff0.so.1.0.0", "libgomp-fffffff1.so.1.0.0"])
        result = hearth("run", "--", self.opener, *names, *[word for path in plugins for word in ("call", path)])
        self.assertEqual((result.returncode, result.stdout), (0, "3\n3\n"), result.stderr)

    def test_libraries_of_similar_names_are_themselves(self):
        own = SHOP.compile("own", "int answer(void) { return 42; }", "-shared", "-fPIC")
        words = []
        for name in ("libomp-facade.so", "libgomp-added.so.1", "libiomp5-cafe.so"):
            shutil.copy(own, SHOP.folder / name)
            words += ["call", SHOP.folder / name]
        result = hearth("run", "--", self.opener, *words)
        self.assertEqual(result.stdout.split(), ["42"] * 3, result.stderr)


if __name__ == "__main__":
    try:
        unittest.main(argv=sys.argv[:1])
    finally:
        SHOP.close()
