#!/usr/bin/env python3
"""The checks of tools/ fail on what they are there to catch."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOLS = pathlib.Path(sys.argv[1])
COMPILER = sys.argv[2]


def run(*command):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True)


class Rooms(unittest.TestCase):
    def check(self, files):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                path = pathlib.Path(folder) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            return run(TOOLS / "check-rooms", folder)

    def test_an_arrow_down_passes(self):
        self.assertEqual(self.check({"runtime/task/a.cpp": '#include "base/log.h"\n'}).returncode, 0)

    def test_an_arrow_up_fails_and_names_file_and_line(self):
        result = self.check({"base/a.cpp": '\n#include "runtime/state/team.h"\n'})
        self.assertEqual(result.returncode, 1)
        self.assertIn("base/a.cpp:2", result.stdout)

    def test_the_simulator_must_not_see_the_runtime(self):
        self.assertEqual(self.check({"sim/a.cpp": '#include "runtime/state/team.h"\n'}).returncode, 1)

    def test_policy_must_not_read_clocks(self):
        self.assertEqual(self.check({"policy/a.cpp": "#include <chrono>\n"}).returncode, 1)

    def test_the_library_must_not_use_streams(self):
        self.assertEqual(self.check({"memory/a.cpp": "#include <iostream>\n"}).returncode, 1)
        self.assertEqual(self.check({"cli/a.cpp": "#include <iostream>\n"}).returncode, 0)

    def test_an_arrow_up_inside_the_runtime_fails(self):
        result = self.check({"runtime/sync/a.cpp": '#include "runtime/team/fork.h"\n'})
        self.assertEqual(result.returncode, 1)
        self.assertIn("runtime/sync/a.cpp:1", result.stdout)
        self.assertEqual(self.check({"runtime/team/a.cpp": '#include "runtime/sync/lock.h"\n'}).returncode, 0)

    def test_a_file_between_the_runtimes_rooms_fails(self):
        self.assertEqual(self.check({"runtime/a.cpp": '#include "base/log.h"\n'}).returncode, 1)

    def circle(self, units):
        return {f"base/u{i}.h": f'#include "base/u{(i + 1) % units}.h"\n' for i in range(units)}

    def test_a_circle_of_six_units_fails_and_one_of_five_passes(self):
        self.assertEqual(self.check(self.circle(5)).returncode, 0)
        result = self.check(self.circle(6))
        self.assertEqual(result.returncode, 1)
        self.assertIn("6 units", result.stdout)

    def test_an_unknown_room_fails(self):
        self.assertEqual(self.check({"attic/a.cpp": "\n"}).returncode, 1)

    def test_an_empty_tree_is_no_success(self):
        self.assertEqual(self.check({}).returncode, 1)


class Orders(unittest.TestCase):
    LOAD = "word.load(std::memory_order_acquire);\n"

    def check(self, text):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "a.cpp").write_text(text)
            return run(TOOLS / "check-orders", folder)

    def test_an_order_whose_partner_is_named_passes(self):
        self.assertEqual(self.check("// Pairs with the store in put().\n" + self.LOAD).returncode, 0)

    def test_an_order_without_a_partner_fails_and_names_file_and_line(self):
        result = self.check("// Fast.\n" + self.LOAD)
        self.assertEqual(result.returncode, 1)
        self.assertIn("a.cpp:2: acquire", result.stdout)

    def test_a_comment_far_above_is_too_far(self):
        self.assertEqual(self.check("int x;\n// Pairs with put().\n" + "x = 1;\n" * 20 + self.LOAD).returncode, 1)

    def test_the_files_head_may_speak_for_all(self):
        text = "// A queue.\n//\n// Orders: load() and put().\n#include <atomic>\n" + "int x;\n" * 20 + self.LOAD
        self.assertEqual(self.check(text).returncode, 0)

    def test_relaxed_and_comments_are_no_sites(self):
        text = "// memory_order_acquire\n" * 2 + "int x;\n" * 20 + "word.load(std::memory_order_relaxed);\n"
        self.assertEqual(self.check(text + "// Pairs with it.\n" + self.LOAD).returncode, 0)

    def test_an_empty_tree_is_no_success(self):
        self.assertEqual(self.check("").returncode, 1)


class Docs(unittest.TestCase):
    def check(self, **pages):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "docs").mkdir()
            for name, text in {"README": "[docs](docs/a.md)\n", **pages}.items():
                (pathlib.Path(folder) / ("docs" if name != "README" else "") / f"{name}.md").write_text(text)
            return run(TOOLS / "check-docs", folder)

    def test_pages_that_hold_together_pass(self):
        self.assertEqual(self.check(a="# A b\n[here](#a-b), [up](../README.md)\n").returncode, 0)

    def test_a_dead_link_fails_and_names_page_and_line(self):
        result = self.check(a="# A\n[b](b.md)\n")
        self.assertEqual(result.returncode, 1)
        self.assertIn("docs/a.md:2", result.stdout)

    def test_a_link_to_a_heading_that_is_not_there_fails(self):
        self.assertEqual(self.check(a="# A\n[b](#b)\n").returncode, 1)

    def test_a_named_file_that_is_not_there_fails(self):
        self.assertEqual(self.check(a="# A\nsee `docs/*.md`\n").returncode, 0)
        self.assertIn("docs/gone.h", self.check(a="# A\nsee `docs/gone.h`\n").stdout)

    def test_a_function_that_is_not_in_the_file_that_a_table_names_fails(self):
        def walk(file, function):
            return f"# A\n| step | file | function |\n|---|---|---|\n| 1 | {file} | {function} |\n"
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "src" / "task").mkdir(parents=True)
            (root / "src" / "task" / "run.cpp").write_text("void run_task() {}\n")

            def said(file, function):
                (root / "README.md").write_text(walk(file, function))
                return run(TOOLS / "check-docs", root).stdout
            self.assertIn("1 pages", said("`task/run.cpp`", "`rt::run_task`"))
            self.assertIn("README.md:4: run: does not occur", said("`task/run.cpp`", "`run_task`, `run`"))
            self.assertIn("README.md:4: task/go.cpp: there is no", said("`task/run.cpp`, `task/go.cpp`", "`run_task`"))

    def test_a_page_that_nothing_leads_to_fails(self):
        self.assertIn("docs/b.md", self.check(a="# A\n", b="# B\n").stdout)

    def test_a_long_line_fails_outside_of_tables_and_code(self):
        self.assertEqual(self.check(a="x " * 70 + "\n").returncode, 1)
        self.assertEqual(self.check(a="| " + "x " * 70 + "|\n```\n" + "x " * 70 + "\n```\n").returncode, 0)


class Sizes(unittest.TestCase):
    def check(self, text, name="runtime/a.cpp"):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            return run(TOOLS / "check-sizes", folder)

    @staticmethod
    def block(head, lines):
        """A block of so many lines, head and closing brace included."""
        return head + " {\n" + "  step();\n" * (lines - 2) + "}\n"

    def test_500_lines_pass_and_501_fail_with_name_and_count(self):
        self.assertEqual(self.check("int x;\n" * 500).returncode, 0)
        result = self.check("int x;\n" * 501)
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stdout, r"runtime/a\.cpp: 501 lines")

    def test_a_function_of_80_lines_passes_and_one_of_81_fails_with_name_and_count(self):
        self.assertEqual(self.check(self.block("void small(int a)", 80)).returncode, 0)
        result = self.check(self.block("void large(int a)", 81))
        self.assertEqual(result.returncode, 1)
        self.assertIn("a.cpp:1: large() has 81 lines", result.stdout)

    def test_members_templates_and_constructors_are_functions(self):
        for head, name in (("int Machine::find(int a) const noexcept", "Machine::find"),
                           ("template <typename T, int (*f)(T)>\nint walk(T a)", "walk"),
                           ("Machine::Machine(int a) : a_{a}, b_(a)", "Machine::Machine"),
                           ("bool operator==(const A& a, const A& b)", "operator=="),
                           ("void on(std::string_view text = {})", "on"),
                           ('extern "C" [[gnu::visibility("default")]] void exported(void)', "exported")):
            for text in (self.block(head, 90), self.block("struct Outer", 3).replace("  step();", self.block(head, 90))):
                result = self.check(text)
                self.assertEqual(result.returncode, 1, text[:80])
                self.assertIn(name + "()", result.stdout)

    def test_types_namespaces_and_tables_are_no_functions(self):
        for head in ("namespace hearth::rt", "class alignas(64) Machine : public Base", "enum class Kind : int",
                     'extern "C"', "constexpr Row kTable[] ="):
            self.assertEqual(self.check(self.block(head, 200)).returncode, 0, head)

    def test_braces_in_strings_comments_and_characters_do_not_count(self):
        body = """  a("{{", '{');  // {{{\n  /* { */ b(R"x({{{)x");\n"""
        text = ("void f(int a) {\n" + body + "}\n") * 60
        self.assertEqual(self.check(text).returncode, 0, self.check(text).stdout)

    def test_an_empty_tree_is_no_success(self):
        self.assertEqual(self.check("", "a.txt").returncode, 1)


class Library(unittest.TestCase):
    def check(self, source, *options):
        with tempfile.TemporaryDirectory() as folder:
            c = pathlib.Path(folder) / "l.c"
            c.write_text(source)
            library = pathlib.Path(folder) / "l.so"
            built = run(COMPILER, "-shared", "-fPIC", "-o", library, c, *options)
            self.assertEqual(built.returncode, 0, built.stderr)
            return run(TOOLS / "check-library", library)

    def test_a_plain_library_passes(self):
        self.assertEqual(self.check("int x(void) { return 0; }", "-Wl,-z,nodelete").returncode, 0)

    def test_another_library_fails(self):
        result = self.check("double sin(double); double x(double y) { return sin(y); }", "-Wl,-z,nodelete", "-lm")
        self.assertEqual(result.returncode, 1)
        self.assertIn("libm.so.6", result.stdout)

    def test_much_static_tls_fails(self):
        result = self.check("__thread char big[65]; char* x(void) { return big; }", "-Wl,-z,nodelete")
        self.assertEqual(result.returncode, 1)
        self.assertIn("TLS", result.stdout)

    def test_little_static_tls_passes(self):
        self.assertEqual(self.check("__thread char s[64]; char* x(void) { return s; }", "-Wl,-z,nodelete").returncode, 0)

    def test_a_symbol_above_the_floor_fails(self):
        result = self.check('#include <pthread.h>\nint x(void) { return pthread_join(pthread_self(), 0); }',
                            "-Wl,-z,nodelete")
        self.assertEqual(result.returncode, 1, "pthread_join has a newer version since glibc 2.34")
        self.assertIn("pthread_join", result.stdout)

    def test_the_compatibility_header_brings_it_below_the_floor(self):
        header = TOOLS.parent / "src/base/glibc_compat.h"
        result = self.check('#include <pthread.h>\nint x(void) { return pthread_join(pthread_self(), 0); }',
                            "-Wl,-z,nodelete", "-include", header)
        self.assertEqual(result.returncode, 0, result.stdout)

    def test_a_library_that_can_be_unmapped_fails(self):
        self.assertEqual(self.check("int x(void) { return 0; }").returncode, 1)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
