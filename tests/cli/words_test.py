#!/usr/bin/env python3
"""What `hearth` answers to somebody who does not know it yet: help, and hints at what was probably meant."""
import sys
import unittest

from common import Workshop, hearth

SHOP = Workshop()


def tearDownModule():
    SHOP.close()


class Help(unittest.TestCase):
    def test_help_is_a_command(self):
        self.assertEqual(hearth("help").stdout, hearth("--help").stdout)
        self.assertEqual(hearth("help").returncode, 0)
        for command in ("run", "check", "record", "sim", "topo", "model", "env", "export"):
            asked = hearth("help", command)
            self.assertEqual((asked.returncode, asked.stdout), (0, hearth(command, "--help").stdout), command)
        self.assertIn("no such subcommand", hearth("help", "dance").stderr)

    def test_usage_names_the_program(self):
        for command in ("run", "check", "record"):
            self.assertIn(f"Usage: hearth {command} [OPTIONS] [--] PROGRAM [ARGUMENT...]", hearth(command, "--help").stdout)
        self.assertIn("--verify[=FILE]", hearth("run", "--help").stdout)
        self.assertNotIn("{-}", hearth("check", "--help").stdout)

    def test_errors_point_to_the_commands_help(self):
        for arguments in (["run", "--nonsense", "true"], ["run"], ["export"]):
            self.assertIn(f"Try: hearth {arguments[0]} --help", hearth(*arguments).stderr)
        self.assertIn("Try: hearth --help", hearth("dance").stderr)


class Hints(unittest.TestCase):
    def test_commands(self):
        for word, meant in (("rnu", "run"), ("chek", "check"), ("recrod", "record"), ("topology", None), ("xyzzy", None)):
            message = hearth(word).stderr
            self.assertIn("legal: ", message)
            if meant:
                self.assertIn(f'did you mean "{meant}"?', message)
            else:
                self.assertNotIn("did you mean", message)

    def test_variables(self):
        for command in (("run", "--", "true"), ("env",)):
            for wrong, meant in (("OMP_NUMTHREADS", "OMP_NUM_THREADS"), ("HEARTH_POLCIY", "HEARTH_POLICY"),
                                 ("KMP_AFINITY", "KMP_AFFINITY"), ("GOMP_SPINCONT", "GOMP_SPINCOUNT")):
                result = hearth(*command, env={wrong: "1"})
                self.assertEqual(result.returncode, 0)
                self.assertIn(f"hearth: {wrong}: no such variable; did you mean {meant}?", result.stderr)
            self.assertEqual(hearth(*command, env={"OMP_NUM_THREADS": "2", "OMP_SOMETHING_ELSE_ALTOGETHER": "1"}).stderr, "")

    def test_words_that_are_legal(self):
        self.assertIn("legal: hearth, or stock", hearth("record", "--runtime", "llvm", "--", "true").stderr)
        self.assertIn('did you mean "OMP_NUM_THREADS"?', hearth("env", "OMP_NUMTHREADS").stderr)

    def test_a_source_is_no_program(self):
        source = SHOP.folder / "heat.c"
        source.write_text("int main(void) { return 0; }\n")
        for name, status in (("heat.c", 127), ("./heat.c", 126)):
            result = hearth("run", "--", name, cwd=SHOP.folder)
            self.assertEqual(result.returncode, status)
            self.assertIn(f"{name}: not a program: a C source; compile it first", result.stderr)
        program = SHOP.compile("heat", source.read_text())
        result = hearth("run", "--", program.name, cwd=SHOP.folder)
        self.assertEqual(result.returncode, 127)
        self.assertIn("did you mean ./heat?", result.stderr)

    def test_only_what_was_changed(self):
        self.assertIn("all have their defaults", hearth("env", "--changed").stdout)
        text = hearth("env", "--changed", env={"OMP_NUM_THREADS": "3"}).stdout
        self.assertIn("OMP_NUM_THREADS = 3   (from OMP_NUM_THREADS)", text)
        self.assertLess(len(text.splitlines()), 8)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
