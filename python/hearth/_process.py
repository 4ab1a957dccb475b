"""What OpenMP runtime this process is on, and the way to Hearth: the interpreter starts again, by `hearth run`."""
import ctypes
import os
import sys

from hearth._command import NotInstalled, command

GUARD = "PYTHON_RESTARTED_BY_HEARTH"
OTHERS = ("libgomp", "libomp", "libiomp")


class NotOnHearth(RuntimeError):
    """This interpreter is not on Hearth, and cannot be restarted."""


def mapped_files():
    """Files that are mapped here, each once, in the order of their addresses."""
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:
        fields = (line.rstrip("\n").split(maxsplit=5) for line in maps)
        return list(dict.fromkeys(parts[5] for parts in fields if len(parts) == 6 and parts[5].startswith("/")))


def library():
    """The library that is loaded in this process; None before the first program part that needs OpenMP."""
    found = [path for path in mapped_files() if os.path.basename(path) == "libhearth.so"]
    return found[0] if found else None


def on_hearth():
    """Does `hearth run` watch over this process, or is the library in it already?"""
    return any(os.path.basename(path) in ("libhearth.so", "libhearth-audit.so") for path in mapped_files())


def info():
    """A dict: `on_hearth`; `library`, `threads` (those of the next parallel region) once a module has loaded an OpenMP
    runtime; `others`, runtimes beside Hearth; `command`."""
    path = library()
    threads = None
    if path is not None:
        threads = int(ctypes.CDLL(path, mode=os.RTLD_NOLOAD | os.RTLD_LAZY).omp_get_max_threads())
    try:
        where = command()
    except NotInstalled:
        where = None
    others = [path for path in mapped_files() if os.path.basename(path).startswith(OTHERS)]
    return {"on_hearth": on_hearth(), "library": path, "threads": threads, "others": others, "command": where}


def use(restart=True, options=()):
    """Makes sure that this interpreter is on Hearth, and returns info().

    Otherwise it starts again, with the same arguments, under `hearth run`: call this first, before the imports and the
    work that would be done twice. `options` are those of `hearth run`, such as ["--policy", "locality"]. Where a restart
    would lose something (a notebook, an interactive prompt), or with restart=False, it raises NotOnHearth.
    """
    if on_hearth():
        return info()
    if os.environ.get("HEARTH") in ("off", "false", "0"):
        raise NotOnHearth("HEARTH=off: this environment asks for the runtime that programs came with")
    if os.environ.get(GUARD) == str(os.getpid()):
        raise NotOnHearth("the interpreter was restarted by hearth run and is still not on Hearth; "
                          f"`{command()} doctor {sys.executable}` says why")
    if not restart:
        raise NotOnHearth("this interpreter is not on Hearth; start it with: hearth run -- python ...")
    if hasattr(sys, "ps1") or "ipykernel" in sys.modules:
        raise NotOnHearth("a prompt or a notebook would lose its state by a restart; start it with: hearth run -- "
                          + ("jupyter lab" if "ipykernel" in sys.modules else "python"))
    arguments = [command(), "run", *options, "--", sys.executable, *sys.orig_argv[1:]]
    sys.stdout.flush()
    sys.stderr.flush()
    os.execve(arguments[0], arguments, {**os.environ, GUARD: str(os.getpid())})
