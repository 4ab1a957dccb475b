#!/usr/bin/env python3
"""`hearth cc --insert=after`: the paper's pthread_setaffinity_np() behind the creation, only where the thread can be joined.

Usage: insertion_test.py BUILD
"""
import os
import re
import unittest

from shop import CC, Shop

HEAD = """#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <threads.h>
#include <unistd.h>
static int cpus(void) { cpu_set_t s; sched_getaffinity(0, sizeof s, &s); return CPU_COUNT(&s); }
"""
# The thread asks for its CPUs once its creator is behind the creation.
WAITS = "static int go; static void *work(void *p) { while (!__atomic_load_n(&go, 5)) sched_yield(); printf(\"%d\\n\", cpus()); return 0; }\n"
AT_ONCE = "static void *work(void *p) { return p; }\n"
LOOP_OF_BOTH = ("int main(void) { pthread_t t; int all = cpus(); for (int i = 0; i < 3000; i++) { pthread_create(&t, 0, work, 0); "
                "if (cpus() != all) { printf(\"moved\\n\"); return 1; } pthread_join(t, 0); } puts(\"good\"); return 0; }\n")


class After(Shop):
    def reason(self, text, *flags):
        """Where the only thread gets its CPUs, and why."""
        (thread,) = self.threads(HEAD + text, "--mode=paper", "--insert=after", *flags).values()
        return thread["insertion"], "; ".join(thread["why"])

    def test_a_thread_that_can_be_joined_is_bound_by_its_creator(self):
        text = WAITS + "int main(void) { pthread_t t; pthread_create(&t, 0, work, 0); __atomic_store_n(&go, 1, 5); pthread_join(t, 0); return 0; }\n"
        self.assertEqual(self.reason(text)[0], "after")
        self.assertIn("gets its CPUs behind its creation", self.explained()["threads"][0]["why"])
        self.assertEqual(self.run_it("./prog").stdout, "1\n")
        self.assertEqual(self.run_it("./prog", env={"HEARTH_BTLP": "off"}).stdout, f"{len(os.sched_getaffinity(0))}\n")

    def test_c11_threads_keep_their_results(self):
        text = ("static int go; static int work(void *p) { while (!__atomic_load_n(&go, 5)) sched_yield(); printf(\"%d\\n\", cpus()); return 7; }\n"
                "int main(void) { thrd_t t; int r; thrd_create(&t, work, 0); __atomic_store_n(&go, 1, 5); thrd_join(t, &r); return r; }\n")
        self.assertEqual(self.reason(text)[0], "after")
        result = self.run_it("./prog", good=False)
        self.assertEqual((result.stdout, result.returncode), ("1\n", 7))

    def test_a_thread_that_is_gone_does_not_cost_its_creator_its_cpus(self):
        """Its number is 0 then, which the kernel takes for the caller."""
        self.assertEqual(self.reason(AT_ONCE + LOOP_OF_BOTH)[0], "after")
        self.assertEqual(self.run_it("./prog").stdout, "good\n")

    def test_threads_that_such_a_thread_creates_are_not_all_on_its_core(self):
        text = ("static void *inner(void *p) { printf(\"%d\\n\", sched_getcpu() >= 0); return 0; }\n"
                "static int go; static void *outer(void *p) { while (!__atomic_load_n(&go, 5)) sched_yield(); pthread_t t[2]; "
                "pthread_create(&t[0], 0, inner, 0); pthread_create(&t[1], 0, inner, 0); pthread_join(t[0], 0); pthread_join(t[1], 0); return 0; }\n"
                "int main(void) { pthread_t t; pthread_create(&t, 0, outer, 0); __atomic_store_n(&go, 1, 5); pthread_join(t, 0); return 0; }\n")
        threads = self.threads(HEAD + text, "--mode=paper", "--insert=after", "--gap=nested=free")
        self.assertEqual(threads["outer"]["insertion"], "after")
        self.assertEqual(self.run_it("./prog").stdout, "1\n1\n")


class Refused(Shop):
    def refused(self, text, why):
        self.write("prog.c", HEAD + text)
        result = self.run_it(CC, "-O1", "-w", "--mode=paper", "--insert=after", "-Rpass=hearth", "prog.c", "-o", "prog", "-pthread",
                             "--explain=out.json")
        thread = self.explained()["threads"][0]
        self.assertEqual(thread["insertion"], "before")
        self.assertTrue(re.search(f"gets its CPUs before its routine: {why}", "; ".join(thread["why"])), thread["why"])
        self.assertRegex(result.stderr, rf"prog.c:\d+: remark: .*gets its CPUs before its routine: {why}")

    def test_a_detached_thread_and_the_program_does_not_crash(self):
        """The paper's call reads the record of a thread that is gone: a fault in six of six runs (facts/compiler-pass.md)."""
        self.refused(AT_ONCE + "int main(void) { pthread_t t; for (int i = 0; i < 3000; i++) { while (pthread_create(&t, 0, work, 0)) ; "
                     "pthread_detach(t); } puts(\"good\"); pthread_exit(0); }\n", "it is detached")
        for _ in range(6):
            self.assertEqual(self.run_it("./prog").stdout, "good\n")

    def test_a_thread_that_detaches_itself(self):
        self.refused("static void *work(void *p) { pthread_detach(pthread_self()); return p; }\n"
                     "int main(void) { pthread_t t; for (int i = 0; i < 3000; i++) while (pthread_create(&t, 0, work, 0)) ; "
                     "puts(\"good\"); pthread_exit(0); }\n", "it is detached")
        for _ in range(6):
            self.assertEqual(self.run_it("./prog").stdout, "good\n")

    def test_attributes_that_detach(self):
        self.refused(AT_ONCE + "int main(int n, char **v) { pthread_t t; pthread_attr_t a; pthread_attr_init(&a); "
                     "pthread_attr_setdetachstate(&a, n > 1 ? PTHREAD_CREATE_JOINABLE : PTHREAD_CREATE_DETACHED); "
                     "pthread_create(&t, &a, work, 0); puts(\"good\"); pthread_exit(0); }\n", "its attributes may say that it is detached")
        self.assertEqual(self.run_it("./prog").stdout, "good\n")

    def test_another_thread_joins_it(self):
        self.refused(AT_ONCE + "static void *waits(void *p) { pthread_join(*(pthread_t *)p, 0); return 0; }\n"
                     "int main(void) { pthread_t t, w; pthread_create(&t, 0, work, 0); pthread_create(&w, 0, waits, &t); "
                     "pthread_join(w, 0); return 0; }\n", "another thread than its creator may join it")

    def test_a_handle_that_a_thread_gives_away(self):
        self.refused("static pthread_t me; static void *work(void *p) { me = pthread_self(); return p; }\n"
                     "int main(void) { pthread_t t; pthread_create(&t, 0, work, 0); sleep(0); pthread_detach(me); pthread_exit(0); }\n",
                     "a thread (is detached of which|tells others its handle)")

    def test_files_that_were_not_seen(self):
        self.write("prog.c", HEAD + AT_ONCE + "int main(void) { pthread_t t; pthread_create(&t, 0, work, 0); pthread_join(t, 0); return 0; }\n")
        self.run_it(CC, "-c", "--mode=paper", "--insert=after", "prog.c", "--explain=out.json")
        self.assertEqual(self.explained()["threads"][0]["insertion"], "before")

    def test_wrong_words(self):
        result = self.run_it(CC, "--insert=between", "x.c", good=False)
        self.assertEqual(result.returncode, 2)
        self.assertIn("legal: before (a thread's routine), after (its creation)", result.stderr)


if __name__ == "__main__":
    unittest.main()
