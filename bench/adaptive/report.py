"""docs/adaptive.md between its markers, from what bin/adaptive computed."""
import math
import statistics

BEGIN, END = "<!-- adaptive:begin -->", "<!-- adaptive:end -->"
OURS, ALONE = "adaptive + advised", "work-stealing + advised"
STEALING = [f"work-stealing + {kind}" for kind in ("standard", "fine", "coarse")]
NEAR, WORSE = 1.05, 1.10
SETS = (("reporting", "New programs on the machines that joined the tuning set last"),
        ("other-seeds", "New programs on the machines of the first tuning set"),
        ("benchmarks", "The six benchmarks of Muddukrishna et al. 2015 at the paper's sizes"),
        ("tuning", "The tuning set itself"))


class Row:
    """A case, its times relative to each other; a time is the middle of the draws."""

    def __init__(self, case):
        self.case = case
        times = {way: statistics.median(run["ms"]) for way, run in case["runs"].items()}
        fixed = {way: time for way, time in times.items() if way not in (OURS, ALONE)}
        self.best = min(fixed, key=fixed.get)
        self.ms = times[OURS]
        self.by_best = times[OURS] / fixed[self.best]
        self.by_standard = times[OURS] / times[STEALING[0]]
        self.by_stealing = times[OURS] / min(times[way] for way in STEALING)
        self.alone = times[ALONE] / fixed[self.best]
        self.local = case["runs"][OURS]["local"]
        # What one would lose who took the same combination for all.
        self.fixed = {way: time / fixed[self.best] for way, time in fixed.items()}


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
        rows.append([dict(SETS)[name], share(cases, lambda row: row.by_best <= NEAR), f"{mean(row.by_best for row in cases):.3f}",
                     share(cases, lambda row: row.by_standard > WORSE), share(cases, lambda row: row.by_stealing > WORSE),
                     f"{mean(row.by_standard for row in cases):.2f}", f"{mean(row.by_stealing for row in cases):.2f}"])
    return table(("cases", "within 5 % of the best fixed combination", "by that, on the average", "more than 10 % slower than stealing + standard",
                  "than stealing's best distribution", "by stealing + standard, on the average", "by stealing's best, on the average"), rows)


def fixed_ones(cases):
    rows = [[f"**{OURS}**", share(cases, lambda row: row.by_best <= NEAR), f"{mean(row.by_best for row in cases):.2f}",
             f"{max(row.by_best for row in cases):.2f}"],
            [ALONE, share(cases, lambda row: row.alone <= NEAR), f"{mean(row.alone for row in cases):.2f}",
             f"{max(row.alone for row in cases):.2f}"]]
    for way in sorted(cases[0].fixed, key=lambda way: mean(row.fixed[way] for row in cases)):
        rows.append([way, share(cases, lambda row: row.fixed[way] <= NEAR), f"{mean(row.fixed[way] for row in cases):.2f}",
                     f"{max(row.fixed[way] for row in cases):.2f}"])
    return table(("one combination for all", "within 5 % of each case's best", "average", "worst"), rows)


def described(properties):
    said = {0: "say nothing", 1: "say what they touch"}.get(round(properties["declared"], 1), "partly say what they touch")
    return (f"{properties['shape']}: {properties['tasks']} tasks that {said}, {properties['mib']:.3g} MiB in {properties['regions']}, first touched "
            f"by {'the ' if properties['first_touch'].startswith('initial') else ''}{properties['first_touch'].removeprefix('by ')}")


def cases_table(cases):
    rows = []
    for row in sorted(cases, key=lambda row: -row.by_best):
        mark = "**" if row.by_best > NEAR else ""
        rows.append([row.case["machine"], row.case["program"], described(row.case["properties"]), f"{row.ms:.3g}", row.best,
                     f"{mark}{row.by_best:.2f}{mark}", f"{row.by_standard:.2f}", f"{row.by_stealing:.2f}", f"{100 * row.local:.0f} %"])
    return table(("machine", "program", "what it is", "ms", "best fixed combination", "by that", "by stealing + standard", "by stealing's best",
                  "local"), rows)


def write(results, page):
    groups = {}
    for case in results["cases"]:
        groups.setdefault(case["set"], []).append(Row(case))
    groups = {name: groups[name] for name, _ in SETS if name in groups}
    lines = ["", f"Times are middles of {results['draws']} draws over the ranges of the machine's model, each with its own races.", "",
             "## The outcome", "", *summary(groups)]
    for name, cases in groups.items():
        lines += [f"## {dict(SETS)[name]}", "", *fixed_ones(cases), "Every case, the worst first; what is beyond 5 % is bold.", "", *cases_table(cases)]
    text = page.read_text()
    page.write_text(text[:text.index(BEGIN) + len(BEGIN)] + "\n" + "\n".join(lines) + text[text.index(END):])
