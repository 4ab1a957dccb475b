#!/usr/bin/env python3
"""Writes the schema and the page's style into a C++ header, with the hash that the page's content policy allows:
embed.py FOLDER OUTPUT."""
import base64
import hashlib
import pathlib
import sys

PIECE = 8000  # of a string literal


def literal(text):
    assert ')part"' not in text
    return "\n".join(f'R"part({text[i:i + PIECE]})part"' for i in range(0, len(text), PIECE))


def main():
    folder, output = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    style = (folder / "page.css").read_text(encoding="utf-8")
    schema = (folder / "bench.schema.json").read_text(encoding="utf-8")
    mark = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text("// Made from src/trial by embed.py.\n#pragma once\nnamespace hearth::trial {\n"
                      f"inline constexpr const char* kSchema = {literal(schema)};\n"
                      f"inline constexpr const char* kStyle = {literal(style)};\n"
                      f"inline constexpr const char* kStyleHash = \"sha256-{mark}\";\n}}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
