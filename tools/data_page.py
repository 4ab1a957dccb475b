"""A page of docs/results/data: title, who writes it, a link to the page that explains it, and the tables.

Whole pages are written, so no tool needs markers in a text that somebody else writes.
"""
import pathlib

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "docs" / "results" / "data"


def write(page, title, command, explained_in, body):
    """page: a path, or the name of a page in FOLDER. explained_in: a page of docs/results, without .md."""
    path = page if isinstance(page, pathlib.Path) else FOLDER / f"{page}.md"
    path.write_text(f"# {title}\n\nWritten by `{command}`; do not edit. "
                    f"What it means: [{explained_in}](../{explained_in}.md).\n\n{body.strip()}\n", encoding="utf-8")
    return path
