"""The rounds: which process runs when, the progress line, and what is left after Ctrl-C.

A round visits all jobs in random order, and inside a job all runtimes in random order, one short process each; so the
runtimes of one job meet the same machine within a fraction of a second, and no runtime always comes first.
"""
import sys
import time

from . import sample, stats

# A runtime that fails a job this often is not asked again: a hang costs its whole timeout each time.
MOST_FAILURES = 2


class Job:
    """Processes that measure the same rows, one per runtime. start(runtime, rows) returns {row: {"ns", "quiet"}}."""

    def __init__(self, section, compiler, rows, runtimes, start, cutoff=True):
        self.section = section
        self.compiler = compiler
        self.rows = rows
        self.runtimes = runtimes
        self.start = start
        self.cutoff = cutoff

    def key(self, row):
        return (self.section, row, self.compiler, self.cutoff)


class Results:
    """Medians per row, runtime and round, errors, and how quiet the machine was."""

    def __init__(self):
        self.rounds = 0
        self.medians = {}  # key -> {runtime: [median per round or None]}
        self.errors = {}   # key -> {runtime: message}
        self.floor = {"round trip": [], "one way": [], "exchange": []}
        self.samples = 0
        self.quiet = 0
        self.interrupted = False

    def open_round(self):
        self.rounds += 1
        for by_runtime in self.medians.values():
            for values in by_runtime.values():
                values.append(None)
        for values in self.floor.values():
            values.append(None)

    def close_round(self, complete):
        if complete:
            return
        self.rounds -= 1
        for by_runtime in self.medians.values():
            for values in by_runtime.values():
                del values[self.rounds:]
        for values in self.floor.values():
            del values[self.rounds:]

    def series(self, key, runtime):
        """One value per round; empty where the runtime has no part in that row."""
        return self.medians.get(key, {}).get(runtime, [])

    def store(self, key, runtime, samples):
        values = self.medians.setdefault(key, {}).setdefault(runtime, [None] * self.rounds)
        values[-1] = stats.median(samples["ns"])
        self.samples += len(samples["ns"])
        self.quiet += samples["quiet"]

    def store_floor(self, answer):
        # A floor is what remains when nothing disturbs, so the smallest of the round's samples stands for it.
        round_trip = min(answer["round_trip"]["ns"])
        self.floor["round trip"][-1] = round_trip
        self.floor["one way"][-1] = round_trip / 2
        self.floor["exchange"][-1] = min(answer["exchange"]["ns"])


class Progress:
    """One line on stderr: rewritten in place on a terminal, every few seconds in a log."""

    def __init__(self, steps):
        self.steps = steps
        self.done = 0
        self.began = time.monotonic()
        self.printed = 0.0
        self.terminal = sys.stderr.isatty()

    def step(self, text):
        self.done += 1
        now = time.monotonic()
        if now - self.printed < (0.1 if self.terminal else 15):
            return
        self.printed = now
        elapsed = now - self.began
        left = elapsed / self.done * (self.steps - self.done)
        line = f"bench: {text} · {elapsed:.0f} s, about {left:.0f} s left"
        sys.stderr.write(f"\r\033[K{line}" if self.terminal else line + "\n")
        sys.stderr.flush()

    def end(self):
        if self.terminal:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()


class Runner:
    def __init__(self, jobs, rounds, measure_floor, generator):
        self.jobs = jobs
        self.rounds = rounds
        self.measure_floor = measure_floor
        self.generator = generator
        self.results = Results()
        self.failures = {}  # (job, runtime name, rows) -> count
        self.split = set()  # (job, runtime name): rows get a process each, so that one bad row spoils no other
        for job in jobs:
            for row in job.rows:
                self.results.medians[job.key(row)] = {runtime.name: [] for runtime in job.runtimes}

    def run(self):
        results = self.results
        progress = Progress(self.rounds * sum(len(job.runtimes) for job in self.jobs))
        for number in range(1, self.rounds + 1):
            results.open_round()
            try:
                results.store_floor(self.measure_floor())
                for job in self.generator.sample(self.jobs, len(self.jobs)):
                    for runtime in self.generator.sample(job.runtimes, len(job.runtimes)):
                        progress.step(f"round {number} of {self.rounds} · {job.section}, {job.compiler} build on {runtime.name}")
                        self._visit(job, runtime)
            except KeyboardInterrupt:
                results.close_round(complete=False)
                results.interrupted = True
                break
        progress.end()
        return results

    def _visit(self, job, runtime):
        if (job, runtime.name) not in self.split:
            if self._attempt(job, runtime, job.rows) or len(job.rows) == 1:
                return
            self.split.add((job, runtime.name))
        for row in job.rows:
            self._attempt(job, runtime, [row])

    def _attempt(self, job, runtime, rows):
        place = (job, runtime.name, tuple(rows))
        if self.failures.get(place, 0) >= MOST_FAILURES:
            return False
        try:
            answer = job.start(runtime, rows)
        except sample.SampleError as error:
            self.failures[place] = self.failures.get(place, 0) + 1
            if len(rows) == 1:
                self.results.errors.setdefault(job.key(rows[0]), {})[runtime.name] = str(error)
            return False
        for row in rows:
            self.results.store(job.key(row), runtime.name, answer[row])
        return True
