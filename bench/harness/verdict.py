"""The limits that Hearth set itself, and which rows miss them; pure, no I/O.

A row misses a limit when the lower end of its 95 % interval is above it. A row that Hearth could not run misses all.
"""
from . import stats

ROW_LIMIT = 1.05         # every construct, against the faster of libgomp and libomp
GOOD_LIMIT = 0.9         # two thirds of the constructs, against the same
GOOD_SHARE = 2 / 3
INTEL_LIMIT = 1.0        # half of the constructs, against libiomp5
INTEL_SHARE = 1 / 2
PARALLEL_FLOOR = 2.2     # x round trip
BARRIER_FLOOR = 1.8      # x one way
TASK_LIMIT = 1.0         # every task benchmark
TASK_MEAN_LIMIT = 0.8    # their geometric mean
STARTUP_LIMIT = 1.0
FEWEST_ROUNDS = 15
FEWEST_QUIET = 0.5        # of all samples
SECTION_ORDER = ("overhead", "tasks", "startup")

OURS = "hearth"
AGAIN = "hearth again"
RIVALS = ("libgomp", "libomp")
INTEL = "libiomp5"

# What a row is compared with: a region needs a message to the worker and one back, a rendezvous one message.
FLOOR_OF = {"parallel": "round trip", "parallel for": "round trip", "parallel reduction": "round trip",
            "barrier": "one way", "single": "one way", "for static": "one way", "for reduction": "one way"}


class Row:
    """One row with its ratios. `fastest` compares with the rivals that run the very same binary; `anywhere` also lets
    gcc's build on libgomp stand against clang's build on Hearth."""

    def __init__(self, key, results, generator):
        self.key = key
        self.section, self.name, self.compiler, self.cutoff = key
        self.errors = results.errors.get(key, {})
        ours = results.series(key, OURS)
        self.failed = not any(value is not None for value in ours)
        rivals = [results.series(key, rival) for rival in RIVALS]
        rivals = [series for series in rivals if series]
        self.fastest = self.anywhere = self.intel = self.again = self.floor = None
        if self.failed:
            return
        self.fastest = stats.ratio_to_fastest(ours, rivals, generator)
        self.anywhere = self.fastest
        if self.compiler == "clang":
            other = results.series((self.section, self.name, "gcc", self.cutoff), "libgomp")
            self.anywhere = stats.ratio_to_fastest(ours, rivals + [other], generator) if other else self.fastest
        if results.series(key, INTEL):
            self.intel = stats.paired_ratio(ours, results.series(key, INTEL), generator)
        if results.series(key, AGAIN):
            self.again = stats.paired_ratio(ours, results.series(key, AGAIN), generator)
        if self.section == "overhead" and self.name in FLOOR_OF:
            self.floor = stats.paired_ratio(ours, results.floor[FLOOR_OF[self.name]], generator)

    def within(self, interval, limit):
        return not self.failed and interval is not None and interval.low <= limit

    def limit(self):
        return {"overhead": ROW_LIMIT, "tasks": TASK_LIMIT, "startup": STARTUP_LIMIT}[self.section]

    def label(self):
        return f"{self.name} ({self.compiler})"


class Finding:
    """One requirement: did it hold, by which number, and the rows that miss it."""

    def __init__(self, text, holds, missing=()):
        self.text = text
        self.holds = holds
        self.missing = list(missing)


def _describe(row, interval):
    if row.failed:
        return f"{row.label()} failed"
    if interval is None:
        return f"{row.label()}: nothing to compare with"
    return f"{row.label()} {interval.value:.2f} [{interval.low:.2f}, {interval.high:.2f}]"


def _every(text, rows, pick, limit):
    missing = [row for row in rows if not row.within(pick(row), limit)]
    return Finding(f"{text}: {len(rows) - len(missing)} of {len(rows)} rows", not missing,
                   [_describe(row, pick(row)) for row in missing])


def _share(text, rows, pick, limit, share):
    good = [row for row in rows if row.within(pick(row), limit)]
    return Finding(f"{text}: {len(good)} of {len(rows)} rows", len(good) >= share * len(rows))


class Verdict:
    def __init__(self, results, generator):
        names = list(dict.fromkeys(key[1] for key in results.medians))
        keys = sorted(results.medians, key=lambda key: (SECTION_ORDER.index(key[0]), not key[3], names.index(key[1]),
                                                        key[2] != "gcc"))
        self.rows = [Row(key, results, generator) for key in keys]
        judged = [row for row in self.rows if row.cutoff]
        overhead = [row for row in judged if row.section == "overhead"]
        tasks = [row for row in judged if row.section == "tasks"]
        startup = [row for row in judged if row.section == "startup"]
        self.again = stats.ratio_of_rows([(results.series(key, OURS), results.series(key, AGAIN))
                                          for key in results.medians], generator)
        self.tasks_mean = None
        self.findings = []
        if overhead:
            self._judge_overhead(overhead, results)
        if tasks:
            self._judge_tasks(tasks, results, generator)
        if startup:
            self.findings.append(_every(f"start-up + one region at most {STARTUP_LIMIT:g} x the faster rival", startup,
                                        lambda row: row.fastest, STARTUP_LIMIT))
        self.void = self._reason_to_void(results)

    def _judge_overhead(self, rows, results):
        add = self.findings.append
        add(_every(f"every construct at most {ROW_LIMIT:g} x the faster of libgomp and libomp", rows,
                   lambda row: row.fastest, ROW_LIMIT))
        add(_share(f"two thirds of the constructs at most {GOOD_LIMIT:g} x", rows, lambda row: row.fastest, GOOD_LIMIT,
                   GOOD_SHARE))
        add(_every("the same with gcc's build on libgomp as a rival of clang's build too", rows,
                   lambda row: row.anywhere, ROW_LIMIT))
        text = "half of the constructs at most libiomp5"
        if any(results.series(row.key, INTEL) for row in rows):
            add(_share(text, rows, lambda row: row.intel, INTEL_LIMIT, INTEL_SHARE))
        else:
            add(Finding(f"{text}: not measured", False))
        for name, limit in (("parallel", PARALLEL_FLOOR), ("barrier", BARRIER_FLOOR)):
            chosen = [row for row in rows if row.name == name]
            if chosen:
                add(_every(f"{name} at most {limit:g} x the floor ({FLOOR_OF[name]})", chosen, lambda row: row.floor, limit))

    def _judge_tasks(self, rows, results, generator):
        self.findings.append(_every(f"every task benchmark at most {TASK_LIMIT:g} x the faster of libgomp and libomp", rows,
                                    lambda row: row.fastest, TASK_LIMIT))
        self.tasks_mean = stats.geometric_mean_to_fastest(
            [(results.series(row.key, OURS), [results.series(row.key, rival) for rival in RIVALS if results.series(row.key, rival)])
             for row in rows if not row.failed], generator)
        mean = self.tasks_mean
        holds = mean is not None and mean.low <= TASK_MEAN_LIMIT and not any(row.failed for row in rows)
        told = f"{mean.value:.2f} [{mean.low:.2f}, {mean.high:.2f}]" if mean else "no sample"
        self.findings.append(Finding(f"geometric mean of the task benchmarks at most {TASK_MEAN_LIMIT:g} x: {told}", holds))

    def _reason_to_void(self, results):
        if results.interrupted:
            return f"interrupted after {results.rounds} rounds"
        if self.again is None:
            return "Hearth was not measured twice"
        if not self.again.holds(1.0):
            return f"the A/A interval [{self.again.low:.3f}, {self.again.high:.3f}] does not contain 1"
        if results.rounds < FEWEST_ROUNDS:
            return f"{results.rounds} rounds are fewer than {FEWEST_ROUNDS}"
        if results.quiet < FEWEST_QUIET * results.samples:
            return f"only {results.quiet} of {results.samples} samples were taken in a quiet moment"
        return None

    def passed(self):
        return self.void is None and all(finding.holds for finding in self.findings)
