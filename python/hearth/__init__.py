"""Hearth in Python: run an interpreter on Hearth, and look at recordings.

    import hearth
    hearth.use()                        # before other imports: restarts the interpreter on Hearth, if it is not on it

    run = hearth.open("run.db")         # a file of `hearth record`
    run.frame("task")                   # any table or view, as pandas, polars or pyarrow has it
    run.timeline()                      # figures of the report, as matplotlib axes

`hearth.info()` says what this process runs on. threadpoolctl, where it is installed, lists Hearth by its name.
"""
from hearth._command import NotInstalled, command, version
from hearth._process import NotOnHearth, info, use
from hearth._recording import Recording, open  # noqa: A004 (named as what people expect)
from hearth._threadpool import register as _register

__version__ = version()
__all__ = ["NotInstalled", "NotOnHearth", "Recording", "command", "info", "open", "use"]

_register()
