"""Recipes of other package managers, with the version put in."""
import shutil

import common

SOURCE = common.ROOT / "packaging/recipes"


def build(work, out):
    """The paths of all files; `work` is not needed."""
    shutil.rmtree(out / "recipes", ignore_errors=True)
    made = []
    for path in sorted(path for path in SOURCE.rglob("*") if path.is_file()):
        to = out / "recipes" / path.relative_to(SOURCE)
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_text(common.fill(path, {"VERSION": common.version()}))
        shutil.copymode(path, to)
        made.append(to)
    return made
