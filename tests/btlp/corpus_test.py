#!/usr/bin/env python3
"""The corpus (corpus.py): classes, partners and parents that the analysis finds, held against what was written down.

Usage: corpus_test.py BUILD [--full] [--levels O0,O2] [--stdlib libc++] [--only PATTERN] [--keep FOLDER] [--write-docs]

Each program is compiled by `hearth cc -c`; its object is then analysed as a whole program and as one file of a larger one, in
`paper` and `balanced`. Of a file alone a class may be unknown, never wrong. Fails below --least (0.99) of the threads.
"""
import argparse
import concurrent.futures
import json
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
sys.path.append(str(pathlib.Path(__file__).parents[2] / "tools"))
import corpus
import data_page

def routine_of(name):
    return "lambda" if name and name.startswith("lambda") else name


def judge(threads, found, mode, whole):
    """[(good, what)] by thread."""
    verdicts = []
    ours = found["threads"]
    names = {0: "main", **{each["id"]: routine_of(each["routine"]) for each in ours}}
    for number, thread in enumerate(threads):
        if number >= len(ours):
            verdicts.append((False, f"{thread.routine}: not found"))
            continue
        each = ours[number]
        wanted = getattr(thread, mode)
        if routine_of(each["routine"]) != thread.routine:
            verdicts.append((False, f"{thread.routine}: found {each['routine']}"))
        elif each["class"] != wanted and (whole or each["class"] != "unknown"):
            verdicts.append((False, f"{thread.routine}: {each['class']}, not {wanted}: {each['why']}"))
        elif whole and set(names[one] for one in each["partner_ids"]) != set(thread.shares):
            verdicts.append((False, f"{thread.routine}: shares with {[names[one] for one in each['partner_ids']]}, "
                                    f"not {list(thread.shares)}: {each['why']}"))
        elif whole and names[each["parent"]] != thread.parent:
            verdicts.append((False, f"{thread.routine}: child of {names[each['parent']]}, not of {thread.parent}"))
        else:
            verdicts.append((True, thread.routine))
    verdicts += [(False, f"{each['routine']}: there is no such thread") for each in ours[len(threads):]]
    return verdicts


def compiler(build, file, level, stdlib):
    if not file.endswith(".cpp"):
        return [build / "bin/hearth-cc", f"-{level}"]
    library = ["-stdlib=libc++", "-fexperimental-library"] if stdlib == "libc++" else []  # for its std::jthread
    return [build / "bin/hearth-c++", f"-{level}", "-std=c++20", *library]


def call(command):
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=600)


def headers(build, folder, level, stdlib):
    """The headers that all C++ programs include, compiled once: most of the time goes into them."""
    words = corpus.FLAVOURS["std"]
    text = folder / "headers.h"
    text.write_text(corpus.COMMON + words[1])
    compiled = folder / f"headers.{level}.{stdlib}.pch"
    result = call([*compiler(build, "headers.cpp", level, stdlib), "-x", "c++-header", text, "-o", compiled])
    if result.returncode != 0:
        sys.exit(f"the headers of the C++ programs do not compile: {result.stderr[:600]}")
    return compiled


def one(build, folder, program, level, stdlib, ready):
    """{(mode, whole or part): verdicts}"""
    name, file, text, threads = program
    source = folder / file
    source.write_text(text)
    target = folder / f"{name}.{level}.{stdlib}.o"
    result = call([*compiler(build, file, level, stdlib), *(["-include-pch", ready] if ready else []), "-c", source, "-o", target])
    if result.returncode != 0:
        return {("compiled", "-"): [(False, result.stderr[:600])]}
    verdicts = {}
    for mode in ("paper", "balanced"):
        for view in ("whole", "part"):
            out = folder / f"{name}.{level}.{stdlib}.{mode}.{view}.json"
            result = call([build / "lib/hearth/hearth-ld", "--analyse", mode, view, out, target])
            if result.returncode != 0:
                verdicts[mode, view] = [(False, f"{mode}, {view}: {result.returncode} {result.stderr[-300:]}")]
                continue
            verdicts[mode, view] = judge(threads, json.loads(out.read_text()), mode, view == "whole")
    return verdicts


def tell(what, last):
    """How far it is: one line that is written over on a terminal, only the last one in a log."""
    if sys.stderr.isatty():
        print(f"\r{what} ", end="\n" if last else "", file=sys.stderr, flush=True)
    elif last:
        print(what, file=sys.stderr, flush=True)


def measure(given, folder, programs):
    """{(interface, library, level, mode, view): (right, total)}"""
    pool = concurrent.futures.ThreadPoolExecutor(given.jobs)
    try:
        return measure_in(pool, given, folder, programs)
    finally:
        pool.shutdown(cancel_futures=True)  # after Ctrl-C, what waits is not begun


def measure_in(pool, given, folder, programs):
    totals = {}
    for level in given.levels.split(","):
        for stdlib in given.stdlib.split(","):
            # C programs know no C++ library: they are compiled once for each level.
            chosen = [each for each in programs if each[1].endswith(".cpp") or stdlib == given.stdlib.split(",")[0]]
            ready = headers(given.build, folder, level, stdlib) if any(each[1].endswith(".cpp") for each in chosen) else None
            work = [(each, pool.submit(one, given.build, folder, each, level, stdlib, ready if each[1].endswith(".cpp") else None))
                    for each in chosen]
            for number, (program, future) in enumerate(work):
                library = stdlib if program[1].endswith(".cpp") else "-"
                for (mode, view), verdicts in future.result().items():
                    key = (program[0].rsplit("_", 1)[1], library, level, mode, view)
                    right, total = totals.get(key, (0, 0))
                    totals[key] = right + sum(good for good, _ in verdicts), total + len(verdicts)
                    for good, what in verdicts:
                        if not good:
                            print(f"{program[0]} {library} -{level} {mode} {view}: {what}", flush=True)
                tell(f"-{level} {stdlib}: {number + 1} of {len(work)}", last=number + 1 == len(work))
    return totals


def added(totals, keep):
    """The totals by what `keep` leaves of the key."""
    sums = {}
    for key, (right, total) in totals.items():
        before = sums.get(keep(key), (0, 0))
        sums[keep(key)] = before[0] + right, before[1] + total
    return sums


INTERFACES = {"pthread": "POSIX threads", "c11": "C11 threads", "std": "std::thread", "jthread": "std::jthread"}


def write_docs(totals, programs):
    views = [(mode, view) for mode in ("paper", "balanced") for view in ("whole", "part")]
    levels = sorted({key[2] for key in totals})
    lines = [f"{len(programs)} programs, {sum(len(each[3]) for each in programs)} threads; threads right of all threads, "
             f"over {', '.join('-' + level for level in levels)}.", "",
             "| interface | C++ library | `paper`, whole program | `paper`, one file | `balanced`, whole program | `balanced`, one file |",
             "|---|---|--:|--:|--:|--:|"]
    rows = added(totals, lambda key: (key[0], key[1], key[3], key[4]))
    for interface in INTERFACES:
        for library in sorted({key[1] for key in rows if key[0] == interface}):
            cells = " | ".join("{:,} of {:,}".format(*rows.get((interface, library, *view), (0, 0))) for view in views)
            lines.append(f"| {INTERFACES[interface]} | {library} | {cells} |")
    rows = added(totals, lambda key: (key[2], key[3], key[4]))
    lines += ["", "| level | `paper`, whole program | `paper`, one file | `balanced`, whole program | `balanced`, one file |",
              "|---|--:|--:|--:|--:|"]
    for level in levels:
        lines.append(f"| -{level} | " + " | ".join("{:,} of {:,}".format(*rows.get((level, *view), (0, 0))) for view in views) + " |")
    data_page.write("threads-corpus", "Thread classes of the corpus", "tests/btlp/corpus_test.py BUILD --full --write-docs",
                    "threads", "\n".join(lines))


def main():
    arguments = argparse.ArgumentParser(description="The corpus: what the analysis finds, held against the truth.")
    arguments.add_argument("build", type=pathlib.Path)
    arguments.add_argument("--levels", default="O2")
    arguments.add_argument("--stdlib", default="libstdc++", help="libstdc++, libc++, or both with a comma")
    arguments.add_argument("--full", action="store_true", help="-O0 to -O3, both C++ libraries (half an hour of two cores)")
    arguments.add_argument("--only", default="", help="programs whose name this pattern matches")
    arguments.add_argument("--keep", type=pathlib.Path, help="a folder for the programs and what was found")
    arguments.add_argument("--least", type=float, default=0.99, help="the share of right threads that is asked for")
    arguments.add_argument("--jobs", type=int, default=2)
    arguments.add_argument("--write-docs", action="store_true", help="write the totals into docs/results/data/")
    given = arguments.parse_args()
    if given.full:
        given.levels, given.stdlib = "O0,O1,O2,O3", "libstdc++,libc++"
    programs = [each for each in corpus.programs() if re.search(given.only, each[0])]
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.keep or pathlib.Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        totals = measure(given, folder, programs)
    bad = 0
    for (mode, view, level), (right, total) in sorted(added(totals, lambda key: (key[3], key[4], key[2])).items()):
        print(f"{mode:9} {view:6} -{level}: {right} of {total} threads")
        bad += right < given.least * total
    print(f"{len(programs)} programs")
    if given.write_docs:
        write_docs(totals, programs)
    return 1 if bad or not totals else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit("\ncorpus_test.py: stopped")
