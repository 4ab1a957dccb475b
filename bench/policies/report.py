"""League tables of policies, from what bin/policies computed: times by work stealing's with the same distribution."""
import math
import statistics
import sys
import pathlib

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import data_page  # noqa: E402  (the path has to be set first)

STEALING = "work-stealing"
NOTICED, FORBIDDEN = 1.05, 1.10


class Row:
    """A program under one distribution: the policies' times by stealing's, each the middle of the draws."""

    def __init__(self, case, distribution):
        self.case, self.distribution = case, distribution
        self.machine, self.shape = case["machine"], case["shape"]
        runs = case["runs"][distribution]
        self.ms = {policy: statistics.median(run["ms"]) for policy, run in runs.items()}
        self.local = {policy: run["local"] for policy, run in runs.items()}
        # Draw by draw: both see the same machine.
        self.ratio = {policy: statistics.median(ours / theirs for ours, theirs in zip(run["ms"], runs[STEALING]["ms"]))
                      for policy, run in runs.items()}


def rows_of(results):
    return [Row(case, distribution) for case in results["cases"] if "runs" in case for distribution in case["runs"]]


def mean(values):
    return math.exp(statistics.fmean(math.log(value) for value in values))


def line(name, rows, policy):
    ratios = [row.ratio[policy] for row in rows]
    return [name, str(len(ratios)), f"{mean(ratios):.3f}", f"{max(ratios):.2f}",
            *(f"{100 * sum(ratio > limit for ratio in ratios) / len(ratios):.1f} %" for limit in (NOTICED, FORBIDDEN))]


HEADS = ["", "programs", "geometric mean", "worst", f"above {NOTICED}", f"above {FORBIDDEN:.2f}"]


def table(heads, lines):
    return ["| " + " | ".join(heads) + " |", "|---|" + "--:|" * (len(heads) - 1)] + ["| " + " | ".join(each) + " |" for each in lines] + [""]


def groups(rows, key):
    return {name: [row for row in rows if key(row) == name] for name in dict.fromkeys(map(key, rows))}


def policies_of(rows):
    return [policy for policy in rows[0].ratio if policy != STEALING]


def league(rows):
    lines = []
    for distribution, some in groups(rows, lambda row: row.distribution).items():
        lines += [line(f"{policy}, {distribution}", some, policy) for policy in policies_of(rows)]
    return table(["policy, distribution", *HEADS[1:]], lines)


def worst(rows, policy, count=20):
    lines = []
    for row in sorted(rows, key=lambda row: -row.ratio[policy])[:count]:
        about = row.case["properties"]
        lines.append([row.machine, str(row.case["seed"]), row.shape, row.distribution, f"{row.ratio[policy]:.2f}",
                      f"{row.ms[policy]:.4g}", str(about["tasks"]), f"{about['mib']:.3g}", about["first_touch"],
                      f"{100 * row.local[policy]:.0f} %", f"{100 * row.local[STEALING]:.0f} %"])
    return table(["machine", "seed", "shape", "distribution", "÷ stealing", "ms", "tasks", "MiB", "first touched by", "local",
                  "stealing's"], lines)


def text(results):
    rows = rows_of(results)
    lines = [f"Programs of the generator `random` with `shapes=all` from seed {results['seed']} on; medians of {results['draws']} "
             "draws over the ranges of the machine's model, each with its own races. Ratios are to work stealing with the same",
             "distribution, draw by draw.", "", "## The league", "", *league(rows)]
    for policy in policies_of(rows):
        for title, key in (("shape", lambda row: row.shape), ("machine", lambda row: row.machine)):
            lines += [f"## {policy}, by {title}", "",
                      *table([title, *HEADS[1:]], [line(name, some, policy) for name, some in sorted(groups(rows, key).items())])]
        lines += [f"## Where {policy} loses most", "", *worst(rows, policy)]
    return "\n".join(lines)


def write(results, page):
    data_page.write(page, "Policies on random programs", "make policies", "league", text(results))
