#!/usr/bin/env python3
"""`hearth cc` as a person uses it: in place of the compiler, for one file and for many, and what the programs then do.

Usage: compiler_test.py BUILD
"""
import os
import random
import shutil
import signal
import subprocess
import time
import unittest

from shop import BUILD, CC, CXX, PAPERS_MACHINE, Shop

TWO = """#include <pthread.h>
#include <stdio.h>
long shared;
void *work(void *p);
void *other(void *p) { for (int i = 0; i < 100; i++) __atomic_fetch_add(&shared, 1, __ATOMIC_RELAXED); return 0; }
int main(void) { pthread_t a, b; pthread_create(&a, 0, work, 0); pthread_create(&b, 0, other, 0);
  pthread_join(a, 0); pthread_join(b, 0); printf("%ld\\n", shared); return 0; }
"""
WORK = """extern long shared;
void *work(void *p) { (void)p; for (int i = 0; i < 100; i++) __atomic_fetch_add(&shared, 1, __ATOMIC_RELAXED); return 0; }
"""


class WholePrograms(Shop):
    def test_files_are_seen_together(self):
        self.write("two.c", TWO)
        self.write("work.c", WORK)
        self.run_it(CC, "-O2", "-c", "two.c", "--explain=alone.json")
        self.assertEqual(self.explained("alone.json")["threads"][0]["class"], "unknown")
        self.run_it(CC, "-O2", "-c", "work.c")
        self.run_it(CC, "two.o", "work.o", "--explain=out.json", "-o", "prog")
        self.assertEqual([each["class"] for each in self.explained()["threads"]], ["side-by-side"] * 2)
        self.assertEqual(self.run_it("./prog").stdout, "200\n")

    def test_what_another_file_was_given_is_not_a_threads_own(self):
        """Of this file alone: `keep` may let a thread of its own write there."""
        for give in ("keep(n);", "*place() = n;", "kept = n;", "((long **)place())[3] = n;"):
            self.write("alone.c", f"""#include <pthread.h>
#include <stdlib.h>
void keep(long *where);
long **place(void);
long *kept;
static void *work(void *p) {{ long *n = p; for (int i = 0; i < 100; i++) *n += i; return 0; }}
int main(void) {{ long *n = calloc(1, 8); pthread_t t; {give} pthread_create(&t, 0, work, n); pthread_join(t, 0); return 0; }}
""")
            self.run_it(CC, "-O2", "-c", "alone.c", "--explain=alone.json")
            self.assertEqual(self.explained("alone.json")["threads"][0]["class"], "unknown", give)

    def test_data_under_keys_that_others_know(self):
        """Another file may ask for it, or destroy it."""
        for key, give, expected in (("extern pthread_key_t key;", "", "unknown"), ("static pthread_key_t key;", "", "autonomous"),
                                    ("pthread_key_t key;", "", "unknown"), ("static pthread_key_t key;", "void *tell(void) { return &key; }", "unknown")):
            self.write("alone.c", f"""#include <pthread.h>
#include <stdlib.h>
{key} {give}
static void *work(void *p) {{ long *n = calloc(1, 8); pthread_setspecific(key, n); for (int i = 0; i < 100; i++) *n += i; return p; }}
int main(void) {{ pthread_t t; pthread_key_create(&key, free); pthread_create(&t, 0, work, 0); pthread_join(t, 0); return 0; }}
""")
            self.run_it(CC, "-O2", "-c", "alone.c", "--explain=alone.json")
            self.assertEqual(self.explained("alone.json")["threads"][0]["class"], expected, (key, give))

    def test_a_destructor_that_is_not_known(self):
        self.write("prog.c", """#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
static pthread_key_t key;
static void *keeps(void *p) { long *n = calloc(1, 8); pthread_setspecific(key, n); for (int i = 0; i < 100; i++) *n += i; return p; }
static void *plain(void *p) { long *n = calloc(1, 8); for (int i = 0; i < 100; i++) *n += i; free(n); return p; }
int main(void) { pthread_t t; pthread_key_create(&key, (void (*)(void *))dlsym(RTLD_DEFAULT, "free"));
  pthread_create(&t, 0, keeps, 0); pthread_join(t, 0); pthread_create(&t, 0, plain, 0); pthread_join(t, 0); return 0; }
""")
        self.run_it(CC, "-O1", "prog.c", "--explain=out.json", "-o", "prog")
        self.assertEqual([each["class"] for each in self.explained()["threads"]], ["unknown", "autonomous"])

    def test_archives_and_one_command(self):
        self.write("two.c", TWO)
        self.write("work.c", WORK)
        self.run_it(CC, "-c", "work.c")
        self.run_it("ar", "rcs", "libwork.a", "work.o")
        self.run_it(CC, "two.c", "-L.", "-lwork", "--explain=out.json", "-o", "prog")
        self.assertEqual([each["class"] for each in self.explained()["threads"]], ["side-by-side"] * 2)
        self.assertEqual(self.run_it("./prog").stdout, "200\n")

    def test_a_foreign_object_is_named_and_the_program_is_right(self):
        self.write("two.c", TWO)
        self.write("work.c", WORK)
        self.run_it("gcc", "-c", "work.c")
        result = self.run_it(CC, "two.c", "work.o", "--explain=out.json", "-o", "prog")
        self.assertIn("work.o: compiled without hearth cc", result.stderr)
        self.assertEqual(self.explained()["threads"][0]["class"], "unknown")
        self.assertEqual(self.run_it("./prog").stdout, "200\n")

    def test_objects_link_with_another_compiler(self):
        self.write("two.c", TWO)
        self.write("work.c", WORK)
        self.run_it(CC, "-c", "two.c", "work.c")
        self.run_it("gcc", "two.o", "work.o", "-o", "prog", "-pthread")
        self.assertEqual(self.run_it("./prog").stdout, "200\n")

    def test_static_and_shared(self):
        self.write("two.c", TWO)
        self.write("work.c", WORK)
        result = self.run_it(CC, "two.c", "work.c", "-static", "-o", "prog")
        self.assertIn("linked statically", result.stderr)
        self.assertEqual(self.run_it("./prog").stdout, "200\n")
        self.run_it(CC, "-fPIC", "-shared", "two.c", "work.c", "-o", "libtwo.so")

    def test_damaged_bitcode_gets_one_line(self):
        self.write("two.c", TWO)
        (self.folder / "bad.bc").write_bytes(b"BC\xc0\xde" + b"\x13" * 400)
        result = self.run_it(BUILD / "lib/hearth/hearth-ld", "--analyse", "paper", "whole", "-", "bad.bc", good=False)
        self.assertEqual(result.returncode, 1)
        self.assertEqual(len(result.stderr.strip().splitlines()), 1, result.stderr)
        self.assertIn("bad.bc", result.stderr)


    def test_damage_anywhere_gets_one_line(self):
        """One bit of the section that carries the bitcode, and some bytes of bitcode alone: LLVM's own reader crashes on a part."""
        self.write("prog.c", TWO.replace("void *work(void *p);", "void *work(void *p) { shared++; return p; }"))
        self.run_it(CC, "-g", "-c", "prog.c")
        self.run_it("clang-19", "-g", "-emit-llvm", "-c", "prog.c", "-o", "prog.bc")
        dice = random.Random(7)
        for name in ("prog.o", "prog.bc"):
            whole = (self.folder / name).read_bytes()
            first = whole.find(b"HEARTHB") if name == "prog.o" else 0
            length = 24 + int.from_bytes(whole[first + 8:first + 16], "little") if name == "prog.o" else len(whole)
            for _ in range(25):
                damaged = bytearray(whole)
                for _ in range(1 if name == "prog.o" else 8):
                    damaged[first + dice.randrange(length)] ^= 1 << dice.randrange(8)
                (self.folder / f"bad-{name}").write_bytes(damaged)
                result = self.run_it(BUILD / "lib/hearth/hearth-ld", "--analyse", "paper", "whole", "out.json", f"bad-{name}", good=False)
                self.assertIn(result.returncode, (1,) if name == "prog.o" else (0, 1))
                self.assertEqual(len(result.stderr.splitlines()), result.returncode, result.stderr)
                if result.returncode == 1:
                    self.assertRegex(result.stderr, f"^hearth: bad-{name}: ")

    def test_bitcode_of_another_llvm_gets_one_line(self):
        self.write("two.c", TWO)
        self.run_it("clang-19", "-c", "-emit-llvm", "two.c", "-o", "two.bc")
        data = bytearray((self.folder / "two.bc").read_bytes())
        data[28] |= 8  # the format's epoch, 0 so far: 1
        (self.folder / "two.bc").write_bytes(data)
        result = self.run_it(BUILD / "lib/hearth/hearth-ld", "--analyse", "balanced", "whole", "-", "two.bc", good=False)
        self.assertEqual(result.returncode, 1)
        self.assertEqual(len(result.stderr.strip().splitlines()), 1, result.stderr)
        self.assertRegex(result.stderr, "two.bc: bitcode that LLVM 19 cannot read: .*epoch")


class Interrupted(Shop):
    def test_a_link_that_is_stopped_leaves_nothing(self):
        """While the linker runs, and while the program is linked but has no plan yet."""
        self.write("two.c", TWO)
        self.write("work.c", WORK)
        self.run_it(CC, "-c", "two.c", "work.c")
        (self.folder / "tmp").mkdir()
        self.write("slow", "#!/bin/sh\nsleep 20\n")
        # The first link ends at once, and what it says of its inputs is a pipe that nobody fills.
        self.write("quick", "#!/bin/sh\ntouch prog\nfor each in tmp/*; do rm -f $each/trace; mkfifo $each/trace; done\n")
        for linker in ("slow", "quick"):
            (self.folder / linker).chmod(0o755)
            for number in (signal.SIGINT, signal.SIGTERM):
                link = subprocess.Popen([BUILD / "lib/hearth/hearth-ld", "-o", "prog", "two.o", "work.o"], cwd=self.folder,
                                        env={**os.environ, "TMPDIR": "tmp", "HEARTH_BTLP_LD": f"./{linker}"}, start_new_session=True)
                time.sleep(1)
                self.assertIsNone(link.poll(), linker)
                os.killpg(link.pid, number)
                self.assertEqual(link.wait(20), -number)
                self.assertEqual(list((self.folder / "tmp").glob("*/plan.o")), [])
                self.assertFalse((self.folder / "prog").exists())
                if linker == "slow":
                    self.assertEqual(list((self.folder / "tmp").iterdir()), [])
                for rest in (self.folder / "tmp").glob("*"):
                    shutil.rmtree(rest)


class CxxThreads(Shop):
    def test_what_a_thread_publishes_of_its_own_copy_is_shared(self):
        self.write("leak.cpp", """#include <atomic>
#include <thread>
#include <vector>
static std::atomic<long *> last;
int main() { std::vector<std::thread> all; for (int i = 0; i < 4; i++) all.emplace_back([n = (long)i]() mutable {
  last = &n; for (int k = 0; k < 100; k++) ++*last.load(); }); for (auto &t : all) t.join(); }
""")
        for library in ("libstdc++", "libc++"):
            self.run_it(CXX, "-std=c++20", f"-stdlib={library}", "-c", "leak.cpp", "-o", "leak.o")
            self.run_it(BUILD / "lib/hearth/hearth-ld", "--analyse", "balanced", "whole", "out.json", "leak.o")
            self.assertIn("allocation in main() at line 5", {edge["object"] for edge in self.explained()["edges"]})


class DropIn(Shop):
    def test_the_object_has_no_lines_that_nobody_asked_for(self):
        self.write("two.c", TWO)
        self.run_it(CC, "-O2", "-c", "two.c")
        self.assertNotIn(".debug", self.run_it("readelf", "-SW", "two.o").stdout)
        self.run_it(CC, "-O2", "-g", "-c", "two.c")
        self.assertIn(".debug_info", self.run_it("readelf", "-SW", "two.o").stdout)

    def test_the_program_has_no_bitcode(self):
        self.write("two.c", TWO)
        self.write("work.c", WORK)
        self.run_it(CC, "two.c", "work.c", "-o", "prog")
        self.assertNotIn(".hearth", self.run_it("readelf", "-SW", "prog").stdout)

    def test_errors_and_questions_are_clangs(self):
        self.write("bad.c", "int main(void) { return x; }\n")
        result = self.run_it(CC, "-c", "bad.c", good=False)
        self.assertEqual(result.returncode, 1)
        self.assertIn("bad.c:1:25: error:", result.stderr)
        self.assertIn("clang version 19", self.run_it(CC, "--version").stdout)
        self.write("two.c", TWO)
        self.assertEqual(self.run_it(CC, "two.c", "-o", "prog", good=False).returncode, 1)  # work() is missing

    def test_no_warning_is_added(self):
        self.write("one.c", "int main(void) { return 0; }\n")
        self.assertEqual(self.run_it(CC, "-Wall", "-Werror", "one.c", "-o", "one").stderr, "")
        self.run_it(CC, "-c", "one.c")
        self.assertEqual(self.run_it(CC, "-Wall", "-Werror", "one.o", "-o", "one").stderr, "")
        self.assertEqual(self.run_it(CC, "-Wall", "-Werror", "-E", "one.c").stderr, "")

    def test_bad_words(self):
        result = self.run_it(CC, "--mode=fast", "x.c", good=False)
        self.assertEqual(result.returncode, 2)
        self.assertIn("legal: literal, paper, balanced", result.stderr)

    def test_remarks(self):
        self.write("two.c", TWO)
        self.write("work.c", WORK)
        result = self.run_it(CC, "-Rpass=hearth", "two.c", "work.c", "-o", "prog")
        self.assertIn("remark: work() is side-by-side", result.stderr)

    def test_the_other_forms_of_the_tree(self):
        self.write("two.c", TWO)
        self.write("work.c", WORK)
        for ending, begin in (("dot", "graph threads {"), ("svg", "<svg "), ("txt", "prog, mode balanced, whole program")):
            self.run_it(CC, "two.c", "work.c", f"--explain=out.{ending}", "-o", "prog")
            self.assertTrue((self.folder / f"out.{ending}").read_text().startswith(begin))


class Running(Shop):
    def build(self, text, *more, compiler=CC, name="prog.c"):
        self.write(name, text)
        self.run_it(compiler, name, *more, "-o", "prog")

    def test_off_and_print(self):
        # The first thread stays until the second has done its work: the place of one that has ended is free.
        waits = "while (__atomic_load_n(&shared, __ATOMIC_RELAXED) < 200) sched_yield(); return 0;"
        self.write("work.c", "#include <sched.h>\n" + WORK.replace("return 0;", waits))
        self.build(TWO, "work.c", "--mode=paper")
        self.assertEqual(self.run_it("./prog", env={"HEARTH_BTLP": "off"}).stderr, "")
        lines = self.run_it("./prog", env={"HEARTH_BTLP": "print", "HEARTH_MACHINE": PAPERS_MACHINE}).stderr.splitlines()
        self.assertEqual(len(lines), 2, lines)
        places = {line.split("side-by-side, ")[1] for line in lines}
        self.assertEqual(len(places), 1, places)  # one core for both
        self.assertIn("legal: on, off, print", self.run_it("./prog", env={"HEARTH_BTLP": "maybe"}).stderr)

    def test_thirty_thousand_threads_come_and_go(self):
        self.build("""#include <pthread.h>
#include <stdio.h>
static void *work(void *p) { return p; }
int main(void) { pthread_attr_t a; pthread_attr_init(&a); pthread_attr_setdetachstate(&a, PTHREAD_CREATE_DETACHED);
  pthread_t t; long failed = 0;
  for (int i = 0; i < 15000; i++) { if (pthread_create(&t, 0, work, &t)) return 1; pthread_join(t, 0); }
  for (int i = 0; i < 15000; i++) while (pthread_create(&t, &a, work, &t)) failed++;
  puts("done"); pthread_exit(0); }
""", "--mode=paper")
        self.assertEqual(self.run_it("./prog").stdout, "done\n")

    def test_cpus_that_the_program_chooses_win(self):
        self.build("""#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
static int first(void) { cpu_set_t s; sched_getaffinity(0, sizeof s, &s); for (int i = 0; i < 1024; i++) if (CPU_ISSET(i, &s)) return i; return -1; }
static void *work(void *p) { cpu_set_t s; sched_getaffinity(0, sizeof s, &s); printf("%d %d\\n", CPU_COUNT(&s) == 1, CPU_ISSET(*(int *)p, &s) != 0); return 0; }
int main(void) { int cpu = first(); cpu_set_t all, s; sched_getaffinity(0, sizeof all, &all);
  for (int i = 0; i < 1024; i++) if (CPU_ISSET(i, &all)) cpu = i;
  CPU_ZERO(&s); CPU_SET(cpu, &s); pthread_attr_t a; pthread_attr_init(&a); pthread_attr_setaffinity_np(&a, sizeof s, &s);
  pthread_t t; pthread_create(&t, &a, work, &cpu); pthread_join(t, 0); return 0; }
""", "--mode=paper")
        self.assertEqual(self.run_it("./prog").stdout, "1 1\n")

    def test_the_inherited_mask_is_kept(self):
        self.build("""#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
static void *work(void *p) { cpu_set_t s; sched_getaffinity(0, sizeof s, &s); printf("%d\\n", CPU_COUNT(&s)); return p; }
int main(void) { pthread_t t[4]; for (int i = 0; i < 4; i++) { pthread_create(&t[i], 0, work, 0); pthread_join(t[i], 0); } return 0; }
""", "--mode=paper")
        cpu = min(os.sched_getaffinity(0))
        self.assertEqual(self.run_it("taskset", "-c", cpu, "./prog").stdout, "1\n" * 4)

    def test_exceptions_cancellation_exit_and_results(self):
        self.build("""#include <pthread.h>
#include <cstdio>
#include <future>
#include <stdexcept>
#include <thread>
#include <unistd.h>
static void *waits(void *) { for (;;) pause(); }
static void *leaves(void *) { pthread_exit((void *)7L); }
static int throws() { throw std::runtime_error("thrown"); }
int main() { pthread_t t; void *r; pthread_create(&t, nullptr, waits, nullptr); pthread_cancel(t); pthread_join(t, &r);
  std::printf("%d ", r == PTHREAD_CANCELED); pthread_create(&t, nullptr, leaves, nullptr); pthread_join(t, &r); std::printf("%ld ", (long)r);
  try { std::async(std::launch::async, throws).get(); } catch (const std::exception &e) { std::printf("%s ", e.what()); }
  long out = 0; { std::jthread j([&] { out = 5; }); } std::printf("%ld\\n", out); }
""", "-std=c++20", "--mode=paper", compiler=CXX, name="prog.cpp")
        self.assertEqual(self.run_it("./prog").stdout, "1 7 thrown 5\n")

    def test_c11_results_and_forks(self):
        self.build("""#include <stdio.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>
static int work(void *p) { return *(int *)p + 1; }
int main(void) { int n = 41, r; thrd_t t; thrd_create(&t, work, &n); thrd_join(t, &r); printf("%d\\n", r); fflush(stdout);
  pid_t child = fork(); if (child == 0) { thrd_create(&t, work, &n); thrd_join(t, &r); _exit(r); } int s; waitpid(child, &s, 0);
  printf("%d\\n", WEXITSTATUS(s)); return 0; }
""", "--mode=paper")
        self.assertEqual(self.run_it("./prog").stdout, "42\n42\n")


if __name__ == "__main__":
    unittest.main()
