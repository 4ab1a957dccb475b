"""Where the command `hearth` of this installation is."""
import functools
import importlib.metadata
import os
import pathlib
import shutil
import subprocess

NAME = "hearth-openmp"


class NotInstalled(RuntimeError):
    """The command is nowhere."""


def _of_the_wheel():
    """The command that was installed with this module, wherever pip put it."""
    try:
        files = importlib.metadata.distribution(NAME).files or []
    except importlib.metadata.PackageNotFoundError:
        return None
    for file in files:
        path = pathlib.Path(file.locate()).resolve()
        if file.name == "hearth" and file.parent.name == "bin" and os.access(path, os.X_OK):
            return str(path)
    return None


@functools.cache
def command():
    """The path of the command: the one that came with this module, or the first one on the PATH."""
    found = _of_the_wheel() or shutil.which("hearth")
    if found is None:
        raise NotInstalled(f"the command hearth is nowhere on the PATH; `pip install {NAME}` brings it")
    return found


def run(*arguments):
    """What the command prints; an error becomes a RuntimeError with its words."""
    done = subprocess.run([command(), *[str(one) for one in arguments]], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip() or f"hearth {arguments[0]} ended with {done.returncode}")
    return done.stdout


def version():
    """Of this module; "unknown" where it lies in a source tree."""
    try:
        return importlib.metadata.version(NAME)
    except importlib.metadata.PackageNotFoundError:
        return "unknown"
