#!/usr/bin/env python3
"""Every gap of Algorithm 1 is a switch of `hearth cc`, and its two answers type or place threads differently.

Usage: gaps_test.py BUILD
"""
import pathlib
import re
import unittest

from shop import BUILD, CC, Shop

A, S, P = "autonomous", "side-by-side", "postponed"
HEAD = """#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
"""
ROUTINE = "static void *{}(void *p) {{ {} return 0; }}\n"


def routine(name, body="double x = 1; for (int i = 0; i < 1000; i++) x = x * 1.01 + i; printf(\"%f\\n\", x);"):
    return ROUTINE.format(name, "(void)p; " + body)


def main(body, handles="a, b, c"):
    return f"int main(int argc, char **argv) {{ pthread_t {handles}; {body} return 0; }}\n"


def create(*names, argument="0"):
    handles = "abc"
    return ("".join(f"pthread_create(&{handles[n]}, 0, {name}, {argument}); " for n, name in enumerate(names))
            + "".join(f"pthread_join({handles[n]}, 0); " for n in range(len(names))))


COUNTER = (HEAD + "static long count;\n" + routine("up", "for (int i = 0; i < 1000; i++) __atomic_fetch_add(&count, 1, 5);")
           + routine("down", "for (int i = 0; i < 1000; i++) __atomic_fetch_add(&count, -1, 5);") + main(create("up", "down")))
FORWARD = (HEAD + "static int box[100];\n" + routine("make", "for (int i = 0; i < 100; i++) box[i] = i;")
           + routine("use", "long s = 0; for (int i = 0; i < 100; i++) s += box[i]; printf(\"%ld\\n\", s);") + main(create("make", "use")))
ONCE = HEAD + routine("work") + main("for (int i = 0; i < 1; i++) pthread_create(&a, 0, work, 0); pthread_join(a, 0);")
WRAPPED = (HEAD + routine("work") + "static void spawn(pthread_t *t) { pthread_create(t, 0, work, 0); }\n"
           + main("pthread_t t[4]; for (int i = 0; i < 4; i++) spawn(&t[i]); for (int i = 0; i < 4; i++) pthread_join(t[i], 0);"))
LOOP = (HEAD + routine("work") + main("pthread_t t[4]; for (int i = 0; i < 4; i++) pthread_create(&t[i], 0, work, 0); "
                                      "for (int i = 0; i < 4; i++) pthread_join(t[i], 0);"))
# The second one writes what the first one is given.
BACKWARD = (HEAD + "struct job { volatile int stop; };\n"
            + ROUTINE.format("waits", "struct job *j = p; while (!j->stop); ")
            + ROUTINE.format("stops", "struct job *j = p; j->stop = 1;")
            + main("struct job j = {0}; " + create("waits", "stops", argument="&j")))
NESTED = (HEAD + routine("inner") + routine("outer", "pthread_t t; pthread_create(&t, 0, inner, 0); pthread_join(t, 0);")
          + main(create("outer")))
RESULT = (HEAD + "struct job { int n; long out; };\n"
          + ROUTINE.format("sum", "struct job *j = p; long s = 0; for (int i = 0; i < j->n; i++) s += i; j->out = s;")
          + main("struct job j = {100, 0}; " + create("sum", argument="&j") + "printf(\"%ld\\n\", j.out);"))
# Both get the object, one writes a part of it, the other one looks at another part.
RECEIVED = (HEAD + "struct job { int n; int *buffer; };\n"
            + ROUTINE.format("fills", "struct job *j = p; for (int i = 0; i < j->n; i++) j->buffer[i] = i;")
            + ROUTINE.format("counts", "struct job *j = p; printf(\"%d\\n\", j->n);")
            + main("struct job j = {100, calloc(100, 4)}; " + create("fills", "counts", argument="&j")))
PARENTS = (HEAD + "static int left[100], right[100];\n" + routine("first", "for (int i = 0; i < 100; i++) left[i] = i;")
           + routine("second", "for (int i = 0; i < 100; i++) right[i] = i;")
           + routine("both", "long s = 0; for (int i = 0; i < 100; i++) s += left[i] + right[i]; printf(\"%ld\\n\", s);")
           + main(create("first", "second", "both")))
LONG = "double x = 1; for (int k = 0; k < 99; k++) for (int i = 0; i < 99; i++) x = x * 1.01 + i; printf(\"%f\\n\", x); "
WEAK = (HEAD + "static long total;\n" + routine("one", LONG + "__atomic_fetch_add(&total, 1, 5);")
        + routine("two", LONG + "__atomic_fetch_add(&total, 2, 5);") + main(create("one", "two")))
PATHS = (HEAD + routine("red") + routine("blue") + "static void spawn(pthread_t *t, void *(*f)(void *)) { pthread_create(t, 0, f, 0); }\n"
         + main("spawn(&a, red); spawn(&b, blue); pthread_join(a, 0); pthread_join(b, 0);"))
STRANGER = HEAD + main("void *f = dlsym(0, argv[1]); if (f) { pthread_create(&a, 0, f, 0); pthread_join(a, 0); }")
ALONE = HEAD + routine("first") + routine("second") + main(create("first", "second"))
# `far` and `mid` sit on the first cores of the two nodes while `mid` creates `leaf`, which depends on it alone.
CHAIN = (HEAD + "#include <semaphore.h>\nstatic sem_t end;\n" + routine("far", LONG + "sem_wait(&end);")
         + ROUTINE.format("leaf", "*(volatile long *)p = 3;")
         + routine("mid", LONG + "long out = 0; pthread_t t; pthread_create(&t, 0, leaf, &out); pthread_join(t, 0); printf(\"%ld\\n\", out);")
         + main("sem_init(&end, 0, 0); pthread_create(&a, 0, far, 0); pthread_create(&b, 0, mid, 0); pthread_join(b, 0); "
                "sem_post(&end); pthread_join(a, 0);"))

# gap: (mode, program, what the first answer gives, what the second one gives); by routine its class.
CLASSES = {
    "last-branch": ("paper", COUNTER, {"up": A, "down": A}, {"up": S, "down": S}),
    "globals": ("paper", FORWARD, {"make": A, "use": A}, {"make": S, "use": S}),
    "loop": ("paper", ONCE, {"work": S}, {"work": A}),
    "loop-threads": ("paper", LOOP, {"work": S}, {"work": A}),
    "order": ("literal", BACKWARD, {"waits": S, "stops": A}, {"waits": A, "stops": A}),
    "nested": ("paper", NESTED, {"outer": A, "inner": P}, {"outer": S, "inner": P}),
    "result": ("paper", RESULT, {"sum": S}, {"sum": P}),
    "parameter": ("paper", RECEIVED, {"fills": S, "counts": S}, {"fills": A, "counts": A}),
    "weak-sharing": ("paper", WEAK, {"one": S, "two": S}, {"one": A, "two": A}),
    "thread-per": ("paper", PATHS, {"red": A}, {"red": A, "blue": A}),
    "unknown-routine": ("balanced", STRANGER, {None: A}, {None: "unknown"}),
}
# The same for where threads sit on the paper's machine; ties with autonomous ones on the first core of each node.
SEATS = {
    "seat": ("paper", ALONE, [("first", "CPUs 0"), ("second", "CPUs 12")], [("first", "CPUs 0-1"), ("second", "CPUs 12-13")]),
    "turn": ("paper", ALONE, [("first", "CPUs 0-1"), ("second", "CPUs 2-3")], [("first", "CPUs 0-1"), ("second", "CPUs 12-13")]),
    "ties": ("paper", CHAIN, [("far", "CPUs 0-1"), ("mid", "CPUs 12-13"), ("leaf", "CPUs 2-3")],
             [("far", "CPUs 0-1"), ("mid", "CPUs 12-13"), ("leaf", "CPUs 14-15")]),
}
ANSWERS = {"last-branch": ("overrides", "keeps"), "globals": ("reader", "both"), "loop": ("body", "repeats"),
           "loop-threads": ("side-by-side", "by-data"), "loop-tree": ("outside", "creator"), "order": ("one-by-one", "all-edges"),
           "nested": ("free", "side-by-side"), "result": ("side-by-side", "postponed"), "parameter": ("received", "read"),
           "parent": ("last", "first"), "weak-sharing": ("binds", "free"), "thread-per": ("creation", "path"),
           "unknown-routine": ("typed", "system"), "seat": ("thread", "core"), "turn": ("cores", "nodes"), "ties": ("first", "nearest")}


class TheTwoAnswers(Shop):
    def test_classes(self):
        for gap, (mode, text, *wanted) in CLASSES.items():
            for answer, classes in zip(ANSWERS[gap], wanted):
                with self.subTest(gap=gap, answer=answer):
                    self.assertEqual(self.classes(text, f"--mode={mode}", f"--gap={gap}={answer}", "-ldl"), classes)
                    self.assertEqual(self.explained()["gaps"][gap], answer)
            self.assertNotEqual(*wanted)

    def test_a_wrapper_that_a_loop_calls(self):
        self.assertEqual(self.classes(WRAPPED, "--mode=paper", "--gap=loop=body"), {"work": A})
        self.assertEqual(self.classes(WRAPPED, "--mode=paper", "--gap=loop=repeats"), {"work": S})

    def test_an_empty_retry_loop_is_a_body_and_no_repetition(self):
        text = HEAD + routine("work") + main("while (pthread_create(&a, 0, work, 0)) ; pthread_join(a, 0);")
        self.assertEqual(self.classes(text, "--mode=paper", "--gap=loop=body"), {"work": S})
        self.assertEqual(self.classes(text, "--mode=paper", "--gap=loop=repeats"), {"work": A})

    def test_trees(self):
        for answer, parent in (("outside", None), ("creator", 0)):
            self.assertEqual(self.threads(LOOP, "--mode=literal", f"--gap=loop-tree={answer}")["work"]["parent"], parent)
        for answer, parent in (("last", "second"), ("first", "first")):
            threads = self.threads(PARENTS, "--mode=paper", f"--gap=parent={answer}")
            self.assertEqual(threads["both"]["parent"], threads[parent]["id"])

    def test_one_thread_for_a_call_names_the_others(self):
        threads = self.threads(PATHS, "--mode=paper", "--gap=thread-per=creation")
        self.assertRegex("; ".join(threads["red"]["why"]), r"the same call creates blue\(\)")

    def test_seats(self):
        for gap, (mode, text, *wanted) in SEATS.items():
            for answer, seats in zip(ANSWERS[gap], wanted):
                with self.subTest(gap=gap, answer=answer):
                    self.threads(text, f"--mode={mode}", f"--gap={gap}={answer}")
                    self.assertEqual([(who, where.replace("cores of ", "")) for who, where in self.places()], seats)
            self.assertNotEqual(*wanted)


class Words(Shop):
    def test_every_gap_has_a_test(self):
        self.assertEqual(set(CLASSES) | set(SEATS) | {"loop-tree", "parent"}, set(ANSWERS))

    def test_the_help_and_the_manual_have_every_gap(self):
        text = self.run_it(BUILD / "bin/hearth", "cc", "--help").stdout
        page = pathlib.Path(__file__).parents[2] / "docs/reference/hearth.1"
        manual = page.read_text().replace("\\-", "-")
        for gap, (first, second) in ANSWERS.items():
            modes = r"( \([lpb, ]+\))?"
            self.assertTrue(re.search(rf"  {gap}={first}{modes} \| {second}{modes}\n", text), gap)
            self.assertIn(f".It Cm {gap} Ns = Ns Cm {first} | {second}\n", manual.splitlines(True), gap)
        self.assertEqual(len(re.findall(r"^  [a-z-]+=[a-z-]+", text, re.M)), len(ANSWERS))

    def test_wrong_words_get_one_line(self):
        self.write("x.c", "int main(void) { return 0; }\n")
        for words, wanted in (("luck=good", 'no such gap; legal: last-branch, globals'), ("loop=never", "no such answer; legal: body, repeats"),
                              ("loop", "no such answer")):
            result = self.run_it(CC, f"--gap={words}", "x.c", good=False)
            self.assertEqual(result.returncode, 2)
            self.assertEqual(len(result.stderr.strip().splitlines()), 1, result.stderr)
            self.assertIn(wanted, result.stderr)

    def test_several_answers_at_once_and_the_pass_alone(self):
        self.write("prog.c", LOOP)
        self.run_it(CC, "-c", "--mode=paper", "--gap=loop-threads=by-data,last-branch=overrides", "prog.c", "--explain=out.txt")
        text = (self.folder / "out.txt").read_text()
        self.assertIn("gaps: last-branch=overrides,loop-threads=by-data\n", text)
        self.assertIn("work: autonomous", text)
        plain = self.run_it("clang-19", f"-fpass-plugin={BUILD}/lib/hearth/hearth-btlp.so", "-c", "prog.c", "-o", "prog.o",
                            env={"HEARTH_BTLP_MODE": "literal", "HEARTH_BTLP_GAPS": "loop-threads=by-data", "HEARTH_BTLP_EXPLAIN_FILE": "-"})
        self.assertIn('"class": "autonomous"', plain.stdout)
        wrong = self.run_it("clang-19", f"-fpass-plugin={BUILD}/lib/hearth/hearth-btlp.so", "-c", "prog.c", "-o", "prog.o",
                            env={"HEARTH_BTLP_GAPS": "loop=sometimes"})
        self.assertIn("hearth: HEARTH_BTLP_GAPS: \"loop=sometimes\": no such answer", wrong.stderr)


if __name__ == "__main__":
    unittest.main()
