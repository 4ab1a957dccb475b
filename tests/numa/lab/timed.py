"""`run time`: nested programs (bench/forest) in a machine that tells time (clock.py), beside the simulator's prediction.

Figures are MB/s of the modelled machine as STREAM counts them. Every row runs on the compiler's stock runtime, with no variable
set but those that let waiting threads sleep, with the best settings for nested teams besides, and on Hearth; in turn,
a process each, as often as asked for. The calibration has threads of its own, bound one to a core.
"""
import dataclasses
import json
import statistics
import subprocess

from . import clock, forest, machine, matrix, measure, parts

PASSIVE = {"OMP_WAIT_POLICY": "passive", "KMP_BLOCKTIME": "0"}
SIZE = 512 * 1024       # of a vector, per thread
PASSES = 2              # of Twisted-STREAM's phases
LINES = 8192            # of the chase
KERNELS = {"copy": 1, "scale": 1, "add": 2, "triad": 2}  # what each reads; each writes one vector
TEAMS = THREADS = 4


@dataclasses.dataclass(frozen=True)
class Row:
    name: str
    program: str
    arguments: tuple
    figures: tuple
    plan: str = ""        # of Twisted-STREAM's second phase, for the prediction
    remote: int = 0
    ways: tuple = forest.WAYS
    compilers: tuple = forest.COMPILERS


def _twisted(remote, plan="stay", *more):
    name = {"stay": "no hint", "threads": "threads move", "all": "vectors move now", "written": "written one moves", "mixed": "mixed",
            "read": "read one moves", "choose": "the runtime chooses"}[plan]
    return Row(f"Twisted, {remote} of 3 remote: {'announced touch' if more else name}", "twisted_stream",
               ("--teams", TEAMS, "--threads", THREADS, "--passes", PASSES, "--remote", remote, "--plan", plan, *more, "--bytes", SIZE),
               ("phase 1", "phase 2") if plan == "stay" else ("with hints",), plan, remote,
               forest.WAYS if plan == "stay" else ("hearth",), forest.COMPILERS if (remote, plan) == (3, "stay") else ("gcc",))


_TEAMS = ("--teams", TEAMS, "--threads", THREADS)
ROWS = (
    Row("STREAM", "stream", ("--threads", TEAMS * THREADS, "--bytes", SIZE, "--passes", 1), tuple(KERNELS)),
    Row("Nested-STREAM", "nested_stream", (*_TEAMS, "--bytes", SIZE, "--passes", 1), tuple(KERNELS)),
    _twisted(3), _twisted(3, "threads"), _twisted(3, "choose"), _twisted(3, "all"), _twisted(3, "all", "--when", "touch"),
    _twisted(2), _twisted(2, "written"), _twisted(2, "read"), _twisted(2, "mixed"), _twisted(2, "choose"), _twisted(2, "all"),
    _twisted(2, "all", "--when", "touch"),
    Row("Zones, 16 of sizes 1 : 20", "zones", ("--teams", 8, "--threads", 2, "--bytes", SIZE, "--passes", 2), ("zones",)),
)
ROW_OF = {row.name: row for row in ROWS}


# ------------------------------------------------------------------------------------------------ the simulator's word

def simulate(hearth, phases):
    """Nanoseconds for each phase (bench/papers/stream_times.cpp says what one is)."""
    command = [str(hearth.command.parent / "stream_times"), str(clock.MODEL)]
    done = subprocess.run(command, input=json.dumps(phases), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise parts.MissingPart(f"{' '.join(command)} failed (target benchmarks):\n{done.stderr[-2000:]}")
    return json.loads(done.stdout)


def _on(node):
    return [1 if node == other else 0 for other in range(TEAMS)]


def _pass(vectors, size=SIZE):
    """A phase in which every thread of every node uses vectors: (whether it is written, how many nodes away it is)."""
    return {"streams": [[node, *([size, int(written), *_on((node + away) % TEAMS)] for written, away in vectors)]
                        for node in range(TEAMS) for _ in range(THREADS)]}


def _moves(away, size):
    """All threads fetch their parts of one vector at once, a call each."""
    return {"moves": [[size, (node + away) % TEAMS, node] for node in range(TEAMS) for _ in range(THREADS)]}


def _bytes(vectors, size):
    return vectors * size * TEAMS * THREADS


def _zones(heaviest, size):
    """Rows of a zone are read and written; the heaviest node has so many times the mean, the others are alike."""
    loads = [heaviest] + [(TEAMS - heaviest) / (TEAMS - 1)] * (TEAMS - 1)
    return {"streams": [[node, [size * loads[node], 0, *_on(node)], [size * loads[node], 1, *_on(node)]]
                        for node in range(TEAMS) for _ in range(THREADS)]}


def _of_twisted(row, size, passes):
    """(figure, bytes, ways to get there: phases with how often each)"""
    c = 1 if row.remote == 3 else 0

    def triad(a=0, b=0, c=0):
        return _pass([(True, a), (False, b), (False, c)], size)

    def after(moved, where):
        return [(1, _moves(1, size))] * moved + [(passes, where)]

    threads = after(0, triad(0, 0, 1 - c))  # what was at home is left behind
    ways = {"stay": [after(0, triad(1, 1, c))], "threads": [threads], "mixed": [after(1, triad())], "all": [after(row.remote, triad())],
            "written": [after(1, triad(0, 1, c))], "read": [after(1, triad(1, 0, c))]}
    ways["choose"] = [way for plan in ways.values() for way in plan]
    volume = _bytes(3, size) * passes
    first = [("phase 1", volume, [after(0, triad())])] if row.plan == "stay" else []
    return [*first, (row.figures[-1], volume, ways[row.plan])]


def predictions(hearth, heaviest=None, size=SIZE, passes=PASSES):
    """By (row, figure): MB/s where threads and memory are as the row's title says. Of zones, where whole members of the outer team
    are dealt as evenly as can be, if it is known how evenly that is."""
    asked = []  # row, figure, bytes, ways to get there, of which the fastest counts
    for row in ROWS:
        if row.program in ("stream", "nested_stream"):
            asked += [(row.name, name, _bytes(reads + 1, size), [[(1, _pass([(True, 0)] + [(False, 0)] * reads, size))]])
                      for name, reads in KERNELS.items()]
        elif row.program == "twisted_stream":
            asked += [(row.name, *one) for one in _of_twisted(row, size, passes)]
        elif heaviest is not None:
            asked.append((row.name, "zones", _bytes(2, size), [[(1, _zones(heaviest, size))]]))
    times = iter(simulate(hearth, [phase for *_, ways in asked for way in ways for _, phase in way]))
    return {(row, figure): 1e3 * volume / min(sum(count * next(times) for count, _ in way) for way in ways)
            for row, figure, volume, ways in asked}


def as_counted(hearth, results):
    """By (row, figure, compiler, way): MB/s, the median of the processes, with threads and lines where they were counted. A region's
    matrix stands for each of its figures; the threads of a node share its lines."""
    mix = {"copy": 1, "scale": 1, "add": 2, "triad": 2, "phase 2": 2, "zones": 1}  # what is read beside the vector that is written
    asked = [(one, figure) for one in results for figure in one["figures"]
             if figure in mix and ROW_OF[one["row"]].plan in ("", "stay")]
    phases = []
    for one, figure in asked:
        all_lines = sum(map(sum, one["memory"]))
        streams = []
        for node, lines in enumerate(one["memory"]):
            homes = [count / max(1, sum(lines)) for count in lines]
            volume = SIZE * TEAMS * sum(lines) / all_lines  # of one vector, by each of the node's threads
            streams += [[node, [volume, 1, *homes], *([[volume, 0, *homes]] * mix[figure])] for _ in range(THREADS) if volume]
        phases.append({"streams": streams})
    found = {}
    for (one, figure), ns in zip(asked, simulate(hearth, phases) if phases else []):
        key = (one["row"], figure, one["compiler"], one["way"])
        found.setdefault(key, []).append(1e3 * _bytes(1 + mix[figure], SIZE) / ns)
    return {key: statistics.median(values) for key, values in found.items()}


# ------------------------------------------------------------------------------------------------ the programs

def job(row, compiler, way, hearth):
    runtime = forest.runtime_of(compiler, way)
    environment = dict(PASSIVE)
    if way == "stock, best settings":
        environment.update(forest.BEST_OF[runtime])
    if runtime != "libgomp":
        environment["LD_LIBRARY_PATH"] = measure.runtime_folder(runtime, hearth)
    words = [forest.program(row.program, compiler), "--json", "--repeats", 1, *row.arguments]
    return machine.Job(f"{row.name}, {compiler}, {way}", words, environment, limit_s=400)


def measured(row, compiler, way, pace, rate, result):
    """One process: figures in MB/s, what was local, and how late the machine was."""
    if result.status:
        measure.refuse(result, "no end" if result.timed_out else f"exit status {result.status}")
    said = json.loads(result.out)
    region = result.regions[-1]
    memory = region["memory"]
    return {"row": row.name, "compiler": compiler, "way": way, "dilation": pace.dilation,
            "figures": {name: 1e3 * one["bytes"] * pace.dilation * rate / one["ns"][0] for name, one in said["rows"].items()},
            "local": matrix.Matrix(way, memory).local_share, "memory": memory,
            "late": max(map(clock.late_share, result.regions)), "heaviest": said.get("lpt"), "pages": sum(region["pages"]), "calls": sum(region["calls"])}


def run(rows, hearth, pace, samples, compilers, ways, calibrated=None, on_boot=None, on_measured=None):
    """All in one boot. A chase comes first, for the rate of the clock; with `calibrated`, which gets the lines of its table, the whole
    calibration does."""
    plan = [(row, compiler, way) for _ in range(samples) for row in rows for compiler in compilers for way in ways
            if way in row.ways and compiler in row.compilers]
    first = calibration_jobs() if calibrated else calibration_jobs()[:1]
    results = []

    def take(result):
        results.append(result)
        if len(results) > len(first):
            on_measured(measured(*plan[len(results) - len(first) - 1], pace, clock_rate(results[0]), result), result.seconds)
        elif calibrated and len(results) == len(first):
            calibrated(calibration(hearth, pace, *results))

    if calibrated or plan:
        clock.run([*first, *(job(*one, hearth) for one in plan)], pace, on_boot=on_boot, on_result=take)


# ------------------------------------------------------------------------------------------------ the calibration

def calibration_jobs():
    program = parts.program(parts.NUMA / "clock" / "calibrate.c", "gcc", ["-lnuma", "-lpthread"], name="clock-calibrate")
    return [machine.Job(kind, [program, kind, size, TEAMS, THREADS], limit_s=900)
            for kind, size in (("latency", LINES), ("stream", SIZE // 1024))]


def clock_rate(chases):
    """Seconds of the guest's clock in one of the host's. The kernel finds out at boot how fast its clock ticks, and on a busy host it
    is wrong, once by 3.6; from then on the rate is constant. A chase is all that its region has."""
    if chases.status:
        measure.refuse(chases, f"exit status {chases.status}")
    said = [json.loads(line)["read_ns"] for line in chases.out.splitlines()]
    return statistics.median(ns * LINES / region["host_ns"] for ns, region in zip(said, chases.regions[::2]))


def calibration(hearth, pace, chases, streams):
    """Lines of the table: chases for each distance, streams for each situation; inside the machine and by the model."""
    rate = clock_rate(chases)
    for result in (chases, streams):
        if result.status:
            measure.refuse(result, f"exit status {result.status}")
    model = clock.Model()
    lines = []
    said = [json.loads(line) for line in chases.out.splitlines()]
    for kind, table in (("read", model.read_ns), ("write", model.write_ns)):
        for wanted in sorted({value for line in table for value in line}):
            found = [one[f"{kind}_ns"] / pace.dilation / rate for one in said if table[one["node"]][one["home"]] == wanted]
            lines.append((f"a line, {kind}, {wanted} ns away", statistics.median(found), min(found), max(found), wanted, "ns"))
    said = [json.loads(line) for line in streams.out.splitlines()]
    asked = []
    for one in said:
        on = (lambda node, away=one["away"]: [1 / TEAMS] * TEAMS if away < 0 else _on((node + away) % TEAMS))
        asked.append({"streams": [[node, *([SIZE, int(not one["reads_only"] and vector == 0), *on(node)] for vector in range(3))]
                                  for node in range(one["nodes"]) for _ in range(one["per_node"])]})
    for one, ns in zip(said, simulate(hearth, asked)):
        threads = one["nodes"] * one["per_node"]
        where = {0: "at home", 1: "on the next node", -1: "page by page over all nodes"}[one["away"]]
        lines.append((f"{threads} thread{'s' if threads > 1 else ''}, {'reads' if one['reads_only'] else 'triad'}, memory {where}",
                      one["mbs"] * pace.dilation * rate, None, None, 1e3 * 3 * SIZE * threads / ns, "MB/s"))
    return lines


def calibration_table(lines):
    text = ["| | in the machine | by the model | off |", "|---|--:|--:|--:|"]
    for title, value, low, high, wanted, unit in lines:
        spread = "" if low is None or round(high - low, 1) < 0.1 else f" ({low:.1f}–{high:.1f})"
        form = ".1f" if unit == "ns" else ".0f"
        text.append(f"| {title} | {value:{form}}{spread} {unit} | {wanted:{form}} {unit} | {100 * (value / wanted - 1):+.1f} % |")
    return "\n".join(text) + "\n"


# ------------------------------------------------------------------------------------------------ the table

def heaviest(results):
    """The best balance of the zones' members, as the program tells it."""
    return next((one["heaviest"] for one in results if one["row"] == ROWS[-1].name), None)


def _values(results, row, figure, compiler, way):
    return sorted(one["figures"][figure] for one in results
                  if (one["row"], one["compiler"], one["way"]) == (row, compiler, way) and figure in one["figures"])


def _late(results, row, compiler):
    """How much of a region its latest CPU was behind: the median of the processes, of the way for which it is largest."""
    return max(statistics.median(late) for way in forest.WAYS
               if (late := [one["late"] for one in results if (one["row"], one["compiler"], one["way"]) == (row, compiler, way)]))


def _cell(values):
    if not values:
        return "–"
    middle = statistics.median(values)
    return f"{middle:.0f}" if len(values) == 1 else f"{middle:.0f} ({values[0]:.0f}–{values[-1]:.0f})"


def table(results, predicted):
    tells_late = any("late" in one for one in results)
    text = ["| program | figure | build | stock runtime | best settings | Hearth | by best | simulator | off |" + " late |" * tells_late,
            "|---|---|---|--:|--:|--:|--:|--:|--:|" + "--:|" * tells_late]
    for row in ROWS:
        for figure in row.figures:
            for compiler in forest.COMPILERS:
                by_way = {way: _values(results, row.name, figure, compiler, way) for way in forest.WAYS}
                if not any(by_way.values()):
                    continue
                ours = by_way["hearth"]
                rivals = [statistics.median(by_way[way]) for way in forest.WAYS[:2] if by_way[way]]
                by_best = f"{statistics.median(ours) / max(rivals):.2f} ×" if ours and rivals else "–"
                wanted = predicted.get((row.name, figure))
                off = f"{100 * (statistics.median(ours) / wanted - 1):+.0f} %" if ours and wanted else "–"
                cells = [row.name, figure, compiler, *(_cell(by_way[way]) for way in forest.WAYS), by_best,
                         f"{wanted:.0f}" if wanted else "–", off]
                cells += [f"{100 * _late(results, row.name, compiler):.0f} %"] if tells_late else []
                text.append("| " + " | ".join(cells) + " |")
    return "\n".join(text) + "\n"


def counted_table(results, counted):
    text = ["| program | figure | build | | in the machine | simulator | off |", "|---|---|---|---|--:|--:|--:|"]
    for (row, figure, compiler, way), wanted in sorted(counted.items(), key=lambda one: _place(*one[0])):
        value = statistics.median(_values(results, row, figure, compiler, way))
        text.append(f"| {row} | {figure} | {compiler} | {way} | {value:.0f} | {wanted:.0f} | {100 * (value / wanted - 1):+.0f} % |")
    return "\n".join(text) + "\n"


def _place(row, figure, compiler, way):
    known = ROW_OF[row]
    return ROWS.index(known), known.figures.index(figure), forest.COMPILERS.index(compiler), forest.WAYS.index(way)


def page(calibration, results, predicted, counted):
    text = ["### Calibration", "", calibration_table(calibration)] if calibration else []
    if results:
        counts = sorted({len(_values(results, one["row"], next(iter(one["figures"])), one["compiler"], one["way"])) for one in results})
        samples = " or ".join(map(str, counts))
        text += ["### Programs", "", f"MB/s of the modelled machine: medians of {samples} processes (smallest–largest).", "",
                 table(results, predicted), "### With threads and memory where they were counted", "",
                 counted_table(results, counted)]
    return "\n".join(text) + "\n"
