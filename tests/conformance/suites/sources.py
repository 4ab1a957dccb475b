"""Gets the peers' test suites: Debian source packages, unpacked as far as needed, and lit in a virtual environment.

Everything goes below build/conformance/ and is fetched once; nothing of it is ever committed. apt works on a private
configuration with its own source list and its own state, so the system's lists stay as they are. A step that finished
leaves a stamp file; a step that was interrupted is done again from the start.
"""

import glob
import os
import shutil
import subprocess
import sys

LLVM_PACKAGE = "llvm-toolchain-19"
GCC_PACKAGE = "gcc-12"
# lit 23 breaks three tests of the LLVM 19 suite; lit's --timeout needs psutil.
PYTHON_PACKAGES = ("lit==18.1.8", "psutil")

_KEY = "/usr/share/keyrings/debian-archive-keyring.gpg"
_SUITES = (
    ("http://deb.debian.org/debian", "bookworm"),
    ("http://deb.debian.org/debian", "bookworm-updates"),
    ("http://deb.debian.org/debian-security", "bookworm-security"),
)


def _say(text):
    print(f"conformance: {text}", file=sys.stderr, flush=True)


def _call(argv, what, **options):
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", check=False, **options)
    if done.returncode:
        raise SystemExit(f"{done.stdout[-3000:]}\nconformance: {what} failed: {' '.join(argv)}")
    return done.stdout


def _apt(work):
    """The options that keep apt inside `work`."""
    root = os.path.join(work, "apt")
    for folder in ("lists/partial", "cache/archives/partial"):
        os.makedirs(os.path.join(root, folder), exist_ok=True)
    with open(os.path.join(root, "sources.list"), "w", encoding="utf-8") as sink:
        for uri, suite in _SUITES:
            print(f"deb-src [signed-by={_KEY}] {uri} {suite} main", file=sink)
    return ["-o", f"Dir::Etc::sourcelist={root}/sources.list", "-o", "Dir::Etc::sourceparts=/dev/null",
            "-o", f"Dir::State::lists={root}/lists", "-o", f"Dir::Cache={root}/cache",
            "-o", "APT::Sandbox::User=root" if os.geteuid() == 0 else "Debug::NoLocking=true"]


def _archive(work, package, pattern):
    """The upstream archive of a Debian source package."""
    folder = os.path.join(work, "download")
    found = glob.glob(os.path.join(folder, pattern))
    stamp = os.path.join(folder, f"{package}.done")
    if found and os.path.exists(stamp):
        return found[0]
    os.makedirs(folder, exist_ok=True)
    options = _apt(work)
    _say(f"fetching the source package {package} (gcc-12: 87 MB, llvm-toolchain-19: 164 MB)")
    _call(["apt-get", *options, "update"], "apt-get update")
    _call(["apt-get", *options, "source", "--download-only", "--tar-only", package], f"fetching {package}", cwd=folder)
    found = glob.glob(os.path.join(folder, pattern))
    if not found:
        raise SystemExit(f"conformance: apt-get source {package} left no {pattern} in {folder}")
    open(stamp, "w", encoding="utf-8").close()
    return found[0]


def _unpack(work, name, unpack):
    """Runs unpack(folder) into a fresh folder and moves it in place; returns the one folder inside."""
    place = os.path.join(work, "src", name)
    if not os.path.isdir(place):
        fresh = place + ".part"
        shutil.rmtree(fresh, ignore_errors=True)
        os.makedirs(fresh)
        _say(f"unpacking the suite of {name}")
        unpack(fresh)
        os.rename(fresh, place)
    inside = [entry for entry in os.listdir(place) if os.path.isdir(os.path.join(place, entry))]
    if len(inside) != 1:
        raise SystemExit(f"conformance: {place} should hold one folder, but holds {inside}; remove it and run again")
    return os.path.join(place, inside[0])


def llvm_suite(work):
    """The folder openmp/runtime/test of LLVM 19."""
    def unpack(folder):
        archive = _archive(work, LLVM_PACKAGE, f"{LLVM_PACKAGE}_*.orig.tar.xz")
        _call(["tar", "xJf", archive, "-C", folder, "--wildcards", "*/openmp/*", "*/cmake/Modules/*"], "unpacking")
    return os.path.join(_unpack(work, LLVM_PACKAGE, unpack), "openmp/runtime/test")


def gcc_tree(work):
    """The root of gcc 12's tree, of which only libgomp's tests and the headers they include are there."""
    def unpack(folder):
        archive = _archive(work, GCC_PACKAGE, f"{GCC_PACKAGE}_*.orig.tar.gz")
        # Debian's archive holds upstream's archive; `tar -O` pipes the one into the other without a copy on disk.
        script = ('set -o pipefail; inner=$(tar tzf "$1" | grep -E "/gcc-[0-9.]+-dfsg[.]tar[.]xz$") && '
                  'tar xzOf "$1" "$inner" | tar xJ -C "$2" --wildcards "*/libgomp/testsuite" "*/libgomp/libgomp_g.h" '
                  '"*/include/gomp-constants.h"')
        _call(["bash", "-c", script, "unpack", archive, folder], "unpacking")
    return _unpack(work, GCC_PACKAGE, unpack)


def lit(work):
    """The path of lit in its virtual environment."""
    place = os.path.join(work, "venv")
    stamp = os.path.join(place, " ".join(PYTHON_PACKAGES).replace("=", "-"))
    if not os.path.exists(stamp):
        _say(f"setting up {', '.join(PYTHON_PACKAGES)} in {place}")
        shutil.rmtree(place, ignore_errors=True)
        _call([sys.executable, "-m", "venv", place], "python3 -m venv (Debian: python3-venv)")
        _call([os.path.join(place, "bin/pip"), "install", "-q", *PYTHON_PACKAGES], "pip install")
        open(stamp, "w", encoding="utf-8").close()
    return os.path.join(place, "bin/lit")


def need(tools):
    """Stops, with the Debian packages to install, if a program is missing."""
    missing = [f"{tool} (package {package})" for tool, package in tools if not shutil.which(tool)]
    if missing:
        raise SystemExit("conformance: not found: " + ", ".join(missing))
