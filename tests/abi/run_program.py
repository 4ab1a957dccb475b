#!/usr/bin/env python3
"""Compile one of the programs beside this file as a user would, and run it on libhearth.so.

Every symbol is bound at start (LD_BIND_NOW=1), and the program itself checks that no stock runtime is mapped. Exit code 77:
a compiler that the case needs is not installed.
"""
import argparse
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def sh(*command):
    print("+", " ".join(command), flush=True)
    subprocess.run(command, check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("case")
    parser.add_argument("--library", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--stubs", required=True)
    for compiler in ("gcc", "clang", "gfortran"):
        parser.add_argument("--" + compiler, default="")
    arguments = parser.parse_args()
    os.makedirs(arguments.work, exist_ok=True)
    os.chdir(arguments.work)

    def need(compiler):
        path = getattr(arguments, compiler)
        if not path or path.endswith("NOTFOUND"):
            print(f"{compiler} is not installed")
            sys.exit(77)
        return path

    def source(name):
        return os.path.join(HERE, name)

    def run(*words, expect=0, text=None, **environment):
        folder = os.path.dirname(arguments.library)
        done = subprocess.run(["./program", *words], env={**os.environ, "LD_BIND_NOW": "1", "LD_LIBRARY_PATH": folder,
                                                  "OMP_NUM_THREADS": "4", **environment},
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=100, check=False)
        print(done.stdout, end="")
        if (done.returncode == 0) != (expect == 0):
            sys.exit(f"exit status {done.returncode}")
        if text is not None and text not in done.stdout:
            sys.exit(f"its output lacks: {text}")

    case = arguments.case
    if case == "gcc":
        sh(need("gcc"), "-O2", "-fopenmp", source("program.c"), source("mapped.c"), "-o", "program")
        run(text="right")
    elif case == "clang":
        sh(need("clang"), "-O2", "-fopenmp", source("program.c"), source("mapped.c"), "-o", "program")
        run(text="right")
    elif case == "gfortran":
        sh(need("gcc"), "-O2", "-c", source("mapped.c"), "-o", "mapped.o")
        sh(need("gfortran"), "-O2", "-fopenmp", source("program.f90"), "mapped.o", "-o", "program")
        run(text="right")
    elif case == "mixed":
        sh(need("gcc"), "-O2", "-fopenmp", "-DPART=gcc_part", "-c", source("part.c"), "-o", "gcc_part.o")
        sh(need("clang"), "-O2", "-fopenmp", "-DPART=clang_part", "-c", source("part.c"), "-o", "clang_part.o")
        sh(need("gcc"), "-O2", source("mixed.c"), source("mapped.c"), "gcc_part.o", "clang_part.o",
           "-L" + os.path.dirname(arguments.library), "-lomp", "-lgomp", "-o", "program")
        run(text="right")
    elif case in ("lock_canary_gcc", "lock_canary_clang"):
        sh(need(case.rsplit("_", 1)[1]), "-O2", "-fopenmp", source("lock_canary.c"), "-o", "program")
        run(text="right")
    elif case == "old_locks":
        sh(need("gcc"), "-O2", "-fopenmp", source("old_locks.c"), "-o", "program")
        run(text="right")
    elif case == "atomics":
        sh(need("gcc"), "-O2", "-pthread", source("atomics.c"), "-L" + os.path.dirname(arguments.library), "-lomp",
           "-o", "program")
        run(text="right")
    elif case in ("memory_c", "memory_cxx", "memory_fortran"):
        include = os.path.join(HERE, "../../include")
        link = ["-L" + os.path.dirname(arguments.library), "-lhearth", "-o", "program"]
        if case == "memory_c":
            sh(need("gcc"), "-O2", "-I" + include, source("memory.c"), *link)
        elif case == "memory_cxx":
            sh(need("clang"), "-O2", "-x", "c++", "-I" + include, source("memory.c"), *link)
        else:
            sh(need("gfortran"), "-O2", os.path.join(include, "hearth/hearth.f90"), source("memory.f90"), *link)
        for distribution in ("coarse",) if case == "memory_fortran" else ("standard", "fine", "coarse"):
            run(distribution, text="right", HEARTH_MACHINE="opteron-6172x4", OMP_DATA_DISTRIBUTION=distribution)
    elif case in ("manager_c", "manager_cxx", "manager_fortran"):
        include = os.path.join(HERE, "../../include")
        link = ["-L" + os.path.dirname(arguments.library), "-lhearth", "-o", "program"]
        strict = ["-O2", "-Wall", "-Wextra", "-Werror", "-I" + include]
        if case == "manager_c":
            sh(need("gcc"), "-std=gnu11", *strict, source("manager.c"), *link)
        elif case == "manager_cxx":
            sh(need("clang"), "-x", "c++", *strict, source("manager.c"), *link)
        else:
            sh(need("gfortran"), "-O2", os.path.join(include, "hearth/hearth.f90"), source("manager.f90"), *link)
        run(text="right", HEARTH_MACHINE="opteron-6172x4")
    elif case in ("footprint_gcc", "footprint_clang", "footprint_cxx", "footprint_fortran"):
        include = os.path.join(HERE, "../../include")
        link = ["-L" + os.path.dirname(arguments.library), "-lhearth", "-o", "program"]
        if case == "footprint_fortran":
            sh(need("gfortran"), "-O2", "-fopenmp", os.path.join(include, "hearth/hearth.f90"), source("footprint.f90"), *link)
        elif case == "footprint_cxx":
            sh(need("clang"), "-O2", "-fopenmp", "-x", "c++", "-I" + include, source("footprint.c"), *link, "-lstdc++")
        else:
            sh(need(case.rsplit("_", 1)[1]), "-O2", "-fopenmp", "-I" + include, source("footprint.c"), *link)
        for machine in ("", "opteron-6172x4"):
            for threads in ("1", "2", "8"):
                run(text="right", HEARTH_MACHINE=machine, OMP_NUM_THREADS=threads)
    elif case == "target":
        sh(need("gcc"), "-O2", "-fopenmp", source("target.c"), "-o", "program")
        run(text="right")
    elif case == "missing":
        with open(arguments.stubs, encoding="ascii") as lines:
            stubs = [name for name in lines.read().split() if name.startswith(("GOMP_", "__kmp", "omp_", "kmp"))
                     and not name.startswith("GOMP_PLUGIN_")]
        if not stubs:
            print("nothing is missing")
            return
        sh(need("gcc"), "-O2", "-DENTRY=" + stubs[0], source("missing.c"), "-L" + os.path.dirname(arguments.library),
           "-lomp", "-o", "program")
        run(expect=1, text=f"hearth: {stubs[0]}: not implemented")
    elif case == "openacc":
        sh(need("gcc"), "-O2", "-DENTRY=acc_init", source("missing.c"), "-L" + os.path.dirname(arguments.library),
           "-lomp", "-o", "program")
        run(expect=1, text="hearth: acc_init: OpenACC is not supported")
    else:
        sys.exit(f"no such case: {case}")


if __name__ == "__main__":
    main()
