"""Which OpenMP libraries there are, how a program is made to use one, and the environment all of them get.

A runtime is a folder of links (libgomp.so.1, libomp.so.5, libomp.so, libiomp5.so) put first in LD_LIBRARY_PATH, so the
very same binary meets each of them. Programs built by gcc run on all; programs built by clang cannot run on libgomp.
"""
import hashlib
import os
import pathlib

SONAMES = ("libgomp.so.1", "libomp.so.5", "libomp.so", "libiomp5.so")
COMPILERS = ("gcc", "clang")

# Variables of the caller that would change what is measured; every runtime starts from none of them.
_PREFIXES = ("OMP_", "GOMP_", "KMP_", "HEARTH", "LD_PRELOAD", "LD_AUDIT", "LD_LIBRARY_PATH")

# The runtime's own throttle off. libgomp has no switch: it runs a task at once when 64 x threads are pending.
NO_CUTOFF = {"hearth": {"HEARTH_TASK_CUTOFF": "0"},
             "libomp": {"KMP_ENABLE_TASK_THROTTLING": "0"},
             "libiomp5": {"KMP_ENABLE_TASK_THROTTLING": "0"}}


class MissingRuntime(Exception):
    pass


class Runtime:
    """One library under one name. "hearth again" is the same library a second time, for the A/A row; `settings` are
    variables of this one's own, and programs start by way of `launcher`, a command without its last words."""

    def __init__(self, name, library, folder, compilers, settings=None, launcher=()):
        self.name = name
        self.library = library
        self.folder = folder
        self.compilers = compilers
        self.settings = settings or {}
        self.launcher = launcher

    def is_hearth(self):
        return self.name.startswith("hearth")

    def link(self):
        self.folder.mkdir(parents=True, exist_ok=True)
        for soname in SONAMES:
            link = self.folder / soname
            if link.is_symlink() and pathlib.Path(os.readlink(link)) == self.library:
                continue
            link.unlink(missing_ok=True)
            link.symlink_to(self.library)


def _first_existing(what, advice, *candidates):
    for candidate in candidates:
        if candidate.exists():
            return candidate.resolve()
    raise MissingRuntime(f"no {what}: looked for {', '.join(map(str, candidates))}; {advice}")


def find(build_folder, hearth_folder, intel_library):
    """All runtimes of this run. hearth_folder, or hearth/ in it, holds libhearth.so or
    links with the usual names."""
    links = build_folder / "lib"
    system = pathlib.Path("/usr/lib/x86_64-linux-gnu")
    libgomp = _first_existing("libgomp", "install libgomp1", system / "libgomp.so.1")
    libomp = _first_existing("libomp", "install libomp-19-dev", system / "libomp-19.so.5",
                             pathlib.Path("/usr/lib/llvm-19/lib/libomp.so.5"), system / "libomp.so.5")
    found = []
    hearth_folder = hearth_folder.resolve()
    hearth = _first_existing("Hearth", "run make build, or give its folder with --lib",
                             *(folder / name for folder in (hearth_folder, hearth_folder / "hearth")
                               for name in ("libhearth.so", *SONAMES)))
    # A folder per library: two runs at a time, each with its own build, must not turn each other's links.
    mark = hashlib.sha256(str(hearth).encode()).hexdigest()[:8]
    found.append(Runtime("hearth", hearth, links / f"hearth-{mark}", COMPILERS))
    found.append(Runtime("hearth again", hearth, links / f"hearth-{mark}-again", COMPILERS))
    found.append(Runtime("libgomp", libgomp, links / "libgomp", ("gcc",)))
    found.append(Runtime("libomp", libomp, links / "libomp", COMPILERS))
    if intel_library:
        found.append(Runtime("libiomp5", intel_library, links / "libiomp5", COMPILERS))
    for runtime in found:
        runtime.link()
    return found


def environment(runtime, threads, bound=False, cutoff=True, extra=None):
    """The same for every runtime, but for the throttle switches and for what --hearth-env adds to Hearth."""
    result = {name: value for name, value in os.environ.items() if not name.startswith(_PREFIXES)}
    result["LD_LIBRARY_PATH"] = str(runtime.folder)
    result["OMP_NUM_THREADS"] = str(threads)
    result["OMP_DYNAMIC"] = "false"
    if bound:
        result["OMP_PROC_BIND"] = "true"
    if not cutoff:
        result.update(NO_CUTOFF.get("hearth" if runtime.is_hearth() else runtime.name, {}))
    if extra and runtime.is_hearth():
        result.update(extra)
    result.update(runtime.settings)
    return result
