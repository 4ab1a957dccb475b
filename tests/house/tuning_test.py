#!/usr/bin/env python3
"""The numbers of src/policy/tuning.h stand nowhere else.

Usage: tuning_test.py SOURCE_ROOT

No other file of the rooms that search, deal, wait or simulate defines a constant of that name, a constant in ticks,
or a clock of its own.
"""
import pathlib
import re
import sys
import unittest

SOURCE = pathlib.Path(sys.argv[1]) / "src"
TUNING = SOURCE / "policy/tuning.h"
ROOMS = ("base", "policy", "memory", "runtime", "sim")
DEFINED = re.compile(r"(?:constexpr [\w:]+|,) (k\w+)\s+=\s*([^;]*)")


def files():
    for room in ROOMS:
        for path in (SOURCE / room).rglob("*"):
            if path.suffix in (".h", ".cpp") and path != TUNING:
                yield path, path.read_text()


class Tuning(unittest.TestCase):
    def test_names_are_defined_once(self):
        names = {name for name, _ in DEFINED.findall(TUNING.read_text())}
        self.assertIn("kBrieflyNs", names)
        stems = {re.sub("Ns$", "", name) for name in names}
        for path, text in files():
            for name, value in DEFINED.findall(text):
                if "tuning::" not in value:
                    self.assertFalse(re.sub("Ns$", "", name) in stems, f"{path} defines {name}, as tuning.h does")

    def test_there_is_one_clock(self):
        for path, text in files():
            if path == SOURCE / "base/clock.h":
                continue
            self.assertFalse(re.search(r"rdtsc|cntvct|\bticks\(\) \{", text), f"{path}: base/clock.h has ticks()")
            self.assertFalse(re.search(r"k\w*Ticks? = \d[\d']{3}", text), f"{path}: times are nanoseconds")

    def test_each_number_says_where_it_comes_from(self):
        text = TUNING.read_text()
        for word in ("Paper", "easured", "easoned"):
            self.assertIn(word, text)


unittest.main(argv=sys.argv[:1])
