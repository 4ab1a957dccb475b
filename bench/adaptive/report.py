"""The tables of docs/results/data/adaptive.md, from what bin/adaptive computed."""
import math
import pathlib
import statistics
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import data_page  # noqa: E402  (the path has to be set first)

OURS, ALONE = "adaptive + advised", "work-stealing + advised"
SEARCHED, BOTH = "adaptive + searched", "searched + searched"
# What is reported, the tables' words for it, and what decides the distributions.
WAYS = {OURS: "by the rules", SEARCHED: "by a search", BOTH: "by a search, the policy as well"}
STEALING = [f"work-stealing + {kind}" for kind in ("standard", "fine", "coarse")]
NEAR, WORSE = 1.05, 1.10
SETS = (("reporting", "New programs, machines of the latest tuning set"),
        ("other-seeds", "New programs, machines of the first tuning set"),
        ("benchmarks", "The six benchmarks of Muddukrishna et al. 2015 at the paper's sizes"),
        ("tuning", "The tuning set itself"), ("tiny", "Two programs for a test"))


class Row:
    """A case, its times relative to each other; a time is the middle of the draws."""

    def __init__(self, case):
        self.case = case
        times = {way: statistics.median(run["ms"]) for way, run in case["runs"].items()}
        apart = {way for way in times if way.startswith(("adaptive", "searched")) or way == ALONE}
        fixed = {way: time for way, time in times.items() if way not in apart}
        self.best = min(fixed, key=fixed.get)
        self.ms = times[OURS]
        self.ways = [way for way in WAYS if way in times]
        self.by_standard = {way: times[way] / times[STEALING[0]] for way in self.ways}
        self.by_stealing = {way: times[way] / min(times[way] for way in STEALING) for way in self.ways}
        self.local = case["runs"][OURS]["local"]
        # What one would lose who took the same for all.
        self.by_best = {way: times[way] / fixed[self.best] for way in [*self.ways, ALONE, *fixed]}
        self.fixed = list(fixed)


def mean(values):
    return math.exp(statistics.fmean(math.log(value) for value in values))


def table(heads, rows):
    return ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)] + ["| " + " | ".join(row) + " |" for row in rows] + [""]


def share(rows, test):
    count = sum(map(test, rows))
    return f"{count} of {len(rows)} ({100 * count / len(rows):.0f} %)"


def summary(groups):
    rows = []
    for name, cases in groups.items():
        for way in cases[0].ways:
            rows.append([dict(SETS)[name] if way == OURS else "", WAYS[way], share(cases, lambda row: row.by_best[way] <= NEAR),
                         f"{mean(row.by_best[way] for row in cases):.3f}", share(cases, lambda row: row.by_standard[way] > WORSE),
                         share(cases, lambda row: row.by_stealing[way] > WORSE), f"{mean(row.by_standard[way] for row in cases):.2f}",
                         f"{mean(row.by_stealing[way] for row in cases):.2f}"])
    return table(("cases", "distributions", "within 5 % of the best fixed combination", "mean ÷ best",
                  "over 10 % slower than stealing + standard", "over 10 % slower than stealing's best",
                  "mean ÷ stealing + standard", "mean ÷ stealing's best"), rows)


def fixed_ones(cases):
    first = cases[0]
    ways = [*first.ways, ALONE, *sorted(first.fixed, key=lambda way: mean(row.by_best[way] for row in cases))]
    return table(("one combination for all", "within 5 % of each case's best", "mean ÷ best", "worst ÷ best"),
                 [[f"**{way}**" if way in WAYS else way, share(cases, lambda row: row.by_best[way] <= NEAR),
                   f"{mean(row.by_best[way] for row in cases):.2f}", f"{max(row.by_best[way] for row in cases):.2f}"] for way in ways])


def described(properties):
    said = {0: "have no footprint", 1: "have footprints"}.get(round(properties["declared"], 1), "partly have footprints")
    return (f"{properties['shape']}: {properties['tasks']} tasks that {said}, {properties['mib']:.3g} MiB "
            f"in {properties['regions']}, first touched by "
            f"{'the ' if properties['first_touch'].startswith('initial') else ''}{properties['first_touch'].removeprefix('by ')}")


def marked(ratio):
    return f"**{ratio:.2f}**" if ratio > NEAR else f"{ratio:.2f}"


def cases_table(cases):
    ways = cases[0].ways
    rows = []
    for row in sorted(cases, key=lambda row: -row.by_best[ways[min(1, len(ways) - 1)]]):
        rows.append([row.case["machine"], row.case["program"], described(row.case["properties"]), f"{row.ms:.3g}", row.best,
                     *(marked(row.by_best[way]) for way in ways), *(f"{row.by_standard[way]:.2f}" for way in ways),
                     f"{row.by_stealing[OURS]:.2f}", f"{100 * row.local:.0f} %"])
    short = {OURS: "rules", SEARCHED: "search", BOTH: "policy as well"}
    return table(("machine", "program", "what it is", "ms, rules", "best fixed combination",
                  *(f"÷ best: {short[way]}" for way in ways), *(f"÷ stealing + standard: {short[way]}" for way in ways),
                  "÷ stealing's best: rules", "local: rules"), rows)


def write(results, page):
    groups = {}
    for case in results["cases"]:
        groups.setdefault(case["set"], []).append(Row(case))
    groups = {name: groups[name] for name, _ in SETS if name in groups}
    lines = [f"Times are medians of {results['draws']} draws over the ranges of the machine's model, each with its own races.", "",
             "## The outcome", "", *summary(groups)]
    for name, cases in groups.items():
        lines += [f"## {dict(SETS)[name]}", "", *fixed_ones(cases),
                  "Every case, the worst with a search first; bold: more than 5 % above the best.", "", *cases_table(cases)]
    data_page.write(page, "The adaptive policy: every case", "make adaptive", "adaptive", "\n".join(lines))
