#!/usr/bin/env python3
"""Compiles one OpenMP program and runs it on libhearth.so with 1, 2, 4 and 8 threads; exit status 77 when there is no compiler.

A line "// flags: ..." of the source adds compiler flags, "// clang-flags: ..." for that compiler alone; "// env: NAME=VALUE ..." sets variables.
"// also-on: MODEL ..." repeats all of it on machines of models/, which are pretended.
HEARTH_TEST_STOCK=1 runs the program on the runtime that its compiler ships instead: whether the test is right.

With --sanitize the library was built by gcc with that sanitizer, and the program is instrumented too. Only one sanitizer runtime
can be in a process, gcc's: so gcc links what clang has compiled.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys


def words_after(key, text):
    return [word for line in re.findall(rf"^(?://|!) {key}: (.*)$", text, re.M) for word in line.split()]


def compile_sanitized(compiler, sanitizer, flags, options, program):
    """An instrumented program on gcc's sanitizer runtime; clang's objects call some functions under names that gcc's has not."""
    flags = ["-O1" if flag == "-O2" else flag for flag in flags] + ["-w", "-fsanitize=" + sanitizer]
    if not compiler.startswith("clang"):
        subprocess.run([options.compiler, *flags, options.source, "-o", program, "-lm"], check=True)
        return
    subprocess.run([options.compiler, *flags, "-c", options.source, "-o", program + ".o"], check=True)
    renames = [f"--redefine-sym=__tsan_{name}={name}" for name in ("memset", "memcpy", "memmove")]
    subprocess.run(["objcopy", *renames, program + ".o"], check=True)
    subprocess.run(["g++", "-rdynamic", "-fsanitize=" + sanitizer, program + ".o", "-o", program, "-L" + options.lib, "-l:libomp.so.5", "-lm",
                    "-pthread"], check=True)


def main():
    parser = argparse.ArgumentParser()
    for name in ("compiler", "source", "lib", "work"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--sanitize", default="")
    options = parser.parse_args()
    if not options.compiler or options.compiler.endswith("NOTFOUND"):
        print("no such compiler here")
        return 77
    with open(options.source, encoding="utf-8") as source:
        text = source.read()
    os.makedirs(options.work, exist_ok=True)
    compiler = os.path.basename(options.compiler)
    program = os.path.join(options.work, os.path.basename(options.source).replace(".", "-") + "-" + compiler)
    flags = ["-O2", "-g", "-fopenmp", "-J" + options.work] if "gfortran" in compiler else ["-O2", "-g", "-fopenmp"]
    kind = next((k for k, pattern in (("clang", "clang"), ("gcc", "gcc|g[+][+]"), ("gfortran", "gfortran"))
                 if re.match(pattern, compiler)), compiler)
    flags += words_after("flags", text) + words_after(kind + "-flags", text)
    if options.sanitize:
        compile_sanitized(compiler, options.sanitize, flags, options, program)
    else:
        subprocess.run([options.compiler, *flags, options.source, "-o", program, "-lm"], check=True)
    environment = {k: v for k, v in os.environ.items() if not re.match(r"(OMP|KMP|GOMP|HEARTH)_", k)}
    # Leaks: a runtime's threads and their memory live as long as the process.
    environment.update(ASAN_OPTIONS="detect_leaks=0", TSAN_OPTIONS="die_after_fork=0", UBSAN_OPTIONS="halt_on_error=1")
    environment.update(word.split("=", 1) for word in words_after("env", text))
    if "HEARTH_TEST_STOCK" not in os.environ:
        environment["LD_LIBRARY_PATH"] = options.lib
    models = pathlib.Path(__file__).resolve().parents[2] / "models"
    bad = 0
    for machine in ("", *words_after("also-on", text)):
        pretended = {"HEARTH_MACHINE": str(models / f"{machine}.toml")} if machine else {}
        for threads in (1, 2, 4, 8):
            environment["OMP_NUM_THREADS"] = str(threads)
            try:
                result = subprocess.run([program], env=environment | pretended, timeout=240 if options.sanitize else 60, check=False).returncode
            except subprocess.TimeoutExpired:
                result = "time-out"
            if result != 0:
                print(f"{os.path.basename(program)} with {threads} threads {machine}: exit status {result}")
                bad = 1
    return bad


if __name__ == "__main__":
    sys.exit(main())
