"""`run demo` and `run here`: one binary per compiler, unmodified, on the runtime it was built for and on Hearth, as matrices
side by side. `demo` counts cache misses on the virtual machine with 8 nodes; `here` counts pages on this machine as it is.
"""
import json
import os
import re
import statistics
import subprocess
import sys
import threading
import time

from . import machine, matrix, measure, parts
from .topologies import TOPOLOGIES

REPEATS = 5
NAMES = {"hearth": "Hearth"}
LIMIT_S = 120


class Progress:
    """One line on standard error that says what is going on: with the seconds, rewritten in place, on a terminal; else a
    line per step. Used from one thread; a thread of its own keeps the seconds going."""

    def __init__(self, steps):
        self._steps = steps
        self._done = -1
        self._text = ""
        self._start = time.monotonic()
        self._terminal = sys.stderr.isatty()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._tick, daemon=True)

    def __enter__(self):
        if self._terminal:
            self._thread.start()
        return self

    def __exit__(self, *_):
        self._over.set()
        if self._terminal:
            self._thread.join()
            print("\r\033[K", end="", file=sys.stderr, flush=True)

    def step(self, text):
        self._done += 1
        self._text = text
        if not self._terminal:
            print(f"demo: {text} ({self._done + 1} of {self._steps})", file=sys.stderr, flush=True)

    def _tick(self):
        while not self._over.wait(0.25):
            print(f"\r\033[Kdemo: {self._text} · step {self._done + 1} of {self._steps}, "
                  f"{time.monotonic() - self._start:.0f} s", end="", file=sys.stderr, flush=True)


def _cases():
    """A case per compiler, gcc's first."""
    return sorted(measure.cases(quick=True), key=lambda case: case.compiler != "gcc")


def _plan():
    return [(case, runtime) for case in _cases() for runtime in (measure.STOCK[case.compiler], "hearth")]


def _doing(case, runtime):
    return f"{case.compiler}'s binary on {NAMES.get(runtime, runtime)}"


def rows(results, what):
    """The typical matrices of a case in a row, titled for the pictures."""
    found = {}
    for one in results:
        title = f"{one.case.compiler}'s binary, tasks with {one.case.clause} clauses: {NAMES.get(one.runtime, one.runtime)}"
        found.setdefault(one.case, []).append(matrix.Matrix(title, one.typical.memory, what))
    return list(found.values())


def _show(drawn, heading, svg):
    colour = sys.stdout.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") not in (None, "dumb")
    heaviest = matrix.heaviest_part([each for row in drawn for each in row])
    for row in drawn:
        print(matrix.side_by_side(row, colour, heaviest))
    if svg:
        svg.parent.mkdir(parents=True, exist_ok=True)
        svg.write_text(matrix.as_svg(drawn, heading))
        print(f"The picture: {svg}")


def virtual(hearth, svg):
    topology = TOPOLOGIES["8x1"]
    plan = _plan()
    with Progress(len(plan) + 1) as progress:
        progress.step("a virtual machine with 8 NUMA nodes boots")
        waiting = iter([_doing(*step) for step in plan])

        def next_step(*_):
            text = next(waiting, None)
            if text:
                progress.step(text)

        results = measure.run(topology, _cases(), hearth, REPEATS, on_boot=next_step, on_measured=next_step)
    print("256 tasks rewrite blocks of 128 KiB that threads touched first, in four rounds. Two programs, built by gcc and by\n"
          "clang: each runs on its own runtime and on Hearth, in an emulated machine:\n"
          f"{topology.title}.\n"
          "Each cell: percentage of all last-level cache misses that memory served.\n")
    _show(rows(results, "misses that memory serves"), "Which memory serves the cache misses of 8 nodes, in percent", svg)
    return 0


def pages(text, nodes):
    """The matrices that blocks prints with count=pages, one per repeat: node of the task by home of its pages."""
    found = []
    for line in text.splitlines():
        if line.startswith("repeat "):
            found.append([[0] * nodes for _ in range(nodes)])
        match = re.fullmatch(r"pages (\d+) (\d+) (\d+)", line)
        if match:
            node, home, count = map(int, match.groups())
            found[-1][node][home] = count
    return found


def _measured_here(case, runtime, hearth, blocks):
    job = measure.job(case, runtime, hearth, REPEATS)
    command = [*map(str, job.command), f"blocks={blocks}", "count=pages"]
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith(("OMP_", "GOMP_", "KMP_", "HEARTH", "LD_"))}
    start = time.monotonic()
    try:
        done = subprocess.run(command, env={**environment, **{name: str(value) for name, value in job.environment.items()}},
                              capture_output=True, text=True, timeout=LIMIT_S, check=False)
    except subprocess.TimeoutExpired as late:
        raise machine.MachineFailed(f"{_doing(case, runtime)}: no end after {LIMIT_S} s") from late
    result = machine.Result(job, done.returncode, done.stdout, done.stderr, [], time.monotonic() - start)
    measure.refuse_unless_served(result, runtime, hearth)
    seconds = [float(text) for text in re.findall(r" seconds (\S+)", result.out)]
    numbers = [int(text) for line in re.findall(r"^pages (\d+) (\d+) ", result.out, re.M) for text in line]
    return pages(result.out, max(numbers) + 1), measure.balances(result), statistics.median(seconds)


def _locations(hearth):
    done = subprocess.run([str(hearth.command), "topo", "--json"], capture_output=True, text=True, timeout=LIMIT_S, check=True)
    seen = json.loads(done.stdout)
    return len(seen["locations"]), seen["default_team_size"]


def _squared(results):
    """All matrices as large as the largest."""
    most = max(len(one.matrices[0].memory) for one in results)
    for one in results:
        for each in one.matrices:
            each.memory = [row + [0] * (most - len(row)) for row in each.memory]
            each.memory += [[0] * most for _ in range(most - len(each.memory))]


def here(hearth, svg):
    locations, threads = _locations(hearth)
    blocks = min(4096, max(256, 16 * threads))
    plan = _plan()
    results, seconds = [], []
    with Progress(len(plan)) as progress:
        for case, runtime in plan:
            progress.step(_doing(case, runtime))
            counted, balances, median = _measured_here(case, runtime, hearth, blocks)
            results.append(measure.Measured(case, runtime, [matrix.Matrix(runtime, each) for each in counted], balances))
            seconds.append(median)
    _squared(results)
    print(f"{blocks} tasks rewrite blocks of 128 KiB that threads touched first, in four rounds, on this machine with\n"
          f"{threads} threads. Pages are counted, not cache misses: for each task the node that it ran on, and the nodes where\n"
          "the pages of its block are (move_pages). Each cell: percentage of all pages that tasks rewrote.\n")
    _show(rows(results, "pages that tasks rewrote"), "Which memory tasks rewrite on this machine, in percent", svg if locations > 1 else None)
    for one, median in zip(results, seconds):
        print(f"{_doing(one.case, one.runtime):28} {matrix.percent(one.share):>8} local   heaviest thread "
              f"{one.balance:.2f} x   {1000 * median:.1f} ms")
    if locations < 2:
        print("\nThis process may use one NUMA node, where all memory is local under every runtime: there is nothing to show here.\n"
              "On a machine with several nodes the same command tells the runtimes apart.")
    return 0
