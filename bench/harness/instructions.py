"""bench/run instructions: instructions per construct under callgrind, for every runtime; no noise, no clock.

One thread by default: with more, valgrind runs them in turns and counts how long they spin. So this compares the length
of the paths, not their waiting; constructs that a runtime shortens for a team of one tell little (regions, barriers).
What a process with many repetitions executes beyond one with few is the constructs' own; the process's start cancels.
"""
import json
import pathlib
import re
import shutil
import subprocess
import tempfile

from . import build, jobs, report, runtimes

FEW, MANY = 200, 1000  # operations; at least 3 and 15 repetitions


def _instructions(program, row, reps, environment):
    """(instructions of the process, operations it performed)."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={pathlib.Path(folder) / 'out'}",
                               str(program), "--count", row, str(reps)], env=environment, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=120, check=False)
    collected = re.search(r"Collected\s*:\s*(\d+)", done.stderr)
    if done.returncode or not collected:
        raise build.BuildError(f"valgrind: {done.stderr.strip().splitlines()[-1:]}")
    return int(collected.group(1)), int(done.stdout)


def run(options):
    if not shutil.which("valgrind"):
        raise build.BuildError("no valgrind: install it")
    found = [runtime for runtime in runtimes.find(build.OUTPUT, options.lib, jobs.intel_or_none(options))
             if runtime.name != "hearth again"]
    compilers = (options.compiler,) if options.compiler else runtimes.COMPILERS
    headings = ["row", "build", *("Hearth" if runtime.name == "hearth" else runtime.name for runtime in found)]
    table = []
    figures = []
    for compiler in compilers:
        program = build.program("overhead", compiler)
        for runtime in found:
            if compiler not in runtime.compilers:
                continue
            environment = runtimes.environment(runtime, 1, options.bound, extra=options.extra)
            listing = subprocess.run([program, "--list"], env=environment, stdout=subprocess.PIPE, text=True, check=True)
            for row in (line.split("\t")[0] for line in listing.stdout.splitlines()):
                if options.filter not in row:
                    continue
                each = int(subprocess.run([program, "--count", row, "1"], env=environment, stdout=subprocess.PIPE, text=True,
                                          timeout=20, check=True).stdout)
                few = _instructions(program, row, max(3, FEW // each), environment)
                many = _instructions(program, row, max(15, MANY // each), environment)
                figures.append({"row": row, "compiler": compiler, "runtime": runtime.name,
                                "instructions": (many[0] - few[0]) / (many[1] - few[1])})
    for row, compiler in dict.fromkeys((figure["row"], figure["compiler"]) for figure in figures):
        by_runtime = {figure["runtime"]: figure["instructions"] for figure in figures
                      if (figure["row"], figure["compiler"]) == (row, compiler)}
        table.append([row, compiler, *(f"{by_runtime[runtime.name]:.0f}" if runtime.name in by_runtime else "–"
                                       for runtime in found)])
    print(report.plain_table(headings, table))
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    print(f"JSON: {options.json}")
    return 0
