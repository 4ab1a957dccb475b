"""The task benchmarks on Hearth in one way against Hearth in another.

`bench/run policies`: what the default policy costs where it has nothing to gain: `adaptive` by `work-stealing`. On a
machine of one NUMA node both should take the same time.

`bench/run distribute`: large allocations distributed over the nodes by `hearth run --distribute` against first touch
(Muddukrishna, Jonsson and Brorsson, figure 3). On a machine of one NUMA node it shows what taking malloc over costs.

`bench/run before --before FOLDER`: this build of the library against another one, so that a change can be judged.
"""
import json
import random
import sys

from . import build, jobs, report, runtimes, sample, series, stats, verdict

POLICY_LIMIT = 1.03
BEFORE_LIMIT = 1.03
TITLES = {"policies": "Speed: the default policy on one node", "distribute": "Speed: what taking malloc over costs"}


def _hearth(options, name, settings=None, launcher=(), folder=None):
    ours = next(runtime for runtime in runtimes.find(build.OUTPUT, folder or options.lib, None) if runtime.name == verdict.OURS)
    return runtimes.Runtime(name, ours.library, ours.folder, ours.compilers, settings, launcher)


def policies(options):
    base, ours = (_hearth(options, name, {"HEARTH_POLICY": name}) for name in ("work-stealing", "adaptive"))
    return _compare(options, base, [ours], POLICY_LIMIT)


def distributions(options):
    base = _hearth(options, "first touch")
    command = next((path for path in (folder / "bin" / "hearth" for folder in base.library.parents) if path.exists()), None)
    if command is None:
        raise runtimes.MissingRuntime(f"no bin/hearth beside {base.library}; run make build")
    return _compare(options, base, [_hearth(options, name, launcher=(command, "run", f"--distribute={name}", "--"))
                                    for name in ("fine", "coarse", "blocked")], None)


def before(options):
    """This library by another build of it, constructs and task benchmarks, alternating."""
    return _compare(options, _hearth(options, "before", folder=options.before), [_hearth(options, "now")], BEFORE_LIMIT,
                    (jobs.overhead_jobs, jobs.task_jobs))


def _compare(options, base, others, limit, makers=(jobs.task_jobs,)):
    """`others` by `base`, row by row; with --check, more than `limit` is a failure."""
    generator = random.Random(options.seed)
    tempo = jobs.Tempo(options.quick, options.rounds)
    compilers = (options.compiler,) if options.compiler else runtimes.COMPILERS
    floor = build.plain_program("floor")

    def measure_floor():
        return sample.run_json([floor, 60], runtimes.environment(base, options.threads), 30)

    spin = round(min(measure_floor()["spin_ns"] for _ in range(3)))
    todo = [job for make in makers for job in make(options, tempo, spin, [base, *others], compilers)]
    if not todo:
        print(f'bench: --filter="{options.filter}": no row contains it', file=sys.stderr)
        return 2
    results = series.Runner(todo, tempo.rounds, measure_floor, generator).run()
    headings = ["row", "build", base.name] + [f"{other.name}, ratio [95 %]" for other in others]
    table, ratios, failed = [], [], False
    for key in results.medians:
        plain = results.series(key, base.name)
        taken = [value for value in plain if value is not None]
        cells = [key[1] + ("" if key[3] else ", no cut-off"), key[2], report.time_text(stats.median(taken)) if taken else "–"]
        for other in others:
            interval = stats.paired_ratio(results.series(key, other.name), plain, generator)
            if interval is None:
                failed = True
                cells.append("FAILED: " + "; ".join(results.errors.get(key, {}).values()))
                continue
            misses = limit is not None and interval.low > limit
            failed = failed or misses
            ratios.append({"row": key[1], "compiler": key[2], "cutoff": key[3], "variant": other.name, **interval.as_json()})
            cells.append(report.ratio_text(interval) + (f", misses {limit}" if misses else ""))
        table.append(cells)
    print(report.plain_table(headings, table))
    for other in others:
        own = [ratio["ratio"] for ratio in ratios if ratio["variant"] == other.name]
        if own:
            print(f"{other.name}: geometric mean {stats.geometric_mean(own):.3f}, {results.rounds} rounds")
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(ratios, indent=1) + "\n", encoding="utf-8")
    print(f"JSON: {options.json}")
    if results.interrupted:
        return 130
    if options.write_docs:
        report.write_page(options.what, TITLES[options.what], f"bench/run {options.what} --no-cutoff --write-docs", "speed",
                          f"{report.machine()}; {options.threads} threads, {results.rounds} rounds.\n\n"
                          + report.markdown_table(headings, table))
    return 1 if options.check and failed else 0
