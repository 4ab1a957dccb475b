"""papers --quick: its form, its determinism, its messages, and the page made of it. Usage: papers_test.py PROGRAM"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(sys.argv.pop()).resolve()
sys.path.insert(0, str(ROOT / "bench/papers"))
import report  # noqa: E402


def papers(*arguments):
    return subprocess.run([PROGRAM, "--models", ROOT / "models", *arguments], capture_output=True, text=True, check=False)


class Papers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.first, cls.second = papers("--quick", "--threads", "1"), papers("--quick", "--threads", "3")

    def test_the_same_bytes_whoever_takes_which_visit(self):
        self.assertEqual(self.first.returncode, 0, self.first.stderr)
        self.assertEqual(self.first.stdout, self.second.stdout)

    def test_every_claim_has_a_band_and_a_count(self):
        results = json.loads(self.first.stdout)
        self.assertGreaterEqual(sum(claim["expected"] for claim in results["claims"]), 12)
        self.assertEqual(len({claim["id"] for claim in results["claims"]}), len(results["claims"]))
        for claim in results["claims"]:
            with self.subTest(claim["id"]):
                self.assertLessEqual(claim["ours"]["low"], claim["ours"]["high"])
                self.assertIn(claim["holds"], range(results["draws"] + 1))
                self.assertIn(claim["kind"], ("sign", "magnitude", "by construction", "Hearth's own"))
                for word in ("where", "text", "decides"):
                    self.assertTrue(claim[word])

    def test_what_is_constructed_holds(self):
        for claim in json.loads(self.first.stdout)["claims"]:
            if claim["kind"] == "by construction":
                self.assertEqual(claim["holds"], claim["draws"], claim["id"])

    def test_policies_choose_what_the_simulator_finds_best(self):
        own = [claim for claim in json.loads(self.first.stdout)["claims"] if claim["kind"] == "Hearth's own"]
        self.assertGreaterEqual(len(own), 4)
        for claim in own:
            self.assertGreaterEqual(claim["holds"], 0.95 * claim["draws"], claim["id"])

    def test_a_page_with_all_claims_and_pictures_that_parse(self):
        results = json.loads(self.first.stdout)
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder) / "papers.md"
            page.write_text("old\n")
            report.write(results, page, pathlib.Path(folder) / "papers", ROOT)
            text = page.read_text()
            self.assertTrue(text.startswith("# "))
            self.assertNotIn("old\n", text)
            for claim in results["claims"]:
                self.assertIn(claim["text"], text)
            pictures = list((pathlib.Path(folder) / "papers").glob("*.svg"))
            self.assertEqual(len(pictures), 5)
            for picture in pictures:
                self.assertIn(f"papers/{picture.name}", text)
                xml.etree.ElementTree.parse(picture)

    def test_wrong_words_are_refused(self):
        for arguments, said in ((("--draws", "0"), "--draws wants a number"), (("--only", "vax"), "no paper has that machine"),
                                (("--fast",), "not understood"), (("--models", "/nowhere", "--quick"), "/nowhere/")):
            done = papers(*arguments)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(said, done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
