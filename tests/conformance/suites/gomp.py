"""libgomp's own suite (GCC 12's libgomp/testsuite), host tests only, without dejagnu.

Tests are named `c/x.c`, `c++/x.C`, `fortran/x.f90`, `graphite/x.c`; the folder libgomp.c-c++-common is built twice, as
`c-common/x.c` and `c++-common/x.c`. Every test is built once with the system's gcc against the system's libgomp, which is
what a user's binary is, and kept under build/conformance/bin/gomp; LD_LIBRARY_PATH then decides which runtime serves it.
Threads: a pool of workers builds and runs; verdicts come back to the caller's thread one by one.
"""

import concurrent.futures
import hashlib
import os
import re
import shutil
import subprocess

from . import dejagnu, process, sources
from .report import FAIL, PASS, SKIP, Result

TOOLS = (("gcc-12", "gcc-12"), ("g++-12", "g++-12"), ("gfortran-12", "gfortran-12"))

# One test may take this long. The slowest one needs about 25 s on two cores with libgomp.
RUN_SECONDS = 60
COMPILE_SECONDS = 300

_COMMON = ["-fopenmp", "-fmessage-length=0", "-fno-diagnostics-show-caret", "-fdiagnostics-color=never", "-w"]

# group name → (folder, pattern of the file names, compiler and language flags, libraries, default options)
_GRAPHITE = ("-ansi -pedantic-errors -O2 -ftree-parallelize-loops=4 -floop-parallelize-all -fno-loop-strip-mine "
             "-fno-loop-block").split()
_GROUPS = {
    "c": ("libgomp.c", r".*\.c", ["gcc-12"], [], ["-O2"]),
    "c-common": ("libgomp.c-c++-common", r".*\.c", ["gcc-12"], [], ["-O2"]),
    "c++": ("libgomp.c++", r".*\.C", ["g++-12"], [], ["-O2"]),
    "c++-common": ("libgomp.c-c++-common", r".*\.c", ["g++-12", "-x", "c++"], [], ["-O2"]),
    # gfortran's harness runs every test at many levels; the run-time library sees no difference, so -O2 once.
    "fortran": ("libgomp.fortran", r".*\.[fF](|90|95|03|08)", ["gfortran-12"], ["-lquadmath"], []),
    "graphite": ("libgomp.graphite", r".*\.c", ["gcc-12"], [], _GRAPHITE),
}

# Effective targets of an x86-64 Linux host without an offload device. Absent: an error, see dejagnu.py.
_TRUE = {
    "lp64", "size32plus", "tls", "tls_runtime", "tls_native", "vect_simd_clones", "sync_int_long", "sync_char_short",
    "sync_int_128_runtime", "lto", "shared", "fpic", "large_long_double", "fd_truncate", "offload_device_shared_as",
    "alias", "fgraphite", "pthread", "__float128", "cas_int", "cas_char", "sse2", "sse2_runtime", "avx", "int32plus",
}
_FALSE = {
    "ia32", "ilp32", "x32", "offload_device", "offload_device_nonshared_as", "offload_target_nvptx",
    "offload_target_amdgcn", "offload_device_any_intel_mic", "offload_device_intel_mic", "offload_device_nvptx",
    "offload_target_intelmic", "run_expensive_tests", "skip-all-targets", "aarch64_tiny", "omp_usm",
}


def _cpu_flags():
    with open("/proc/cpuinfo", encoding="utf-8") as source:
        found = re.search(r"^flags\s*:(.*)$", source.read(), re.M)
    return set(found.group(1).split()) if found else set()


def _effective(language):
    cpu = _cpu_flags()

    def holds(name):
        if name in _TRUE:
            return True
        if name in _FALSE:
            return False
        if name in ("c", "c++"):
            return name == language
        if name == "avx_runtime":
            return "avx" in cpu
        if name == "avx2_runtime":
            return "avx2" in cpu
        raise dejagnu.DirectiveError(f"unknown effective target {name}")
    return holds


class GompTest:
    """One test: where its source is, what its directives say, how it is built."""

    def __init__(self, suite, group, path):
        folder, _, self.compiler, self.libraries, default = _GROUPS[group]
        self.name = f"{group}/{os.path.relpath(path, os.path.join(suite.tests, folder))}"
        self.path = path
        self.suite = suite
        flags = default if group != "fortran" else ["-O2"]
        with open(path, encoding="utf-8", errors="replace") as source:
            text = source.read()
        language = "c++" if group.startswith("c++") else "c"
        self.dg = dejagnu.read(text, _effective(language), flags)
        options = flags if self.dg.options is None else self.dg.options
        if group == "fortran":
            # The level of the run stands before the test's own options, which replace nothing.
            options = ["-O2"] + (self.dg.options or [])
        self.options = options + self.dg.additional_options
        self.folder = os.path.join(suite.binaries, self.name.replace("/", os.sep))
        self.binary = os.path.join(self.folder, "test.exe")

    def skip_reason(self):
        if self.dg.action != "run":
            return f"dg-do {self.dg.action}: checks the compiler, nothing to run"
        return "" if self.dg.enabled else self.dg.why_not

    def command(self):
        extra = [os.path.normpath(os.path.join(os.path.dirname(self.path), s)) for s in self.dg.sources]
        # `-x c++` must not reach an extra source that names its own language.
        reset = ["-x", "none"] if extra and "-x" in self.compiler and not extra[0].endswith(".c") else []
        # Dumps for dg-final are of no use here and would litter the folder.
        options = [o for o in self.options if not o.startswith("-fdump-") and not o.startswith("-foffload=-fdump")]
        return (self.compiler + [self.path] + reset + extra
                + ["-I", os.path.join(self.suite.tree, "include"), "-I", self.suite.headers]
                + _COMMON + options + ["-o", "test.exe", "-lm"] + self.libraries), extra

    def build(self):
        """Builds the test unless that was done; returns an error text, empty if the binary is there.

        A source that does not compile is remembered, too: it fails for every runtime.
        """
        argv, extra = self.command()
        digest = hashlib.sha256("\0".join(argv + [self.suite.compiler_version]).encode())
        for path in [self.path] + extra:
            with open(path, "rb") as source:
                digest.update(source.read())
        key = digest.hexdigest()
        stamp = os.path.join(self.folder, "key")
        log = os.path.join(self.folder, "compile.log")
        if os.path.exists(stamp):
            with open(stamp, encoding="utf-8") as source:
                old_key, _, verdict = source.read().strip().partition(" ")
            if old_key == key and (verdict == "failed" or os.path.exists(self.binary)):
                return f"does not compile, see {log}" if verdict == "failed" else ""
        # Built aside and moved in place whole: another run of this suite may be building or executing the same test.
        fresh = f"{self.folder}.{os.getpid()}"
        shutil.rmtree(fresh, ignore_errors=True)
        os.makedirs(fresh)
        done = process.run(argv, COMPILE_SECONDS, fresh, {**os.environ, "LC_ALL": "C"}, os.path.join(fresh, "compile.log"))
        if done.timed_out or done.code < 0:
            shutil.rmtree(fresh, ignore_errors=True)
            return f"compiler: {done.describe()}"
        with open(os.path.join(fresh, "key"), "w", encoding="utf-8") as sink:
            print(key, "built" if done.code == 0 else "failed", file=sink)
        shutil.rmtree(self.folder, ignore_errors=True)
        try:
            os.rename(fresh, self.folder)
        except OSError:
            shutil.rmtree(fresh, ignore_errors=True)
        return "" if done.code == 0 else f"does not compile, see {log}"

    def verdict(self, done):
        """Why the run of the binary is a failure; empty if it is not."""
        if done.timed_out:
            return done.describe()
        if self.dg.should_fail != (done.code != 0):
            return done.describe() + (", expected to fail" if self.dg.should_fail else "")
        if self.dg.output and not re.search(self.dg.output, done.output):
            return f"printed something else than {self.dg.output!r}"
        return ""

    def run(self, lib, logs, seconds, extra_env):
        error = self.build()
        log = os.path.join(logs, self.name.replace("/", "__") + ".log")
        if error:
            return Result(FAIL, error, 0.0, os.path.join(self.folder, "compile.log"))
        # Some tests read or write files; a folder of its own keeps runs apart.
        place = os.path.join(logs, "cwd", self.name.replace("/", "__"))
        shutil.rmtree(place, ignore_errors=True)
        os.makedirs(place)
        env = clean_environment(lib, extra_env)
        env.update(self.dg.environment)
        done = process.run([self.binary], self.dg.timeout or seconds, place, env, log)
        shutil.rmtree(place, ignore_errors=True)
        why = self.verdict(done)
        if why and not done.timed_out and done.output.strip():
            why += ": " + done.output.strip().splitlines()[-1][:200]
        return Result(FAIL if why else PASS, why, done.seconds, log)


def clean_environment(lib, extra):
    """The caller's environment without any OpenMP setting, with `lib` first in the loader's path."""
    env = {k: v for k, v in os.environ.items() if not re.match(r"(OMP|GOMP|KMP|LIBOMP|HEARTH|ACC)_|LD_PRELOAD$", k)}
    env["LC_ALL"] = "C"
    env["LD_LIBRARY_PATH"] = lib
    env.update(extra)
    return env


class Suite:
    """All tests of the suite, read and ready to be built and run."""

    name = "gomp"
    stock = os.path.join("/usr/lib", "x86_64-linux-gnu")
    soname = "libgomp.so.1"

    def __init__(self, work):
        sources.need(TOOLS)
        self.tree = sources.gcc_tree(work)
        self.tests = os.path.join(self.tree, "libgomp/testsuite")
        self.binaries = os.path.join(work, "bin/gomp")
        self.compiler_version = subprocess.run(["gcc-12", "--version"], stdout=subprocess.PIPE, text=True,
                                               check=True).stdout.splitlines()[0]
        # Headers that tests include: what libgomp's configure script would have found, and the internal entry points.
        self.headers = os.path.join(work, "config")
        os.makedirs(self.headers, exist_ok=True)
        with open(os.path.join(self.headers, "config.h"), "w", encoding="utf-8") as sink:
            print("#define HAVE_PTHREAD_AFFINITY_NP 1", file=sink)
        shutil.copy2(os.path.join(self.tree, "libgomp/libgomp_g.h"), self.headers)
        self.all = {}
        for group, (folder, pattern, *_) in _GROUPS.items():
            root = os.path.join(self.tests, folder)
            for where, _, files in os.walk(root):
                for file in files:
                    if re.fullmatch(pattern, file):
                        test = GompTest(self, group, os.path.join(where, file))
                        self.all[test.name] = test

    def names(self):
        return sorted(self.all)

    def run(self, names, lib, logs, jobs, seconds, env, on_result, build_only=False):
        """Runs the named tests on `jobs` workers; calls on_result(name, result) in this thread."""
        os.makedirs(logs, exist_ok=True)
        todo = []
        for name in names:
            reason = self.all[name].skip_reason()
            if reason:
                on_result(name, Result(SKIP, reason))
            else:
                todo.append(name)

        def work(name):
            test = self.all[name]
            if build_only:
                error = test.build()
                return Result(FAIL if error else PASS, error)
            return test.run(lib, logs, seconds or RUN_SECONDS, env)

        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            futures = {pool.submit(work, name): name for name in todo}
            try:
                for future in concurrent.futures.as_completed(futures):
                    on_result(futures[future], future.result())
            except BaseException:
                for future in futures:
                    future.cancel()
                process.kill_all()
                raise
