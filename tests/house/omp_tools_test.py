#!/usr/bin/env python3
"""include/hearth/omp-tools.h says what the specification says: it is held against the header that comes with clang.

Every enumerator has the same value and every type the same size and layout; and the two files that use the interface most
compile with clang's header in place of ours, so the callbacks take the same arguments. Without clang's header: skipped.

Usage: omp_tools_test.py SOURCE_FOLDER C_COMPILER CXX_COMPILER
"""
import glob
import os
import re
import subprocess
import sys
import tempfile

SKIPPED = 77
STRUCTS = {
    "ompt_data_t": ["value", "ptr"],
    "ompt_frame_t": ["exit_frame", "enter_frame", "exit_frame_flags", "enter_frame_flags"],
    "ompt_start_tool_result_t": ["initialize", "finalize", "tool_data"],
    "ompt_dependence_t": ["variable", "dependence_type"],
    "ompt_dispatch_chunk_t": ["start", "iterations"],
}


def clangs_header():
    found = glob.glob("/usr/lib/llvm-*/lib/clang/*/include/omp-tools.h") + glob.glob("/usr/lib/clang/*/include/omp-tools.h")
    return max(found, key=lambda path: [int(n) for n in re.findall(r"\d+", path)], default=None)


def facts(compiler, header, names, folder):
    lines = [f'#include "{header}"', "#include <stdio.h>", "int main(void) {"]
    lines += [f'  printf("{name} %u\\n", (unsigned){name});' for name in names]
    for struct, fields in STRUCTS.items():
        lines.append(f'  printf("sizeof({struct}) %zu\\n", sizeof({struct}));')
        lines += [f'  printf("{struct}.{field} %zu\\n", offsetof({struct}, {field}));' for field in fields]
    source, program = os.path.join(folder, "facts.c"), os.path.join(folder, "facts")
    with open(source, "w") as out:
        out.write("\n".join(lines + ["}"]))
    subprocess.run([compiler, "-w", source, "-o", program], check=True)
    return subprocess.run([program], check=True, capture_output=True, text=True).stdout.splitlines()


def main():
    root, compiler, cxx = sys.argv[1:]
    theirs = clangs_header()
    if theirs is None:
        print("no omp-tools.h of clang here")
        return SKIPPED
    ours = os.path.join(root, "include/hearth/omp-tools.h")
    text = open(ours).read()
    names = re.findall(r"^\s+(ompt_\w+) = ", text, re.M) + re.findall(r"X\((ompt_\w+),", text)
    assert len(names) > 120, len(names)
    bad = []
    with tempfile.TemporaryDirectory() as folder:
        for mine, other in zip(facts(compiler, ours, names, folder), facts(compiler, theirs, names, folder)):
            if mine != other:
                bad.append(f"{mine}: clang's header says {other}")
        # Not the header itself, whose folder has clang's other headers.
        os.symlink(theirs, os.path.join(folder, "omp-tools.h"))
        for source in ("src/record/tool.cpp", "src/runtime/tools/events.cpp"):
            command = [cxx, "-std=gnu++20", "-fsyntax-only", "-w", "-D_GNU_SOURCE", '-DHEARTH_VERSION="0"',
                       "-I", os.path.join(root, "src"), "-I", os.path.join(root, "include"),
                       "-include", os.path.join(folder, "omp-tools.h"), os.path.join(root, source)]
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode != 0:
                bad.append(f"{source} with clang's header:\n{done.stderr}")
    print("\n".join(bad) if bad else f"{len(names)} values and {len(STRUCTS)} layouts as in {theirs}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
