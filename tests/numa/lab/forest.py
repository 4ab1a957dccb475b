"""`run forest`: nested programs (bench/forest) on machines of several nodes: at which node their misses are served, how
often threads were bound, and how many pages moved.

Every row is a program with its arguments, by both compilers; it runs on the compiler's stock runtime, with no variable
set and with the best settings for nested teams, and on Hearth with no variable set. A figure is the median of five
processes. Times inside the machine mean nothing and are not shown.

A row may have a limit for Hearth. It is asked for (--check) only where the library that is measured has what the row is
about: bubbles, or the calls that give hints.
"""
import dataclasses
import itertools
import json
import pathlib
import shlex
import statistics

from . import machine, measure, parts
from .matrix import Matrix, Repeated, percent
from .topologies import TOPOLOGIES

SOURCES = parts.ROOT / "bench" / "forest"
FRAME = (SOURCES / "forest.c", SOURCES / "counts.c")
PROGRAMS = ("stream", "nested_stream", "twisted_stream", "zones", "nested_lu", "amr", "server", "growing", "nested_regions")
MACHINES = ("4x4", "8x1")
COMPILERS = ("gcc", "clang")
# The data is small, so the modelled caches are: LU has 1.5 MiB in all.
LLC_KIB, L2_KIB = 128, 32
BEST = {"OMP_PLACES": "cores", "OMP_PROC_BIND": "spread,close"}
BEST_OF = {"libgomp": BEST, "libomp": {**BEST, "KMP_HOT_TEAMS_MAX_LEVEL": "2", "KMP_HOT_TEAMS_MODE": "1"}}
WAYS = ("stock", "stock, best settings", "hearth")
# What rows are about, and the name by which the library shows that it has it.
FEATURES = {"bubbles": b"HEARTH_BUBBLES", "moves": b"hearth_mem_next_touch", "hints": b"hearth_affinity",
             "rebalance": b"HEARTH_REBALANCE"}
PAGE = 4096


@dataclasses.dataclass(frozen=True)
class Row:
    """`arguments` and `limit` are functions of the topology; limit gives what is wrong with a Measured, or nothing."""
    name: str
    program: str
    arguments: object
    bound: str = ""
    limit: object = None
    feature: str = ""
    ways: tuple = WAYS
    machines: tuple = MACHINES


@dataclasses.dataclass
class Measured(Repeated):
    row: Row
    compiler: str
    way: str
    topology: object
    matrices: list
    said: list           # what the processes print

    @property
    def title(self):
        return f"{self.topology.name} {self.row.name}, {self.compiler}"

    @property
    def heaviest(self):
        """The misses of the heaviest node's cores by the mean: how even the work lies."""
        return statistics.median(max(map(sum, matrix.memory)) * len(matrix.memory) / matrix.total
                                 for matrix in self.matrices)

    @property
    def binds(self):
        return statistics.median(one["counts"][0]["binds"] for one in self.said)

    @property
    def pages(self):
        return statistics.median(one["counts"][0]["pages"] for one in self.said)

    @property
    def best_balance(self):
        return self.said[0].get("lpt")

    @property
    def vector_pages(self):
        """Of one vector, all teams together."""
        one = self.said[0]
        return one["teams"] * one["threads"] * one["bytes"] // PAGE


def _sizes(topology):
    """A team per node, a thread per core."""
    return ["--teams", topology.nodes, "--threads", topology.cpu_count // topology.nodes]


def _stream(topology):
    return ["--threads", topology.cpu_count, "--bytes", "1M", "--passes", 1]


def _nested(topology):
    return [*_sizes(topology), "--passes", 1]


def _twisted(*words):
    return lambda topology: [*_sizes(topology), "--passes", 3, *words]


def _zones(topology):
    """Two members of the outer team per node where the node's cores are enough for both."""
    share = 2 if topology.cpu_count >= 2 * topology.nodes else 1
    teams = topology.nodes * share
    return ["--teams", teams, "--threads", topology.cpu_count // teams, "--bytes", "512K", "--passes", 4]


def _four(topology):
    return ["--threads", 4, "--bytes", "1M", "--passes", 1]


def _growing(topology):
    """Enough data for steps of milliseconds, even on a quiet host: in less nobody looks at balance."""
    return ["--teams", 2 * topology.nodes, "--threads", topology.cpu_count // topology.nodes // 2, "--bytes", "512K"]


def _lu(topology):
    """As many bytes of matrix per node on each machine: less than a node of 4x4 has would fit the caches of 8x1."""
    return [*_sizes(topology), "--size", 16 * round(14 * topology.nodes ** 0.5)]


def _amr(topology):
    return [*_sizes(topology), "--bytes", "256K", "--blocks", 32, "--passes", 4]


def _server(topology):
    return [*_sizes(topology), "--bytes", "256K", "--passes", 4]


def at_least(share):
    return lambda one: None if one.share >= share else f"{percent(one.share)} local, expected at least {percent(share)}"


def near(share, points):
    return lambda one: (None if abs(one.share - share) <= points / 100
                        else f"{percent(one.share)} local, expected {percent(share)} ± {points}")


def pages_of(vectors, tolerance=0.01):
    def judge(one):
        wanted = vectors * one.vector_pages
        return (None if abs(one.pages - wanted) <= tolerance * wanted
                else f"{one.pages:.0f} pages moved, expected {wanted} ± {100 * tolerance:g} %")
    return judge


def binds_at_most(count):
    return lambda one: None if one.binds <= count else f"{one.binds:.0f} binds, expected at most {count}"


def balance(factor):
    def judge(one):
        most = factor * one.best_balance
        return None if one.heaviest <= most else f"heaviest node {one.heaviest:.2f} x the mean, at most {most:.2f} wanted"
    return judge


def one_team_moved(one):
    """Moving one team's data is enough."""
    said = one.said[0]
    most = 1.2 * said["threads"] * said["bytes"] / PAGE
    return None if one.pages <= most else f"{one.pages:.0f} pages moved, expected at most {most:.0f}"


def spread(one):
    return None if one.heaviest <= 1.1 else f"heaviest node {one.heaviest:.2f} x the mean, expected 1"


def all_of(*judges):
    return lambda one: "; ".join(filter(None, (judge(one) for judge in judges))) or None


def _hint(remote, what, plan, bound, limit, *more):
    """Phase 2 of Twisted-STREAM with hints: nothing for the stock runtimes, they have no such calls."""
    return Row(f"Twisted, {remote} of 3 remote: {what}", "twisted_stream", _twisted("--remote", remote, "--plan", plan, *more),
               bound, limit, "moves" if plan in ("all", "read", "written") and "touch" not in more else "hints", ("hearth",))


_THREADS_MOVE = ("≥ 98 %, 0 pages, ≤ 16 binds", all_of(at_least(0.98), pages_of(0), binds_at_most(16)))
_ONE_MOVES = ("⅔, 1 vector's pages", all_of(near(2 / 3, 2), pages_of(1)))
_TWO_MOVE = ("≥ 98 %, 2 vectors' pages ± 1 %", all_of(at_least(0.98), pages_of(2)))
_THREE_MOVE = ("≥ 98 %, 3 vectors' pages ± 1 %", all_of(at_least(0.98), pages_of(3)))
ROWS = (
    Row("STREAM", "stream", _stream, "≥ 99.5 %", at_least(0.995), "bubbles"),
    Row("Nested-STREAM", "nested_stream", _nested, "≥ 98 %", at_least(0.98), "bubbles"),
    Row("Twisted, 3 of 3 remote: no hint", "twisted_stream", _twisted("--remote", 3), "about 0 %", near(0, 2), "bubbles"),
    _hint(3, "threads move", "threads", *_THREADS_MOVE),
    _hint(3, "the runtime chooses", "choose", *_THREADS_MOVE),
    _hint(3, "vectors move now", "all", *_THREE_MOVE),
    _hint(3, "announced touch", "all", *_THREE_MOVE, "--when", "touch"),
    Row("Twisted, 2 of 3 remote: no hint", "twisted_stream", _twisted("--remote", 2), "⅓", near(1 / 3, 2), "bubbles"),
    _hint(2, "written only", "written", *_ONE_MOVES),
    _hint(2, "read only", "read", *_ONE_MOVES),
    _hint(2, "mixed", "mixed", "≥ 98 %, 1 vector's pages", all_of(at_least(0.98), pages_of(1, 0))),
    _hint(2, "the runtime chooses", "choose", "", None),
    _hint(2, "both move now", "all", *_TWO_MOVE),
    _hint(2, "announced touch", "all", *_TWO_MOVE, "--when", "touch"),
    _hint(2, "trap", "all", *_TWO_MOVE, "--when", "trap"),
    Row("Zones, 16 of sizes 1 : 20", "zones", _zones, "≥ 95 %, heaviest node ≤ 1.15 × LPT",
        all_of(at_least(0.95), balance(1.15)), "bubbles"),
    Row("Nested LU", "nested_lu", _lu, "≥ 90 %", at_least(0.90), "bubbles"),
    Row("One team grows by half a step", "growing", _growing, "≥ 95 %, heaviest node ≤ 1.2 × LPT, pages ≤ 1.2 × one team's",
        all_of(at_least(0.95), balance(1.2), one_team_moved), "rebalance", machines=("4x4",)),
    Row("STREAM, a team of 4 alone", "stream", _four, "spread: heaviest node 1 ×", spread, "rebalance", machines=("4x4",)),
    Row("Adaptive mesh", "amr", _amr),
    Row("Server", "server", _server),
)


def program(name, compiler):
    return parts.program(SOURCES / f"{name}.c", compiler, ["-lm"], more=FRAME, name=f"forest-{name}")


def runtime_of(compiler, way):
    return "hearth" if way == "hearth" else measure.STOCK[compiler]


def job(row, compiler, way, topology, hearth, samples, size, extra=None):
    """`samples` processes one after another, each with one region; `size` bytes per thread and vector of the nested STREAMs.
    tracefs is there for the count of binds."""
    runtime = runtime_of(compiler, way)
    environment = dict(BEST_OF[runtime] if way == "stock, best settings" else (extra or {}) if way == "hearth" else {})
    if runtime != "libgomp":  # the loader finds that by itself
        environment["LD_LIBRARY_PATH"] = measure.runtime_folder(runtime, hearth)
    words = [program(row.program, compiler), "--json", "--count", "--repeats", 1, *row.arguments(topology)]
    words += ["--bytes", size] if row.program in ("nested_stream", "twisted_stream") else []
    command = shlex.join(map(str, words))
    script = (f"mountpoint -q /sys/kernel/tracing || mount -t tracefs none /sys/kernel/tracing || exit 90\n"
              f"for sample in $(seq {samples}); do {command} || exit; done")
    return machine.Job(f"{topology.name} {row.name}, {compiler}, {way}", script, environment, limit_s=1200)


def measured(row, compiler, way, topology, hearth, samples, result):
    """The figures of one job; raises MachineFailed unless all processes ran to their end on the runtime that was chosen."""
    runtime = runtime_of(compiler, way)
    if result.timed_out or result.status:
        measure.refuse(result, f"no end after {result.job.limit_s} s" if result.timed_out else
                       f"exit status {result.status}")
    said = [json.loads(line) for line in result.out.splitlines()]
    if len(result.regions) != samples or len(said) != samples:
        measure.refuse(result, f"{len(result.regions)} regions counted, expected {samples}")
    served = pathlib.Path(said[0]["runtime_file"]).resolve().parent
    if served not in (measure.runtime_folder(runtime, hearth).resolve(), measure.SYSTEM.resolve()):
        measure.refuse(result, f"a library in {served} answered")
    matrices = [Matrix(way, region["memory"]) for region in result.regions]
    return Measured(row, compiler, way, topology, matrices, said)


def features(hearth):
    """What the measured library has, of those features that rows ask for."""
    library = (hearth.library / "libhearth.so").read_bytes()
    return {name for name, sign in FEATURES.items() if sign in library}


def verdict(one, available):
    """Whether Hearth keeps the row's limit: None where there is none to keep, "" if so, else what is wrong."""
    if one.way != "hearth" or one.row.limit is None or one.row.feature not in available:
        return None
    return one.row.limit(one) or ""


def run(topology, rows, hearth, samples=5, compilers=COMPILERS, ways=WAYS, size="256K", on_boot=None, on_measured=None,
        extra=None):
    """Measures the rows on this machine, in one boot; returns the Measured ones, row by row."""
    available = features(hearth)
    plan = [(row, compiler, way) for row in rows for compiler in compilers for way in row.ways
            if way in ways and topology.name in row.machines
            and (row.feature not in ("moves", "hints") or row.feature in available)]
    jobs = [job(row, compiler, way, topology, hearth, samples, size, extra) for row, compiler, way in plan]
    results = []

    def take(result):
        results.append(measured(*plan[len(results)], topology, hearth, samples, result))
        if on_measured:
            on_measured(results[-1], result.seconds)

    if jobs:
        machine.run(topology, jobs, measuring=True, on_boot=on_boot, on_result=take, llc_kib=LLC_KIB, l2_kib=L2_KIB,
                    kernel_arguments=["transparent_hugepage=never", "numa_balancing=disable"], limit_s=4 * 3600)
    return results


def _cell(one):
    if one is None:
        return "–"
    low, high = min(one.shares), max(one.shares)
    text = f"{100 * one.share:.1f} %"
    return text if high - low < 0.002 else f"{text} ({100 * low:.0f}–{100 * high:.0f})"


def _note(one, available):
    wrong = verdict(one, available)
    return "" if wrong is None else "holds" if not wrong else f"**misses**: {wrong}"


def table(results, available):
    """Rows of the table in docs/results/data/forest.md, a table for each machine."""
    text = []
    for topology, group in itertools.groupby(results, key=lambda one: one.topology):
        group = list(group)
        samples = sorted({len(one.said) for one in group})
        text += [f"### {topology.title}", "", f"Medians of {' or '.join(map(str, samples))} processes.", "",
                 "| | build | stock runtime | best settings | Hearth | binds | pages | heaviest node | wanted | |",
                 "|---|---|--:|--:|--:|--:|--:|--:|---|---|"]
        for (row, compiler), ways in itertools.groupby(group, key=lambda one: (one.row, one.compiler)):
            by_way = {one.way: one for one in ways}
            ours = by_way.get("hearth")
            cells = [row.name, compiler, *(_cell(by_way.get(way)) for way in WAYS)]
            cells += [f"{ours.binds:.0f}", f"{ours.pages:.0f}", f"{ours.heaviest:.2f} ×", row.bound,
                      _note(ours, available)] if ours else ["–", "–", "–", row.bound, ""]
            text.append("| " + " | ".join(cells) + " |")
        text.append("")
    return "\n".join(text)


def as_json(results):
    return [{"topology": one.topology.name, "row": one.row.name, "compiler": one.compiler, "way": one.way,
             "matrices": [matrix.memory for matrix in one.matrices], "said": one.said} for one in results]


def from_json(written):
    rows = {row.name: row for row in ROWS}
    return [Measured(rows[one["row"]], one["compiler"], one["way"], TOPOLOGIES[one["topology"]],
                     [Matrix(one["way"], memory) for memory in one["matrices"]], one["said"])
            for one in written if one["row"] in rows]


def merged(old, new):
    """The newer figure of each, in the order of the table."""
    def place(one):
        return (MACHINES.index(one.topology.name), ROWS.index(one.row), COMPILERS.index(one.compiler), WAYS.index(one.way))
    return [one for _, one in sorted({place(one): one for one in [*old, *new]}.items())]
