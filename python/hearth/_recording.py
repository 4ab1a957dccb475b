"""A recording of `hearth record`: its tables, and the figures of its report."""
import json
import os
import pathlib
import sqlite3

from hearth import _figures
from hearth._command import run
from hearth._frames import frame

DATABASE = b"SQLite format 3\0"


class Recording:
    """One file. Times are nanoseconds since the recording began; docs/reference/recording.md explains the tables."""

    def __init__(self, path):
        self.path = os.fspath(path)
        with pathlib.Path(self.path).open("rb") as file:
            if file.read(len(DATABASE)) != DATABASE:
                raise ValueError(f"{self.path}: no recording of hearth record")
        uri = pathlib.Path(self.path).resolve().as_uri() + "?mode=ro"
        self._database = sqlite3.connect(uri, uri=True)
        if not {"task", "span", "meta"} <= set(self.tables):
            raise ValueError(f"{self.path}: a database, but no recording of hearth record")
        self._report = None

    def close(self):
        self._database.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    @property
    def tables(self):
        """Names of all tables and views."""
        listed = self._database.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name")
        return [name for (name,) in listed]

    def rows(self, sql, parameters=()):
        """(names of the columns, rows) of a query; needs no other library."""
        cursor = self._database.execute(sql, parameters)
        return [column[0] for column in cursor.description], cursor.fetchall()

    def sql(self, query, parameters=(), library=None):
        """A query as a frame: "pandas", "polars" or "arrow", or the first of them that is installed."""
        return frame(*self.rows(query, parameters), library)

    def frame(self, table, library=None):
        """A whole table or view."""
        if table not in self.tables:
            raise KeyError(f"{table!r}: no such table; there are: {', '.join(self.tables)}")
        return self.sql(f'SELECT * FROM "{table}"', library=library)

    def arrow(self, table):
        """A whole table or view, as a table of Arrow."""
        return self.frame(table, library="arrow")

    @property
    def report(self):
        """All figures of the report, as `hearth report --json` prints them."""
        if self._report is None:
            self._report = json.loads(run("report", "--json", self.path))
        return self._report

    def summary(self):
        """The first screen of the report, as text."""
        return run("report", "--text", self.path)

    def page(self, to):
        """Writes the report's page, which opens in a browser without network; returns its path."""
        run("report", self.path, "-o", to)
        return to

    def timeline(self, axes=None, columns=1200):
        """Who ran what when: a row for each thread, coloured by how far a task's data was. Axes of matplotlib."""
        return _figures.timeline(self, axes, columns)

    def locality_matrix(self, axes=None):
        """Bytes that tasks declare, by where they ran and where the bytes were. Axes of matplotlib."""
        return _figures.locality_matrix(self, axes)

    def parallelism(self, axes=None):
        """How many tasks ran, and how many could have, over the time of the run. Axes of matplotlib."""
        return _figures.parallelism(self, axes)

    def __repr__(self):
        tasks, regions = (self._database.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in ("task", "region"))
        return f"<hearth.Recording {self.path}: {tasks} tasks, {regions} parallel regions>"


def open(path):  # noqa: A001 (hearth.open)
    """A recording, for reading."""
    return Recording(path)
