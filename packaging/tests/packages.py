"""What the suites of the packages share: where the packages are, and the clean system in which they are tried."""
import functools
import os
import pathlib
import sys

sys.dont_write_bytecode = True

import roots  # noqa: E402
from roots import Root  # noqa: E402,F401

ROOT = pathlib.Path(__file__).resolve().parents[2]
OUT = pathlib.Path(os.environ.get("HEARTH_PACKAGES", ROOT / "build/packages"))
ROOTS = ROOT / "build/packages/roots"


@functools.cache
def system(suite="bookworm", packages=tuple(roots.COMPILERS)):
    roots.need_root()
    return roots.base(ROOTS, suite, list(packages))


def programs_into(root):
    here = ROOT / "packaging/tests"
    for path in [here / "try.sh", *(here / "programs").rglob("*")]:
        if path.is_file():
            root.put(path, "/root/programs/" + str(path.relative_to(here / "programs") if path.parent != here else path.name))
