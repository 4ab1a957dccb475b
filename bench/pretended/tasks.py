"""The six task benchmarks on the pretended machine: rows, what the simulator says of each, the table.

The simulator is given the model without caches: none is kept from task to task, and what a task goes through more than
once stays in a cache of its own, since a pretended task uses its blocks once.
"""
import collections
import json
import re
import statistics
import subprocess

from lab import clock, forest, parts

SETTINGS = {"map": {"vectors": 48, "kib": 1024}, "reduction": {"kib": 16384, "depth": 8}, "vecmul": {"vectors": 128, "kib": 256},
            "matmul": {"size": 1024, "block": 128}, "jacobi": {"size": 2048, "block": 256, "sweeps": 4},
            "sparselu": {"size": 2048, "block": 128}}
MEMORY = ("initial", "parallel", "distributed")  # who touches it first, or by whom it is distributed
TITLES = {"initial": "one thread fills it", "parallel": "a loop fills it", "distributed": "interleaved"}
DISTRIBUTIONS = ("fine", "coarse", "blocked")  # of `hearth run --distribute`
LEAST = "64K"  # the smallest block that is distributed


def without_caches(folder):
    text = clock.MODEL.read_text()
    changed, count = re.subn(r"^private_bytes = .*$", 'private_bytes = { value = 1000000000000, mark = "A" }\n'
                             'llc_bytes = { value = 1, mark = "A" }', text, flags=re.MULTILINE)
    if count != 1:
        raise parts.MissingPart(f"{clock.MODEL}: no line of private_bytes")
    path = folder / "without-caches.toml"
    path.write_text(changed)
    return path


def words(settings):
    return [f"{name}={value}" for name, value in settings.items()]


def simulated(hearth, benchmark, settings, model, seeds=5):
    """What `hearth sim` says: tasks, bytes, and milliseconds by (policy, distribution)."""
    command = [hearth.command, "sim", benchmark, "--machine", model, "--nominal", "--seeds", seeds, "--json", "-", "--policy",
               "work-stealing,locality", "--distribution", ",".join(("standard", *DISTRIBUTIONS))]
    command += [word for setting in words(settings) for word in ("--set", setting)]
    done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise parts.MissingPart(f"{' '.join(map(str, command))} failed:\n{done.stderr[-2000:]}")
    said = json.loads(done.stdout)
    return {"tasks": said["tasks"], "bytes": said["ways"][0]["runs"][0]["bytes"],
            "ms": {f"{way['policy']} {way['distribution']}": way["ms"]["median"] for way in said["ways"]}}


def advised(said):
    """The distribution with which the simulator is fastest."""
    return min(DISTRIBUTIONS, key=lambda one: said["ms"][f"locality {one}"])


def plan(samples, only):
    return [(benchmark, memory, compiler, way, sample) for sample in range(samples) for benchmark in SETTINGS for memory in MEMORY
            for compiler in forest.COMPILERS for way in forest.WAYS if only.search(f"{benchmark}, {TITLES[memory]}")]


def command(program, hearth, benchmark, settings, memory, way, distribution):
    """Rivals' memory is interleaved as by numactl, Hearth's distributed by `hearth run`."""
    by_hearth = memory == "distributed" and way == "hearth"
    before = [hearth.command, "run", f"--distribute={distribution},min={LEAST}", "--"] if by_hearth else []
    return [*before, program, "initial" if by_hearth else {"distributed": "interleaved"}.get(memory, memory), benchmark, *words(settings)]


def check(said, wanted, title):
    """What a program printed has the simulator's tasks and bytes. The simulator counts whole lines."""
    used = sum(map(sum, said["memory"]))
    if said["tasks"] != wanted["tasks"] or abs(used / wanted["bytes"] - 1) > 1e-3:
        raise parts.MissingPart(f"{title}: {said['tasks']} tasks use {used} bytes; the simulator has {wanted['tasks']} and {wanted['bytes']}")


# ------------------------------------------------------------------------------------------------ the table

def _values(results, benchmark, memory, compiler, way):
    return sorted(one["ms"] for one in results
                  if (one["benchmark"], one["memory"], one["compiler"], one["way"]) == (benchmark, memory, compiler, way))


def _cell(values):
    return f"{statistics.median(values):.1f} ({values[0]:.1f}–{values[-1]:.1f})" if values else "–"


def _off(values, wanted):
    return [f"{wanted:.1f}", f"{100 * (statistics.median(values) / wanted - 1):+.0f} %"] if values and wanted else ["–", "–"]


def _row(results, said, benchmark, memory, compiler):
    by_way = {way: _values(results, benchmark, memory, compiler, way) for way in forest.WAYS}
    theirs = MEMORY if memory == "distributed" else (memory,)
    rivals = [statistics.median(values) for other in theirs for way in forest.WAYS[:2]
              if (values := _values(results, benchmark, other, compiler, way))]
    ours, simulated_ms = by_way["hearth"], said[benchmark]["ms"]
    way = advised(said[benchmark])
    title = f"interleaved; Hearth: {way}" if memory == "distributed" else TITLES[memory]
    by_best = f"{min(rivals) / statistics.median(ours):.2f} ×" if ours and rivals else "–"
    wanted = {"initial": "standard", "parallel": "", "distributed": way}[memory]
    interleaved = {"initial": "standard", "parallel": "", "distributed": "fine"}[memory]
    return [benchmark, title, compiler, *(_cell(by_way[way]) for way in forest.WAYS), by_best,
            *_off(ours, simulated_ms.get(f"locality {wanted}")), *_off(by_way["stock"], simulated_ms.get(f"work-stealing {interleaved}"))]


def page(results, said):
    counts = collections.Counter((one["benchmark"], one["memory"], one["compiler"], one["way"]) for one in results)
    text = [f"Milliseconds of the modelled machine: medians of {' or '.join(map(str, sorted(set(counts.values()))))} processes "
            "(smallest–largest).", "",
            "| benchmark | memory | build | stock runtime | best settings | Hearth | by best | simulator | off | simulator, stealing | off, stock |",
            "|---|---|---|--:|--:|--:|--:|--:|--:|--:|--:|"]
    for benchmark in SETTINGS:
        text += ["| " + " | ".join(_row(results, said, benchmark, memory, compiler)) + " |" for memory in MEMORY
                 for compiler in forest.COMPILERS if any(_values(results, benchmark, memory, compiler, way) for way in forest.WAYS)]
    sizes = "; ".join(f"{benchmark} {' '.join(words(settings))}" for benchmark, settings in SETTINGS.items())
    text += ["", f"Settings, as `hearth sim --list` has them: {sizes}."]
    return "\n".join(text) + "\n"
