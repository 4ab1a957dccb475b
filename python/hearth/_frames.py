"""Tables in the form of whichever library is there: pandas, polars or pyarrow."""
import importlib

LIBRARIES = {"pandas": "pandas", "polars": "polars", "arrow": "pyarrow"}


def library_for(wanted):
    """(its name here, the module). Wanted None: the first one that is installed."""
    if wanted is not None and wanted not in LIBRARIES:
        raise ValueError(f"library={wanted!r}: legal: {', '.join(LIBRARIES)}")
    for name in [wanted] if wanted else LIBRARIES:
        try:
            return name, importlib.import_module(LIBRARIES[name])
        except ImportError:
            continue
    asked = f"{LIBRARIES[wanted]} is not installed" if wanted else "none of pandas, polars and pyarrow is installed"
    raise ImportError(f"{asked}; `pip install \"hearth-openmp[{wanted or 'pandas'}]\"` brings it, "
                      "and rows() works without")


def pandas_column(pandas, values):
    """Whole numbers stay whole, also where some are missing: keys and addresses are too large for floats."""
    kinds = {type(value) for value in values}
    if kinds == {int, type(None)}:
        return pandas.array(values, dtype="Int64")
    if kinds <= {int}:
        return pandas.array(values, dtype="int64")
    return values


def frame(names, rows, wanted):
    """Column names and rows, as a frame or table of that library."""
    name, module = library_for(wanted)
    columns = dict(zip(names, map(list, zip(*rows)))) if rows else {column: [] for column in names}
    if name == "pandas":
        return module.DataFrame({column: pandas_column(module, values) for column, values in columns.items()})
    if name == "polars":
        return module.DataFrame(columns, strict=False)
    return module.table(columns)
