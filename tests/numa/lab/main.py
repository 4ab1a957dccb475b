"""The command line of tests/numa/run."""
import argparse
import dataclasses
import json
import pathlib
import re
import sys
import time

from . import agree, checks, clock, demo, first_touch, forest, las, machine, matrix, measure, parts, timed
from .topologies import TOPOLOGIES

sys.path.append(str(parts.ROOT / "tools"))
import data_page  # noqa: E402  (the path has to be set first)

NAMES = {"hearth": "Hearth"}
HEADING = "Last-level-cache misses of tasks that rewrite blocks"
# --write-docs: suite -> name and title of the page in docs/results/data.
PAGES = {"blocks": ("locality-blocks", "Locality: tasks that rewrite blocks"),
         "loops": ("locality-loops", "Locality: loops that rewrite blocks"),
         "silent": ("locality-silent", "Locality: tasks without clauses"),
         "tasks": ("locality-tasks", "Locality: task benchmarks with their memory distributed"),
         "las": ("locality-las", "Locality: six benchmarks with data distribution")}


@dataclasses.dataclass
class Hearth:
    """A build of Hearth: the folder of its libraries, and the hearth command."""
    library: pathlib.Path
    command: pathlib.Path


def _hearth(folder):
    folder = folder.resolve()
    found = Hearth(folder / "lib" / "hearth", folder / "bin" / "hearth")
    for path in (found.library / "libhearth.so", found.command):
        if not path.exists():
            raise parts.MissingPart(f"there is no {path}; run: make build, or give a build folder with --hearth")
    return found


def _named(name):
    if name not in TOPOLOGIES:
        raise argparse.ArgumentTypeError(f"\"{name}\"; legal: {', '.join(TOPOLOGIES)}")
    return TOPOLOGIES[name]


def _parser():
    parser = argparse.ArgumentParser(prog="tests/numa/run", formatter_class=argparse.RawDescriptionHelpFormatter,
                                     description="Boots virtual machines with several NUMA nodes under Debian's kernel "
                                                 "(QEMU, no KVM) and runs this machine's programs in them.",
                                     epilog="topologies:\n" + "\n".join(
                                         f"  {topology.name:6} {topology.title}" for topology in TOPOLOGIES.values()))
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def command(name, text):
        sub = commands.add_parser(name, help=text, description=text)
        return sub

    def with_kernel(sub):
        sub.add_argument("--kernel", default=parts.wanted_kernel, metavar="NAME",
                         help=f"{parts.RELEASE}: Debian's for this release; {parts.NEWEST}: the newest of Debian (unstable); or a "
                              "folder with vmlinuz and modules/")

    def with_hearth(sub):
        sub.add_argument("--hearth", type=pathlib.Path, default=parts.ROOT / "build" / "release", metavar="FOLDER",
                         help="build folder of Hearth (build/release)")

    test = command("test", "the system calls and Hearth's view of each machine; ends with 1 if anything is wrong")
    with_hearth(test)
    with_kernel(test)
    test.add_argument("--topology", type=_named, action="append", metavar="NAME", help="only this machine; repeatable")
    test.add_argument("--only", type=re.compile, default=re.compile(""), metavar="REGEX", help="only checks of such names")
    test.add_argument("--verbose", action="store_true", help="what each program says")

    bench = command("bench", "matrices of last-level-cache misses: libgomp and libomp beside Hearth, on 8 nodes")
    with_hearth(bench)
    bench.add_argument("--suite", choices=("blocks", "loops", "silent", "las", "tasks"), default="blocks",
                       help="tasks that rewrite blocks, loops that do, tasks that do and do not say so, the six benchmarks of "
                            "the paper (half an hour), or the task benchmarks of bench/tasks with their memory distributed")
    bench.add_argument("--quick", action="store_true", help="one case per compiler")
    bench.add_argument("--only", type=re.compile, default=re.compile(""), metavar="REGEX", help="only cases of such names")
    bench.add_argument("--runtime", action="append", choices=("libgomp", "libomp", "hearth"), help="only it; repeatable")
    bench.add_argument("--way", action="append", choices=las.WAYS, help="suite las: only it; repeatable")
    bench.add_argument("--repeats", type=int, default=5, help="regions per process, of which the median counts (5)")
    bench.add_argument("--huge-pages", choices=("never", "madvise", "always"), default="never")
    bench.add_argument("--balancing", action="store_true", help="the kernel's automatic NUMA balancing on")
    bench.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a variable for Hearth; repeatable")
    bench.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write every matrix")
    bench.add_argument("--svg", type=pathlib.Path, metavar="FILE", help="draw the first case of each compiler, stock runtime and Hearth side by side")
    bench.add_argument("--write-docs", action="store_true", help="write the table into docs/results/data/")

    nested = command("forest", "nested programs (bench/forest) on 4x4 and 8x1: own-node misses, binds, pages moved, rivals beside")
    with_hearth(nested)
    nested.add_argument("--topology", type=_named, action="append", metavar="NAME", help="only this machine; repeatable")
    nested.add_argument("--only", type=re.compile, default=re.compile(""), metavar="REGEX", help="only rows of such names")
    nested.add_argument("--compiler", action="append", choices=forest.COMPILERS, help="only its programs; repeatable")
    nested.add_argument("--way", action="append", choices=forest.WAYS, help="only it; repeatable")
    nested.add_argument("--samples", type=int, default=5, help="processes, of which the median counts (5)")
    nested.add_argument("--bytes", default="256K", metavar="SIZE", help="per thread and vector of the nested STREAMs (256K)")
    nested.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a variable for Hearth; repeatable")
    nested.add_argument("--check", action="store_true", help="end with 1 if Hearth misses a row's limit")
    nested.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write every matrix and count")
    nested.add_argument("--reuse", type=pathlib.Path, action="append", default=[], metavar="FILE",
                        help="take what is not measured now from what --json wrote; repeatable, later files win")
    nested.add_argument("--table", action="store_true", help="measure nothing, make the table of what --reuse names")
    nested.add_argument("--write-docs", action="store_true", help="write the table into docs/results/data/")

    times = command("time", "nested programs in a machine of four nodes whose time means something, rivals and simulator beside")
    with_hearth(times)
    times.add_argument("--only", type=re.compile, default=re.compile(""), metavar="REGEX", help="only rows of such names; \"calibration\" is one")
    times.add_argument("--compiler", action="append", choices=forest.COMPILERS, help="only its programs; repeatable")
    times.add_argument("--way", action="append", choices=forest.WAYS, help="only it; repeatable")
    times.add_argument("--samples", type=int, default=5, help="processes, of which the median counts (5)")
    times.add_argument("--dilation", type=int, default=clock.Pace.dilation, metavar="N",
                       help=f"host seconds that a modelled one takes ({clock.Pace.dilation}); more where the host is busy")
    times.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write every figure")
    times.add_argument("--reuse", type=pathlib.Path, action="append", default=[], metavar="FILE",
                       help="add what --json wrote; repeatable, the last calibration counts")
    times.add_argument("--table", action="store_true", help="measure nothing, make the tables of what --reuse names")
    times.add_argument("--write-docs", action="store_true", help="write the tables into docs/results/data/")

    execute = command("exec", "one command in one machine, its output and status")
    with_kernel(execute)
    execute.add_argument("--topology", type=_named, default=TOPOLOGIES["8x1"], metavar="NAME")
    execute.add_argument("--measure", action="store_true", help="count misses, print the matrices of marked regions")
    execute.add_argument("--limit", type=int, default=600, metavar="SECONDS")
    execute.add_argument("words", nargs="+", metavar="COMMAND", help="after --")

    draw = command("matrix", "matrices that bench --json wrote, as text and as a picture")
    draw.add_argument("file", type=pathlib.Path)
    draw.add_argument("--only", type=re.compile, default=re.compile(""), metavar="REGEX", help="only cases of such names")
    draw.add_argument("--svg", type=pathlib.Path, metavar="FILE", help="draw them, a row per case")

    for name, text in (("demo", "on 8 nodes, gcc's and clang's binaries on their runtimes and on Hearth: cache misses, side by side"),
                       ("here", "the same binaries on this machine, no virtual one: pages, side by side")):
        sub = command(name, text)
        with_hearth(sub)
        sub.add_argument("--svg", type=pathlib.Path, metavar="FILE", help="draw it, too")

    agreement = command("agree", "the simulator's local shares beside the measured ones; boots nothing")
    with_hearth(agreement)
    agreement.add_argument("--only", type=re.compile, default=re.compile(""), metavar="REGEX", help="only cases of such names")
    agreement.add_argument("--seeds", type=int, default=60)
    agreement.add_argument("--check", action="store_true",
                           help=f"end with 1 if a simulated band lies more than {agree.POINTS} points from what was counted")
    agreement.add_argument("--write-docs", action="store_true", help="write the table into docs/results/data/")

    with_kernel(command("prepare", "fetch and build what the machines need, boot nothing"))
    return parser


def _test(options):
    hearth = _hearth(options.hearth)
    failed = passed = 0
    for topology in options.topology or TOPOLOGIES.values():
        chosen = [check for check in checks.checks(topology, hearth) if options.only.search(check.job.name)]
        if not chosen:
            continue
        print(f"{topology.name}: {topology.title}, {len(chosen)} checks", flush=True)
        judges = iter(chosen)
        counts = []

        def tell(result, judges=judges, counts=counts):
            wrong = next(judges).judge(result)
            counts.append(wrong is None)
            print(f"  {'ok    ' if wrong is None else 'FAILED'} {result.job.name} ({result.seconds:.1f} s)"
                  f"{'' if wrong is None else ': ' + wrong}", flush=True)
            if wrong or options.verbose:
                print("".join(f"      {line}\n" for line in (result.out + result.err).splitlines()[-40:]), end="", flush=True)

        machine.run(topology, [check.job for check in chosen], measuring=True, on_result=tell,
                    kernel_arguments=["transparent_hugepage=never", "numa_balancing=disable"],
                    on_boot=lambda seconds: print(f"  booted in {seconds:.1f} s", flush=True))
        passed += counts.count(True)
        failed += counts.count(False)
    print(f"{passed} checks passed, {failed} failed")
    if not passed and not failed:
        raise parts.MissingPart("no check has such a name")
    return 1 if failed else 0


def _bench_las(options, hearth):
    chosen = [case for case in las.cases(options.quick) if options.only.search(case.title)]
    if not chosen:
        raise parts.MissingPart("no case has such a name")

    def tell(one, seconds):
        print(f"  {one.case.title:30} {one.way:9} remote {one.remote / 1000:8.1f} k   local {matrix.percent(one.share):>7}   "
              f"in the model {one.cost / 1000:8.1f} k   heaviest thread {one.balance:.2f} x   "
              f"({seconds:.1f} s)", file=sys.stderr, flush=True)

    results = las.run(TOPOLOGIES["8x1"], chosen, hearth, options.repeats, options.way,
                      on_boot=lambda seconds: parts.say(f"booted in {seconds:.1f} s"), on_measured=tell,
                      huge_pages=options.huge_pages, balancing=options.balancing,
                      extra=dict(item.split("=", 1) for item in options.set))
    if options.json:
        options.json.write_text(json.dumps([
            {"case": one.case.title, "runtime": one.way, "balances": one.balances, "remote": one.remotes,
             "model": one.costs, "seconds": one.seconds, "matrices": [each.memory for each in one.matrices],
             "typical": min(one.matrices, key=lambda each: abs(each.remote_cost(one.distances) - one.remote)).memory}
            for one in results]) + "\n")
    print(las.table(results), end="")
    if options.write_docs:
        _write_docs(options.suite, las.table(results))
    return 0


def _bench_tasks(options, hearth):
    chosen = [case for case in first_touch.cases(options.quick) if options.only.search(case.title)]
    if not chosen:
        raise parts.MissingPart("no case has such a name")

    def tell(one, seconds):
        print(f"  {one.case.title:18} {one.way:12} remote {one.remote / 1000:8.1f} k   local {matrix.percent(one.share):>7}   "
              f"busiest node {matrix.percent(one.busiest):>7}   ({seconds:.1f} s)", file=sys.stderr, flush=True)

    results = first_touch.run(TOPOLOGIES["8x1"], chosen, hearth, options.repeats,
                              on_boot=lambda seconds: parts.say(f"booted in {seconds:.1f} s"), on_measured=tell,
                              huge_pages=options.huge_pages, balancing=options.balancing,
                              extra=dict(item.split("=", 1) for item in options.set))
    if options.json:
        options.json.write_text(json.dumps([{"case": one.case.title, "runtime": one.way,
                                             "matrices": [each.memory for each in one.matrices]} for one in results]) + "\n")
    print(first_touch.table(results), end="")
    if options.write_docs:
        _write_docs(options.suite, first_touch.table(results))
    return 0


def _bench(options):
    hearth = _hearth(options.hearth)
    if options.suite == "las":
        return _bench_las(options, hearth)
    if options.suite == "tasks":
        return _bench_tasks(options, hearth)
    cases = {"blocks": measure.cases, "loops": measure.loop_cases, "silent": measure.silent_cases}[options.suite]
    chosen = [case for case in cases(options.quick) if options.only.search(case.title)]
    if not chosen:
        raise parts.MissingPart("no case has such a name")

    def tell(one, seconds):
        print(f"  {one.case.title:38} {one.runtime:8} local {matrix.percent(one.share):>7}   "
              f"{f'best {matrix.percent(one.best_share):>7}   ' if one.best else ''}heaviest thread {one.balance:.2f} x   ({seconds:.1f} s)",
              file=sys.stderr, flush=True)

    results = measure.run(TOPOLOGIES["8x1"], chosen, hearth, options.repeats, options.runtime,
                          on_boot=lambda seconds: parts.say(f"booted in {seconds:.1f} s"), on_measured=tell,
                          huge_pages=options.huge_pages, balancing=options.balancing,
                          extra=dict(item.split("=", 1) for item in options.set))
    written = [{"case": one.case.title, "runtime": one.runtime, "balances": one.balances, "best": one.best,
                "matrices": [each.memory for each in one.matrices], "typical": one.typical.memory} for one in results]
    if options.json:
        options.json.write_text(json.dumps(written) + "\n")
    rows = []
    for compiler in ("gcc", "clang"):
        first = next((one.case for one in results if one.case.compiler == compiler and one.case.clause != "loop"), None)
        row = [dataclasses.replace(one.typical, title=f"{one.case.title}: {NAMES.get(one.runtime, one.runtime)}")
               for one in results if one.case == first]
        rows += [row] if row else []
        for one in row:
            print(matrix.as_text(one))
    if options.svg and rows:
        options.svg.write_text(matrix.as_svg(rows, HEADING))
    print(measure.table(results, options.huge_pages != "never" and not options.balancing), end="")
    if options.write_docs:
        _write_docs(options.suite, measure.table(results))
    return 0


def _write_docs(suite, table):
    name, title = PAGES[suite]
    data_page.write(name, title, f"tests/numa/run bench --suite {suite} --write-docs", "locality", table)


def _agree(options):
    found = agree.rows(_hearth(options.hearth), options.seeds, agree.measured(), options.only)
    if not found:
        raise parts.MissingPart("no case has such a name")
    print(agree.table(found), end="")
    print(f"{sum(row.agrees for row in found)} of {len(found)} within {agree.POINTS} points; "
          f"{sum(row.apart <= agree.POINTS for row in found)} bands within {agree.POINTS} points of what was counted")
    if options.write_docs:
        data_page.write("simulator-shares", "Simulator: local shares, simulated and counted",
                        "tests/numa/run agree --write-docs", "simulator", agree.table(found))
    return 1 if options.check and any(row.apart > agree.POINTS for row in found) else 0


def _forest(options):
    hearth = _hearth(options.hearth)
    rows = [row for row in forest.ROWS if options.only.search(row.name)]
    if not rows:
        raise parts.MissingPart("no row has such a name")
    available = forest.features(hearth)
    old = [one for file in options.reuse for one in forest.from_json(json.loads(file.read_text()))]
    results = []

    def tell(one, seconds):
        results.append(one)
        wrong = forest.verdict(one, available)
        print(f"  {one.title:62} {one.way:20} local {matrix.percent(one.share):>7}   binds {one.binds:5.0f}   "
              f"pages {one.pages:6.0f}   heaviest node {one.heaviest:.2f} x   ({seconds:.1f} s)"
              f"{f'   MISSES: {wrong}' if wrong else ''}", file=sys.stderr, flush=True)
        if options.json:  # an hour's work is not lost when it is stopped
            options.json.write_text(json.dumps(forest.as_json(forest.merged(old, results))) + "\n")

    machines = options.topology or [TOPOLOGIES[name] for name in forest.MACHINES]
    for topology in [] if options.table else machines:
        forest.run(topology, rows, hearth, options.samples, options.compiler or forest.COMPILERS,
                   options.way or forest.WAYS, options.bytes, on_measured=tell,
                   on_boot=lambda seconds: parts.say(f"booted in {seconds:.1f} s"),
                   extra=dict(item.split("=", 1) for item in options.set))
    table = forest.table(forest.merged(old, results), available)
    print(table, end="")
    if options.write_docs:
        data_page.write("forest", "Nested teams: where their memory is", "tests/numa/run forest --write-docs", "forest", table)
    missed = [one for one in results if forest.verdict(one, available)]
    for one in missed:
        print(f"misses: {one.title}: {forest.verdict(one, available)}")
    return 1 if options.check and missed else 0


def _time(options):
    hearth = _hearth(options.hearth)
    old = [json.loads(file.read_text()) for file in options.reuse]
    written = {"calibration": next((one["calibration"] for one in reversed(old) if one["calibration"]), []),
               "results": [result for one in old for result in one["results"]]}
    pace = clock.Pace(dilation=options.dilation)

    def keep():
        if options.json:  # an hour's work is not lost when it is stopped
            options.json.write_text(json.dumps(written) + "\n")

    def tell(one, seconds):
        written["results"].append(one)
        keep()
        figures = "  ".join(f"{name} {value:.0f}" for name, value in one["figures"].items())
        print(f"  {one['row']:42} {one['compiler']:5} {one['way']:20} {figures}   local {matrix.percent(one['local'])}   "
              f"late {matrix.percent(one['late'])}   ({seconds:.1f} s)", file=sys.stderr, flush=True)

    def booted(seconds):
        parts.say(f"booted in {seconds:.1f} s")

    def calibrated(lines):
        written["calibration"] = lines
        keep()
        print(timed.calibration_table(lines), file=sys.stderr, flush=True)

    if not options.table:
        timed.run([row for row in timed.ROWS if options.only.search(row.name)], hearth, pace, options.samples,
                  options.compiler or forest.COMPILERS, options.way or forest.WAYS,
                  calibrated if options.only.search("calibration") else None, on_boot=booted, on_measured=tell)
    tables = timed.page(written["calibration"], written["results"], timed.predictions(hearth, timed.heaviest(written["results"])),
                        timed.as_counted(hearth, written["results"]))
    print(tables, end="")
    if options.write_docs:
        data_page.write("timed", "Nested teams: how long they take", "tests/numa/run time --write-docs", "timed", tables)
    return 0


def _exec(options):
    result, = machine.run(options.topology, [machine.Job("exec", options.words, limit_s=options.limit)],
                          measuring=options.measure, limit_s=options.limit + machine.BOOT_LIMIT_S,
                          kernel_arguments=["transparent_hugepage=never", "numa_balancing=disable"])
    sys.stdout.write(result.out)
    sys.stderr.write(result.err)
    for region in result.regions:
        print(matrix.as_text(matrix.Matrix(f"region {region['region']}", region["memory"])))
    return result.status


def _matrix(options):
    chosen = [one for one in json.loads(options.file.read_text()) if options.only.search(one["case"])]
    if not chosen:
        raise parts.MissingPart(f"{options.file} has no such case")
    matrices = [matrix.Matrix(f"{one['case']}: {NAMES.get(one['runtime'], one['runtime'])}", one["typical"]) for one in chosen]
    for one in matrices:
        print(matrix.as_text(one))
    if options.svg:
        cases = list(dict.fromkeys(one["case"] for one in chosen))
        rows = [[each for one, each in zip(chosen, matrices) if one["case"] == case] for case in cases]
        options.svg.write_text(matrix.as_svg(rows, HEADING))
    return 0


def _prepare(_options):
    kernel = parts.kernel()
    parts.say(f"ready: {parts.qemu()}, {kernel / 'vmlinuz'}, {parts.initramfs(kernel)}, {parts.plugin()}")
    return 0


def main():
    options = _parser().parse_args()
    machine.stop_on_signals()
    start = time.monotonic()
    parts.wanted_kernel = getattr(options, "kernel", parts.wanted_kernel)
    try:
        if options.command not in ("matrix", "here", "agree"):
            parts.initramfs(parts.kernel())
            parts.qemu()
        status = {"test": _test, "bench": _bench, "exec": _exec, "matrix": _matrix, "agree": _agree, "forest": _forest, "time": _time,
                  "prepare": _prepare,
                  "demo": lambda options: demo.virtual(_hearth(options.hearth), options.svg),
                  "here": lambda options: demo.here(_hearth(options.hearth), options.svg)}[options.command](options)
    except (parts.MissingPart, machine.MachineFailed, checks.BadDirective) as wrong:
        print(f"numa: {wrong}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("numa: interrupted", file=sys.stderr)
        return 130
    if options.command in ("test", "bench", "forest", "time"):
        parts.say(f"{time.monotonic() - start:.0f} s in all")
    return status
