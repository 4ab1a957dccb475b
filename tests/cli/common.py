"""What the suites of the command line share: the paths they are called with, and a folder of test programs."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HEARTH = sys.argv[1]
SOURCE = pathlib.Path(sys.argv[2])
LIBRARY = str(pathlib.Path(HEARTH).resolve().parent.parent / "lib/hearth/libhearth.so")

# A region, then what OpenMP runtimes are mapped, then the exit status asked for.
PROGRAM = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <omp.h>
static int ran;  // an empty task would be compiled away
int main(int argc, char** argv) {
  int threads = 0;
  int i;
#pragma omp parallel
  {
#pragma omp atomic
    threads++;
  }
#pragma omp parallel
  {
#pragma omp single
    for (i = 0; i < 10; i++) {
#pragma omp task
      __atomic_fetch_add(&ran, 1, __ATOMIC_RELAXED);
    }
  }
  char line[4096];
  FILE* maps = fopen("/proc/self/maps", "r");
  while (fgets(line, sizeof(line), maps)) {
    char* path = strchr(line, '/');
    if (path && strstr(line, "r-xp") && (strstr(path, "libgomp") || strstr(path, "omp.so") || strstr(path, "libhearth.so")))
      printf("mapped %s", path);
  }
  printf("threads %d\n", threads);
  return argc > 1 ? atoi(argv[1]) : 0;
}
"""


def clean_environment():
    """Ours, without what would tell OpenMP, Hearth or the loader anything, or look like an MPI job."""
    return {k: v for k, v in os.environ.items()
            if not k.startswith(("OMP_", "GOMP_", "KMP_", "HEARTH", "LD_", "OMPI_", "PMI", "SLURM_"))}


def run(*command, env=None, **more):
    """Runs to the end; extra environment in env (None removes a variable)."""
    environment = clean_environment()
    for name, value in (env or {}).items():
        if value is None:
            environment.pop(name, None)
        else:
            environment[name] = str(value)
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=100, env=environment,
                          **more)


def hearth(*arguments, **more):
    return run(HEARTH, *arguments, **more)


class Workshop:
    """A temporary folder in which programs are compiled; gone at exit."""

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="hearth-cli-"))

    def compile(self, name, source, *options, compiler="gcc"):
        path = self.folder / (name + ".c")
        path.write_text(source)
        output = self.folder / name
        built = run(compiler, "-O1", path, "-o", output, *options)
        if built.returncode != 0:
            raise RuntimeError(f"{compiler}: {built.stderr}")
        return output

    def close(self):
        shutil.rmtree(self.folder, ignore_errors=True)
