#!/usr/bin/env python3
"""Joins the page's parts into a C++ header: embed.py FOLDER OUTPUT. Texts that the command fills in are marked @NAME@ in
page.html: TITLE twice, TEXT, DATA, in this order. Style and script get the hashes that the page's content policy allows."""
import base64
import hashlib
import pathlib
import sys

SCRIPTS = ["words.js", "data.js", "colours.js", "timeline.js", "charts.js", "tables.js", "main.js"]
PIECE = 8000  # of a string literal


def allowed(text):
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def literal(text):
    pieces = [text[i:i + PIECE] for i in range(0, len(text), PIECE)]
    return "\n".join('R"page(' + piece + ')page"' for piece in pieces)


def main():
    folder, output = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    read = lambda name: (folder / name).read_text(encoding="utf-8")
    style, script = read("page.css"), "".join(read(name) for name in SCRIPTS)
    assert "</script" not in script.lower() and "<!--" not in script and ")page\"" not in script
    policy = (f"default-src 'none'; script-src {allowed(script)}; style-src {allowed(style)}; img-src data:; "
              "base-uri 'none'; form-action 'none'")
    page = read("page.html").replace("@CSP@", policy).replace("@STYLE@", style).replace("@SCRIPT@", script)
    parts = []
    for mark in ["@TITLE@", "@TITLE@", "@TEXT@", "@DATA@"]:
        before, page = page.split(mark, 1)
        parts.append(before)
    parts.append(page)
    text = "// Made from src/report/page by embed.py.\n#pragma once\nnamespace hearth::report {\ninline constexpr const char* kPage[] = {\n"
    text += ",\n".join(literal(part) for part in parts) + "};\n}\n"
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
