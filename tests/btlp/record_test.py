#!/usr/bin/env python3
"""`hearth cc --record`: what the recording of a program says of its threads and data.

Usage: record_test.py BUILD
"""
import unittest

from shop import CC, CXX, Shop

SHARED = """#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static long count, out[4]; static int *table;
static void *work(void *p) { long id = (long)p; for (int i = 0; i < 200; i++) { __atomic_fetch_add(&count, 1, __ATOMIC_SEQ_CST); out[id] += table[i % 100]; } return 0; }
int main(void) { pthread_t t[4]; table = malloc(400); for (int i = 0; i < 100; i++) table[i] = i;
  for (long i = 0; i < 4; i++) pthread_create(&t[i], 0, work, (void *)i);
  for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
  printf("%ld %ld\\n", count, out[2]); free(table); return 0; }
"""


class Recording:
    """One file, by its lines."""

    def __init__(self, path):
        lines = [line.split("\t") for line in path.read_text().splitlines()]
        assert lines[0][:2] == ["hearth-threads", "1"] and lines[-1] == ["end"], lines
        self.how = lines[0][2]
        kinds = {kind: [line[1:] for line in lines if line[0] == kind] for kind in ("thread", "object", "touch", "meet")}
        self.threads = {int(number): (int(creator), int(instance), site, routine)
                        for number, creator, instance, site, routine in kinds["thread"]}
        self.objects = {int(number): (kind, name) for number, kind, name in kinds["object"]}
        self.touches = {(int(thread), self.objects[int(thing)][1]): (int(reads), int(writes))
                        for thread, thing, reads, writes in kinds["touch"]}
        self.meetings = {(int(a), int(b), self.objects[int(thing)][1]): how for a, b, thing, how, _, _ in kinds["meet"]}


class Recorded(Shop):
    limit = 240

    def record(self, text, *flags, compiler=CC, how="exact", output=None):
        name = "prog.cpp" if compiler is CXX else "prog.c"
        self.write(name, text)
        self.run_it(compiler, f"--record={how}", *flags, name, "-o", "prog", "-pthread")
        ran = self.run_it("./prog")
        if output is not None:
            self.assertEqual(ran.stdout, output)
        self.assertEqual(ran.stderr, "")
        return Recording(self.folder / "hearth-threads.rec")

    def test_threads_objects_and_meetings(self):
        for level in ("-O0", "-O1", "-O2"):
            it = self.record(SHARED, level, output="800 9900\n")
            self.assertEqual(it.how, "exact")
            self.assertEqual(it.threads[0][3], "main")
            self.assertEqual([it.threads[n] for n in (1, 2, 3, 4)], [(0, n, "main#0", "work") for n in range(4)])
            heap = [name for kind, name in it.objects.values() if kind == "heap"]
            self.assertEqual(heap, ["allocation in main() at line 6"])
            self.assertEqual(it.touches[2, "count"], (200, 200))
            for a in range(1, 5):
                for b in range(a + 1, 5):
                    self.assertIn((a, b, "count"), it.meetings, level)
                    self.assertNotIn((a, b, "out"), it.meetings, level)  # each has an element of its own
                    self.assertNotIn((a, b, heap[0]), it.meetings, level)  # only read
            self.assertEqual(it.meetings[0, 3, "out"], "-<-")  # main reads one result, behind the join
            self.assertNotIn((0, 1, "out"), it.meetings)

    def test_a_sample_meets_only_where_an_exact_one_does(self):
        exact = self.record(SHARED, "-O2")
        sampled = self.record(SHARED, "-O2", how="sampled", output="800 9900\n")
        self.assertEqual(sampled.how, "sampled")
        # Whose count main reads, behind the joins, is another thread each time.
        self.assertTrue({one for one in sampled.meetings if one[0] > 0} <= set(exact.meetings), sampled.meetings)
        self.assertIn((1, "count"), sampled.touches)

    def test_memory_that_is_used_again_is_new(self):
        it = self.record("""#include <pthread.h>
#include <stdlib.h>
#include <string.h>
static void *work(void *p) { (void)p; for (int i = 0; i < 50; i++) { char *b = malloc(64); memset(b, i, 64); char on_stack[256]; memset(on_stack, i, 256);
  __asm__ volatile("" : : "r"(on_stack), "r"(b) : "memory"); free(b); } return 0; }
int main(void) { for (int i = 0; i < 4; i++) { pthread_t a, b; pthread_create(&a, 0, work, 0); pthread_create(&b, 0, work, 0);
  pthread_join(a, 0); pthread_join(b, 0); } return 0; }
""", "-O1")
        self.assertEqual(len(it.threads), 9)
        self.assertEqual(it.meetings, {})

    def test_variables_of_a_function_are_named(self):
        it = self.record("""#include <pthread.h>
#include <stdio.h>
struct job { long in, result; };
static void *work(void *p) { struct job *j = p; j->result = j->in * 2; return 0; }
int main(void) { struct job mine = {21, 0}; pthread_t t; pthread_create(&t, 0, work, &mine); pthread_join(t, 0); printf("%ld\\n", mine.result); return 0; }
""", "-O1", output="42\n")
        self.assertEqual(it.meetings, {(0, 1, "mine"): "-<-"})

    def test_a_program_that_leaves_by_exit_without_destructors(self):
        it = self.record("""#include <pthread.h>
#include <unistd.h>
static long count;
static void *work(void *p) { (void)p; count = 3; return 0; }
int main(void) { pthread_t t; pthread_create(&t, 0, work, 0); pthread_join(t, 0);
  if (vfork() == 0) _exit(4); // the child is not the program's end
  count++; pthread_create(&t, 0, work, 0); pthread_join(t, 0); _exit(count != 3); }
""", "-O1")
        self.assertEqual(len(it.threads), 3)

    def test_cpp_threads(self):
        it = self.record("""#include <atomic>
#include <future>
#include <cstdio>
#include <thread>
int main() { std::atomic<int> turn{0}; std::thread a([&] { for (int i = 0; i < 50; i++) turn++; }), b([&] { for (int i = 0; i < 50; i++) turn--; });
  a.join(); b.join(); auto f = std::async(std::launch::async, [] { return 5; }); std::printf("%d %d\\n", turn.load(), f.get()); }
""", "-O1", "-std=c++20", compiler=CXX, output="0 5\n")
        self.assertEqual(len(it.threads), 4)
        self.assertIn((1, 2, "turn"), it.meetings)
        self.assertNotIn((1, 3, "turn"), it.meetings)
        self.assertTrue(it.threads[1][3].endswith("6_M_runEv"), it.threads)

    def test_c11_detached_forked_and_killed(self):
        it = self.record("""#include <stdio.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>
static _Atomic int n, done;
static int work(void *p) { (void)p; n++; done++; return 7; }
int main(void) { thrd_t t; int r; thrd_create(&t, work, 0); thrd_join(t, &r); thrd_create(&t, work, 0); thrd_detach(t); while (done < 2) thrd_yield();
  fflush(stdout); if (fork() == 0) { n++; return 3; } int s; wait(&s); printf("%d %d %d\\n", n, r, WEXITSTATUS(s)); return 0; }
""", "-O1", output="2 7 3\n")
        self.assertEqual(len(it.threads), 3)
        self.assertIn((1, 2, "n"), it.meetings)  # a result flows from the first, through main, to the second

    def test_the_file_is_where_it_is_asked_for(self):
        self.record(SHARED, "-O1")
        self.run_it("./prog", env={"HEARTH_RECORD_FILE": "run-%p.rec"})
        self.assertEqual(len(list(self.folder.glob("run-[0-9]*.rec"))), 1)
        lost = self.run_it("./prog", env={"HEARTH_RECORD_FILE": "/nowhere/x.rec"})
        self.assertIn("/nowhere/x.rec: No such file or directory. The recording of this run is lost.", lost.stderr)

    def test_bad_ways_to_ask(self):
        self.write("prog.c", SHARED)
        self.assertIn("no such kind of recording", self.run_it(CC, "--record=all", "prog.c", good=False).stderr)
        self.assertIn("cannot be linked statically", self.run_it(CC, "--record", "-static", "prog.c", good=False).stderr)

    def test_a_second_compilation_learns(self):
        self.record(SHARED, "-O1", output="800 9900\n")
        for profile in ([], ["--profile=hearth-threads.rec"]):
            self.run_it(CC, "-O1", "prog.c", "-o", "prog", "-pthread", "--explain=out.json", *profile)
            said = self.explained()
            self.assertEqual("recording" in said, bool(profile))
        self.assertEqual(said["threads"][0]["class"], "side-by-side")
        self.assertEqual(said["threads"][0]["recorded"], 4)
        self.assertEqual(said["recording"]["how"], "exact")
        self.assertEqual(said["recording"]["missed_by_analysis"], [])
        self.run_it(CC, "-O1", "prog.c", "-o", "prog", "-pthread", "--explain=out.txt",
                     "--profile=hearth-threads.rec")
        self.assertIn("as recorded in hearth-threads.rec (exact)", (self.folder / "out.txt").read_text())

    def test_threads_of_a_foreign_object_get_a_recorded_class(self):
        self.write("other.c", "extern long shared; void *work(void *p) { for (int i = 0; i < 100; i++) shared++; return p; }\n")
        self.write("prog.c", """#include <pthread.h>
long shared; void *work(void *); void *own(void *p) { for (int i = 0; i < 100; i++) shared++; return p; }
int main(void) { pthread_t a, b; pthread_create(&a, 0, work, 0); pthread_create(&b, 0, own, 0); pthread_join(a, 0); pthread_join(b, 0); return 0; }
""")
        self.run_it(CC, "--record=exact", "-O1", "prog.c", "other.c", "-o", "prog", "-pthread")
        self.run_it("./prog")
        self.run_it("gcc", "-c", "other.c")
        for profile, wanted in (([], ["unknown", "unknown"]), (["--profile=hearth-threads.rec"], ["side-by-side"] * 2)):
            made = self.run_it(CC, "-O1", "prog.c", "other.o", "-o", "prog", "-pthread", "--explain=out.json", *profile)
            self.assertIn("other.o: compiled without hearth cc", made.stderr)
            said = self.explained()
            self.assertEqual([each["class"] for each in said["threads"]], wanted)
        self.assertEqual([each["class_from"] for each in said["threads"]], ["recording"] * 2)

    def test_a_bad_recording_gets_one_line(self):
        self.write("prog.c", SHARED)
        self.write("bad.rec", "hearth-threads\t1\texact\nthread\t0\n")
        for name, what in (("bad.rec", "bad.rec:2: a line 'thread' has 6 fields, not 2. Threads are typed without this recording."),
                           ("none.rec", "none.rec: No such file or directory")):
            made = self.run_it(CC, "-O1", "prog.c", "-o", "prog", "-pthread", f"--profile={name}")
            self.assertIn(what, made.stderr)
            self.assertEqual(len(made.stderr.splitlines()), 1, made.stderr)

    def test_many_threads_come_and_go(self):
        it = self.record("""#include <pthread.h>
static void *work(void *p) { return p; }
int main(void) { for (int i = 0; i < 3000; i++) { pthread_t t; if (pthread_create(&t, 0, work, &t)) return 1; pthread_join(t, 0); } return 0; }
""", "-O1", how="sampled")
        self.assertEqual(len(it.threads), 3001)


if __name__ == "__main__":
    unittest.main()
