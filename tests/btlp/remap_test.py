#!/usr/bin/env python3
"""The support library maps threads again: when others have ended, and when the process has lost CPUs or got them back.

Usage: remap_test.py BUILD
"""
import os
import unittest

from shop import CC, Shop

CPUS = sorted(os.sched_getaffinity(0))[:2]
HEAD = """#define _GNU_SOURCE
#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static sem_t end[8];
static int only(cpu_set_t s) { if (CPU_COUNT(&s) != 1) return -CPU_COUNT(&s); for (int i = 0; i < 1024; i++) if (CPU_ISSET(i, &s)) return i; return 0; }
static int cpu_of(pthread_t t) { cpu_set_t s; pthread_getaffinity_np(t, sizeof s, &s); return only(s); }
/* As taskset -ap does. */
static void bind_all(int one, int two) { cpu_set_t s; CPU_ZERO(&s); CPU_SET(one, &s); CPU_SET(two, &s); DIR *d = opendir("/proc/self/task");
  for (struct dirent *e; (e = readdir(d)); ) if (e->d_name[0] != '.') sched_setaffinity(atoi(e->d_name), sizeof s, &s); closedir(d); }
static void *one(void *p) { (void)p; sem_post(&end[7]); sem_wait(&end[0]); return 0; }
static void *two(void *p) { (void)p; sem_post(&end[7]); sem_wait(&end[1]); return 0; }
static void *three(void *p) { (void)p; sem_post(&end[7]); sem_wait(&end[2]); return 0; }
static void *four(void *p) { (void)p; sem_post(&end[7]); sem_wait(&end[3]); return 0; }
static void *brief(void *p) { return p; }
static pthread_t t[8];
static void four_threads(void) { for (int n = 0; n < 8; n++) sem_init(&end[n], 0, 0); pthread_create(&t[0], 0, one, 0);
  pthread_create(&t[1], 0, two, 0); pthread_create(&t[2], 0, three, 0); pthread_create(&t[3], 0, four, 0); for (int n = 0; n < 4; n++) sem_wait(&end[7]); }
static void finish(int n) { sem_post(&end[n]); pthread_join(t[n], 0); }
static void an_event(void) { pthread_t b; pthread_create(&b, 0, brief, 0); pthread_join(b, 0); }
"""


def siblings_of(cpu):
    try:
        with open(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list", encoding="ascii") as file:
            return file.read()
    except OSError:
        return str(cpu)


@unittest.skipUnless(len(CPUS) == 2, "this needs two CPUs")
class Again(Shop):
    def ran(self, body, mode="paper", env=None):
        """What the program prints, on two CPUs that are cores of their own."""
        self.write("prog.c", HEAD + "int main(int argc, char **argv) { int x = atoi(argv[1]), y = atoi(argv[2]); (void)argc; " + body + " return 0; }\n")
        self.run_it(CC, "-O1", "-w", f"--mode={mode}", "prog.c", "-o", "prog", "-pthread", "--explain=out.json")
        lines = self.run_it("taskset", "-c", f"{CPUS[0]},{CPUS[1]}", "./prog", *CPUS, env=env).stdout.split("\n")
        return [[int(word) for word in line.split()] for line in lines if line]

    def setUp(self):
        super().setUp()
        if len({siblings_of(cpu) for cpu in CPUS}) != 2:
            self.skipTest("the two CPUs are one core")

    def test_threads_that_end_make_room(self):
        """Two and two; those of one core end; one of the others moves there."""
        before, after = self.ran("four_threads(); printf(\"%d %d %d %d\\n\", cpu_of(t[0]), cpu_of(t[1]), cpu_of(t[2]), cpu_of(t[3])); "
                                 "finish(1); finish(3); printf(\"%d %d\\n\", cpu_of(t[0]), cpu_of(t[2])); finish(0); finish(2);")
        self.assertEqual(before, [CPUS[0], CPUS[1], CPUS[0], CPUS[1]])
        self.assertEqual(sorted(after), CPUS)

    def test_literal_keeps_its_mapping(self):
        (after,) = self.ran("four_threads(); finish(1); finish(3); printf(\"%d %d\\n\", cpu_of(t[0]), cpu_of(t[2])); finish(0); finish(2);", mode="literal")
        self.assertEqual(after, [CPUS[0], CPUS[0]])

    def test_a_choice_of_the_program_is_left_alone(self):
        (after,) = self.ran("four_threads(); cpu_set_t s; CPU_ZERO(&s); CPU_SET(x, &s); CPU_SET(y, &s); "
                            "pthread_setaffinity_np(t[0], sizeof s, &s); pthread_setaffinity_np(t[2], sizeof s, &s); finish(1); finish(3); "
                            "printf(\"%d %d\\n\", cpu_of(t[0]), cpu_of(t[2])); finish(0); finish(2);")
        self.assertEqual(after, [-2, -2])

    def test_cpus_that_the_process_loses_and_gets_back(self):
        lost, back = self.ran("four_threads(); bind_all(x, x); an_event(); printf(\"%d %d %d %d\\n\", cpu_of(t[0]), cpu_of(t[1]), cpu_of(t[2]), cpu_of(t[3])); "
                              "bind_all(x, y); sched_yield(); cpu_set_t s; CPU_ZERO(&s); CPU_SET(x, &s); "
                              "for (int n = 0; n < 4; n++) pthread_setaffinity_np(t[n], sizeof s, &s); for (int n = 0; n < 4; n++) an_event(); "
                              "printf(\"%d %d %d %d\\n\", cpu_of(t[0]), cpu_of(t[1]), cpu_of(t[2]), cpu_of(t[3])); for (int n = 0; n < 4; n++) finish(n);")
        self.assertEqual(lost, [CPUS[0]] * 4)
        self.assertEqual(sorted(back), sorted(CPUS * 2))

    def test_a_main_thread_that_binds_itself_takes_nothing_from_the_others(self):
        rows = self.ran("four_threads(); cpu_set_t s; CPU_ZERO(&s); CPU_SET(x, &s); pthread_setaffinity_np(pthread_self(), sizeof s, &s); an_event(); "
                        "printf(\"%d %d %d %d\\n\", cpu_of(t[0]), cpu_of(t[1]), cpu_of(t[2]), cpu_of(t[3])); for (int n = 0; n < 4; n++) finish(n);")
        self.assertEqual(rows, [[CPUS[0], CPUS[1], CPUS[0], CPUS[1]]])

    def test_a_forked_child_moves_nobody_of_its_parent(self):
        rows = self.ran("four_threads(); pid_t c = fork(); if (c == 0) { for (int n = 0; n < 20; n++) an_event(); _exit(0); } waitpid(c, 0, 0); "
                        "printf(\"%d %d %d %d\\n\", cpu_of(t[0]), cpu_of(t[1]), cpu_of(t[2]), cpu_of(t[3])); for (int n = 0; n < 4; n++) finish(n);")
        self.assertEqual(rows, [[CPUS[0], CPUS[1], CPUS[0], CPUS[1]]])

    def test_more_threads_than_cores_that_come_and_go_in_disorder(self):
        """Behind every end no core has two threads more than the other."""
        body = ("for (int n = 0; n < 8; n++) sem_init(&end[n], 0, 0); pthread_t u[40]; static sem_t own[40]; unsigned dice = 5; int alive[40], count = 0; "
                "for (int n = 0; n < 40; n++) { sem_init(&own[n], 0, 0); pthread_create(&u[n], 0, wait_on, &own[n]); alive[count++] = n; } for (int n = 0; n < 40; n++) sem_wait(&end[7]); "
                "while (count > 0) { dice = dice * 1664525 + 1013904223; int w = (dice >> 8) % count, n = alive[w]; alive[w] = alive[--count]; sem_post(&own[n]); "
                "pthread_join(u[n], 0); int a = 0, b = 0; for (int k = 0; k < count; k++) { int c = cpu_of(u[alive[k]]); a += c == x; b += c == y; } "
                "printf(\"%d %d\\n\", a, b); }")
        self.write("prog.c", HEAD + "static void *wait_on(void *p) { sem_post(&end[7]); sem_wait(p); return 0; }\nint main(int argc, char **argv) { int x = atoi(argv[1]), y = atoi(argv[2]); (void)argc; " + body + " return 0; }\n")
        self.run_it(CC, "-O1", "-w", "--mode=paper", "--gap=loop-threads=by-data", "prog.c", "-o", "prog", "-pthread")
        rows = [tuple(map(int, line.split())) for line in self.run_it("taskset", "-c", f"{CPUS[0]},{CPUS[1]}", "./prog", *CPUS).stdout.splitlines()]
        self.assertEqual(len(rows), 40)
        self.assertEqual([sum(row) for row in rows], list(range(39, -1, -1)))
        self.assertLessEqual(max(abs(a - b) for a, b in rows), 1, rows)


if __name__ == "__main__":
    unittest.main()
