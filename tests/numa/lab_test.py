#!/usr/bin/env python3
"""What the laboratory computes without a machine: QEMU's arguments, the programs' directives, judgements, and pictures."""
import dataclasses
import pathlib
import sys
import tempfile
import unittest
import unittest.mock
import xml.etree.ElementTree

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from lab import agree, checks, clock, demo, first_touch, forest, las, machine, main, matrix, measure, parts, timed  # noqa: E402  (the path has to be set first)
from lab.topologies import TOPOLOGIES  # noqa: E402


def result(status=0, out="", regions=()):
    return machine.Result(machine.Job("job", ["true"]), status, out, "", list(regions), 0.0)


class Topologies(unittest.TestCase):
    def test_every_machine_is_one_that_qemu_and_the_kernel_take(self):
        for topology in TOPOLOGIES.values():
            self.assertEqual(len(topology.distances), topology.nodes)
            self.assertLess(sum(topology.mib_per_node), 2816, "clear of the PCI hole of QEMU's q35")
            self.assertEqual(topology.cpu_count % (topology.sockets * topology.dies), 0)
            for row in range(topology.nodes):
                self.assertEqual(topology.mib_per_node[row] % 128, 0)
                self.assertEqual(topology.distances[row][row], 10)
                for column in range(topology.nodes):
                    self.assertEqual(topology.distances[row][column], topology.distances[column][row])

    def test_a_node_without_memory_has_no_backend_and_one_without_cpus_no_cpus(self):
        arguments = " ".join(TOPOLOGIES["holes"].qemu_arguments())
        self.assertIn("-numa node,nodeid=1,cpus=2-3 ", arguments)
        self.assertIn("-numa node,nodeid=3,memdev=memory3 ", arguments)
        self.assertNotIn("id=memory1", arguments)
        self.assertEqual(TOPOLOGIES["holes"].plugin_arguments(), ["cpus=0.0.1.1.2.2", "homes=0.2.3", "mib=512"])


class Clock(unittest.TestCase):
    def test_memory_is_reached_over_the_model_s_links(self):
        model = clock.Model()
        ends = {pair: [model.links[link][:2] for link in route] for pair, route in model.routes.items()}
        self.assertEqual(ends[0, 1], [(0, 1)])
        self.assertEqual(ends[3, 0], [(3, 1), (1, 0)], "two hops, by the links that come first")
        self.assertEqual(len(ends), 12)

    def test_the_plugin_is_told_every_pair_and_resource(self):
        words = clock.Model().words(TOPOLOGIES["4x4"], clock.Pace(dilation=7), (0xffffffff81234567, 0xffffffff81abcdef))
        lines = words.splitlines()
        for line in ("dilation 7", "read 0 3 117", "write 3 3 142", "node_gbs 2 3.04", "coherence_gbs 14.54", "route 0 1 0",
                     "cpus 0 0 0 0 1 1 1 1 2 2 2 2 3 3 3 3", f"migrate {0x81234567} {0x81abcdef} 120 11"):
            self.assertIn(line, lines)
        self.assertEqual(sum(line.startswith(("read ", "write ")) for line in lines), 32)

    def test_the_table_has_medians_the_best_rival_and_the_prediction(self):
        def one(way, *values):
            return [{"row": "Nested-STREAM", "compiler": "gcc", "way": way, "late": 0.01, "figures": {"triad": value}} for value in values]
        results = one("stock", 4000, 5000, 6000) + one("stock, best settings", 8000) + one("hearth", 8800)
        line = next(line for line in timed.table(results, {("Nested-STREAM", "triad"): 8000}).splitlines() if "triad" in line)
        self.assertEqual(line, "| Nested-STREAM | triad | gcc | 5000 (4000–6000) | 8000 | 8800 | 1.10 × | 8000 | +10 % | 1 % |")
        self.assertIn("medians of 1 or 3 processes", timed.page([], results, {}, {}))
        counted = timed.counted_table(results, {("Nested-STREAM", "triad", "gcc", "hearth"): 8800})
        self.assertIn("| Nested-STREAM | triad | gcc | hearth | 8800 | 8800 | +0 % |", counted)

    def test_a_guest_whose_clock_is_wrong_is_put_right_by_the_host_s(self):
        said = "".join(f'{{"node":0,"home":{home},"read_ns":{300 * (home + 1)},"write_ns":1}}\n' for home in range(3))
        regions = [{"host_ns": 150 * (1 + region // 2) * timed.LINES} for region in range(6)]
        self.assertEqual(timed.clock_rate(result(out=said, regions=regions)), 2)

    def test_predictions_ask_for_what_each_row_says(self):
        asked = []

        def simulate(_hearth, phases):
            asked.extend(phases)
            return [1e6] * len(phases)
        with unittest.mock.patch.object(timed, "simulate", simulate):
            found = timed.predictions(None)
        self.assertEqual(set(found), {(row.name, figure) for row in timed.ROWS for figure in row.figures if row.program != "zones"})
        mixed = next(phase for phase in asked if "moves" in phase)
        self.assertEqual(len(mixed["moves"]), 16)
        # 1 ms for the move and for each pass.
        passes = timed.PASSES
        self.assertAlmostEqual(found["Twisted, 2 of 3 remote: mixed", "with hints"], 1e3 * 3 * passes * 16 * timed.SIZE / (1e6 * (1 + passes)))


class Directives(unittest.TestCase):
    def cases(self, text, name="program.c"):
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder) / name
            source.write_text(text)
            return checks.directives(source)

    def test_a_line_is_a_case(self):
        found = self.cases("// numa-test\n// numa-test name=b topologies=4x4 cpus=1-2 nodes=0 OMP_NUM_THREADS=3\n")
        self.assertEqual(found, [{"environment": {}},
                                 {"name": "b", "topologies": "4x4", "cpus": "1-2", "nodes": "0",
                                  "environment": {"OMP_NUM_THREADS": "3"}}])
        self.assertEqual(self.cases("// numa-testing\nint main;\n"), [])
        self.assertEqual(self.cases("! numa-test args=1\n", "program.f90"), [{"args": "1", "environment": {}}])

    def test_what_is_not_known_is_refused(self):
        for words in ("topology=8x1", "topologies=9x9", "cpus=1", "fast", "compilers=tcc"):
            with self.assertRaises(checks.BadDirective):
                self.cases(f"// numa-test {words}\n")

    def test_every_program_says_what_it_wants(self):
        for source in checks.sources():
            self.assertEqual(bool(checks.directives(source)), source.stem not in ("refuse", "calibration"), source.name)


class Judgements(unittest.TestCase):
    def test_a_status_is_a_failure(self):
        self.assertIsNone(checks._passed(result()))
        self.assertIn("3", checks._passed(result(3)))
        self.assertIn("no end", checks._passed(result(124)))

    def test_the_calibration_wants_each_page_at_its_home(self):
        topology = TOPOLOGIES["holes"]
        judge = checks._judge_calibration(topology, 1)
        right = [[0] * 4, [64, 0, 128, 192], [0] * 4, [0] * 4]
        self.assertIsNone(judge(result(regions=[{"memory": right}])))
        self.assertIn("0 misses, expected 64", judge(result(regions=[{"memory": [right[1], right[0], *right[2:]]}])) + "|"
                      + judge(result(regions=[{"memory": [[0] * 4] * 4}])))
        swapped = [[0] * 4, [64, 128, 0, 192], [0] * 4, [0] * 4]
        self.assertIn("memory of node 1: 128", judge(result(regions=[{"memory": swapped}])))
        self.assertIn("0 regions", judge(result()))

    def test_a_topology_seen_wrongly_is_named(self):
        topology = TOPOLOGIES["holes"]
        seen = {"source": "sysfs", "detected": {"cpus": "0-5"}, "allowed": {"cpus": "0-5", "memory_nodes": "0,2-3"},
                "default_team_size": 6, "packages": [{}] * 3, "locations": [{"node": node} for node in range(4)],
                "distances": {"locations": [list(row) for row in topology.distances]},
                "nodes": [{"number": node, "cpus": cpus, "has_memory": node != 1, "memory_bytes": (node != 1) * 500 << 20}
                          for node, cpus in enumerate(("0-1", "2-3", "4-5", ""))]}
        self.assertIsNone(checks.wrong_topology(seen, topology))
        self.assertIn("allowed CPUs", checks.wrong_topology(seen, topology, cpus=[1, 5]))
        seen["nodes"][1]["has_memory"] = True
        self.assertEqual(checks.wrong_topology(seen, topology), "node 1 has memory: True, expected False")
        seen["distances"]["locations"][0][1] = 21
        self.assertIn("distances", checks.wrong_topology(seen, topology))


class Measured(unittest.TestCase):
    case = measure.Case("gcc", "depend", "shuffled", "mmap")

    def take(self, served, regions, status=0):
        hearth = main.Hearth(pathlib.Path("/nowhere"), pathlib.Path("/nowhere"))
        out = f"runtime {served}\nrepeat 0 balance 1.250 seconds 0.1\nrepeat 1 balance 1.500 seconds 0.1\n"
        return measure.measured(self.case, "libgomp", hearth, 2, result(status, out, regions))

    def test_figures_count_only_from_the_library_that_was_chosen(self):
        libgomp = measure.SYSTEM / "libgomp.so.1"
        regions = [{"memory": [[3, 1], [0, 4]], "complete": True}, {"memory": [[1, 1], [1, 1]], "complete": True}]
        good = self.take(libgomp, regions)
        self.assertEqual((good.share, good.balance), (0.6875, 1.375))
        for served, counted, status in (("/elsewhere/libgomp.so.1", regions, 0), (libgomp, regions[:1], 0),
                                        (libgomp, regions, 1), (libgomp, [regions[0], {**regions[1], "complete": False}], 0)):
            with self.assertRaises(machine.MachineFailed):
                self.take(served, counted, status)

    def test_a_row_with_the_best_assignment_compares_region_by_region(self):
        matrices = [matrix.Matrix("hearth", counts) for counts in ([[40, 20], [0, 40]], [[45, 10], [0, 45]])]
        one = measure.Measured(self.case, "hearth", matrices, [1.0, 1.2], [0.8, 1.0])
        row = measure.table([one], with_best=True).splitlines()[-1]
        self.assertTrue(row.endswith("| 85.0 % (80.0–90.0) | 1.10 × | 90.0 % | 0.95 × |"), row)


class TaskBenchmarks(unittest.TestCase):
    case = first_touch.Case("gcc", "sort")
    hearth = main.Hearth(measure.SYSTEM, pathlib.Path("/nowhere/hearth"))

    def take(self, way, served, regions, status=0):
        return first_touch.measured(self.case, way, self.hearth, 2, result(status, f'{{"runtime_file": "{served}"}}', regions),
                                    TOPOLOGIES["8x1"].distances)

    def test_figures_count_only_from_the_library_that_was_chosen(self):
        libgomp = measure.SYSTEM / "libgomp.so.1"
        rows = [[10, 0, 0, 0, 0, 0, 0, 0], [10, 0, 0, 0, 0, 0, 0, 0], *([0] * 8 for _ in range(6))]
        regions = [{"memory": rows, "complete": True}] * 2
        good = self.take("stock", libgomp, regions)
        self.assertEqual((good.share, good.busiest), (0.5, 1.0))
        self.assertEqual(good.remote, 10 * TOPOLOGIES["8x1"].distances[1][0] / 10)
        self.assertIn("| gcc sort | 0.0 | 100.0 % |", first_touch.table([dataclasses.replace(good, distances=[[0] * 8] * 8)]))
        for served, counted, status in (("/elsewhere/libgomp.so.1", regions, 0), (libgomp, regions[:1], 0), (libgomp, regions, 1)):
            with self.assertRaises(machine.MachineFailed):
                self.take("stock", served, counted, status)

    def test_distributions_come_by_way_of_the_command(self):
        with unittest.mock.patch.object(measure, "runtime_folder", return_value=measure.SYSTEM), \
                unittest.mock.patch.object(first_touch.parts, "program", return_value=pathlib.Path("/program")):
            job = first_touch.job(self.case, "fine", self.hearth, 2)
            self.assertEqual(job.command[:5], [self.hearth.command, "run", "--distribute=fine,min=4K", "--", pathlib.Path("/program")])
            self.assertNotIn("LD_LIBRARY_PATH", job.environment)
            self.assertEqual(first_touch.job(self.case, "first touch", self.hearth, 2).environment["LD_LIBRARY_PATH"], measure.SYSTEM)


class Agreement(unittest.TestCase):
    def test_every_benchmark_and_distribution_was_counted_under_both_policies(self):
        data = agree.measured()
        counted = {(case["case"], case["way"]) for case in data["cases"]}
        self.assertEqual(counted, {(f"{program}, {distribution}", way) for program, distributions in las.PROGRAMS.items()
                                   for distribution in distributions for way in agree.POLICIES})
        self.assertEqual(set(data["region_ms"]), set(las.PROGRAMS))
        for case in data["cases"]:
            self.assertGreaterEqual(len(case["matrices"]), 5)

    def test_a_row_more_than_three_points_off_is_bold_and_its_band_may_still_meet_what_was_counted(self):
        near = agree.Row("map", "fine", "locality", [10, 12.5, 20], 1000, 9, 15.5, 16, 1100)
        far = agree.Row("map", "fine", "stealing", [10, 12.5, 13], 1000, 14.5, 15.6, 16, 900)
        self.assertTrue(near.agrees)
        self.assertFalse(far.agrees)
        self.assertEqual(near.apart, 0)
        self.assertAlmostEqual(far.apart, 1.5)
        lines = agree.table([near, far]).splitlines()
        self.assertEqual(lines[2], "| map, fine | locality | 12.5 % (10.0–20.0) | 15.5 % (9.0–16.0) | +3.0 | 1.10 × |")
        self.assertEqual(lines[3], "| map, fine | work-stealing | 12.5 % (10.0–13.0) | 15.6 % (14.5–16.0) | **+3.1** | 0.90 × |")


class SixBenchmarks(unittest.TestCase):
    def test_stock_runtimes_run_where_they_can_have_such_memory(self):
        self.assertIn("stock", las.ways(las.Case("gcc", "map", "fine")))
        self.assertNotIn("stock", las.ways(las.Case("gcc", "map", "coarse")))

    def test_a_row_compares_counted_misses_and_assignments_with_the_best(self):
        case = las.Case("clang", "map", "coarse")
        counted = {"best": [[50, 10], [0, 40]], "default": [[50, 15], [0, 35]]}
        results = [las.Measured(case, way, [matrix.Matrix(way, counts)], [1.25], [100.0], [[10, 20], [20, 10]], [0.5])
                   for way, counts in counted.items()]
        row = las.table(results).splitlines()[-1]
        self.assertIn("**clang map, coarse**", row)
        self.assertIn("| 1.50 × | 1.00 × | 85.0 % | 1.25 × |", row)


class Matrices(unittest.TestCase):
    half = matrix.Matrix("a < b", [[30, 20], [30, 20]])

    def test_shares_and_costs(self):
        self.assertEqual(self.half.local_share, 0.5)
        self.assertEqual(self.half.remote_cost([[10, 20], [30, 10]]), 20 * 2 + 30 * 3)
        self.assertIn("50.0 % of 100 misses are local", matrix.as_text(self.half))

    def test_the_picture_has_a_cell_for_each_pair_and_the_share_below(self):
        picture = matrix.as_svg([[self.half, matrix.Matrix("local", [[50, 0], [0, 50]])]], "two & two")
        root = xml.etree.ElementTree.fromstring(picture)
        cells = [node for node in root.iter("{http://www.w3.org/2000/svg}rect") if len(node)]
        self.assertEqual(len(cells), 8)
        self.assertEqual(cells[4].get("fill-opacity"), "1.000", "the heaviest cell of all is the deepest")
        texts = [node.text for node in root.iter("{http://www.w3.org/2000/svg}text")]
        self.assertLess(texts.index("50.0 % local"), texts.index("100.0 % local"))


    def test_side_by_side_every_cell_stands_below_its_node_and_the_shares_below_the_runtimes(self):
        stock, hearth = (matrix.Matrix(f"a case: {name}", counts) for name, counts in
                         (("libgomp", [[30, 20], [30, 20]]), ("Hearth", [[50, 0], [0, 50]])))
        lines = matrix.side_by_side([stock, hearth]).splitlines()
        self.assertEqual([line.split() for line in lines[1:]],
                         [["libgomp", "Hearth"], ["memory", "of", "node", "0", "1", "0", "1"],
                          ["core", "of", "node", "0", "30", "20", "50", "."], ["1", "30", "20", ".", "50"],
                          ["50.0", "%", "local", "100.0", "%", "local"]])
        self.assertEqual(lines[3].index("30") + 1, lines[2].index("0"))
        coloured = matrix.side_by_side([stock, hearth], colour=True)
        self.assertNotIn("\033", "".join(lines))
        self.assertEqual(coloured.count("\033[48;5;19;38;5;231m 50 "), 2, "the heaviest cells are the deepest")


class Here(unittest.TestCase):
    def test_pages_are_counted_by_repeat(self):
        text = "runtime x\nrepeat 0 balance 1 seconds 1\npages 0 1 7\npages 1 1 3\nrepeat 1 balance 1 seconds 1\npages 0 0 5\n"
        self.assertEqual(demo.pages(text, 2), [[[0, 7], [0, 3]], [[5, 0], [0, 0]]])

    def test_a_case_is_a_row_with_the_typical_matrix_of_each_runtime(self):
        case = measure.Case("gcc", "depend", "shuffled", "mmap")
        counts = [[[1, 9], [9, 1]], [[2, 8], [8, 2]], [[9, 1], [1, 9]]]
        results = [measure.Measured(case, runtime, [matrix.Matrix(runtime, each) for each in counts], [1.0])
                   for runtime in ("libgomp", "hearth")]
        (row,) = demo.rows(results, "pages")
        self.assertEqual([each.runtime for each in row], ["libgomp", "Hearth"])
        self.assertEqual([each.local_share for each in row], [0.2, 0.2])


class Forest(unittest.TestCase):
    ROWS = {row.name: row for row in forest.ROWS}

    def measured(self, name, memory, binds=0, pages=0, way="hearth", **said):
        told = {"teams": 4, "threads": 4, "bytes": 1 << 20, "counts": [{"binds": binds, "pages": pages}], **said}
        return forest.Measured(self.ROWS[name], "gcc", way, TOPOLOGIES["4x4"], [matrix.Matrix(way, memory)] * 3, [told] * 3)

    @staticmethod
    def misses(local, all_of_them=1000):
        """Of each of four nodes."""
        return [[local if core == home else (all_of_them - local) // 3 for home in range(4)] for core in range(4)]

    def test_a_limit_is_asked_for_only_where_the_library_has_what_it_is_about(self):
        bad = self.measured("Nested-STREAM", self.misses(250))
        self.assertIsNone(forest.verdict(bad, set()))
        self.assertIn("at least 98.0 %", forest.verdict(bad, {"bubbles"}))
        self.assertEqual(forest.verdict(self.measured("Nested-STREAM", self.misses(997)), {"bubbles"}), "")
        rival = self.measured("Nested-STREAM", self.misses(250), way="stock")
        self.assertIsNone(forest.verdict(rival, {"bubbles"}))

    def test_pages_and_binds_are_limits_too(self):
        name = "Twisted, 3 of 3 remote: threads move"
        self.assertEqual(forest.verdict(self.measured(name, self.misses(1000), binds=16), {"hints"}), "")
        self.assertIn("17 binds", forest.verdict(self.measured(name, self.misses(1000), binds=17), {"hints"}))
        self.assertIn("1 pages", forest.verdict(self.measured(name, self.misses(1000), pages=1), {"hints"}))
        name = "Twisted, 2 of 3 remote: announced touch"
        self.assertEqual(forest.verdict(self.measured(name, self.misses(1000), pages=8200), {"hints"}), "")
        self.assertIn("expected 8192", forest.verdict(self.measured(name, self.misses(1000), pages=8300), {"hints"}))

    def test_the_heaviest_node_is_judged_by_the_best_balance(self):
        name = "Zones, 16 of sizes 1 : 20"
        even, uneven = self.misses(1000), self.misses(1000)
        uneven[0] = [2000, 0, 0, 0]
        self.assertEqual(forest.verdict(self.measured(name, even, lpt=1.0), {"bubbles"}), "")
        self.assertIn("1.60 x", forest.verdict(self.measured(name, uneven, lpt=1.0), {"bubbles"}))

    def test_what_was_written_is_read_again_and_newer_figures_win(self):
        old = [self.measured("STREAM", self.misses(400), way=way) for way in ("stock", "hearth")]
        new = [self.measured("STREAM", self.misses(1000))]
        merged = forest.merged(forest.from_json(forest.as_json(old)), new)
        self.assertEqual([(one.way, one.share) for one in merged], [("stock", 0.4), ("hearth", 1.0)])
        self.assertIn("| STREAM | gcc | 40.0 % | – | 100.0 % | 0 | 0 | 1.00 × | ≥ 99.5 % | holds |",
                      forest.table(merged, {"bubbles"}))


class Parts(unittest.TestCase):
    def test_a_missing_kernel_or_qemu_is_an_error_that_says_what_to_do(self):
        with unittest.mock.patch.object(parts, "wanted_kernel", "/nowhere"):
            with self.assertRaisesRegex(parts.MissingPart, "/nowhere: there is no vmlinuz.*legal: release, newest"):
                parts.kernel()
        with unittest.mock.patch.dict("os.environ", {"PATH": "/nowhere"}):
            with self.assertRaisesRegex(parts.MissingPart, "tools/setup numa"):
                parts.qemu()

    def test_the_archive_is_what_the_kernel_unpacks(self):
        archive = parts._archive([("bin", 0o040755, b""), ("bin/x", 0o100755, b"12345")])
        self.assertEqual(len(archive) % 4, 0)
        self.assertTrue(archive.startswith(b"070701"))
        self.assertEqual(int(archive[6 + 8:6 + 16], 16), 0o040755)
        self.assertIn(b"bin/x\0", archive)
        self.assertIn(b"TRAILER!!!\0", archive)


if __name__ == "__main__":
    unittest.main()
