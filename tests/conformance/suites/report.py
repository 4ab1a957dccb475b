"""Verdicts, the progress line, the list of expected failures, and what a run prints at its end."""

import json
import os
import re
import sys
import time

PASS, FAIL, SKIP = "pass", "fail", "skip"


class Result:
    """One test's verdict. `alone`: it failed among others and passed by itself."""

    def __init__(self, status, detail="", seconds=0.0, log="", alone=False):
        self.status = status
        self.detail = detail
        self.seconds = seconds
        self.log = log
        self.alone = alone

    def as_dict(self):
        return {"status": self.status, "detail": self.detail, "seconds": round(self.seconds, 2), "log": self.log,
                "alone": self.alone}


class Progress:
    """One line on a terminal, rewritten; on a pipe a line every 15 seconds. Not thread-safe: the main thread calls it."""

    def __init__(self, title, total, quiet=False):
        self.title, self.total, self.quiet = title, total, quiet
        self.count = {PASS: 0, FAIL: 0, SKIP: 0}
        self.begin = self.last = time.monotonic()
        self.terminal = sys.stderr.isatty()

    def _line(self, name):
        done = sum(self.count.values())
        return (f"{self.title}: {done}/{self.total}, {self.count[FAIL]} failed, "
                f"{time.monotonic() - self.begin:.0f} s  {name}")

    def _print(self, text):
        if self.terminal:
            print("\r\x1b[2K" + text, end="", file=sys.stderr, flush=True)
        else:
            print(text, file=sys.stderr, flush=True)

    def add(self, name, result):
        self.count[result.status] += 1
        if self.quiet:
            return
        if result.status == FAIL:
            self._print(f"FAIL {self.title}: {name}: {result.detail}" + ("\n" if self.terminal else ""))
        now = time.monotonic()
        if (self.terminal and now - self.last > 0.1) or now - self.last > 15:
            self.last = now
            self._print(self._line(name))

    def note(self, text):
        if not self.quiet and (self.terminal or time.monotonic() - self.last > 15):
            self.last = time.monotonic()
            self._print(f"{self.title}: {text}")

    def end(self):
        if not self.quiet:
            self._print(self._line("") + ("\n" if self.terminal else ""))


class Expectations:
    """A list of tests that are known to fail, each with its reason, and the least number that must pass.

    Lines: `at-least: N`, `name: reason`, comments after #. A reason is mandatory. `name` may be marked as `name (flaky):
    reason` when it fails only now and then; then its passing is no news.
    """

    def __init__(self, path):
        self.path = path
        self.at_least = 0
        self.reasons = {}
        self.flaky = set()
        if not os.path.exists(path):
            return
        with open(path, encoding="utf-8") as source:
            for number, line in enumerate(source, 1):
                line = line.split("#", 1)[0].strip()
                if not line:
                    continue
                found = re.fullmatch(r"(\S+?)(\s+\(flaky\))?:\s+(\S.*)", line)
                if not found:
                    raise SystemExit(f"{path}:{number}: expected 'test name: reason'")
                name, flaky, reason = found.groups()
                if name == "at-least":
                    self.at_least = int(reason)
                    continue
                if name in self.reasons:
                    raise SystemExit(f"{path}:{number}: {name} is listed twice")
                self.reasons[name] = reason
                if flaky:
                    self.flaky.add(name)


def summarise(suite, results, expected, whole, seconds, out):
    """Prints the summary of one suite; returns whether it is free of regressions, and a dictionary for --json."""
    of = {status: sorted(n for n, r in results.items() if r.status == status) for status in (PASS, FAIL, SKIP)}
    new = [n for n in of[FAIL] if n not in expected.reasons]
    known = [n for n in of[FAIL] if n in expected.reasons]
    fixed = [n for n in of[PASS] if n in expected.reasons and n not in expected.flaky]
    gone = sorted(n for n in expected.reasons if n not in results) if whole else []
    alone = sorted(n for n, r in results.items() if r.alone)
    short = whole and len(of[PASS]) < expected.at_least

    print(f"\n== {suite}: {seconds:.0f} s", file=out)
    for name in new:
        print(f"FAIL      {name}: {results[name].detail}", file=out)
        print(f"          log: {results[name].log}", file=out)
    for name in known:
        print(f"known     {name}: {expected.reasons[name]}", file=out)
    for name in fixed:
        print(f"now good  {name}: take it out of {os.path.relpath(expected.path)}", file=out)
    for name in gone:
        print(f"unknown   {name}: listed in {os.path.relpath(expected.path)}, but there is no such test", file=out)
    for name in alone:
        print(f"alone     {name}: failed beside others ({results[name].detail}), passed by itself", file=out)
    if short:
        print(f"{len(of[PASS])} passed: fewer than the {expected.at_least} that "
              f"{os.path.relpath(expected.path)} asks for", file=out)
    if known and not new:
        print(f"all {len(known)} failures are known", file=out)
    print(f"{len(of[PASS])} passed, {len(of[FAIL])} failed, {len(of[SKIP])} skipped", file=out, flush=True)
    good = not new and not gone and not short and bool(of[PASS] or of[FAIL])
    return good, {
        "suite": suite, "seconds": round(seconds, 1), "passed": len(of[PASS]), "failed": len(of[FAIL]),
        "skipped": len(of[SKIP]), "regressions": new, "known": {n: expected.reasons[n] for n in known},
        "now_good": fixed, "alone": alone, "good": good,
        "tests": {name: results[name].as_dict() for name in sorted(results)},
    }


class Journal:
    """Verdicts on disk, one JSON line per test, so that an interrupted run can go on and failures can be re-run.

    A journal belongs to one (suite, library file); with another build of the library the old verdicts are kept for
    --failed but do not count for --resume. Written by the main thread only.
    """

    def __init__(self, path, stamp):
        self.path, self.stamp = path, stamp
        self.old = {}
        self.same_library = False
        if os.path.exists(path):
            with open(path, encoding="utf-8") as source:
                for line in source:
                    try:
                        entry = json.loads(line)
                    except json.JSONDecodeError:
                        continue  # the last line of a run that was killed
                    if "stamp" in entry:
                        self.same_library = entry["stamp"] == stamp
                    else:
                        name = entry.pop("name")
                        self.old[name] = Result(**entry)
        self.sink = None

    def open(self, keep):
        """Starts writing; `keep` are the verdicts that stay."""
        os.makedirs(os.path.dirname(self.path), exist_ok=True)
        self.sink = open(self.path + ".new", "w", encoding="utf-8")
        self._write({"stamp": self.stamp})
        for name, result in keep.items():
            self.add(name, result)
        os.replace(self.path + ".new", self.path)

    def _write(self, entry):
        self.sink.write(json.dumps(entry) + "\n")
        self.sink.flush()

    def add(self, name, result):
        self._write({"name": name, **result.as_dict()})

    def close(self):
        if self.sink:
            self.sink.close()
            self.sink = None
