"""Reads the dg- directives of a GCC test, as far as host tests of libgomp need them.

DejaGnu evaluates directives as Tcl; what occurs in this suite are words (bare, braced, quoted) and target selectors with
`!`, `&&`, `||`. Pure functions: no files are opened here, no process is started; the effective targets come as a
callable. A selector or directive that this reader does not know raises DirectiveError: a test must never be skipped, or
run the wrong way, because of a misreading.
"""

import fnmatch
import re

TRIPLE = "x86_64-pc-linux-gnu"

# Directives about compiler diagnostics and dump files: they check the compiler, not its run-time library.
_COMPILER_ONLY = {
    "dg-final", "dg-warning", "dg-error", "dg-message", "dg-note", "dg-bogus", "dg-prune-output", "dg-excess-errors",
    "dg-add-options", "dg-require-alias", "dg-missed", "dg-optimized", "dg-timeout-factor", "dg-line",
}


class DirectiveError(Exception):
    """A directive that this reader cannot interpret."""


class Test:
    """What the directives of one test ask for."""

    def __init__(self):
        self.action = "run"
        self.enabled = True
        self.why_not = ""
        self.options = None  # None: the suite's default options
        self.additional_options = []
        self.sources = []
        self.environment = {}
        self.should_fail = False
        self.expect_fail = ""
        self.output = ""
        self.timeout = None

    def disable(self, why):
        if self.enabled:
            self.enabled = False
            self.why_not = why


def split_words(text):
    """Splits a Tcl list into its words: bare, {braced} (kept as is) or "quoted" (backslashes interpreted)."""
    words, i, n = [], 0, len(text)
    while i < n:
        c = text[i]
        if c.isspace():
            i += 1
        elif c == "{":
            depth, start = 1, i + 1
            i += 1
            while i < n and depth:
                if text[i] == "\\":
                    i += 1
                elif text[i] == "{":
                    depth += 1
                elif text[i] == "}":
                    depth -= 1
                i += 1
            if depth:
                raise DirectiveError(f"unbalanced braces in: {text}")
            words.append(text[start:i - 1])
        elif c == '"':
            i += 1
            word = []
            while i < n and text[i] != '"':
                if text[i] == "\\" and i + 1 < n:
                    i += 1
                    word.append({"n": "\n", "r": "\r", "t": "\t"}.get(text[i], text[i]))
                else:
                    word.append(text[i])
                i += 1
            if i >= n:
                raise DirectiveError(f"unbalanced quotes in: {text}")
            i += 1
            words.append("".join(word))
        else:
            start = i
            while i < n and not text[i].isspace():
                i += 1
            words.append(text[start:i])
    return words


_TOKEN = re.compile(r"\s*(\{|\}|&&|\|\||!|[^\s{}!&|]+)")


def matches(selector, effective):
    """Evaluates a target selector: triples with wildcards, effective targets, !, &&, ||, groups in braces.

    Words that follow one another without an operator are alternatives, as in `target *-*-linux* *-*-gnu*`.
    """
    tokens, rest = [], selector.strip()
    while rest:
        found = _TOKEN.match(rest)
        if not found:
            raise DirectiveError(f"cannot read the target selector: {selector}")
        tokens.append(found.group(1))
        rest = rest[found.end():].strip()
    position = 0

    def peek():
        return tokens[position] if position < len(tokens) else None

    def take():
        nonlocal position
        position += 1
        return tokens[position - 1]

    def primary():
        token = peek()
        if token is None or token in ("}", "&&", "||"):
            raise DirectiveError(f"cannot read the target selector: {selector}")
        take()
        if token == "!":
            return not primary()
        if token == "{":
            value = alternatives()
            if peek() != "}":
                raise DirectiveError(f"unbalanced braces in the target selector: {selector}")
            take()
            return value
        if "-" in token and ("*" in token or token.count("-") >= 2) and not token.startswith("skip-"):
            return fnmatch.fnmatchcase(TRIPLE, token)
        return effective(token)

    def conjunction():
        value = primary()
        while peek() == "&&":
            take()
            value = primary() and value
        return value

    def alternatives():
        value = conjunction()
        while peek() not in (None, "}"):
            if peek() == "||":
                take()
            value = conjunction() or value
        return value

    if not tokens:
        return False
    value = alternatives()
    if position != len(tokens):
        raise DirectiveError(f"cannot read the target selector: {selector}")
    return value


def _selected(words, index, effective, test, directive):
    """The optional `{ target … }` or `{ xfail … }` word of a directive: does it apply?"""
    if len(words) <= index or not words[index].strip():
        return True
    kind, _, selector = words[index].strip().partition(" ")
    if kind == "target":
        # `{ target X xfail Y }`: the expected failure concerns compiler diagnostics in this suite.
        selector = re.split(r"\bxfail\b", selector)[0]
        return matches(selector, effective)
    if kind == "xfail":
        if directive == "dg-do" and matches(selector, effective):
            test.expect_fail = selector
        return True
    raise DirectiveError(f"{directive}: expected target or xfail, found: {words[index]}")


def _flags_match(patterns, flags):
    """dg-skip-if's lists of option patterns: does one of them occur in the flags?"""
    for pattern in split_words(patterns):
        if pattern == "*" or pattern == "" or any(fnmatch.fnmatchcase(flag, pattern) for flag in flags):
            return True
    return False


def _condition(words, effective, flags):
    """skip-if and its kin: comment, selector, [options that must occur, [options that must not]]."""
    if len(words) < 2:
        raise DirectiveError(f"a condition without a selector: {words}")
    if not matches(words[1], effective):
        return False
    if len(words) > 2 and not _flags_match(words[2], flags):
        return False
    return not (len(words) > 3 and words[3].strip() and _flags_match(words[3], flags))


_DIRECTIVE = re.compile(r"\{[ \t]+(dg-[-a-z]+)[ \t]*(.*?)[ \t]*\}[^}]*$")


def read(text, effective, flags):
    """Interprets all directives in the text of a test that is built with `flags`."""
    test = Test()
    for line in text.splitlines():
        found = _DIRECTIVE.search(line)
        if not found:
            continue
        name, words = found.group(1), split_words(found.group(2))
        if name in _COMPILER_ONLY:
            continue
        if name == "dg-do":
            test.action = words[0]
            if not _selected(words, 1, effective, test, name):
                test.disable(f"only for {words[1]}")
        elif name == "dg-options":
            if _selected(words, 1, effective, test, name):
                test.options = words[0].split()
        elif name == "dg-additional-options":
            if _selected(words, 1, effective, test, name):
                test.additional_options += words[0].split()
        elif name in ("dg-additional-sources", "dg-additional-files"):
            if _selected(words, 1, effective, test, name):
                test.sources += words[0].split()
        elif name == "dg-set-target-env-var":
            test.environment[words[0]] = words[1]
        elif name == "dg-require-effective-target":
            if not effective(words[0]):
                test.disable(f"requires {words[0]}")
        elif name == "dg-skip-if":
            if _condition(words, effective, flags):
                test.disable(f"skipped where {words[1]}")
        elif name in ("dg-xfail-if", "dg-xfail-run-if"):
            if _condition(words, effective, flags):
                test.expect_fail = words[1]
        elif name == "dg-shouldfail":
            if len(words) < 2 or _condition(words, effective, flags):
                test.should_fail = True
        elif name == "dg-output":
            if _selected(words, 1, effective, test, name):
                test.output += words[0]
        elif name == "dg-timeout":
            if _selected(words, 1, effective, test, name):
                test.timeout = float(words[0])
        else:
            raise DirectiveError(f"unknown directive {name}")
    return test
