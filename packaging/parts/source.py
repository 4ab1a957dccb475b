"""The source as one archive, from which the recipes build."""
import shutil

import common


def build(work, out):
    tree = work / "source" / f"hearth-{common.version()}"
    common.copy_source(tree)
    to = out / f"hearth-{common.version()}.tar.gz"
    common.archive(tree, to)
    shutil.rmtree(tree.parent)
    return [to]
