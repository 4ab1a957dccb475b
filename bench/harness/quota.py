"""bench/run quota: CPU time and throttled periods with more threads than CPUs and under a real CPU quota.

Every runtime does the same fixed work (quota/quota.c) in a fresh cgroup, alternately; needs root and a cgroup hierarchy with
the cpu controller (v1 or v2). CPU time and throttled periods must be at most the better rival's x 1.05; no run may hang.
"""
import json
import os
import pathlib
import random
import signal
import subprocess
import time

from . import build, jobs, report, runtimes, stats

LIMIT = 1.05
PERIOD_US = 100_000
TIMEOUT = 60
RIVALS = ("libgomp", "libomp")

# name, quota in CPUs (None: no limit), OMP_NUM_THREADS (None: the runtime's own default)
SCENARIOS = (("8 threads, no quota", None, 8),
             ("8 threads, quota 2", 2.0, 8),
             ("8 threads, quota 1.5", 1.5, 8),
             ("8 threads, quota 1", 1.0, 8),
             ("2 threads, quota 1", 1.0, 2),
             ("default threads, quota 1", 1.0, None),
             ("default threads, quota 0.5", 0.5, None))


class NoGroups(build.BuildError):
    pass


class Group:
    """A cgroup of its own with a CPU quota; version 1 or 2, whichever has the cpu controller."""

    def __init__(self, quota):
        one = pathlib.Path("/sys/fs/cgroup/cpu")
        two = pathlib.Path("/sys/fs/cgroup")
        name = f"hearth-bench-{os.getpid()}"
        if (one / "cpu.cfs_quota_us").exists() or (one / "cpu.cfs_period_us").exists():
            self.path = one / name
            self.version = 1
        elif "cpu" in self._read(two / "cgroup.subtree_control").split():
            self.path = two / name
            self.version = 2
        else:
            raise NoGroups("no cgroup hierarchy with the cpu controller: neither /sys/fs/cgroup/cpu nor v2's cpu in "
                           "cgroup.subtree_control")
        try:
            self.path.mkdir()
            amount = int(quota * PERIOD_US) if quota else None
            if self.version == 1:
                (self.path / "cpu.cfs_period_us").write_text(str(PERIOD_US))
                (self.path / "cpu.cfs_quota_us").write_text(str(amount or -1))
            else:
                (self.path / "cpu.max").write_text(f"{amount or 'max'} {PERIOD_US}")
        except OSError as error:
            raise NoGroups(f"cannot make {self.path}: {error}; run as root") from None

    @staticmethod
    def _read(path):
        return path.read_text(encoding="ascii") if path.exists() else ""

    def throttled(self):
        for line in (self.path / "cpu.stat").read_text(encoding="ascii").splitlines():
            name, value = line.split()
            if name == "nr_throttled":
                return int(value)
        raise NoGroups(f"{self.path}/cpu.stat tells no nr_throttled")

    def join(self):
        (self.path / "cgroup.procs").write_text(str(os.getpid()))

    def remove(self):
        for _ in range(100):  # a group is busy until its last process is gone
            try:
                self.path.rmdir()
                return
            except OSError:
                time.sleep(0.02)
        raise NoGroups(f"cannot remove {self.path}")


def _once(program, steps, environment, quota):
    """{"cpu", "wall" in ms, "throttled", "threads"}, or {"error"}."""
    group = Group(quota)
    try:
        began = time.monotonic()
        process = subprocess.Popen([program, str(steps)], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True, preexec_fn=group.join, start_new_session=True)
        try:
            usage, status = _wait(process, began + TIMEOUT)
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            os.wait4(process.pid, 0)
            raise
        wall = time.monotonic() - began
        output, errors = process.stdout.read(), process.stderr.read()
        process.stdout.close()
        process.stderr.close()
        if usage is None:
            return {"error": f"hung: killed after {TIMEOUT} s"}
        if status != 0:
            return {"error": f"wait status {status:#x}: {errors.strip()}"}
        return {"cpu": 1e3 * (usage.ru_utime + usage.ru_stime), "wall": 1e3 * wall, "throttled": group.throttled(),
                "threads": int(output)}
    finally:
        group.remove()


def _wait(process, deadline):
    while time.monotonic() < deadline:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            process.returncode = status
            return usage, status
        time.sleep(0.002)
    os.killpg(process.pid, signal.SIGKILL)
    _, status, _ = os.wait4(process.pid, 0)
    process.returncode = status
    return None, status


def _environment(runtime, options, threads):
    environment = runtimes.environment(runtime, threads or 0, options.bound, extra=options.extra)
    if threads is None:
        del environment["OMP_NUM_THREADS"]
        del environment["OMP_DYNAMIC"]  # the default is what is asked about
    return environment


def _excess(ours, theirs, generator):
    """Lower end of the 95 % interval of mean(ours) - LIMIT x mean(theirs): above 0 is a miss. Means, since counts may be 0."""
    draws = sorted(sum(generator.choices(ours, k=len(ours))) / len(ours)
                   - LIMIT * sum(generator.choices(theirs, k=len(theirs))) / len(theirs) for _ in range(stats.RESAMPLES))
    return draws[int(0.025 * stats.RESAMPLES)]


def _judge(by_runtime, generator):
    ours = by_runtime.get("hearth", {})
    if "error" in ours or not ours.get("cpu"):
        return f"FAILED: {ours.get('error', 'no sample')}"
    missed = []
    for what in ("cpu", "throttled"):
        rivals = [by_runtime[name][what] for name in RIVALS if by_runtime.get(name, {}).get(what)]
        if not rivals:
            continue
        better = min(rivals, key=stats.median if what == "cpu" else lambda values: sum(values) / len(values))
        if _excess(ours[what], better, generator) > 0:
            missed.append("CPU time" if what == "cpu" else "throttled periods")
    return "misses: " + ", ".join(missed) if missed else "holds"


def _tell(values, what):
    if "error" in values:
        return "FAILED"
    if not values.get(what):
        return "–"
    if what == "throttled":
        return f"{sum(values[what]) / len(values[what]):.1f}"
    return f"{stats.median(values[what]):.0f}"


def run(options):
    generator = random.Random(options.seed)
    rounds = options.rounds or (2 if options.quick else 15)
    steps = 120 if options.quick else 250
    compiler = options.compiler or "gcc"
    program = build.program("quota", compiler)
    found = [runtime for runtime in runtimes.find(build.OUTPUT, options.lib, jobs.intel_or_none(options))
             if compiler in runtime.compilers and runtime.name != "hearth again"]
    scenarios = [scenario for scenario in SCENARIOS if options.filter in scenario[0]]
    measured = {scenario[0]: {runtime.name: {"cpu": [], "wall": [], "throttled": [], "threads": []} for runtime in found}
                for scenario in scenarios}
    from . import series
    progress = series.Progress(rounds * len(scenarios) * len(found))
    for number in range(1, rounds + 1):
        for name, quota, threads in generator.sample(scenarios, len(scenarios)):
            for runtime in generator.sample(found, len(found)):
                progress.step(f"round {number} of {rounds} · {name} · {runtime.name}")
                values = measured[name][runtime.name]
                if "error" in values:
                    continue
                answer = _once(program, steps, _environment(runtime, options, threads), quota)
                if "error" in answer:
                    values["error"] = answer["error"]
                    continue
                for what, value in answer.items():
                    values[what].append(value)
    progress.end()
    headings = ["scenario", "runtime", "threads", "CPU ms", "wall ms", "throttled periods", ""]
    table = []
    failed = False
    for name, _, _ in scenarios:
        verdict = _judge(measured[name], generator)
        failed = failed or verdict != "holds"
        for runtime in found:
            values = measured[name][runtime.name]
            table.append([name, "Hearth" if runtime.name == "hearth" else runtime.name,
                          str(values["threads"][0]) if values["threads"] else "–", _tell(values, "cpu"), _tell(values, "wall"),
                          _tell(values, "throttled"), verdict if runtime.name == "hearth" else values.get("error", "")])
    print(report.plain_table(headings, table))
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps({"rounds": rounds, "steps": steps, "scenarios": measured}, indent=1) + "\n",
                            encoding="utf-8")
    print(f"JSON: {options.json}")
    if options.write_docs:
        report.write_page("quota", "Speed: too many threads, and CPU quotas", "bench/run quota --write-docs", "speed",
                          f"{rounds} rounds, {compiler} build.\n\n" + report.markdown_table(headings, table))
    return 1 if options.check and failed else 0
