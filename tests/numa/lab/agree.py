"""`run agree`: the simulator's local shares beside the measured ones, per benchmark, distribution and policy.

`agreement/measured.json` holds what `bench --suite las --json` wrote, matrices and times, with the conditions;
`agreement/8x1.toml` is the machine for the simulator. How fast a benchmark computes there is set from the times of its regions under
work stealing with all memory on one node, and nothing from the matrices. The host is shared, so these times differ: a third of the
seeds has the speed of the middle of each third of them. Boots nothing.
"""
import dataclasses
import json
import pathlib
import re
import statistics
import subprocess

from . import las, parts
from .matrix import Matrix

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "agreement"
MACHINE = FOLDER / "8x1.toml"
POLICIES = {"stealing": "work-stealing", "locality": "locality"}
POINTS = 3


@dataclasses.dataclass
class Row:
    program: str
    distribution: str
    way: str
    measured: list   # local shares, in per cent
    misses: float    # median, in lines
    low: float       # simulated: the band, and its middle
    share: float
    high: float
    lines: float

    @property
    def difference(self):
        return self.share - statistics.median(self.measured)

    @property
    def agrees(self):
        return abs(self.difference) <= POINTS

    @property
    def apart(self):
        """Points between the simulated band and what was measured; 0 if they meet."""
        return max(0.0, self.low - max(self.measured), min(self.measured) - self.high)


def measured(path=FOLDER / "measured.json"):
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError) as wrong:
        raise parts.MissingPart(f"{path}: {wrong}") from wrong


def _simulate(hearth, program, distributions, speed, *options):
    command = [str(hearth.command), "sim", program, "--machine", str(MACHINE), "--distribution", ",".join(distributions),
               "--set", f"ops_per_cycle={speed:.6g}", "--json", "-", *options]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise parts.MissingPart(f"{' '.join(command)} failed:\n{done.stderr[-2000:]}")
    return json.loads(done.stdout)


def _speed(hearth, program, region_ms):
    """Operations per cycle with which a region of work stealing takes so many milliseconds."""
    def milliseconds(speed):
        ways = _simulate(hearth, program, ["standard"], speed, "--policy", "work-stealing", "--seeds", "5")["ways"]
        return next(way["ms"]["median"] for way in ways if way["distribution"] == "standard")
    # A part that is computing, and one that is not.
    slow, fast = 0.01, 0.1
    computing = (milliseconds(slow) - milliseconds(fast)) / (1 / slow - 1 / fast)
    return computing / max(region_ms - milliseconds(fast) + computing / fast, region_ms / 2)


def _regions(hearth, program, distributions, region_ms, seeds, nodes=8):
    """The runs of every way, by policy and distribution. From region to region of a process coarse allocations go on around the
    nodes; the seeds are dealt out among the nodes that the first of a region can have, as among the speeds."""
    runs = {(policy, distribution): [] for policy in POLICIES.values() for distribution in distributions}
    times = sorted(region_ms)
    speeds = [_speed(hearth, program, times[len(times) * part // 6]) for part in (1, 3, 5)]
    seed = 1

    def simulate(chosen, speed, before, count):
        nonlocal seed
        one = _simulate(hearth, program, chosen, speed, "--policy", ",".join(POLICIES.values()), "--seeds", str(count),
                        "--first-seed", str(seed), "--allocations-before", str(before))
        seed += count
        for way in one["ways"]:
            if way["distribution"] in chosen:
                runs[way["policy"], way["distribution"]] += way["runs"]
        return one["allocations"]

    for speed in speeds:
        allocations = simulate([name for name in distributions if name != "coarse"], speed, 0, -(-seeds // len(speeds)))
        starts = sorted({region * allocations % nodes for region in range(nodes)})
        for start in starts:
            simulate(["coarse"], speed, start, -(-seeds // (len(speeds) * len(starts))))
    return runs


def rows(hearth, seeds, data, wanted=re.compile("")):
    found = []
    for program, distributions in las.PROGRAMS.items():
        cases = [case for case in data["cases"] if case["case"].startswith(program + ", ") and wanted.search(case["case"])]
        if not cases:
            continue
        runs = _regions(hearth, program, distributions, data["region_ms"][program], seeds)
        for case in cases:
            distribution = case["case"].split(", ")[1]
            simulated = runs[POLICIES[case["way"]], distribution]
            shares = sorted(100 * run["local_share"] for run in simulated)
            matrices = [Matrix(case["way"], each) for each in case["matrices"]]
            found.append(Row(program, distribution, case["way"], [100 * each.local_share for each in matrices],
                             statistics.median(each.total for each in matrices),
                             shares[round(0.05 * (len(shares) - 1))], statistics.median(shares),
                             shares[round(0.95 * (len(shares) - 1))],
                             statistics.median(run["bytes"] for run in simulated) / 64))
    return found


def table(results):
    """Rows of the table in docs/results/data/simulator-shares.md."""
    lines = ["| benchmark, distribution | policy | counted: local | simulated: local | points | misses by counted |",
             "|---|---|---|---|---|---|"]
    for row in results:
        points = f"{row.difference:+.1f}"
        lines.append(f"| {row.program}, {row.distribution} | {POLICIES[row.way]} "
                     f"| {statistics.median(row.measured):.1f} % ({min(row.measured):.1f}–{max(row.measured):.1f}) "
                     f"| {row.share:.1f} % ({row.low:.1f}–{row.high:.1f}) "
                     f"| {points if row.agrees else f'**{points}**'} | {row.lines / row.misses:.2f} × |")
    return "\n".join(lines) + "\n"
