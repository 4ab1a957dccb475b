#!/usr/bin/env python3
"""The page of hearth bench in headless Chromium: every figure against its JSON, no script, no network, accessibility."""
import json
import pathlib
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cli"))
from browser import axe_script, emulate, find_selenium, open_browser, requests_of  # noqa: E402

find_selenium()

from common import Workshop, hearth  # noqa: E402

SHOP = Workshop()
BUILD = sys.argv[3]
PAGE = SHOP.folder / "x.html"
DRIVER = None


def setUpModule():
    global DRIVER
    done = hearth("bench", "--size", "tiny", "--rounds", "5", "-o", SHOP.folder / "x")
    assert done.returncode == 0, done.stderr
    DRIVER = open_browser()


def tearDownModule():
    DRIVER.quit()
    SHOP.close()


def show():
    emulate(DRIVER)
    DRIVER.get("file://" + str(PAGE))
    DRIVER.execute_script("document.querySelectorAll('details').forEach(d => d.open = true)")


def complaints():
    return [entry["message"] for entry in DRIVER.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]


class Page(unittest.TestCase):
    def setUp(self):
        show()
        self.result = json.loads((SHOP.folder / "x.json").read_text())

    def test_every_ratio_stands_beside_its_mark(self):
        shown = DRIVER.execute_script("return [...document.querySelectorAll('svg text:not(.axis):not([text-anchor])')].map(t => t.textContent)")
        numbers = sorted([float(number) for number in re.findall(r"[0-9.]+", text)] for text in shown)
        wanted = sorted([one["ratio"], one["low"], one["high"]] for one in self.result["ratios"])
        self.assertEqual(len(numbers), len(wanted))
        for three in wanted:  # sorted by rounded numbers they may stand in another order
            near = [other for other in numbers if all(abs(a - b) <= max(6e-3 * a, 6e-5) for a, b in zip(three, other))]
            self.assertTrue(near, three)
        marks = DRIVER.execute_script("return document.querySelectorAll('svg circle, svg polygon').length")
        self.assertEqual(marks, len(wanted))
        filled = DRIVER.execute_script("return document.querySelectorAll('svg .less:not(line), svg .more:not(line)').length")
        self.assertEqual(filled, sum(one["claim"] in ("faster", "slower") for one in self.result["ratios"]))

    def test_every_row_has_a_cell(self):
        cells = DRIVER.execute_script("return [...document.querySelectorAll('section table')].filter(t => t.caption.textContent.startsWith('Median'))"
                                      ".flatMap(t => [...t.querySelectorAll('td:not(.soft)')]).filter(c => c.cellIndex > 1).length")
        self.assertEqual(cells, len(self.result["rows"]))

    def test_only_the_file_itself_is_asked_for(self):
        DRIVER.get("about:blank")
        requests_of(DRIVER)
        show()
        self.assertEqual(requests_of(DRIVER), ["file://" + str(PAGE)])
        self.assertEqual(complaints(), [])
        self.assertEqual(DRIVER.execute_script("return document.scripts.length"), 0)

    def test_nothing_is_wider_than_the_screen(self):
        for width in (1600, 1000, 700, 360):
            emulate(DRIVER, width=width)
            self.assertLessEqual(DRIVER.execute_script("return document.documentElement.scrollWidth"), width)

    def test_dark_and_print_have_their_colours(self):
        ground = "return getComputedStyle(document.body).backgroundColor"
        light = DRIVER.execute_script(ground)
        emulate(DRIVER, "dark")
        self.assertNotEqual(DRIVER.execute_script(ground), light)
        emulate(DRIVER, "dark", "print")
        self.assertEqual(DRIVER.execute_script(ground), light)

    def test_axe_finds_nothing(self):
        axe = axe_script(BUILD)
        if axe is None:
            self.skipTest("axe-core cannot be fetched from npm's registry")
        for scheme, width in (("light", None), ("dark", None), ("light", 400)):
            show()
            emulate(DRIVER, scheme, width=width)
            DRIVER.execute_script(axe)
            found = DRIVER.execute_async_script("const done = arguments[0]; axe.run().then(r => done(r.violations.map(v => v.id + ': ' + "
                                                "v.nodes.map(n => n.target + ' ' + n.failureSummary).join('; '))), e => done([String(e)]))")
            self.assertEqual(found, [], (scheme, width))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
