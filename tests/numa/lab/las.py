"""`run bench --suite las`: the six benchmarks of the paper on the 8-node machine, beside the best assignment of their tasks.

Every case is a program, a compiler and a distribution; it runs in several ways: on Hearth by its default
policy, by locality and by work stealing, on the compiler's stock runtime where that can have such memory, and, without tasks, as the best assignment of
the same tasks to nodes under equal balance, which the program works out itself (bench/las/optimal.h) from the homes of
the pages. What counts are remote misses, each weighted by its distance relative to local memory: absolute figures, since
a share can be made better by more misses.

The inputs are small, so the modelled caches are too: a program whose data fits into the caches has nothing to tell.
"""
import dataclasses
import itertools
import re
import statistics

from . import machine, measure, parts

SOURCES = parts.ROOT / "bench" / "las"
FRAME = ("las.c", "optimal.c", "places.c")
PROGRAMS = {
    "map": ("standard", "fine", "coarse"),
    "reduction": ("standard", "fine", "coarse"),
    "vecmul": ("standard", "fine", "coarse"),
    "matmul": ("standard", "fine", "coarse"),
    "jacobi": ("standard", "fine", "coarse", "blocked"),
    "sparselu": ("standard", "fine", "coarse"),
}
# What the paper's table 4 advises, but for Jacobi: its tasks work on parts of one allocation in order.
ADVISED = {"map": "coarse", "reduction": "fine", "vecmul": "coarse", "matmul": "coarse", "jacobi": "blocked", "sparselu": "coarse"}
# What the stock runtimes can have: there, page by page is what numactl --interleave=all makes of it.
STOCK_MEMORY = {"standard": "standard", "fine": "interleaved"}
WAYS = ("best", "default", "locality", "stealing", "stock")
POLICIES = {"locality": "locality", "stealing": "work-stealing"}
LLC_KIB, L2_KIB = 256, 64


@dataclasses.dataclass(frozen=True)
class Case:
    compiler: str
    program: str
    distribution: str

    @property
    def title(self):
        return f"{self.compiler} {self.program}, {self.distribution}"


@dataclasses.dataclass
class Measured:
    case: Case
    way: str
    matrices: list
    balances: list
    costs: list       # the same in the model: each task fetches all it touches
    distances: tuple
    seconds: list     # of the regions: nothing but what the emulation takes

    @property
    def remotes(self):
        return [matrix.remote_cost(self.distances) for matrix in self.matrices]

    @property
    def remote(self):
        return statistics.median(self.remotes)

    @property
    def cost(self):
        return statistics.median(self.costs)

    @property
    def share(self):
        return statistics.median(matrix.local_share for matrix in self.matrices)

    @property
    def balance(self):
        return statistics.median(self.balances)


def cases(quick=False):
    if quick:
        return [Case("clang", program, distribution) for program, distribution in ADVISED.items()]
    # gcc hands on no lengths: how well Hearth infers them shows where it matters, beside libgomp on interleaved memory.
    return [Case(compiler, program, distribution) for compiler in ("clang", "gcc")
            for program, distributions in PROGRAMS.items() for distribution in distributions
            if compiler == "clang" or distribution in (ADVISED[program], "fine")]


def ways(case):
    return [way for way in WAYS if way != "stock" or case.distribution in STOCK_MEMORY]


def program(name, compiler):
    # gcc does not take a depend clause for a use.
    flags = ["-O3", "-Wno-unused-variable"]
    return parts.program(SOURCES / f"{name}.c", compiler, ["-lm"], flags, [SOURCES / each for each in FRAME])


def job(case, way, hearth, repeats, extra=None):
    runtime = measure.STOCK[case.compiler] if way == "stock" else "hearth"
    folder = measure.runtime_folder(runtime, hearth)
    distribution = STOCK_MEMORY[case.distribution] if way == "stock" else case.distribution
    command = [program(case.program, case.compiler), f"distribution={distribution}", f"repeats={repeats}",
               f"by={'optimal' if way == 'best' else 'tasks'}", "cost=yes"]
    environment = dict(measure.BOUND)
    if runtime == "hearth":
        environment.update(extra or {})
        if way in POLICIES:
            environment["HEARTH_POLICY"] = POLICIES[way]
    if runtime != "libgomp":
        environment["LD_LIBRARY_PATH"] = folder
    return machine.Job(f"{case.title}, {way}", command, environment, limit_s=600)


def measured(case, way, hearth, repeats, result, distances):
    runtime = measure.STOCK[case.compiler] if way == "stock" else "hearth"
    one = measure.measured(case, runtime, hearth, repeats, result)
    costs = [float(text) for text in re.findall(r" cost (\d+)", result.out)]
    seconds = [float(text) for text in re.findall(r" seconds (\S+)", result.out)]
    return Measured(case, way, one.matrices, one.balances, costs, distances, seconds)


def run(topology, chosen, hearth, repeats=5, only_ways=None, on_boot=None, on_measured=None, huge_pages="never",
        balancing=False, extra=None):
    plan = [(case, way) for case in chosen for way in ways(case) if not only_ways or way in only_ways]
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


def _thousands(value):
    return f"{value / 1000:.1f}"


def _ratio(value, base):
    return f"{value / base:.2f} ×" if base else "1.00 ×" if not value else "–"


def table(results):
    """Rows of the table in docs/results/data/locality-las.md; remote misses in thousands."""
    rows = ["| benchmark, distribution | best | default | by best | in the model | local | heaviest | locality | heaviest "
            "| work stealing | heaviest | stock runtime | heaviest |",
            "|---|---|---|---|---|---|---|---|---|---|---|---|---|"]
    for case, group in itertools.groupby(results, key=lambda one: one.case):
        by_way = {one.way: one for one in group}
        best, default = by_way.get("best"), by_way.get("default")
        cells = [f"**{case.title}**" if ADVISED[case.program] == case.distribution else case.title,
                 _thousands(best.remote) if best else "–"]
        if default:
            cells += [f"{_thousands(default.remote)} ({_thousands(min(default.remotes))}–{_thousands(max(default.remotes))})",
                      _ratio(default.remote, best.remote) if best else "–",
                      _ratio(default.cost, best.cost) if best else "–",
                      f"{100 * default.share:.1f} %", f"{default.balance:.2f} ×"]
        else:
            cells += ["–"] * 5
        for way in ("locality", "stealing", "stock"):
            one = by_way.get(way)
            cells += [_thousands(one.remote), f"{one.balance:.2f} ×"] if one else ["–", "–"]
        rows.append("| " + " | ".join(cells) + " |")
    return "\n".join(rows) + "\n"
