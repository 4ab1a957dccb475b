"""What every form of package shares: version, date and changelog from one source each, and a copy of the source tree."""
import datetime
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
MAINTAINER = "Hearth developers <maintainers@users.noreply.a-seed-eebb853d.example>"


class Failed(Exception):
    """What a person reads; no traceback."""


def version():
    """The one in CMakeLists.txt, which is the only one."""
    found = re.search(r"^project\(hearth VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text(), re.M)
    if not found:
        raise Failed("CMakeLists.txt: no line \"project(hearth VERSION ...\"")
    return found[1]


def changes():
    """[(version, date, [points])] of CHANGELOG.md, the newest first."""
    found = []
    for line in (ROOT / "CHANGELOG.md").read_text().splitlines():
        head = re.fullmatch(r"## ([\d.]+) \((\d{4}-\d\d-\d\d)\)", line)
        if head:
            found.append((head[1], datetime.date.fromisoformat(head[2]), []))
        elif line.startswith("## "):
            raise Failed(f"CHANGELOG.md: {line!r} is no version with a date, such as \"## 1.2.3 (2026-01-31)\"")
        elif found and line.startswith("- "):
            found[-1][2].append(line[2:].strip())
        elif found and found[-1][2] and line.startswith("  "):
            found[-1][2][-1] += " " + line.strip()
    if not found:
        raise Failed("CHANGELOG.md: no version")
    if found[0][0] != version():
        raise Failed(f"CHANGELOG.md begins with {found[0][0]}, CMakeLists.txt has {version()}")
    return found


def epoch():
    """Seconds: the time that all files in packages have, so that the same source gives the same bytes."""
    given = os.environ.get("SOURCE_DATE_EPOCH")
    if given:
        return int(given)
    day = changes()[0][1]
    return int(datetime.datetime(day.year, day.month, day.day, tzinfo=datetime.timezone.utc).timestamp())


def source_files():
    """Paths below the root: what git knows or would add; without git, all but build/."""
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                            capture_output=True, text=True)
    if listed.returncode == 0:
        names = [name for name in listed.stdout.split("\0") if name]
    else:
        names = [str(path.relative_to(ROOT)) for path in ROOT.rglob("*") if not path.is_dir()]
        names = [name for name in names if not name.startswith(("build/", ".git/")) and "__pycache__" not in name]
    return sorted(name for name in names if (ROOT / name).is_symlink() or (ROOT / name).is_file())


def copy_source(to):
    """A copy with plain permissions and one time, whoever made the checkout."""
    shutil.rmtree(to, ignore_errors=True)
    for name in source_files():
        target = to / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, target, follow_symlinks=False)
        if not target.is_symlink():
            target.chmod(0o755 if os.access(target, os.X_OK) else 0o644)
    settle(to)


def settle(folder):
    """All files below get the one time; folders the usual permissions."""
    for path in [folder, *folder.rglob("*")]:
        if path.is_dir() and not path.is_symlink():
            path.chmod(0o755)
        os.utime(path, (epoch(), epoch()), follow_symlinks=False)


def archive(folder, to):
    """`folder` as the archive `to`, a .tar.gz; the same files give the same bytes."""
    settle(folder)
    to.parent.mkdir(parents=True, exist_ok=True)
    listing = ["tar", "--sort=name", "--format=gnu", "--owner=0", "--group=0", "--numeric-owner", f"--mtime=@{epoch()}",
               "--mode=u+rw,go-w,a+rX",  # whoever unpacks it, and whatever the builder's umask was
               "-C", folder.parent, "-cf", "-", folder.name]
    with open(to, "wb") as out:
        tar = subprocess.Popen(listing, stdout=subprocess.PIPE)
        packed = subprocess.run(["gzip", "-9n"], stdin=tar.stdout, stdout=out)
        if tar.wait() != 0 or packed.returncode != 0:
            raise Failed(f"{to}: tar or gzip failed")


def run(*command, log=None, **more):
    """Ends with a message if the command fails; with `log` its output goes there, and the end of it is shown then."""
    command = [str(part) for part in command]
    environment = {**os.environ, "SOURCE_DATE_EPOCH": str(epoch()), **more.pop("env", {})}
    if log is None:
        done = subprocess.run(command, env=environment, **more)
    else:
        with open(log, "ab") as out:
            done = subprocess.run(command, env=environment, stdout=out, stderr=subprocess.STDOUT, **more)
    if done.returncode != 0:
        if log is not None:
            sys.stderr.write("".join(open(log, errors="replace").readlines()[-30:]))
        raise Failed(f"{' '.join(command[:4])} ... failed" + (f"; all of its output: {log}" if log else ""))


def fill(template, values):
    """The text of a file with @NAME@ in it."""
    text = template.read_text()
    for name, value in values.items():
        text = text.replace(f"@{name}@", str(value))
    left = re.search(r"@[A-Z_]+@", text)
    if left:
        raise Failed(f"{template}: nothing to put for {left[0]}")
    return text
