"""`run bench`: how local the misses of task programs are on the 8-node machine, by runtime.

Every case is one process per runtime, all in one boot, threads bound alike; a process repeats its region and the median
of the local shares counts. Times inside the machine mean nothing and are not shown.
"""
import dataclasses
import itertools
import pathlib
import re
import statistics

from . import machine, parts
from .matrix import Matrix, Repeated

BLOCKS = parts.ROOT / "bench" / "las" / "blocks.c"
BLOCKS_FRAME = (BLOCKS.with_name("places.c"), BLOCKS.with_name("optimal.c"))
SYSTEM = pathlib.Path("/usr/lib/x86_64-linux-gnu")
LIBOMP = pathlib.Path("/usr/lib/llvm-19/lib")
STOCK = {"gcc": "libgomp", "clang": "libomp"}
MEMORY = ("separate", "malloc", "mmap")
BOUND = {"OMP_PROC_BIND": "true", "OMP_PLACES": "cores", "OMP_DYNAMIC": "false"}


@dataclasses.dataclass(frozen=True)
class Case:
    compiler: str
    clause: str
    order: str
    memory: str
    touch: str = "static"

    @property
    def title(self):
        touched = "" if self.touch == "static" else f", touched {self.touch}"
        return f"{self.compiler} {self.clause}, {self.order}, {self.memory}{touched}"


@dataclasses.dataclass
class Measured(Repeated):
    case: Case
    runtime: str
    matrices: list
    balances: list
    best: list = ()  # shares of the best assignment of the same tasks under equal balance, where the program tells

    @property
    def balance(self):
        return statistics.median(self.balances)

    @property
    def best_share(self):
        return statistics.median(self.best)

    @property
    def by_best(self):
        """The share relative to the best assignment's in the same region."""
        return statistics.median(share / best for share, best in zip(self.shares, self.best, strict=True))

    @property
    def typical(self):
        """The matrix whose share is the median (the lower one of two)."""
        return min(self.matrices, key=lambda matrix: (abs(matrix.local_share - statistics.median_low(self.shares))))


def cases(quick=False):
    clauses = (("clang", "affinity"), ("gcc", "depend"))
    if quick:
        return [Case(*pair, "shuffled", "mmap") for pair in clauses]
    result = [Case(*pair, order, memory) for pair, order, memory in
              itertools.product(clauses, ("in-order", "shuffled"), MEMORY)]
    # How high the instrument reads: the very loop that touched the memory writes it again.
    return [*(Case("gcc", "loop", "in-order", memory) for memory in MEMORY), *result]


def loop_cases(quick=False):
    """Loops that rewrite blocks, each after a static loop has touched them, and after such a loop has."""
    kinds = itertools.product(("gcc", "clang"), ("dynamic", "guided", "taskloop"), ("static", "alike"))
    result = [Case(compiler, kind, "shuffled", "mmap", touch) for compiler, kind, touch in kinds]
    return [case for case in result if case.touch == "static"] if quick else result


def silent_cases(quick=False):
    """Tasks without clauses. The pages lie where a loop has touched them, and the arguments lead there."""
    result = [Case(compiler, "none", order, memory) for compiler, order, memory in
              itertools.product(("gcc", "clang"), ("in-order", "shuffled"), MEMORY)]
    return [case for case in result if case.order == "shuffled" and case.memory == "mmap"] if quick else result


def runtime_folder(runtime, hearth):
    folder = {"libgomp": SYSTEM, "libomp": LIBOMP, "hearth": hearth.library}[runtime]
    soname = {"libgomp": "libgomp.so.1", "libomp": "libomp.so.5", "hearth": "libhearth.so"}[runtime]
    if not (folder / soname).exists():
        raise parts.MissingPart(f"there is no {soname} in {folder}; run: "
                                f"{'make build' if runtime == 'hearth' else 'tools/setup'}")
    return folder


def job(case, runtime, hearth, repeats, extra=None, best=True):
    folder = runtime_folder(runtime, hearth)
    program = parts.program(BLOCKS, case.compiler, more=BLOCKS_FRAME)
    command = [program, f"clause={case.clause}", f"order={case.order}", f"memory={case.memory}",
               f"touch={case.touch}", f"repeats={repeats}", *(["best=yes"] if best else [])]
    environment = {**BOUND, **((extra or {}) if runtime == "hearth" else {})}
    # The C library lies in the folder of libgomp, which the loader finds by itself.
    if runtime != "libgomp":
        environment["LD_LIBRARY_PATH"] = folder
    return machine.Job(f"{case.title}, {runtime}", command, environment, limit_s=300)


def refuse(result, why):
    """Raises MachineFailed, with the end of what the process said."""
    raise machine.MachineFailed(f"{result.job.name}: {why}\n{result.out[-1000:]}{result.err[-2000:]}")


def refuse_unless_served(result, runtime, hearth):
    """Raises MachineFailed unless the process ran to its end on the runtime that was chosen."""
    if result.timed_out:
        refuse(result, f"no end after {result.job.limit_s} s")
    if result.status:
        refuse(result, f"exit status {result.status}")
    served = re.search(r"^runtime (.*)$", result.out, re.M)
    folder = runtime_folder(runtime, hearth).resolve()
    if not served or pathlib.Path(served.group(1)).resolve().parent != folder.resolve() and not (
            runtime == "libomp" and "libomp" in pathlib.Path(served.group(1)).resolve().name):
        refuse(result, f"another library answered than {folder}")


def balances(result):
    return [float(text) for text in re.findall(r"balance (\S+)", result.out)]


def measured(case, runtime, hearth, repeats, result):
    """The figures of one process; raises MachineFailed unless it ran to its end on the runtime that was chosen."""
    refuse_unless_served(result, runtime, hearth)
    if len(result.regions) != repeats or not all(region["complete"] for region in result.regions):
        refuse(result, f"{len(result.regions)} regions counted, expected {repeats}")
    matrices = [Matrix(runtime, region["memory"]) for region in result.regions]
    best = [float(text) for text in re.findall(r" best (\S+)", result.out)]
    return Measured(case, runtime, matrices, balances(result), best)


def run(topology, chosen, hearth, repeats=5, runtimes=None, on_boot=None, on_measured=None, huge_pages="never",
        balancing=False, extra=None):
    """Measures each case on its compiler's stock runtime and on Hearth; returns the Measured ones, case by case."""
    plan = [(case, runtime) for case in chosen for runtime in (STOCK[case.compiler], "hearth")
            if not runtimes or runtime in runtimes]
    # While the kernel moves pages, no assignment is the best, and it hides those that it watches from move_pages().
    jobs = [job(case, runtime, hearth, repeats, extra, best=not balancing) for case, runtime in plan]
    results = []

    def take(result):
        case, runtime = plan[len(results)]
        results.append(measured(case, runtime, hearth, repeats, result))
        if on_measured:
            on_measured(results[-1], result.seconds)

    arguments = [f"transparent_hugepage={huge_pages}", f"numa_balancing={'enable' if balancing else 'disable'}"]
    machine.run(topology, jobs, measuring=True, kernel_arguments=arguments, on_boot=on_boot, on_result=take)
    return results


def table(results, with_best=False):
    """Rows of the table in docs/results/data/locality-blocks.md: a case each, columns per runtime. With the best assignment: what it finds at
    home where Hearth ran, and Hearth's share relative to that."""
    rows = ["| blocks of 128 KiB | stock runtime | local | heaviest thread | Hearth: local | heaviest thread |",
            "|---|---|---|---|---|---|"]
    if with_best:
        rows = [rows[0] + " best | by best |", rows[1] + "---|---|"]
    for case, group in itertools.groupby(results, key=lambda one: one.case):
        by_runtime = {one.runtime: one for one in group}
        cells = [case.title]
        for runtime in (STOCK[case.compiler], "hearth"):
            one = by_runtime.get(runtime)
            if runtime != "hearth":
                cells.append(runtime)
            cells += [f"{100 * one.share:.1f} % ({100 * min(one.shares):.1f}–{100 * max(one.shares):.1f})",
                      f"{one.balance:.2f} ×"] if one else ["–", "–"]
        if with_best:
            cells += [f"{100 * one.best_share:.1f} %", f"{one.by_best:.2f} ×"] if one else ["–", "–"]
        rows.append("| " + " | ".join(cells) + " |")
    return "\n".join(rows) + "\n"
