"""bench/run policies: what the default policy costs where it has nothing to gain: the task benchmarks on this machine, Hearth
with `locality` against the same library with `work-stealing`. On a machine of one NUMA node both should take the same time.
"""
import json
import random
import sys

from . import build, report, runtimes, sample, series, stats, verdict

LIMIT = 1.03
PLAIN = "hearth work-stealing"


def run(options):
    from . import main  # here, since main imports this module
    generator = random.Random(options.seed)
    tempo = main.Tempo(options.quick, options.rounds)
    ours = next(runtime for runtime in runtimes.find(build.OUTPUT, options.lib, None) if runtime.name == verdict.OURS)
    ours.settings = {"HEARTH_POLICY": "locality"}
    plain = runtimes.Runtime(PLAIN, ours.library, ours.folder, ours.compilers, {"HEARTH_POLICY": "work-stealing"})
    compilers = (options.compiler,) if options.compiler else runtimes.COMPILERS
    floor = build.plain_program("floor")

    def measure_floor():
        return sample.run_json([floor, 60], runtimes.environment(ours, options.threads), 30)

    spin = round(min(measure_floor()["spin_ns"] for _ in range(3)))
    jobs = main.task_jobs(options, tempo, spin, [ours, plain], compilers)
    if not jobs:
        print(f'bench: --filter="{options.filter}": no task benchmark contains it', file=sys.stderr)
        return 2
    results = series.Runner(jobs, tempo.rounds, measure_floor, generator).run()
    headings = ["row", "build", "locality", "work-stealing", "ratio [95 %]", ""]
    table = []
    ratios = []
    failed = False
    for key in results.medians:
        pair = [results.series(key, name) for name in (verdict.OURS, PLAIN)]
        interval = stats.paired_ratio(*pair, generator)
        if interval is None:
            failed = True
            table.append([key[1], key[2], "–", "–", "–", "FAILED: " + "; ".join(results.errors.get(key, {}).values())])
            continue
        misses = interval.low > LIMIT
        failed = failed or misses
        ratios.append({"row": key[1], "compiler": key[2], "cutoff": key[3], **interval.as_json()})
        middles = [report.time_text(stats.median([value for value in values if value is not None])) for values in pair]
        table.append([key[1] + ("" if key[3] else ", no cut-off"), key[2], *middles, report.ratio_text(interval),
                      f"misses {LIMIT}" if misses else ""])
    print(report.plain_table(headings, table))
    if ratios:
        print(f"geometric mean {stats.geometric_mean([ratio['ratio'] for ratio in ratios]):.3f}, {results.rounds} rounds")
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(ratios, indent=1) + "\n", encoding="utf-8")
    print(f"JSON: {options.json}")
    if results.interrupted:
        return 130
    if options.write_docs:
        report.replace_between_markers(build.ROOT / "docs" / "benchmarks.md", "bench-policies",
                                       f"{report.machine()}; {options.threads} threads, {results.rounds} rounds.\n\n"
                                       + report.markdown_table(headings, table))
    return 1 if options.check and failed else 0
