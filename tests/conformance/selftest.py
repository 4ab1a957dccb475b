#!/usr/bin/env python3
"""Tests of the runner itself: the reading of dg- directives, the judging of a run, and the killing of what hangs.

No network, no suite, no compiler: runs in a second or two. `python3 tests/conformance/selftest.py`
"""

import io
import os
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from suites import dejagnu, process, report  # noqa: E402  (the path must be set first)


def effective(name):
    return {"yes": True, "no": False, "c": True, "lp64": True}[name]


class Directives(unittest.TestCase):
    def read(self, text, flags=("-O2",)):
        return dejagnu.read(text, effective, list(flags))

    def test_a_test_without_directives_runs(self):
        test = self.read("int main () { return 0; }")
        self.assertEqual((test.action, test.enabled, test.options, test.should_fail), ("run", True, None, False))

    def test_options_are_kept_apart_from_additional_ones(self):
        test = self.read('/* { dg-options "-O0 -g" } */\n/* { dg-additional-options "-std=c99" { target c } } */\n'
                         '/* { dg-additional-options "-mno" { target no } } */')
        self.assertEqual(test.options, ["-O0", "-g"])
        self.assertEqual(test.additional_options, ["-std=c99"])

    def test_selectors(self):
        for selector, value in (("*-*-linux*", True), ("i?86-*-*", False), ("i?86-*-* x86_64-*-*", True),
                                ("{ ! no }", True), ("{ yes && no }", False), ("no || yes", True),
                                ("{ { i?86-*-* x86_64-*-* } && lp64 }", True), ("{ lp64 && { ! lp64 } }", False)):
            self.assertEqual(dejagnu.matches(selector, effective), value, selector)

    def test_an_unknown_effective_target_is_an_error(self):
        with self.assertRaises(KeyError):
            dejagnu.matches("never_heard_of", effective)

    def test_an_unknown_directive_is_an_error(self):
        with self.assertRaises(dejagnu.DirectiveError):
            self.read("/* { dg-surprise \"x\" } */")

    def test_unmet_requirements_disable(self):
        self.assertFalse(self.read("! { dg-require-effective-target no }").enabled)
        self.assertFalse(self.read("! { dg-do run { target no } }").enabled)
        self.assertTrue(self.read("! { dg-do run { target yes } }").enabled)

    def test_skip_if_looks_at_the_flags(self):
        line = '! { dg-skip-if "" { ! no } { "*" } { "-O2" } }'
        self.assertTrue(self.read(line, ["-O2"]).enabled)
        self.assertFalse(self.read(line, ["-O3"]).enabled)

    def test_output_is_joined_and_unescaped(self):
        test = self.read('! { dg-output "one(\\n|\\r)" }\n! { dg-output "two \\\\\\[x\\\\\\]" }')
        self.assertRegex("one\ntwo [x]", test.output)
        self.assertNotRegex("one two [x]", test.output)

    def test_environment_should_fail_and_sources(self):
        test = self.read('/* { dg-set-target-env-var OMP_PLACES "{6,7}:4:-2,!{2,3}" } */\n'
                         '/* { dg-shouldfail "it ends" } */\n/* { dg-additional-sources "a.c b.c" } */')
        self.assertEqual(test.environment, {"OMP_PLACES": "{6,7}:4:-2,!{2,3}"})
        self.assertTrue(test.should_fail)
        self.assertEqual(test.sources, ["a.c", "b.c"])


class Processes(unittest.TestCase):
    def test_a_hanging_test_is_killed_with_its_children(self):
        with tempfile.TemporaryDirectory() as folder:
            begin = time.monotonic()
            done = process.run(["sh", "-c", "sleep 60 & echo $!; sleep 60"], 0.5, folder, dict(os.environ),
                               os.path.join(folder, "log"))
            self.assertTrue(done.timed_out)
            self.assertLess(time.monotonic() - begin, 10)
            child = int(done.output.split()[0])
            deadline = time.monotonic() + 5
            while os.path.exists(f"/proc/{child}") and time.monotonic() < deadline:
                with open(f"/proc/{child}/stat", encoding="utf-8") as stat:
                    if stat.read().rpartition(")")[2].split()[0] == "Z":
                        break
                time.sleep(0.05)
            else:
                self.assertFalse(os.path.exists(f"/proc/{child}"), "the grandchild outlived its group")

    def test_a_signal_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            done = process.run(["sh", "-c", "kill -SEGV $$"], 10, folder, dict(os.environ), os.path.join(folder, "log"))
            self.assertEqual(done.describe(), "killed by SIGSEGV")


class Verdicts(unittest.TestCase):
    def judge(self, text, statuses, whole=True):
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
            file.write(text)
            file.flush()
            expected = report.Expectations(file.name)
            results = {name: report.Result(status) for name, status in statuses.items()}
            return report.summarise("suite", results, expected, whole, 1.0, io.StringIO())

    def test_an_unlisted_failure_is_a_regression(self):
        good, summary = self.judge("", {"a": "pass", "b": "fail"})
        self.assertFalse(good)
        self.assertEqual(summary["regressions"], ["b"])

    def test_a_listed_failure_is_known(self):
        self.assertTrue(self.judge("b: bound to libomp\n", {"a": "pass", "b": "fail"})[0])

    def test_too_few_passes_are_a_regression(self):
        self.assertFalse(self.judge("at-least: 2\nb: why\n", {"a": "pass", "b": "fail"})[0])

    def test_a_listed_test_that_does_not_exist_is_an_error(self):
        self.assertFalse(self.judge("c: why\n", {"a": "pass"})[0])

    def test_no_test_at_all_is_not_a_success(self):
        self.assertFalse(self.judge("", {})[0])

    def test_a_reason_is_mandatory(self):
        with self.assertRaises(SystemExit):
            self.judge("b:\n", {"a": "pass"})

    def test_a_journal_survives_a_torn_line(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "journal")
            journal = report.Journal(path, "one")
            journal.open({})
            journal.add("a", report.Result("fail", "why"))
            journal.close()
            with open(path, "a", encoding="utf-8") as sink:
                sink.write('{"name": "b", "sta')
            again = report.Journal(path, "one")
            self.assertTrue(again.same_library)
            self.assertEqual(list(again.old), ["a"])
            self.assertFalse(report.Journal(path, "two").same_library)


if __name__ == "__main__":
    unittest.main()
