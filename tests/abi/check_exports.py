#!/usr/bin/env python3
"""libhearth.so exports every name at every version that the peers export.

Held against the committed lists, and, where they are installed, against the stock libgomp and libomp themselves: name,
version, default or not, function or object, and an object's size. Prints how many entry points are stubs.
"""
import argparse
import glob
import os
import subprocess
import sys

STOCK = ("/usr/lib/x86_64-linux-gnu/libgomp.so.1", "/usr/lib/aarch64-linux-gnu/libgomp.so.1",
         "/usr/lib/llvm-*/lib/libomp.so.5")


def exported(path):
    """(name, version) -> (type, size, is_default)"""
    text = subprocess.run(["readelf", "--dyn-syms", "--wide", path], check=True, stdout=subprocess.PIPE, text=True).stdout
    result = {}
    for line in text.splitlines():
        words = line.split()
        if len(words) < 8 or not words[0].rstrip(":").isdigit() or words[6] == "UND" or words[4] == "LOCAL":
            continue
        if "@" not in words[7]:
            continue  # the version nodes themselves
        name, version = words[7].replace("@@", "@").split("@")
        result[name, version] = (words[3], int(words[2], 0), "@@" in words[7])
    return result


def wanted(lists):
    with open(os.path.join(lists, "libgomp.txt"), encoding="ascii") as lines:
        for line in lines:
            words = line.split("#")[0].split()
            for version in words[1:]:
                yield words[0], version
    for name in ("libomp.txt", "libiomp5.txt"):
        with open(os.path.join(lists, name), encoding="ascii") as lines:
            for line in lines:
                words = line.split("#")[0].split()
                if words:
                    yield words[0], "VERSION"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--library", required=True)
    parser.add_argument("--lists", required=True)
    parser.add_argument("--stubs", required=True)
    arguments = parser.parse_args()
    ours = exported(arguments.library)
    problems = []

    pairs = set(wanted(arguments.lists))
    problems += [f"{name}@{version} of the lists is missing" for name, version in sorted(pairs) if (name, version) not in ours]
    print(f"{len(pairs)} name@version pairs in the lists, {len(ours)} exported")

    stock = [path for pattern in STOCK for path in glob.glob(pattern)]
    for path in stock:
        theirs = exported(path)
        for (name, version), (kind, size, _) in sorted(theirs.items()):
            mine = ours.get((name, version))
            if mine is None:
                problems.append(f"{name}@{version} of {path} is missing")
            elif (mine[0] == "OBJECT") != (kind == "OBJECT"):
                problems.append(f"{name}@{version} is {mine[0]}, in {path} {kind}")
            elif kind == "OBJECT" and mine[1] != size:
                problems.append(f"{name}@{version} has {mine[1]} bytes, in {path} {size}")
        print(f"{len(theirs)} name@version pairs of {path} compared")
    if not stock:
        print("no stock runtime is installed to compare with")

    defaults = {}
    for (name, version), (_, _, is_default) in ours.items():
        if is_default:
            defaults.setdefault(name, []).append(version)
    names = {name for name, _ in ours}
    problems += [f"{name} has no default version" for name in sorted(names - set(defaults))]
    problems += [f"{name} has several default versions: {versions}" for name, versions in sorted(defaults.items())
                 if len(versions) > 1]
    leaked = sorted(name for name in names if name.startswith("_Z"))
    problems += [f"{name} is C++ and leaks out" for name in leaked]

    with open(arguments.stubs, encoding="ascii") as lines:
        stubs = lines.read().split()
    openacc = [name for name in stubs if name.startswith(("acc_", "GOACC_", "GOMP_PLUGIN_"))]
    print(f"{len(stubs)} stubs remain, {len(openacc)} of them OpenACC's")
    for problem in problems:
        print(problem)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
