"""LLVM 19's OpenMP runtime suite (openmp/runtime/test), run by lit without a build of LLVM.

Every test is compiled by clang-19 and linked with Debian's libomp, as a user's binary is, and run with the library under
test first in LD_LIBRARY_PATH. Tests are named by their path, as `tasking/omp_task.c`. lit runs in one process group of its
own; its verdicts are read from its output line by line, in the caller's thread.
"""

import json
import os
import re
import shlex
import signal
import subprocess
import sys

from . import process, sources
from .gomp import clean_environment
from .report import FAIL, PASS, SKIP, Result

TOOLS = (("clang-19", "clang-19"), ("clang++-19", "clang-19"), ("FileCheck-19", "llvm-19-tools"),
         ("not-19", "llvm-19-tools"))

# Per test, all its RUN lines together.
RUN_SECONDS = 150

# Some collapse tests count on four threads and cannot pass with two, whatever the runtime.
THREADS = 4

_STOCK = "/usr/lib/llvm-19/lib"

_VERDICT = re.compile(r"^(PASS|FAIL|XFAIL|XPASS|UNSUPPORTED|TIMEOUT|UNRESOLVED|FLAKYPASS|SKIPPED): libomp :: (\S+) "
                      r"\((\d+) of (\d+)\)")
_STATUS = {"PASS": PASS, "FLAKYPASS": PASS, "XFAIL": SKIP, "UNSUPPORTED": SKIP, "SKIPPED": SKIP, "FAIL": FAIL,
           "XPASS": FAIL, "TIMEOUT": FAIL, "UNRESOLVED": FAIL}

_SITE = '''\
import lit.util

config.test_c_compiler = {cc!r}
config.test_cxx_compiler = {cxx!r}
config.test_compiler_features = ["clang", "clang-19", "clang-19.1", "clang-19.1.7", "x86_64"]
config.test_compiler_has_omp_h = True
config.test_filecheck = {filecheck!r}
config.test_not = {not_!r}
config.test_openmp_flags = "-fopenmp -pthread"
config.test_extra_flags = ""
config.libomp_obj_root = {out!r}
config.library_dir = {link!r}
config.omp_header_directory = {headers!r}
config.operating_system = "Linux"
config.hwloc_library_dir = ""
config.using_hwloc = False
config.has_ompt = True
config.has_ompx_taskgraph = False
config.has_libm = True
config.has_libatomic = False
config.is_standalone_build = True
config.has_omit_frame_pointer_flag = True
config.target_arch = "x86_64"

lit_config.load_config(config, {cfg!r})

# Linked with the stock library, run with the one under test.
config.environment["LD_LIBRARY_PATH"] = {lib!r}
config.environment.update({env!r})
'''


def _output(argv):
    return subprocess.run(argv, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()


class Suite:
    """The suite and what lit needs to run it."""

    name = "llvm"
    stock = _STOCK
    soname = "libomp.so.5"

    def __init__(self, work):
        sources.need(TOOLS)
        self.work = work
        self.tests = sources.llvm_suite(work)
        self.lit = sources.lit(work)
        self.headers = os.path.join(_output(["clang-19", "-print-resource-dir"]), "include")
        if not os.path.exists(os.path.join(self.headers, "omp.h")):
            raise SystemExit(f"conformance: no omp.h in {self.headers} (package libomp-19-dev)")
        self.all = self._discover()

    def _discover(self):
        found = []
        for where, _, files in os.walk(self.tests):
            for file in files:
                if file.endswith((".c", ".cpp")):
                    path = os.path.join(where, file)
                    with open(path, encoding="utf-8", errors="replace") as source:
                        if "RUN:" in source.read():
                            found.append(os.path.relpath(path, self.tests))
        return sorted(found)

    def names(self):
        return self.all

    def _configure(self, lib, env, out):
        version = _output(["clang-19", "--version"]).splitlines()[0] + _output(["dpkg-query", "-W", "libomp5-19"])
        wrapper = [sys.executable, "-I", "-S", os.path.join(os.path.dirname(os.path.abspath(__file__)), "cached_cc.py"),
                   os.path.join(self.work, "bin/llvm"), version]
        os.makedirs(out, exist_ok=True)
        link = os.path.join(self.work, "link-llvm")
        os.makedirs(link, exist_ok=True)
        for file in ("libomp.so", "libomp.so.5"):
            path = os.path.join(link, file)
            if not os.path.lexists(path):
                os.symlink(os.path.join(_STOCK, file), path)
        site = _SITE.format(
            cc=shlex.join(wrapper + ["clang-19"]), cxx=shlex.join(wrapper + ["clang++-19"]), out=out, link=link,
            filecheck="FileCheck-19", not_="not-19", headers=self.headers, lib=lib, env=env,
            cfg=os.path.join(self.tests, "lit.cfg"))
        with open(os.path.join(out, "lit.site.cfg"), "w", encoding="utf-8") as sink:
            sink.write(site)

    def run(self, names, lib, logs, jobs, seconds, env, on_result, build_only=False):
        """Runs the named tests through lit; calls on_result(name, result) in this thread."""
        if build_only:
            raise SystemExit("conformance: lit compiles each test when it runs it; --build-only is for gomp")
        out = os.path.join(logs, "lit")
        self._configure(lib, env, out)
        verdicts = os.path.join(logs, "lit.json")
        argv = [self.lit, "--show-all", "--no-progress-bar", "-j", str(jobs),
                "--timeout", str(int(seconds or RUN_SECONDS)), "--order", "lexical", "-o", verdicts]
        # The tests are named below the folder of the configuration, which maps them on the suite's own folder.
        argv += [os.path.join(out, name) for name in names]
        environment = clean_environment(lib, {})
        del environment["LD_LIBRARY_PATH"]
        environment["CHECK_OPENMP_ENV"] = f"OMP_NUM_THREADS={THREADS}"
        seen, text, current = {}, [], None

        def flush():
            if current is None:
                return
            name, word = current
            log = os.path.join(logs, name.replace("/", "__") + ".log")
            with open(log, "w", encoding="utf-8") as sink:
                sink.write("".join(text))
            status = _STATUS[word]
            detail = "" if status == PASS else _reason(word, text)
            seen[name] = Result(status, detail, 0.0, log)
            on_result(name, seen[name])

        child = process.start(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                              env=environment)
        try:
            for line in child.stdout:
                found = _VERDICT.match(line)
                if found:
                    flush()
                    current, text = (found.group(2), found.group(1)), []
                elif line.startswith("********************") and text and text[-1] == "\n":
                    text.append(line)
                    continue
                text.append(line)
            flush()
            child.wait()
        finally:
            _interrupt(child)
            process.finish(child)
        missing = [name for name in names if name not in seen]
        if missing:
            tail = "".join(text)[-1500:]
            raise SystemExit(f"{tail}\nconformance: lit gave no verdict for {len(missing)} tests, first: {missing[0]}")
        self._times(verdicts, seen)

    @staticmethod
    def _times(path, seen):
        if not os.path.exists(path):
            return
        with open(path, encoding="utf-8") as source:
            for test in json.load(source).get("tests", []):
                name = test["name"].split(" :: ")[-1]
                if name in seen:
                    seen[name].seconds = test.get("elapsed") or 0.0


def _interrupt(child):
    """lit's workers are processes of their own sessions; asked by SIGINT it ends them, SIGKILL would orphan them."""
    if child.poll() is None:
        child.send_signal(signal.SIGINT)
        try:
            child.wait(10)
        except subprocess.TimeoutExpired:
            pass


def _reason(word, text):
    """The line of a failed test that says most."""
    if word == "TIMEOUT":
        return "no end in time"
    if word in ("UNSUPPORTED", "XFAIL", "SKIPPED"):
        return word.lower()
    joined = "".join(text)
    for pattern in (r"symbol lookup error: .*", r"error: no such file.*", r"hearth: .*", r".*[Aa]ssert(?:ion)?\b.*",
                    r".*\berror: .*", r"# error: command failed with exit status: .*", r"error: command failed.*"):
        found = re.search(pattern, joined)
        if found:
            return found.group(0).strip()[:300]
    return word.lower()
