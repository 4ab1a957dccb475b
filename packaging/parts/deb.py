"""Debian packages: packaging/debian and a changelog from CHANGELOG.md become the folder debian of a copy of the source."""
import datetime
import shutil
import textwrap

import common


def changelog():
    """debian/changelog, from CHANGELOG.md."""
    text = ""
    for number, day, points in common.changes():
        time = datetime.datetime(day.year, day.month, day.day, tzinfo=datetime.timezone.utc)
        text += f"hearth ({number}-1) unstable; urgency=medium\n\n"
        for point in points:
            text += textwrap.fill(point.replace("`", ""), 78, initial_indent="  * ", subsequent_indent="    ") + "\n"
        text += f"\n -- {common.MAINTAINER}  {time:%a, %d %b %Y %H:%M:%S} +0000\n\n"
    return text


def lay_out(work):
    """The source tree with its folder debian, below `work`."""
    tree = work / f"hearth-{common.version()}"
    common.copy_source(tree)
    shutil.copytree(common.ROOT / "packaging/debian", tree / "debian")
    control = (tree / "debian/control.in")
    control.with_suffix("").write_text(common.fill(control, {"MAINTAINER": common.MAINTAINER}))
    control.unlink()
    (tree / "debian/changelog").write_text(changelog())
    common.settle(tree)
    return tree


def build(work, out):
    """The paths of the packages."""
    work = work / "deb"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    tree = lay_out(work)
    common.run("dpkg-checkbuilddeps", cwd=tree)
    # One folder name in the objects, wherever this is built: dpkg-buildflags maps it.
    common.run("dpkg-buildpackage", "-b", "-us", "-uc", cwd=tree, log=work / "build.log")
    out.mkdir(parents=True, exist_ok=True)
    made = []
    for path in sorted([*work.glob("*.deb"), *work.glob("*.changes"), *work.glob("*.buildinfo")]):
        made.append(out / path.name)
        shutil.copy2(path, made[-1])
    return made
