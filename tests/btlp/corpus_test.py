#!/usr/bin/env python3
"""The corpus (corpus.py): classes, partners and parents that the analysis finds, held against what was written down.

Usage: corpus_test.py BUILD [--levels O0,O2] [--stdlib libc++] [--only PATTERN] [--keep FOLDER] [-v]

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
import corpus



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


def one(build, folder, program, level, stdlib):
    """{(mode, whole or part): verdicts}"""
    name, file, text, threads = program
    source = folder / file
    source.write_text(text)
    cxx = file.endswith(".cpp")
    target = folder / f"{name}.{level}.o"
    command = [build / "bin" / ("hearth-c++" if cxx else "hearth-cc"), f"-{level}", "-c", source, "-o", target]
    if cxx:
        command += ["-std=c++20", *([f"-stdlib={stdlib}"] if stdlib else []),
                    *(["-fexperimental-library"] if stdlib == "libc++" else [])]
    result = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=120)
    if result.returncode != 0:
        return {("compiled", "-"): [(False, result.stderr[:600])]}
    verdicts = {}
    for mode in ("paper", "balanced"):
        for view in ("whole", "part"):
            out = folder / f"{name}.{level}.{mode}.{view}.json"
            result = subprocess.run([build / "lib/hearth/hearth-ld", "--analyse", mode, view, out, target],
                                    capture_output=True, text=True, timeout=120)
            if result.returncode != 0:
                verdicts[mode, view] = [(False, f"{mode}, {view}: {result.returncode} {result.stderr[-300:]}")]
                continue
            found = json.loads(out.read_text())
            verdicts[mode, view] = judge(threads, found, mode, view == "whole")
    return verdicts


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("build", type=pathlib.Path)
    arguments.add_argument("--levels", default="O2")
    arguments.add_argument("--stdlib", default="")
    arguments.add_argument("--only", default="")
    arguments.add_argument("--keep", type=pathlib.Path)
    arguments.add_argument("--least", type=float, default=0.99)
    arguments.add_argument("-v", action="store_true")
    given = arguments.parse_args()
    programs = [each for each in corpus.programs() if re.search(given.only, each[0])]
    totals, bad = {}, 0
    with tempfile.TemporaryDirectory() as temporary, concurrent.futures.ThreadPoolExecutor(2) as pool:
        folder = given.keep or pathlib.Path(temporary)
        folder.mkdir(exist_ok=True)
        for level in given.levels.split(","):
            work = [(each, pool.submit(one, given.build, folder, each, level, given.stdlib)) for each in programs]
            for program, future in work:
                for (mode, view), verdicts in future.result().items():
                    right, total = totals.get((mode, view, level), (0, 0))
                    totals[mode, view, level] = right + sum(good for good, _ in verdicts), total + len(verdicts)
                    for good, what in verdicts:
                        if not good and (given.v or view == "whole" or mode == "compiled"):
                            print(f"{program[0]} -{level} {mode} {view}: {what}")
    for (mode, view, level), (right, total) in sorted(totals.items()):
        print(f"{mode:9} {view:6} -{level}: {right} of {total} threads")
        bad += right < given.least * total
    print(f"{len(programs)} programs")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
