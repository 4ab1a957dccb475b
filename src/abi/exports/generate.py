#!/usr/bin/env python3
"""What the link of libhearth.so needs beyond the objects: the version script, the aliases, the stubs.

Input: the export lists beside this file and the object files of the abi room. An entry point is defined once, under its
plain name and with HEARTH_EXPORT; everything about versions happens here:

  version script   gives the plain name its default version (omp_x@@OMP_3.0, __kmpc_x@@VERSION)
  aliases          a linker script that adds the other versions of the same code (omp_x@VERSION, omp_init_lock@OMP_1.0)
  stubs            a C++ file that defines every listed name which no object defines: it names itself and aborts
  report           the names of the stubs, one a line, for the tests and for people

A listed object (data) that nobody defines, and an exported name that no list has, are errors: both are slips.
"""
import argparse
import os
import re
import subprocess
import sys

LISTS = ("libgomp.txt", "libomp.txt", "libiomp5.txt", "hearth.txt")
# libgomp's nodes in the order in which it introduced them; each family is a chain, as its version map has it.
FAMILIES = {
    "OMP": "1.0 2.0 3.0 3.1 4.0 4.5 5.0 5.0.1 5.0.2 5.1 5.1.1 5.2 6.0 6.1",
    "GOMP": "1.0 2.0 3.0 4.0 4.0.1 4.5 5.0 5.0.1 5.1 5.1.1 5.1.2 5.1.3 6.0 6.0.1 6.0.2",
    "OACC": "2.0 2.0.1 2.5 2.5.1 2.6",
    "GOACC": "2.0 2.0.1 2.0.2",
    "GOMP_PLUGIN": "1.0 1.1 1.2 1.3",
    "HEARTH": "1.0",
}
# libomp's one node. omp_ and GOMP_ names answer to it too, or programs built by clang, and programs that mix objects of
# both compilers, die at symbol lookup.
LLVM_NODE = "VERSION"
HIDING_NODE = "HEARTH_1.0"


class Entry:
    def __init__(self, name):
        self.name = name
        self.default = None
        self.others = []
        self.data_size = None


def read_lists(folder):
    """name -> Entry; the first list that names an entry gives it its default version."""
    entries = {}
    for file_name in LISTS:
        path = os.path.join(folder, file_name)
        with open(path, encoding="ascii") as lines:
            for number, line in enumerate(lines, 1):
                words = line.split("#")[0].split()
                if not words:
                    continue
                entry = entries.setdefault(words[0], Entry(words[0]))
                if file_name == "libgomp.txt":
                    if len(words) < 2 or entry.default:
                        sys.exit(f"{path}:{number}: one line 'name version [older versions]' is expected")
                    entry.default = words[1]
                    entry.others += words[2:]
                    if re.match(r"(omp|GOMP)_(?!PLUGIN)", entry.name):
                        entry.others.append(LLVM_NODE)
                    continue
                if entry.default is None:
                    entry.default = "HEARTH_1.0" if file_name == "hearth.txt" else LLVM_NODE
                if words[1:2] == ["data"]:
                    entry.data_size = int(words[2])
    return entries


def defined_symbols(readelf, objects):
    """name -> size of everything that the objects define for the outside (global or weak, default visibility)."""
    result = {}
    step = 200  # keeps the command line short
    for start in range(0, len(objects), step):
        text = subprocess.run([readelf, "--syms", "--wide", *objects[start:start + step]], check=True,
                              stdout=subprocess.PIPE, text=True).stdout
        for line in text.splitlines():
            words = line.split()
            if len(words) < 8 or not words[0].rstrip(":").isdigit():
                continue
            size, binding, visibility, index, name = words[2], words[4], words[5], words[6], words[7]
            if binding not in ("GLOBAL", "WEAK") or visibility != "DEFAULT" or index == "UND":
                continue
            if name.startswith("__odr_asan."):  # AddressSanitizer's marks for the objects
                continue
            result[name] = int(size, 0)
    return result


def write(path, text):
    """Only when it differs, so that a rebuild with the same exports links nothing anew."""
    try:
        with open(path, encoding="ascii") as old:
            if old.read() == text:
                return
    except FileNotFoundError:
        pass
    with open(path, "w", encoding="ascii") as new:
        new.write(text)


def version_script(entries):
    by_node = {}
    for entry in entries.values():
        by_node.setdefault(entry.default, []).append(entry.name)
    nodes = []
    for family, versions in FAMILIES.items():
        parent = None
        for version in versions.split():
            node = f"{family}_{version}"
            nodes.append((node, parent))
            parent = node
    nodes.append((LLVM_NODE, None))
    unknown = set(by_node) - {node for node, _ in nodes}
    if unknown:
        sys.exit(f"version nodes without a place in FAMILIES: {' '.join(sorted(unknown))}")
    text = ""
    for node, parent in nodes:
        names = by_node.get(node, [])
        body = "  global:\n" + "".join(f"    {name};\n" for name in sorted(names)) if names else ""
        # "Everything else is local" stands in a node that no alias names: ld applies it to the aliases of its own node.
        hide = "  local: *;\n" if node == HIDING_NODE else ""
        text += f"{node} {{\n{body}{hide}}}{' ' + parent if parent else ''};\n"
    return text


def aliases(entries):
    return "".join(f'"{entry.name}@{node}" = {entry.name};\n' for entry in entries.values() for node in entry.others)


def stubs(missing):
    lines = ['#include "abi/missing.h"\n']
    for entry in missing:
        openacc = entry.default.startswith(("OACC_", "GOACC_")) or entry.name.startswith("GOMP_PLUGIN_")
        kind = "missing_openacc" if openacc else "missing_entry_point"
        lines.append(f'HEARTH_MISSING({entry.name}, {kind})\n')
    return "".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lists", required=True, help="folder of the export lists")
    parser.add_argument("--out", required=True, help="folder for versions.map, aliases.ld, stubs.cpp, stubs.txt")
    parser.add_argument("--readelf", default="readelf")
    parser.add_argument("--objects", required=True, help="file that names the abi room's objects, one a line")
    arguments = parser.parse_args()

    entries = read_lists(arguments.lists)
    with open(arguments.objects, encoding="utf-8") as lines:
        objects = [line.strip() for line in lines if line.strip()]
    defined = defined_symbols(arguments.readelf, objects)

    # Of Hearth's own names a build has those that it defines; nobody expects a stub.
    entries = {name: entry for name, entry in entries.items() if entry.default != "HEARTH_1.0" or name in defined}

    unlisted = sorted(name for name in defined if name not in entries and not name.startswith("_Z"))
    if unlisted:
        sys.exit("exported, but in no list under src/abi/exports (add it to hearth.txt, or do not export it): "
                 + " ".join(unlisted))
    missing = [entry for entry in entries.values() if entry.name not in defined]
    data = [entry.name for entry in missing if entry.data_size is not None]
    if data:
        sys.exit("objects that no file of the abi room defines: " + " ".join(data))
    wrong = [f"{entry.name} ({defined[entry.name]} bytes, the peer's has {entry.data_size})" for entry in entries.values()
             if entry.data_size is not None and defined[entry.name] != entry.data_size]
    if wrong:
        sys.exit("objects of another size than the peer's, which breaks copy relocations: " + ", ".join(wrong))

    os.makedirs(arguments.out, exist_ok=True)
    write(os.path.join(arguments.out, "versions.map"), version_script(entries))
    write(os.path.join(arguments.out, "aliases.ld"), aliases(entries))
    write(os.path.join(arguments.out, "stubs.cpp"), stubs(missing))
    write(os.path.join(arguments.out, "stubs.txt"), "".join(f"{entry.name}\n" for entry in missing))


if __name__ == "__main__":
    main()
