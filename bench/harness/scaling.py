"""bench/run scaling: writes to shared cache lines per construct, from 2 to 64 oversubscribed threads, as a table.

Uses a build of its own that counts (build/bench/counting). Counts are taken, not times, so a busy machine changes little;
what varies is how often a thread waits long enough to sleep and must be woken, and which thread steals. The median of
several processes is shown.
"""
import json
import sys

from . import build, report, runtimes, sample, stats

THREADS = (2, 4, 8, 16, 32, 64)
FLAT = 1.5          # a count at 64 threads up to this many times that at 2 is flat
LOGARITHMIC = 6.0   # log2(64) / log2(2)
NEGLIGIBLE = 0.5    # writes per operation: less than one in two is none, whatever its growth
BARRIER_ROWS = ("parallel", "parallel for", "parallel reduction", "barrier", "single", "for static", "for static,8",
                "for reduction", "task + barrier")


def _judge(name, counts):
    present = [count for count in counts if count is not None]
    if len(present) < len(counts):
        return "not measured"
    if max(present) <= NEGLIGIBLE or max(present) <= FLAT * max(present[0], NEGLIGIBLE):
        return "flat"
    if name in BARRIER_ROWS and max(present) <= LOGARITHMIC * present[0]:
        return "logarithmic"
    return "GROWS"


def run(options):
    library = (options.lib if options.lib != build.ROOT / "build" / "release" / "lib" else build.counting_library())
    hearth = next(runtime for runtime in runtimes.find(build.OUTPUT, library, None) if runtime.name == "hearth")
    rounds = options.rounds or (1 if options.quick else 3)
    compilers = (options.compiler,) if options.compiler else runtimes.COMPILERS
    counts = {}  # (row, compiler) -> {threads: [writes]}
    units = {}
    errors = []
    for compiler in compilers:
        program = build.program("scaling", compiler)
        overhead = build.program("overhead", compiler)
        listing = sample.run([overhead, "--list"], runtimes.environment(hearth, 2), 20)
        rows = [line.split("\t")[0] for line in listing.splitlines() if options.filter in line.split("\t")[0]]
        for threads in THREADS:
            environment = runtimes.environment(hearth, threads, options.bound,
                                               extra={"OMP_WAIT_POLICY": "active", **(options.extra or {})})
            for row in rows:
                for _ in range(rounds):
                    try:
                        name, unit, writes = sample.run([program, row], environment, 60).strip().split("\t")
                    except sample.SampleError as error:
                        errors.append(f"{row} ({compiler}), {threads} threads: {error}")
                        break
                    units[name] = unit
                    counts.setdefault((name, compiler), {}).setdefault(threads, []).append(float(writes))
    headings = ["construct", "build", "writes per", *map(str, THREADS), ""]
    table = []
    for row in rows:
        for compiler in compilers:
            by_threads = counts.get((row, compiler), {})
            medians = [stats.median(by_threads[threads]) if threads in by_threads else None for threads in THREADS]
            table.append([row, compiler, units.get(row, "–"),
                          *("–" if count is None else f"{count:.2f}" for count in medians), _judge(row, medians)])
    print(report.plain_table(headings, table))
    for error in errors:
        print(error)
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps({"threads": THREADS, "errors": errors,
                                        "rows": [{"row": row, "compiler": compiler, "per": units[row], "writes": by_threads}
                                                 for (row, compiler), by_threads in counts.items()]}, indent=1) + "\n",
                            encoding="utf-8")
    print(f"JSON: {options.json}")
    if options.write_docs and errors:
        print("bench: rows are missing: docs/results/data/scaling.md stays as it is", file=sys.stderr)
    elif options.write_docs:
        report.write_page("scaling", "Scaling: writes to shared cache lines", "bench/run scaling --write-docs", "scaling",
                          report.markdown_table(headings, table))
    grown = [row for row in table if row[-1] in ("GROWS", "not measured")]
    return 1 if options.check and grown else 0
