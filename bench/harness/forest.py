"""bench/run forest: programs of nested teams (bench/forest) on Hearth, libgomp, libomp and libiomp5.

Hearth runs with no variable set; each rival with none, and with the best settings there are for nested teams. All run
alternately; a process repeats its program a few times and its median is one figure, a round is one process of each. The
programs check their results. On a machine of one NUMA node this tells what nested regions cost, not where memory is:
that is counted by tests/numa/run forest.
"""
import json
import pathlib
import random
import sys

from . import build, jobs, report, runtimes, sample, series, stats

BEST = {"OMP_PLACES": "cores", "OMP_PROC_BIND": "spread,close"}
HOT = {**BEST, "KMP_HOT_TEAMS_MAX_LEVEL": "2", "KMP_HOT_TEAMS_MODE": "1"}
BEST_OF = {"libgomp": BEST, "libomp": HOT, "libiomp5": HOT}
OURS = "hearth"
TEAMS = ["--teams", 2, "--threads", 2]
# The nested programs by label, each with its arguments; the data is larger than a cache of this machine's cores.
PROGRAMS = {
    "region, 2 in each of 2": ("nested_regions", TEAMS),
    "region, 4 in each of 2": ("nested_regions", ["--teams", 2, "--threads", 4]),
    "STREAM": ("stream", ["--threads", 2, "--bytes", "8M"]),
    "Nested-STREAM": ("nested_stream", [*TEAMS, "--bytes", "4M"]),
    "Twisted-STREAM": ("twisted_stream", [*TEAMS, "--bytes", "4M"]),
    "zones": ("zones", [*TEAMS, "--bytes", "1M"]),
    "nested LU": ("nested_lu", [*TEAMS, "--size", 256]),
    "adaptive mesh": ("amr", [*TEAMS, "--bytes", "512K"]),
    "server": ("server", [*TEAMS, "--bytes", "512K"]),
}
# Programs of one row: its name says no more than the program's.
SINGLE = ("region", "zones", "lu", "mesh", "requests")


def _competitors(options):
    """Hearth, and every rival twice."""
    found = runtimes.find(build.OUTPUT, options.lib, jobs.intel_or_none(options))
    result = [runtime for runtime in found if runtime.name == OURS]
    for rival in (runtime for runtime in found if runtime.name in BEST_OF):
        result += [rival, runtimes.Runtime(f"{rival.name}, best", rival.library, rival.folder, rival.compilers,
                                           BEST_OF[rival.name])]
    return result


def _samples(command, environment, timeout, library):
    """{row: {"ns", "quiet"}} of one process, after checking who served it. Nobody waits for a quiet moment."""
    answer = sample.run_json(command, environment, timeout)
    served = pathlib.Path(answer["runtime_file"]).resolve()
    if served != library:
        raise sample.SampleError(f"served by {served}, not by {library}")
    return {row: {"ns": found["ns"], "quiet": 0, "bytes": found["bytes"]} for row, found in answer["rows"].items()}


def _rows_of(program, arguments, environment):
    """The names of a program's rows, with their bytes."""
    command = [program, *arguments, "--json", "--repeats", 1, "--passes", 1]
    return {name: row["bytes"] for name, row in sample.run_json(command, environment, 120)["rows"].items()}


def _label(name, row):
    return name if row in SINGLE else f"{name}: {row}"


def _todo(options, competitors, compilers, repeats):
    todo = []
    for compiler in compilers:
        users = [runtime for runtime in competitors if compiler in runtime.compilers]
        for name, (source, arguments) in PROGRAMS.items():
            if options.filter not in name:
                continue
            program = build.forest_program(source, compiler)
            rows = {_label(name, row): row for row in
                    _rows_of(program, arguments, runtimes.environment(users[0], options.threads))}

            def start(runtime, wanted, program=program, arguments=arguments, rows=rows):
                environment = runtimes.environment(runtime, options.threads, extra=options.extra)
                command = [program, *arguments, "--json", "--repeats", repeats]
                answer = _samples(command, environment, 120, runtime.library)
                return {row: answer[rows[row]] for row in wanted}

            todo.append(series.Job("forest", compiler, list(rows), users, start))
    return todo


def _cells(results, key, competitors, generator):
    ours = results.series(key, OURS)
    cells = []
    for runtime in competitors:
        values = [value for value in results.series(key, runtime.name) if value is not None]
        if not values:
            cells.append("failed" if runtime.name in results.errors.get(key, {}) else "–")
            continue
        middle = stats.median(values)
        low, high = stats.quartiles(values)
        cells.append(f"{report.time_text(middle)} ±{50 * (high - low) / middle:.0f}%")
    rivals = [results.series(key, runtime.name) for runtime in competitors if runtime.name != OURS]
    interval = stats.ratio_to_fastest(ours, [rival for rival in rivals if rival], generator) if ours else None
    return [*cells, report.ratio_text(interval)]


def run(options):
    generator = random.Random(options.seed)
    rounds = options.rounds or (3 if options.quick else 9)
    repeats = 2 if options.quick else 5
    compilers = (options.compiler,) if options.compiler else runtimes.COMPILERS
    competitors = _competitors(options)
    todo = _todo(options, competitors, compilers, repeats)
    if not todo:
        print(f'bench: --filter="{options.filter}": no program of forest contains it', file=sys.stderr)
        return 2
    floor = build.plain_program("floor")

    def measure_floor():
        return sample.run_json([floor, 60], runtimes.environment(competitors[0], options.threads), 60)

    results = series.Runner(todo, rounds, measure_floor, generator).run()
    if results.rounds == 0:
        print("bench: interrupted before the first round was complete; nothing to show", file=sys.stderr)
        return 130
    headings = ["row", "build", *("Hearth" if runtime.name == OURS else runtime.name for runtime in competitors),
                "/ fastest [95 %]"]
    table = [[key[1], key[2], *_cells(results, key, competitors, generator)] for key in results.medians]
    print(report.plain_table(headings, table))
    for key, errors in results.errors.items():
        for runtime, message in errors.items():
            print(f"{key[1]} ({key[2]}) on {runtime}: {message}")
    options.json.parent.mkdir(parents=True, exist_ok=True)
    rows = [{"row": key[1], "compiler": key[2], "ns per round": medians} for key, medians in results.medians.items()]
    options.json.write_text(json.dumps({"machine": report.machine(), "rounds": results.rounds, "rows": rows}, indent=1)
                            + "\n", encoding="utf-8")
    print(f"JSON: {options.json}")
    if results.interrupted:
        return 130
    if options.write_docs:
        report.write_page("forest-speed", "Nested teams: times", "bench/run forest --write-docs", "forest",
                          f"{report.machine()}; {results.rounds} rounds. Medians ± half the interquartile range.\n\n"
                          + report.markdown_table(headings, table))
    return 1 if any(OURS in errors for errors in results.errors.values()) else 0
