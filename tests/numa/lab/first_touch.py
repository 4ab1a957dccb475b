"""`run bench --suite tasks`: the task benchmarks of bench/tasks whose data is large, with their memory where it is touched first
and distributed by `hearth run --distribute` (Muddukrishna, Jonsson and Brorsson, figure 3), on the 8-node machine.

Their tasks name no data, so Hearth cannot send them to it. What a distribution changes is which memory answers: where one
thread fills the input, one node's memory serves all. The busiest node's part of the misses tells how far it is from that.
"""
import dataclasses
import itertools
import json
import pathlib
import statistics

from . import machine, measure, parts
from .matrix import Matrix, percent

BENCH = parts.ROOT / "bench"
FRAME = tuple(BENCH / name for name in ("tasks/driver.c", "common/bench.c", "common/team.c"))
PROGRAMS = ("sort", "sparselu", "strassen", "health")
WAYS = ("stock", "first touch", "fine", "coarse", "blocked")
LLC_KIB, L2_KIB = 256, 64
LEAST = "4K"  # the inputs are small, and so are their allocations


@dataclasses.dataclass(frozen=True)
class Case:
    compiler: str
    program: str

    @property
    def title(self):
        return f"{self.compiler} {self.program}"


@dataclasses.dataclass
class Measured:
    case: Case
    way: str
    matrices: list
    distances: tuple

    def median(self, figure):
        return statistics.median(map(figure, self.matrices))

    @property
    def remote(self):
        return self.median(lambda matrix: matrix.remote_cost(self.distances))

    @property
    def share(self):
        return self.median(lambda matrix: matrix.local_share)

    @property
    def busiest(self):
        return self.median(lambda matrix: matrix.busiest_share)


def cases(quick=False):
    # One compiler: without footprints, nothing that the other one does differently matters here.
    return [Case("gcc", name) for name in (PROGRAMS[:1] if quick else PROGRAMS)]


def job(case, way, hearth, repeats, extra=None):
    program = parts.program(BENCH / "tasks" / f"{case.program}.c", case.compiler, ["-lm"], ["-O2"], FRAME,
                            name=f"task-{case.program}")
    command = [program, "--json", "--samples", str(repeats), "--budget-ms", "1000000", "--max-wait-us", "0"]
    runtime = measure.STOCK[case.compiler] if way == "stock" else "hearth"
    environment = dict(measure.BOUND)
    if runtime == "hearth":
        environment.update(extra or {})
    if way == "first touch":
        environment["LD_LIBRARY_PATH"] = measure.runtime_folder(runtime, hearth)
    elif runtime == "hearth":
        command = [hearth.command.resolve(), "run", f"--distribute={way},min={LEAST}", "--", *command]
    return machine.Job(f"{case.title}, {way}", command, environment, limit_s=600)


def measured(case, way, hearth, repeats, result, distances):
    """The figures of one process; raises MachineFailed unless it ran to its end on the runtime that was chosen."""
    runtime = measure.STOCK[case.compiler] if way == "stock" else "hearth"
    if result.timed_out or result.status or len(result.regions) != repeats:
        measure.refuse(result, f"no end after {result.job.limit_s} s" if result.timed_out else
                       f"exit status {result.status}, {len(result.regions)} regions counted of {repeats}")
    served = pathlib.Path(json.loads(result.out)["runtime_file"]).resolve().parent
    if served != measure.runtime_folder(runtime, hearth).resolve():
        measure.refuse(result, f"a library in {served} answered")
    return Measured(case, way, [Matrix(way, region["memory"]) for region in result.regions], distances)


def run(topology, chosen, hearth, repeats=5, on_boot=None, on_measured=None, huge_pages="never", balancing=False, extra=None):
    plan = [(case, way) for case in chosen for way in WAYS]
    jobs = [job(case, way, hearth, repeats, extra) for case, way in plan]
    results = []

    def take(result):
        results.append(measured(*plan[len(results)], hearth, repeats, result, topology.distances))
        if on_measured:
            on_measured(results[-1], result.seconds)

    arguments = [f"transparent_hugepage={huge_pages}", f"numa_balancing={'enable' if balancing else 'disable'}"]
    machine.run(topology, jobs, measuring=True, kernel_arguments=arguments, on_boot=on_boot, on_result=take,
                llc_kib=LLC_KIB, l2_kib=L2_KIB)
    return results


def table(results):
    """Rows of the table in docs/results/data/locality-tasks.md; remote misses in thousands."""
    rows = ["| | " + " | ".join(f"{way}: remote | busiest node" for way in WAYS) + " |", "|---|" + "---|" * (2 * len(WAYS))]
    for case, group in itertools.groupby(results, key=lambda one: one.case):
        by_way = {one.way: one for one in group}
        cells = [case.title]
        for way in WAYS:
            one = by_way.get(way)
            cells += [f"{one.remote / 1000:.1f}", percent(one.busiest)] if one else ["–", "–"]
        rows.append("| " + " | ".join(cells) + " |")
    return "\n".join(rows) + "\n"
