#!/usr/bin/env python3
"""The completions that the build writes, loaded into the shells that are here.

Usage: completion_test.py HEARTH SOURCE BUILD CMAKE
"""
import os
import pathlib
import pty
import select
import shutil
import sys
import unittest

from common import HEARTH, Workshop, hearth, run

FILES = pathlib.Path(sys.argv[3]) / "completions"
SHOP = Workshop()
PATH = {"PATH": f"{pathlib.Path(HEARTH).parent}:{os.environ['PATH']}"}


class Completed:
    """What every shell has to offer; `completed` gives its list for the last of these words."""

    def completed(self, *words):
        raise NotImplementedError

    def test_subcommands(self):
        self.assertLessEqual({"run", "record", "report"}, set(self.completed("r")))
        self.assertLessEqual({"check", "list"}, set(self.completed("model", "")))

    def test_options(self):
        self.assertIn("--distribute", self.completed("run", "--d"))
        self.assertIn("--advise", self.completed("sim", "--adv"))
        self.assertNotIn("--advise", self.completed("run", "--"))

    def test_values(self):
        self.assertIn("work-stealing", self.completed("run", "--policy", "w"))
        self.assertIn("opteron-6172x4", self.completed("sim", "map", "--machine", "opt"))
        self.assertIn("treematch", self.completed("map", "--mapper", "tr"))

    def test_names_of_options(self):
        self.assertIn("HEARTH_POLICY", self.completed("env", "HEARTH_P"))


class Bash(Completed, unittest.TestCase):
    def completed(self, *words):
        script = ("source $1; shift; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); compopt() { :; }; _hearth; "
                  "printf '%s\\n' \"${COMPREPLY[@]}\"")
        result = run("bash", "-c", script, "bash", FILES / "hearth.bash", HEARTH, *words)
        self.assertEqual(result.stderr, "")
        return result.stdout.split()

    def test_values_behind_a_sign(self):
        self.assertIn("locality", self.completed("run", "--policy", "=", "l"))
        self.assertIn("sort", self.completed("run", "--verify", "sor"))  # the program; a file stands behind '='
        self.assertIn("@files", (FILES / "hearth.bash").read_text().split('"run --verify="')[1].splitlines()[0])


@unittest.skipIf(shutil.which("fish") is None, "no fish")
class Fish(Completed, unittest.TestCase):
    def completed(self, *words):
        line = " ".join(["hearth", *words]).replace("'", "")
        result = run("fish", "--no-config", "-c", f"source {FILES / 'hearth.fish'}; complete -C '{line}'", env={**PATH, "HOME": SHOP.folder})
        self.assertEqual(result.stderr, "")
        return [entry.split("\t")[0] for entry in result.stdout.splitlines()]


@unittest.skipIf(shutil.which("zsh") is None, "no zsh")
class Zsh(Completed, unittest.TestCase):
    """In a terminal of its own, since zsh completes nowhere else; what it would offer is caught in compadd. The line
    is typed only once the line editor has the terminal, and is read only once the widget has ended: zsh gives up a
    completion when a key is waiting."""
    SETUP = r"""PS1='' ; fpath=(%s $fpath); autoload -Uz compinit; compinit -u -D
compadd() { builtin compadd -O found "$@"; print -rl -- "" "offer:"$^found; builtin compadd "$@"; }
_show() { local found; _main_complete; print -rl -- "" "the ""end" ""; }
zle -C show list-choices _show; bindkey '^T' show; setopt no_beep
zle-line-init() { print -rl -- "" "the ""editor" ""; }; zle -N zle-line-init
"""

    def completed(self, *words):
        child, terminal = pty.fork()
        if child == 0:
            environment = {**os.environ, **PATH, "TERM": "dumb", "HOME": str(SHOP.folder), "ZDOTDIR": str(SHOP.folder)}
            os.execvpe("zsh", ["zsh", "-f", "-i"], environment)
        try:
            self.told(terminal, "the editor", self.SETUP % FILES)
            lines = self.told(terminal, "the end", "hearth " + " ".join(words) + "\x14").splitlines()
            return [line[len("offer:"):].strip() for line in lines if line.startswith("offer:")]
        finally:
            os.close(terminal)
            os.waitpid(child, 0)

    def told(self, terminal, until, text):
        """What zsh prints for that, up to this line."""
        os.write(terminal, text.encode())
        told = ""
        while f"\n{until}\n" not in told:
            ready, _, _ = select.select([terminal], [], [], 60)
            self.assertTrue(ready, f"zsh is silent after {told!r}")
            told += os.read(terminal, 4096).decode(errors="replace").replace("\r", "")
        return told


class OfTheBuild(unittest.TestCase):
    def test_every_subcommand_is_in_every_file(self):
        told = hearth("--help").stdout
        commands = [line.split()[0] for line in told[told.index("Subcommands:"):].splitlines()[1:] if line.startswith("  ")]
        self.assertGreater(len(commands), 10)
        for name in ("hearth.bash", "_hearth", "hearth.fish"):
            text = (FILES / name).read_text()
            self.assertEqual([command for command in commands if command != "help" and command not in text], [])


if __name__ == "__main__":
    try:
        unittest.main(argv=sys.argv[:1])
    finally:
        SHOP.close()
