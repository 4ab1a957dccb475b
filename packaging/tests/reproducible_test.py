#!/usr/bin/env python3
"""The same source gives the same bytes: two builds in folders of other names, another time zone, umask and day.

Usage: reproducible_test.py [FORM...]     default: source tarball wheel sbom deb; about half an hour on two cores
"""
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from packages import ROOT

# No ccache: it would hand the second build the first one's objects.
PLAIN = {name: value for name, value in os.environ.items() if not name.endswith("COMPILER_LAUNCHER")}


def built(folder, forms, **more):
    subprocess.run([ROOT / "packaging/package", "--work", folder / "work", "--out", folder / "out", *forms], check=True,
                   stdout=subprocess.DEVNULL, env={**PLAIN, **more})
    # What the .changes and .buildinfo of Debian say of this machine may differ.
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in (folder / "out").iterdir()
            if path.suffix not in (".changes", ".buildinfo")}


def main():
    forms = sys.argv[1:] or ["source", "tarball", "wheel", "sbom", "deb"]
    with tempfile.TemporaryDirectory(prefix="hearth-same-") as folder:
        first = built(pathlib.Path(folder) / "a", forms)
        shutil.rmtree(pathlib.Path(folder) / "a/work")
        os.umask(0o077)
        second = built(pathlib.Path(folder) / "another-name", forms, TZ="Pacific/Kiritimati", LC_ALL="C", HOME=folder)
    different = sorted(name for name in first.keys() | second.keys() if first.get(name) != second.get(name))
    for name in sorted(first):
        print(f"{'DIFFERENT' if name in different else 'same bytes'}  {name}")
    return 1 if different or not first else 0


if __name__ == "__main__":
    sys.exit(main())
