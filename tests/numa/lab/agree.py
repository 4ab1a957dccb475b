"""`run agree`: the simulator's local shares beside the measured ones, per benchmark, distribution and policy.

`agreement/measured.json` holds matrices that `bench --suite las` counted, with their conditions, and what the benchmarks take on
one thread of that machine; `agreement/8x1.toml` is the machine for the simulator. How fast a benchmark computes is set from
its time on one thread, and nothing from the matrices. Boots nothing.
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
    return json.loads(done.stdout)["ways"]


def _speed(hearth, program, one_thread_ms):
    """Operations per cycle with which the program takes so long on one thread."""
    slow = 1e-3
    alone, = (way for way in _simulate(hearth, program, ["standard"], slow, "--policy", "work-stealing", "--threads", "1", "--nominal")
              if way["distribution"] == "standard")
    # At this speed computing is all that counts.
    return slow * alone["ms"]["median"] / one_thread_ms


def rows(hearth, seeds, data, wanted=re.compile("")):
    found = []
    for program, distributions in las.PROGRAMS.items():
        cases = [case for case in data["cases"] if case["case"].startswith(program + ", ") and wanted.search(case["case"])]
        if not cases:
            continue
        ways = _simulate(hearth, program, distributions, _speed(hearth, program, data["one_thread_ms"][program]),
                         "--policy", ",".join(POLICIES.values()), "--seeds", str(seeds))
        for case in cases:
            distribution = case["case"].split(", ")[1]
            simulated, = (way for way in ways
                          if way["distribution"] == distribution and way["policy"] == POLICIES[case["way"]])
            matrices = [Matrix(case["way"], each) for each in case["matrices"]]
            band = simulated["local_share"]
            found.append(Row(program, distribution, case["way"], [100 * each.local_share for each in matrices],
                             statistics.median(each.total for each in matrices),
                             100 * band["low"], 100 * band["median"], 100 * band["high"],
                             statistics.median(one["bytes"] for one in simulated["runs"]) / 64))
    return found


def table(results):
    """Rows of the table in docs/simulator.md."""
    lines = ["| benchmark, distribution | policy | counted: local | simulated: local | points | misses by counted |",
             "|---|---|---|---|---|---|"]
    for row in results:
        points = f"{row.difference:+.1f}"
        lines.append(f"| {row.program}, {row.distribution} | {POLICIES[row.way]} "
                     f"| {statistics.median(row.measured):.1f} % ({min(row.measured):.1f}–{max(row.measured):.1f}) "
                     f"| {row.share:.1f} % ({row.low:.1f}–{row.high:.1f}) "
                     f"| {points if row.agrees else f'**{points}**'} | {row.lines / row.misses:.2f} × |")
    return "\n".join(lines) + "\n"
