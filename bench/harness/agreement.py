"""`bench/run agreement`: the times of the paper's six benchmarks on this machine beside the simulator's.

The machine is what `hearth topo --measure` makes of it, now. How fast a benchmark computes, and what creating one of its tasks
costs, is set from a recording of it on one thread: so that the simulated tasks take together what the recorded ones did. On two
threads nothing is set: that is what the simulator makes of it. Initial threads have just filled the data when a region begins, so the
simulated caches begin warm.

Threads are bound, and both the measured and the simulated program steal work. The first region of each process does not count, in
which threads are made. While one thread is measured the other CPUs wait (common/calm.c): they may be the other half of its core.
On a machine that others use give the whole run a priority above theirs: `chrt -r 1 bench/run agreement`.
"""
import contextlib
import json
import re
import shutil
import sqlite3
import subprocess

from . import build, report, runtimes, sample, stats

PROGRAMS = ("map", "reduction", "vecmul", "matmul", "jacobi", "sparselu")
LIMIT = 0.2
REGIONS = 9
PROCESSES = 7


class Simulator:
    def __init__(self, command, machine):
        self.command = command
        self.machine = machine

    def way(self, program, threads, speed, *options):
        output = sample.run([self.command, "sim", program, "--machine", self.machine, "--policy", "work-stealing",
                             "--distribution", "standard", "--threads", str(threads), "--caches", "warm",
                             "--set", f"ops_per_cycle={speed:.6g}", "--json", "-", *options], None, 120)
        return next(way for way in json.loads(output)["ways"] if way["distribution"] == "standard")

    def tasks_ms(self, program, speed):
        return stats.median([run["threads_ms"]["work"] for run in self.way(program, 1, speed)["runs"]])

    def speed(self, program, tasks_ms):
        """Operations per cycle with which the tasks take so long on one thread, or the most that are legal."""
        low, high = 1e-3, 60.0
        for _ in range(20):
            middle = (low * high) ** 0.5
            if self.tasks_ms(program, middle) > tasks_ms:
                low = middle
            else:
                high = middle
        return high


def _region_times(program, hearth, threads):
    output = sample.run([program, f"repeats={REGIONS}"], _environment(hearth, threads), 120)
    return [1e3 * float(text) for text in re.findall(r" seconds (\S+)", output)][1:]


def _environment(hearth, threads):
    return runtimes.environment(hearth, threads, bound=True, extra={"HEARTH_POLICY": "work-stealing"})


def _recorded(program, hearth, command, file):
    """On one thread, medians over the regions but for the first: milliseconds of a region's tasks together, and nanoseconds to
    create one."""
    file.unlink(missing_ok=True)
    shutil.rmtree(file.with_name(file.name + ".spill"), ignore_errors=True)  # of a run that was interrupted
    sample.run([command, "record", "-o", file, "--", program, f"repeats={REGIONS}"], _environment(hearth, 1), 120)
    with sqlite3.connect(f"file:{file}?mode=ro", uri=True) as recording:
        regions = recording.execute("SELECT count(*), sum(t.work_ns), (SELECT sum(i.create_ns) FROM task i WHERE i.kind = 'implicit' "
                                    "AND i.region = t.region) FROM task t WHERE t.kind = 'explicit' "
                                    "GROUP BY t.region ORDER BY t.region").fetchall()
    return (stats.median([work for _, work, _ in regions[1:]]) / 1e6,
            stats.median([create / count for count, _, create in regions[1:]]))


@contextlib.contextmanager
def _calm():
    with subprocess.Popen([build.plain_program("calm")], stdout=subprocess.PIPE) as others:
        others.stdout.readline()
        try:
            yield
        finally:
            others.kill()


def _measure(programs, hearth, command, folder, processes):
    """What was measured on one and on two threads, and recorded, of each program: a figure for each process."""
    found = {(name, what): [] for name in programs for what in (1, 2, "recorded")}
    for _ in range(processes):
        with _calm():
            for name, program in programs.items():
                found[name, 1].append(stats.median(_region_times(program, hearth, 1)))
                found[name, "recorded"].append(_recorded(program, hearth, command, folder / f"{name}.db"))
        for name, program in programs.items():
            found[name, 2].append(stats.median(_region_times(program, hearth, 2)))
    return found


def _machine(command, folder):
    model = folder / "machine.toml"
    print("bench: measuring this machine", flush=True)
    done = subprocess.run([str(command), "topo", "--measure", "--write", str(model)], stdout=subprocess.DEVNULL, check=False)
    if done.returncode:
        raise sample.SampleError("hearth topo --measure failed")
    return model


def _with_create_ns(model, copy, create_ns):
    """The model, with this for an assumed figure."""
    text, replaced = re.subn(r"^create_ns = .*$", f'create_ns = {{ value = {create_ns:.1f}, mark = "H" }}', model.read_text(encoding="utf-8"),
                             flags=re.M)
    if replaced != 1:
        raise sample.SampleError(f"{model} has no create_ns")
    copy.write_text(text, encoding="utf-8")
    return copy


def run(options):
    hearth = next(runtime for runtime in runtimes.find(build.OUTPUT, options.lib, None) if runtime.is_hearth())
    command = next((path for path in (folder / "bin" / "hearth" for folder in hearth.library.parents) if path.exists()), None)
    if command is None:
        raise runtimes.MissingRuntime(f"no bin/hearth beside {hearth.library}; run make build")
    folder = build.OUTPUT / "agreement"
    folder.mkdir(parents=True, exist_ok=True)
    chosen = [name for name in PROGRAMS if options.filter in name]
    if not chosen:
        raise sample.SampleError(f'--filter="{options.filter}": legal: {", ".join(PROGRAMS)}')
    programs = {name: build.las_program(name) for name in chosen}
    model = _machine(command, folder)
    measured = _measure(programs, hearth, command, folder, options.rounds or PROCESSES)
    table, results = [], []
    for name in chosen:
        tasks_ms, create_ns = (stats.median(figures) for figures in zip(*measured[name, "recorded"]))
        simulator = Simulator(command, _with_create_ns(model, folder / f"{name}.toml", create_ns))
        speed = simulator.speed(name, tasks_ms)
        for threads in (1, 2):
            times = measured[name, threads]
            simulated = simulator.way(name, threads, speed)["ms"]
            ratio = simulated["median"] / stats.median(times)
            results.append({"benchmark": name, "threads": threads, "measured_ms": times, "recorded": measured[name, "recorded"],
                            "ops_per_cycle": speed, "simulated_ms": simulated, "ratio": ratio})
            table.append([name, str(threads), f"{stats.median(times):.3g} ({min(times):.3g}–{max(times):.3g})",
                          f"{simulated['median']:.3g} ({simulated['low']:.3g}–{simulated['high']:.3g})", f"{ratio:.2f}"])
    headings = ["benchmark", "threads", "measured, ms (least–most)", "simulated, ms (band)", "ratio"]
    print(report.plain_table(headings, table))
    inside = sum(abs(one["ratio"] - 1) <= LIMIT for one in results)
    print(f"{inside} of {len(results)} within {100 * LIMIT:.0f} %")
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    if options.write_docs:
        report.write_page("simulator-times", "Simulator: times, simulated and measured", "bench/run agreement --write-docs",
                          "simulator",
                          f"{report.machine()}; {options.rounds or PROCESSES} processes of {REGIONS - 1} regions each.\n\n"
                          + report.markdown_table(headings, table))
    return 1 if options.check and inside < len(results) else 0
