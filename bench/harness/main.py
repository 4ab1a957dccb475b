"""The command line of bench/run."""
import argparse
import json
import pathlib
import random
import sys

from . import agreement, build, forest, instructions, jobs, quota, report, runtimes, sample, scaling, series, variants, verdict

SECTIONS = ("overhead", "tasks", "startup")
OTHERS = {"scaling": scaling.run, "quota": quota.run, "instructions": instructions.run, "policies": variants.policies,
          "distribute": variants.distributions, "before": variants.before, "agreement": agreement.run, "forest": forest.run}


def parse(arguments):
    parser = argparse.ArgumentParser(
        prog="bench/run", description="Hearth against libgomp, libomp and Intel's libiomp5.",
        epilog="Exit status: 0 measured (whatever the ratios are), 1 when Hearth could not run a row, and with --check "
               "also when a limit is missed or the run is void, 2 wrong usage or a missing tool, 130 interrupted (what was measured until then is printed).")
    parser.add_argument("what", nargs="?", default="all", choices=(*SECTIONS, "all", *OTHERS))
    parser.add_argument("--quick", action="store_true", help="few short rounds, for a first look; never a verdict")
    parser.add_argument("--rounds", type=int, metavar="N", help="rounds (15 at least for a verdict; default 15, quick 3)")
    parser.add_argument("--filter", default="", metavar="TEXT", help="only rows whose name contains TEXT")
    parser.add_argument("--compiler", choices=runtimes.COMPILERS, help="only the programs built by this compiler")
    parser.add_argument("--threads", type=int, default=2, metavar="N", help="OMP_NUM_THREADS for everybody (default 2)")
    parser.add_argument("--bound", action="store_true", help="OMP_PROC_BIND=true for everybody; default is unbound")
    parser.add_argument("--no-cutoff", action="store_true",
                        help="also run the task benchmarks with the runtimes' own throttle off (libgomp has no switch)")
    parser.add_argument("--lib", type=pathlib.Path, default=build.ROOT / "build" / "release" / "lib", metavar="FOLDER",
                        help="where Hearth's library is (default build/release/lib)")
    parser.add_argument("--before", type=pathlib.Path, metavar="FOLDER",
                        help="for `before`: where another build of Hearth's library is, by which this one is measured")
    parser.add_argument("--hearth-env", action="append", default=[], metavar="NAME=VALUE",
                        help="a variable for Hearth only; may be repeated")
    parser.add_argument("--no-intel", action="store_true", help="leave libiomp5 out (it is fetched from PyPI)")
    parser.add_argument("--brief", action="store_true",
                        help="to show, not to judge: times and ratios only, without libiomp5 and the A/A runs")
    parser.add_argument("--seed", type=int, default=1, help="of the random orders and the bootstrap (default 1)")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="default build/bench/WHAT.json")
    parser.add_argument("--write-docs", action="store_true", help="write the table into docs/results/data/")
    parser.add_argument("--check", action="store_true", help="exit with 1 when a limit is missed or the run is void")
    options = parser.parse_args(arguments)
    options.extra = {}
    for setting in options.hearth_env:
        name, separator, value = setting.partition("=")
        if not separator or not name:
            parser.error(f'--hearth-env="{setting}": must be NAME=VALUE')
        options.extra[name] = value
    if options.write_docs and options.what in SECTIONS:
        parser.error("--write-docs: the document holds the table of all sections; use it with all, scaling, quota, policies, distribute, forest or agreement")
    if options.write_docs and (options.filter or options.compiler):
        parser.error("--write-docs: not with --filter or --compiler, the document would hold a part")
    if options.brief and (options.check or options.write_docs):
        parser.error("--brief: there is no verdict, so not with --check or --write-docs")
    if options.rounds is not None and options.rounds < 1:
        parser.error("--rounds: at least 1")
    if options.threads < 2:
        parser.error("--threads: at least 2, the constructs are measured in a team")
    if (options.before is None) == (options.what == "before"):
        parser.error("--before FOLDER belongs to `bench/run before`")
    if options.json is None:
        options.json = build.OUTPUT / f"{options.what}.json"
    return options


def _measure(options):
    generator = random.Random(options.seed)
    tempo = jobs.Tempo(options.quick, options.rounds)
    found = runtimes.find(build.OUTPUT, options.lib, None if options.brief else jobs.intel_or_none(options))
    if options.brief:
        found = [runtime for runtime in found if runtime.name != verdict.AGAIN]
    compilers = (options.compiler,) if options.compiler else runtimes.COMPILERS
    floor = build.plain_program("floor")
    floor_environment = runtimes.environment(found[0], options.threads)

    def measure_floor():
        return sample.run_json([floor, 60], floor_environment, 30)

    spin = round(min(measure_floor()["spin_ns"] for _ in range(3)))
    sections = SECTIONS if options.what == "all" else (options.what,)
    makers = {"overhead": jobs.overhead_jobs, "tasks": jobs.task_jobs, "startup": jobs.startup_jobs}
    todo = [job for section in sections for job in makers[section](options, tempo, spin, found, compilers)]
    if not todo:
        print(f'bench: --filter="{options.filter}": no row of {options.what} contains it', file=sys.stderr)
        return 2
    results = series.Runner(todo, tempo.rounds, measure_floor, generator).run()
    if results.rounds == 0:
        print("bench: interrupted before the first round was complete; nothing to show", file=sys.stderr)
        return 130
    judged = verdict.Verdict(results, generator)
    settings = {"what": options.what, "quick": options.quick, "threads": options.threads, "bound": options.bound,
                "seed": options.seed, "filter": options.filter, "hearth environment": options.extra, "spin ns": spin,
                "libraries": {runtime.name: str(runtime.library) for runtime in found}}
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(report.as_json(judged, results, settings), indent=1) + "\n", encoding="utf-8")
    print(report.brief(judged, results) if options.brief else f"{report.terminal(judged, results)}\nJSON: {options.json}")
    if options.write_docs:
        if results.interrupted:
            print("bench: interrupted: docs/results/data/speed.md stays as it is", file=sys.stderr)
        else:
            report.write_page("speed", "Speed: constructs, task benchmarks, start-up",
                              "bench/run all --no-cutoff --write-docs", "speed", report.markdown(judged, results, settings))
    if results.interrupted:
        return 130
    if any(verdict.OURS in row.errors for row in judged.rows):
        return 1
    return 1 if options.check and not judged.passed() else 0


def main(arguments=None):
    options = parse(arguments)
    try:
        return OTHERS[options.what](options) if options.what in OTHERS else _measure(options)
    except (build.BuildError, runtimes.MissingRuntime, sample.SampleError) as error:
        print(f"bench: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("bench: interrupted", file=sys.stderr)
        return 130
