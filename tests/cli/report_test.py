#!/usr/bin/env python3
"""`hearth report`: every number of a real run against SQL on its recording, as text and as JSON; bad files; hostile names."""
import json
import re
import shutil
import sqlite3
import statistics
import sys
import unittest

from common import SOURCE, Workshop, hearth
from recordings import PROGRAM, add_places

SHOP = Workshop()


def tearDownModule():
    SHOP.close()


def recording():
    if not hasattr(recording, "path"):
        program = SHOP.compile("app", PROGRAM, "-fopenmp", "-g")
        recording.path = SHOP.folder / "app.db"
        done = hearth("record", "-o", recording.path, "--", program, env={"OMP_NUM_THREADS": "3"})
        assert done.returncode == 0, done.stderr
    return recording.path


class Figures(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.file = sqlite3.connect(recording())
        done = hearth("report", "--json", recording())
        assert done.returncode == 0, done.stderr
        cls.data = json.loads(done.stdout)

    def one(self, sql, *values):
        return self.file.execute(sql, values).fetchone()[0]

    def test_the_run_as_a_whole(self):
        run = self.data["run"]
        self.assertEqual(run["length_ns"], self.one("SELECT max(end_ns) - min(begin_ns) FROM span"))
        self.assertEqual(run["work_ns"], self.one("SELECT sum(work_ns) FROM task"))
        self.assertEqual(run["creating_ns"], self.one("SELECT sum(create_ns) FROM task"))
        self.assertEqual(run["waiting_ns"], self.one("SELECT sum(wait_ns) FROM task"))
        threads = self.one("SELECT count(DISTINCT thread) FROM span")
        self.assertEqual(len(self.data["threads"]), threads)
        self.assertEqual(run["thread_time_ns"], threads * run["length_ns"])
        parts = [run[part] for part in ("work_ns", "creating_ns", "waiting_ns", "outside_ns")]
        self.assertEqual(sum(parts), run["thread_time_ns"])
        self.assertAlmostEqual(run["parallelism"], run["work_ns"] / run["length_ns"], places=4)
        self.assertEqual(run["explicit_tasks"], self.one("SELECT count(*) FROM task WHERE kind NOT IN ('initial', 'implicit')"))
        self.assertEqual(run["regions"], self.one("SELECT count(*) FROM region"))

    def test_threads(self):
        for thread in self.data["threads"]:
            in_spans = self.one("SELECT sum(end_ns - begin_ns) FROM span WHERE thread = ?", thread["id"])
            self.assertEqual(thread["outside_ns"], self.data["run"]["length_ns"] - in_spans)
            parts = thread["work_ns"] + thread["creating_ns"] + thread["waiting_ns"]
            self.assertAlmostEqual(parts, in_spans, delta=2)
            self.assertEqual(thread["tasks"], self.one(
                "SELECT count(*) FROM task WHERE thread = ? AND kind NOT IN ('initial', 'implicit')", thread["id"]))

    def test_constructs_are_those_of_the_view(self):
        rows = self.file.execute("SELECT construct, kind, tasks, work_ns, least_ns, most_ns, wait_ns, create_ns "
                                 "FROM work_by_construct").fetchall()
        shown = [(c["name"], c["kind"], c["tasks"], c["work_ns"], c["least_ns"], c["most_ns"], c["wait_ns"], c["create_ns"])
                 for c in self.data["constructs"]]
        self.assertEqual(sorted(shown), sorted(rows))
        works = [c["work_ns"] for c in self.data["constructs"]]
        self.assertEqual(works, sorted(works, reverse=True))
        for construct in self.data["constructs"]:
            self.assertEqual(construct["declared_bytes"], self.one(
                "SELECT coalesce(sum(f.length * f.rows), 0) FROM footprint f JOIN task t ON t.id = f.task "
                "LEFT JOIN code c ON c.id = t.code WHERE coalesce(c.name, t.kind) = ? AND t.kind = ?",
                construct["name"], construct["kind"]))

    def test_waits_add_up_to_the_time_that_tasks_wait(self):
        self.assertEqual(sum(w["idle_ns"] for w in self.data["waits"]), self.one("SELECT sum(idle_ns) FROM wait"))
        for wait in self.data["waits"]:
            self.assertEqual(wait["waits"], self.one(
                "SELECT count(*) FROM wait w LEFT JOIN code c ON c.id = w.code LEFT JOIN task t ON t.id = w.task "
                "LEFT JOIN code tc ON tc.id = t.code WHERE w.kind = ? AND coalesce(c.name, tc.name, t.kind) = ?",
                wait["kind"], wait["name"]), wait)

    def test_parallelism_over_time_has_the_area_of_its_tasks(self):
        run, curves = self.data["run"], self.data["parallelism"]
        width = run["length_ns"] / len(curves["running"])
        self.assertAlmostEqual(sum(curves["running"]) * width / (run["work_ns"] + run["creating_ns"]), 1, places=2)
        ready = """WITH late AS (SELECT e.task, max(p.end_ns) AS ns FROM edge e JOIN task p ON p.id = e.predecessor GROUP BY 1)
                   SELECT sum(t.end_ns - max(t.created_ns, coalesce(l.ns, 0))) FROM task t LEFT JOIN late l ON l.task = t.id
                   WHERE t.kind NOT IN ('initial', 'implicit')"""
        self.assertAlmostEqual(sum(curves["available"]) * width / self.one(ready), 1, places=3)

    def test_loops_have_their_place_and_iterations(self):
        loops = [loop for loop in self.data["loops"] if loop["kind"] == "dynamic"]
        self.assertEqual(len(loops), 1)
        self.assertEqual(loops[0]["name"], self.one(
            "SELECT coalesce(c.name, r.name) FROM loop l LEFT JOIN code c ON c.id = l.code LEFT JOIN task t ON t.id = l.task "
            "LEFT JOIN code r ON r.id = t.code WHERE l.kind = 'dynamic'"))
        self.assertEqual(loops[0]["iterations"], self.one("SELECT sum(iterations) FROM loop WHERE kind = 'dynamic'"))
        self.assertEqual(loops[0]["ns"], self.one("SELECT sum(end_ns - begin_ns) FROM loop WHERE kind = 'dynamic'"))


class Places(unittest.TestCase):
    """A recording that tells where things are."""
    @classmethod
    def setUpClass(cls):
        path = SHOP.folder / "places.db"
        shutil.copy(recording(), path)
        add_places(path)
        cls.file = sqlite3.connect(path)
        cls.data = json.loads(hearth("report", "--json", path).stdout)
        cls.text = " ".join(hearth("report", "--text", path).stdout.split())

    def one(self, sql):
        return self.file.execute(sql).fetchone()[0]

    def test_the_matrix_has_all_bytes_whose_place_is_known(self):
        locality = self.data["locality"]
        wanted = [0] * 16
        for ran, memory, moved in self.file.execute("SELECT t.location, b.memory, sum(b.read + b.written) FROM task_bytes b JOIN task t "
                                                    "ON t.id = b.task WHERE b.memory >= 0 GROUP BY 1, 2"):
            wanted[ran * 4 + memory] = moved
        self.assertEqual(locality["matrix"], wanted)
        self.assertEqual(locality["unknown_bytes"], self.one("SELECT sum(read + written) FROM task_bytes WHERE memory < 0"))
        remote = self.one("SELECT sum(b.read + b.written) FROM task_bytes b JOIN task t ON t.id = b.task "
                          "WHERE b.memory >= 0 AND b.memory <> t.location")
        self.assertEqual(locality["remote_bytes"], remote)
        share = 100 * remote / sum(wanted)
        self.assertIn(f"How much memory was remote? {share:.{1 if share < 9.95 else 0}f} %", self.text)

    def test_constructs_have_their_share_and_distance(self):
        for construct in self.data["locality"]["constructs"]:
            name = next(c["name"] for c in self.data["constructs"] if c["id"] == construct["id"])
            row = self.file.execute(
                "SELECT sum(b.read + b.written), sum((b.memory >= 0) * (b.read + b.written) * coalesce(d.distance, 0)) FROM task_bytes b "
                "JOIN task t ON t.id = b.task JOIN code c ON c.id = t.code LEFT JOIN distance d ON d.location = t.location AND "
                "d.memory = b.memory WHERE c.name = ?", (name,)).fetchone()
            self.assertEqual((construct["bytes"], construct["weighted"]), row, name)

    def test_decisions(self):
        constructs = self.data["locality"]["constructs"]
        self.assertEqual(sum(c["decided"] for c in constructs), self.one("SELECT count(*) FROM decision"))
        self.assertEqual(sum(c["dealt"] for c in constructs), self.one("SELECT count(*) FROM decision WHERE chosen >= 0 AND chosen <> location"))
        self.assertEqual({w["why"]: w["decisions"] for w in self.data["locality"]["whys"]},
                         dict(self.file.execute("SELECT why, count(*) FROM decision GROUP BY 1")))

    def test_it_says_that_the_machine_was_pretended(self):
        self.assertIn("pretending to be four (4 locations)", self.text)


class Comparison(unittest.TestCase):
    def test_constructs_and_the_same_tasks_side_by_side(self):
        program, path = SHOP.folder / "app", SHOP.folder / "second.db"
        recording()
        self.assertEqual(hearth("record", "-o", path, "--", program, env={"OMP_NUM_THREADS": "2"}).returncode, 0)
        shown = json.loads(hearth("report", "--json", recording(), path).stdout)["comparison"]
        file = sqlite3.connect(recording())
        file.execute("ATTACH ? AS other", (str(path),))
        self.assertEqual(shown["second_length_ns"], file.execute("SELECT max(end_ns) - min(begin_ns) FROM other.span").fetchone()[0])
        same = {name: row for name, *row in file.execute(
            "SELECT a.construct, count(*), sum(a.work_ns), sum(b.work_ns) FROM comparable a JOIN other.comparable b USING (key, construct) "
            "GROUP BY 1")}
        for construct in shown["constructs"]:
            if construct["kind"] == "explicit":
                self.assertEqual([construct["same_tasks"], construct["first_same_work_ns"], construct["second_same_work_ns"]],
                                 same[construct["name"]])
        differences = [abs(c["first_work_ns"] - c["second_work_ns"]) for c in shown["constructs"]]
        self.assertEqual(differences, sorted(differences, reverse=True))
        text = hearth("report", "--text", recording(), path).stdout
        self.assertIn(" ".join(shown["verdict"].split()), " ".join(text.split()))


class Text(unittest.TestCase):
    def test_the_first_screen_has_the_same_numbers(self):
        data = json.loads(hearth("report", "--json", recording()).stdout)
        done = hearth("report", "--text", recording())
        self.assertEqual(done.returncode, 0, done.stderr)
        text = " ".join(done.stdout.split())
        for answer in data["answers"]:
            self.assertIn(answer["figure"], text)
            self.assertIn(" ".join(answer["sentence"].split()), text)
        self.assertEqual(len(data["costs"]), 3)
        for cost in data["costs"]:
            self.assertIn(cost["what"], text)
        for change in data["changes"]:
            self.assertIn(change["how"], text)
        self.assertNotIn("faster", text)

    def test_lines_are_as_long_as_the_terminal(self):
        for columns in ("40", "80"):
            done = hearth("report", "--text", recording(), env={"COLUMNS": columns})
            # The name of a file is not broken.
            lines = [line for line in done.stdout.splitlines() if all(len(word) < 30 for word in line.split())]
            self.assertGreater(len(lines), 10)
            longest = max(lines, key=len)
            self.assertLessEqual(len(longest), int(columns) + 12, longest)  # a question and its figure stay on one line

    def test_names_do_no_harm(self):
        path = SHOP.folder / "hostile.db"
        shutil.copy(recording(), path)
        with sqlite3.connect(path) as file:
            file.execute("UPDATE code SET name = '</script><img onerror=alert(1)>' || char(27) || '[2J'")
            file.execute("UPDATE meta SET value = char(27) || ']0;title' WHERE key = 'command'")
        file.close()
        done = hearth("report", "--text", path)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("\x1b", done.stdout)
        done = hearth("report", "--json", path)
        self.assertNotIn("<", done.stdout)
        self.assertTrue(any("</script>" in c["name"] for c in json.loads(done.stdout)["constructs"]))


class Advice(unittest.TestCase):
    """Allocations that every node's tasks use."""
    def test_gains_are_the_simulators_with_its_band(self):
        source = PROGRAM.replace("static double x[N][LENGTH];", "#include <stdlib.h>\nstatic double (*x)[LENGTH];").replace(
            "int r = 0;", "int r = 0; x = calloc(N, sizeof *x);")
        program = SHOP.compile("heap", source, "-fopenmp", "-g", compiler=shutil.which("clang-19") or "gcc")
        path = SHOP.folder / "heap.db"
        self.assertEqual(hearth("record", "-o", path, "--", program).returncode, 0)
        model = SOURCE / "models/opteron-6172x4.toml"
        data = json.loads(hearth("report", "--json", "--machine", model, path).stdout)
        gains = [re.search(r"Simulated on (\S+): .* takes ([\d.]+) \(([\d.]+) to ([\d.]+)\) of its time", change["gain"])
                 for change in data["changes"]]
        gains = [gain.groups() for gain in gains if gain]
        self.assertEqual(len(gains), 1, data["changes"])
        self.assertIn("heap.c:", data["changes"][0]["where"])
        simulated = json.loads(hearth("sim", path, "--machine", model, "--advise", "--json", "-").stdout)
        plain = next(w for w in simulated["ways"][1:] if w["distribution"] == "standard")
        advised = next(w for w in simulated["ways"] if w["distribution"] == "advised")
        ratio = statistics.median(a["ms"] / b["ms"] for a, b in zip(advised["runs"], plain["runs"]))
        self.assertAlmostEqual(float(gains[0][1]), ratio, delta=0.006)
        self.assertLessEqual(float(gains[0][2]), float(gains[0][1]))
        self.assertLessEqual(float(gains[0][1]), float(gains[0][3]))


class Arguments(unittest.TestCase):
    def test_run_with_a_report_leaves_page_and_recording(self):
        program = SHOP.compile("reported", PROGRAM, "-fopenmp", "-g")
        done = hearth("run", "--threads", "2", "--report", "--", program, cwd=SHOP.folder)
        self.assertEqual((done.returncode, done.stdout), (0, "55\n"), done.stderr)
        self.assertTrue((SHOP.folder / "reported.db").exists())
        self.assertIn("<title>", (SHOP.folder / "reported.html").read_text())
        done = hearth("run", "--report=other.html", "--", program, cwd=SHOP.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue((SHOP.folder / "other.db").exists() and (SHOP.folder / "other.html").exists())

    def test_what_is_no_report_is_not_written_over(self):
        page = SHOP.folder / "mine.html"
        page.write_text("<p>mine")
        self.assertIn("is no report", self.refused("-o", page, recording()))
        self.assertEqual(page.read_text(), "<p>mine")
        for _ in range(2):
            self.assertEqual(hearth("report", "-o", SHOP.folder / "new.html", recording()).returncode, 0)
        self.refused("-o", recording(), recording())
        self.assertEqual(hearth("report", "--json", recording()).returncode, 0)

    def test_a_machine_that_is_none_is_refused(self):
        self.assertIn("--machine", self.refused("--machine", "nowhere", recording()))

    def refused(self, *arguments):
        done = hearth("report", *arguments)
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertEqual(done.stdout, "")
        return done.stderr

    def test_what_is_no_recording_is_named(self):
        self.assertIn("No such file", self.refused("--text", SHOP.folder / "none.db"))
        text = SHOP.folder / "text.db"
        text.write_text("not a recording")
        self.assertIn("is no recording", self.refused("--text", text))
        cut = SHOP.folder / "cut.db"
        cut.write_bytes(recording().read_bytes()[:-5000])
        self.assertIn("was cut", self.refused("--text", cut))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
