"""Compiles the benchmark programs with gcc and clang, and fetches Intel's runtime; all output lies in build/bench/.

A program is compiled again when one of its sources or a header is newer, or when the command line changed.
"""
import pathlib
import shutil
import subprocess
import sys
import zipfile

BENCH = pathlib.Path(__file__).resolve().parent.parent
ROOT = BENCH.parent
OUTPUT = ROOT / "build" / "bench"

# DWARF 4: valgrind 3.19 cannot read what clang 19 writes by default.
FLAGS = ["-O2", "-gdwarf-4", "-std=gnu11", "-Wall", "-Wextra"]
TASKS = ("fib", "nqueens", "sort", "strassen", "sparselu", "uts", "health")

_COMMON = ["common/bench.c", "common/team.c"]
PROGRAMS = {
    "overhead": ["overhead/main.c", "overhead/constructs.c", *_COMMON],
    "startup": ["overhead/startup.c"],
    "scaling": ["scaling/scaling.c", "overhead/constructs.c", *_COMMON],
    "quota": ["quota/quota.c", "common/bench.c"],
    **{task: [f"tasks/{task}.c", "tasks/driver.c", *_COMMON] for task in TASKS},
}
# Programs that measure the machine, without OpenMP; built once, by gcc.
PLAIN = {
    "floor": ["common/floor.c", "common/bench.c"],
    "calm": ["common/calm.c"],
    "launcher": ["overhead/launcher.c", "common/bench.c"],
    "startup-without-openmp": ["overhead/startup.c"],
}


class BuildError(Exception):
    pass


def _compiler(name):
    candidates = {"gcc": ("gcc",), "clang": ("clang-19", "clang")}[name]
    for candidate in candidates:
        if shutil.which(candidate):
            return candidate
    raise BuildError(f"no {name}: looked for {', '.join(candidates)}")


def _build(command, sources, output):
    stamp = output.with_name(output.name + ".command")
    line = " ".join(command)
    inputs = [BENCH / source for source in sources] + list(BENCH.glob("*/*.h"))
    if (output.exists() and stamp.exists() and stamp.read_text() == line
            and all(path.stat().st_mtime <= output.stat().st_mtime for path in inputs)):
        return
    print(f"bench: building {output.relative_to(ROOT)}", file=sys.stderr)
    done = subprocess.run(command, cwd=BENCH, stderr=subprocess.PIPE, text=True, check=False)
    if done.stderr:
        sys.stderr.write(done.stderr)
    if done.returncode:
        raise BuildError(f"{line} failed")
    stamp.write_text(line)


def program(name, compiler):
    """Path of the program, built by that compiler with OpenMP."""
    output = OUTPUT / "bin" / f"{name}.{compiler}"
    output.parent.mkdir(parents=True, exist_ok=True)
    _build([_compiler(compiler), *FLAGS, "-fopenmp", *PROGRAMS[name], "-o", str(output), "-lm"], PROGRAMS[name], output)
    return output


def las_program(name):
    """One of the paper's six benchmarks, built by clang as the virtual machine's laboratory builds it."""
    output = OUTPUT / "bin" / f"las-{name}.clang"
    output.parent.mkdir(parents=True, exist_ok=True)
    sources = [f"las/{part}.c" for part in (name, "las", "optimal", "places")]
    flags = ["-O3", "-D_GNU_SOURCE", "-std=gnu11", f"-I{ROOT / 'tests' / 'numa'}", f"-I{ROOT / 'include'}"]
    _build([_compiler("clang"), *flags, "-fopenmp", *sources, "-o", str(output), "-lm"], sources, output)
    return output


def forest_program(name, compiler):
    """A program of bench/forest."""
    output = OUTPUT / "bin" / f"forest-{name}.{compiler}"
    output.parent.mkdir(parents=True, exist_ok=True)
    sources = [f"forest/{part}.c" for part in (name, "forest", "counts")]
    flags = [*FLAGS, "-D_GNU_SOURCE", f"-I{ROOT / 'tests' / 'numa'}", f"-I{ROOT / 'include'}"]
    _build([_compiler(compiler), *flags, "-fopenmp", *sources, "-o", str(output), "-lm"], sources, output)
    return output


def plain_program(name):
    output = OUTPUT / "bin" / name
    output.parent.mkdir(parents=True, exist_ok=True)
    _build([_compiler("gcc"), *FLAGS, "-Wno-unknown-pragmas", *PLAIN[name], "-o", str(output), "-pthread"],
           PLAIN[name], output)
    return output


def counting_library():
    """Folder of a Hearth build that counts writes to shared lines; brought up to date by cmake."""
    folder = OUTPUT / "counting"
    for command in (["cmake", "-S", str(ROOT), "-B", str(folder), "-G", "Ninja", "-DCMAKE_BUILD_TYPE=RelWithDebInfo",
                     "-DHEARTH_TESTS=OFF", "-DCMAKE_CXX_FLAGS=-DHEARTH_COUNT_SHARED_WRITES"],
                    ["cmake", "--build", str(folder), "--target", "hearth", "-j2"]):
        print(f"bench: {' '.join(command)}", file=sys.stderr)
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode:
            raise BuildError(f"{' '.join(command)} failed:\n{done.stdout[-3000:]}")
    return folder / "lib"


def intel_library():
    """Intel's libiomp5.so out of the PyPI package intel-openmp, fetched once; raises BuildError when that fails."""
    target = OUTPUT / "intel" / "libiomp5.so"
    if target.exists():
        return target
    wheels = OUTPUT / "wheels"
    wheels.mkdir(parents=True, exist_ok=True)
    if not list(wheels.glob("intel_openmp-*.whl")):
        print("bench: fetching intel-openmp from PyPI", file=sys.stderr)
        done = subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(wheels),
                               "intel-openmp"], stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode:
            raise BuildError(f"pip download intel-openmp failed: {done.stderr.strip().splitlines()[-1:]}")
    wheel = sorted(wheels.glob("intel_openmp-*.whl"))[-1]
    with zipfile.ZipFile(wheel) as archive:
        inside = [name for name in archive.namelist() if name.endswith("/lib/libiomp5.so")]
        if not inside:
            raise BuildError(f"{wheel.name} holds no libiomp5.so")
        target.parent.mkdir(parents=True, exist_ok=True)
        partial = target.with_suffix(".partial")
        partial.write_bytes(archive.read(inside[0]))
        partial.rename(target)
    return target
