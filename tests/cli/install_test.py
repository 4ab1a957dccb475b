#!/usr/bin/env python3
"""What `cmake --install` leaves behind works from where it lies: found by PATH, moved, under odd names, linked against.

Usage: install_test.py HEARTH SOURCE BUILD CMAKE
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

from common import PROGRAM, Workshop, run

BUILD, CMAKE = sys.argv[3:5]
SHOP = Workshop()
PREFIX = SHOP.folder / "prefix"

USER = r"""
#include <hearth/hearth.h>
#include <stdio.h>
int main(void) {
  void* block = omp_malloc_specific(1 << 20, OMP_MALLOC_FINE);
  printf("%s %d\n", block ? "block" : "none", hearth_num_locations() > 0);
  omp_malloc_free(block);
  return 0;
}
"""

PROJECT = """
cmake_minimum_required(VERSION 3.18)
project(user C)
find_package(Hearth 0.1 REQUIRED)
add_executable(user user.c)
target_link_libraries(user PRIVATE Hearth::hearth)
install(TARGETS user DESTINATION bin)
"""


def installed(folder):
    """A copy of the installation in that folder, which gives the path of its command."""
    target = SHOP.folder / folder
    if not target.exists():
        shutil.copytree(PREFIX, target, symlinks=True)
    return target / "bin/hearth"


def may_hide(folder):
    """Can this test hide a folder of the system from a program?"""
    return subprocess.run(["unshare", "-m", "mount", "-t", "tmpfs", "none", folder], capture_output=True).returncode == 0


def without(folder, *command):
    script = f'mount -t tmpfs none {folder} && exec "$@"'
    return run("unshare", "-m", "sh", "-c", script, "sh", *command)


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        done = run(CMAKE, "--install", BUILD, "--prefix", PREFIX)
        assert done.returncode == 0, done.stderr
        cls.program = SHOP.compile("program", PROGRAM, "-fopenmp")

    def serves(self, hearth, *options):
        result = run(hearth, "run", "--verify", *options, "--", self.program)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("2 parallel regions and 10 tasks served by Hearth in 1 process.", result.stderr)
        self.assertNotIn("warning", result.stderr)
        self.assertNotIn("cannot be preloaded", result.stderr)
        return result

    def test_what_a_distribution_expects_is_there(self):
        there = {str(path.relative_to(PREFIX)) for path in PREFIX.rglob("*")}
        for ending in ("bin/hearth", "hearth/libhearth.so", "pkgconfig/hearth.pc", "cmake/Hearth/HearthConfig.cmake",
                       "include/hearth/hearth.h", "man/man1/hearth.1", "man/man7/libhearth.7", "README.md", "LICENSE",
                       "share/bash-completion/completions/hearth", "zsh/vendor-completions/_hearth",
                       "fish/vendor_completions.d/hearth.fish", "share/hearth/models/opteron-6172x4.toml",
                       "share/hearth/bench.schema.json", "hearth/bench/fib.gcc", "hearth/bench/las-map.gcc"):
            self.assertTrue(any(path.endswith(ending) for path in there), ending)

    def test_command_and_library_are_small(self):
        if "CMAKE_BUILD_TYPE:STRING=Debug" in (pathlib.Path(BUILD) / "CMakeCache.txt").read_text():
            self.skipTest("a build for debuggers")
        size = 0
        for path in [PREFIX / "bin/hearth", *PREFIX.rglob("hearth/libhearth.so")]:
            stripped = PREFIX.parent / f"{path.name}.stripped"
            subprocess.run(["strip", "--strip-unneeded", "-o", stripped, path], check=True)  # as packages do
            size += stripped.stat().st_size
        self.assertLess(size, 7 * 1000 * 1000)

    def test_programs_of_bench_are_small(self):
        programs = [path for path in PREFIX.rglob("bench/*") if path.suffix in (".gcc", ".clang")]
        self.assertGreaterEqual(len(programs), 19)
        self.assertLess(sum(path.stat().st_size for path in programs), 1_500_000)

    def test_bench_runs_without_the_sources(self):
        hearth = installed("benched")
        out = SHOP.folder / "result"
        done = run(hearth, "bench", "--size", "tiny", "--rounds", "1", "-o", out, cwd="/")
        self.assertEqual(done.returncode, 0, done.stderr)
        states = {(row["runtime"], row["state"]) for row in json.loads(out.with_suffix(".json").read_text())["rows"]}
        self.assertIn(("hearth", "measured"), states)
        self.assertEqual({state for _, state in states}, {"measured"})

    def test_found_by_path_it_finds_its_models(self):
        for folder in ("bin", "lib"):
            self.assertTrue((PREFIX / folder).is_dir())
        listed = run("hearth", "model", "list", "--json", env={"PATH": f"{PREFIX}/bin:{os.environ['PATH']}"}, cwd="/")
        self.assertEqual(listed.returncode, 0, listed.stderr)
        models = json.loads(listed.stdout)
        self.assertGreater(len(models), 5)
        for model in models:
            self.assertTrue(model["file"].startswith(str(PREFIX)), model["file"])

    def test_without_models_it_says_so(self):
        hearth = installed("bare")
        shutil.rmtree(SHOP.folder / "bare/share")
        listed = run(hearth, "model", "list")
        self.assertNotEqual(listed.returncode, 0)
        self.assertIn("no models in this installation", listed.stderr)

    def test_in_a_folder_by_architecture(self):
        hearth = installed("multiarch")
        library = next((SHOP.folder / "multiarch").rglob("libhearth.so")).parent
        tuple_ = run("gcc", "-dumpmachine").stdout.strip()
        target = SHOP.folder / "multiarch/lib" / tuple_
        if library.parent != target:
            target.mkdir()
            library.rename(target / "hearth")
        self.serves(hearth)
        named = run(hearth, "run", "--", self.program, env={"HEARTH_MACHINE": "opteron-6172x4"})
        self.assertEqual((named.returncode, named.stderr), (0, ""))

    def test_under_names_that_end_a_list(self):
        for name in ("a:b", "a b", "a$ORIGIN", "a;b", "ü"):
            with self.subTest(name):
                hearth = installed(name + "/x")
                self.serves(hearth)
                self.serves(hearth, "--distribute=fine")
        left = [path for path in pathlib.Path(os.environ.get("TMPDIR", "/tmp")).glob("hearth-??????")
                if path.is_dir() and (path / "0").is_symlink()]
        self.assertEqual(left, [])

    def test_without_proc(self):
        if os.geteuid() != 0 or not may_hide("/proc"):
            self.skipTest("may not hide /proc")
        result = without("/proc", PREFIX / "bin/hearth", "run", "--", "echo", "ran")
        self.assertEqual((result.returncode, result.stdout), (0, "ran\n"), result.stderr)

    def test_a_missing_library_is_named_with_the_folders(self):
        hearth = installed("empty")
        shutil.rmtree(next((SHOP.folder / "empty").rglob("libhearth.so")).parent)
        result = run(hearth, "run", "--", "true")
        self.assertEqual(result.returncode, 126)
        self.assertIn("libhearth.so is missing from this installation (looked in ", result.stderr)


class LinkedAgainst(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        Installed.setUpClass()
        cls.source = SHOP.folder / "user.c"
        cls.source.write_text(USER)

    def test_by_pkg_config_it_runs_natively(self):
        if shutil.which("pkg-config") is None:
            self.skipTest("no pkg-config")
        for prefix in (PREFIX, installed("moved").parent.parent):
            folder = next(prefix.rglob("hearth.pc")).parent
            flags = run("pkg-config", "--cflags", "--libs", "hearth", env={"PKG_CONFIG_PATH": folder})
            self.assertEqual(flags.returncode, 0, flags.stderr)
            for extra in ([], ["-fopenmp"]):
                out = SHOP.folder / "user"
                built = run("gcc", self.source, "-o", out, *extra, *flags.stdout.split())
                self.assertEqual(built.returncode, 0, built.stderr)
                result = run(out)
                self.assertEqual((result.returncode, result.stdout), (0, "block 1\n"), result.stderr)

    def test_by_the_package_of_cmake_also_when_installed(self):
        project = SHOP.folder / "project"
        project.mkdir()
        (project / "user.c").write_text(USER)
        (project / "CMakeLists.txt").write_text(PROJECT)
        for step in (["-S", project, "-B", project / "build", f"-DCMAKE_PREFIX_PATH={PREFIX}"], ["--build", project / "build"],
                     ["--install", project / "build", "--prefix", project / "there"]):
            done = run(CMAKE, *step)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        for program in (project / "build/user", project / "there/bin/user"):
            result = run(program)
            self.assertEqual((result.returncode, result.stdout), (0, "block 1\n"), result.stderr)


if __name__ == "__main__":
    try:
        unittest.main(argv=sys.argv[:1])
    finally:
        SHOP.close()
