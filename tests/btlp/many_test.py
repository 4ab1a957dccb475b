#!/usr/bin/env python3
"""30,000 threads come and go, a hundred at a time: none is lost, memory does not grow, and the seats are free again at the end.

Usage: many_test.py BUILD
"""
import os
import unittest

from shop import CC, PAPERS_MACHINE, Shop

CPUS = sorted(os.sched_getaffinity(0))[:2]
THREADS, WAVE = 30_000, 100
MOST_GROWTH = 2048  # KiB, from the first tenth of the threads to the last
MIXED = "mixed"

PROGRAM = """#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
enum { ALL = @ALL@, WAVE = @WAVE@ };
static long done, beside; static sem_t begin, end;
static int tasks(void) { int n = 0; DIR *d = opendir("/proc/self/task"); for (struct dirent *e; (e = readdir(d)); ) n += e->d_name[0] != '.'; closedir(d); return n; }
/* As taskset -ap does, with one CPU or two. */
static void bind_all(int one, int two) { cpu_set_t s; CPU_ZERO(&s); CPU_SET(one, &s); CPU_SET(two, &s); DIR *d = opendir("/proc/self/task");
  for (struct dirent *e; (e = readdir(d)); ) if (e->d_name[0] != '.') sched_setaffinity(atoi(e->d_name), sizeof s, &s); closedir(d); }
static long kilobytes(void) { long pages = 0, skipped; FILE *f = fopen("/proc/self/statm", "r"); if (fscanf(f, "%ld %ld", &skipped, &pages) != 2) exit(3); fclose(f); return pages * (sysconf(_SC_PAGESIZE) / 1024); }
static void *joined(void *p) { __atomic_fetch_add(&done, 1, __ATOMIC_RELAXED); return p; }
static void *alone(void *p) { pthread_detach(pthread_self()); __atomic_fetch_add(&done, 1, __ATOMIC_RELAXED); return p; }
static void *born_detached(void *p) { __atomic_fetch_add(&done, 1, __ATOMIC_RELAXED); return p; }
static void *inner(void *p) { __atomic_fetch_add(&beside, 1, __ATOMIC_RELAXED); return p; }
/* Creates one itself and ends without waiting for it, or by pthread_exit(). */
static void *parent(void *p) { pthread_t t; __atomic_fetch_add(&done, 1, __ATOMIC_RELAXED);
  int bad = pthread_create(&t, 0, inner, 0); if (bad) { fprintf(stderr, "inner: %s\\n", strerror(bad)); exit(4); } if (p) pthread_join(t, 0); else pthread_detach(t); pthread_exit(0); }
static void *waits(void *p) { sem_post(&begin); sem_wait(&end); return p; }
static void check(int bad) { if (bad) { fprintf(stderr, "%s\\n", strerror(bad)); exit(2); } }
static int cpu_of(pthread_t t) { cpu_set_t s; pthread_getaffinity_np(t, sizeof s, &s); if (CPU_COUNT(&s) != 1) return -CPU_COUNT(&s); for (int i = 0; i < 1024; i++) if (CPU_ISSET(i, &s)) return i; return 0; }
int main(int argc, char **argv) {
  int mixed = !strcmp(argv[1], "mixed"), x = atoi(argv[2]), y = atoi(argv[3]), shrink = argc > 4; long before = 0; pthread_attr_t apart;
  pthread_attr_init(&apart); pthread_attr_setdetachstate(&apart, PTHREAD_CREATE_DETACHED); sem_init(&begin, 0, 0); sem_init(&end, 0, 0);
  for (int wave = 0; wave < ALL / WAVE; wave++) {
    static pthread_t t[WAVE]; pthread_t other;
    if (shrink && wave % 20 == 10) bind_all(x, x);
    if (shrink && wave % 20 == 0) bind_all(x, y);
    for (int n = 0; n < WAVE; n++) {
      t[n] = 0;
      if (!mixed || n % 4 == 0) check(pthread_create(&t[n], 0, joined, 0));
      else if (n % 4 == 1) check(pthread_create(&other, 0, alone, 0));
      else if (n % 4 == 2) check(pthread_create(&other, &apart, born_detached, 0));
      else check(pthread_create(&t[n], 0, parent, (n & 4) ? &done : 0));
    }
    for (int n = WAVE; n-- > 0; ) if (t[n]) check(pthread_join(t[n], 0));
    while (tasks() > 1) usleep(200);
    if (wave == ALL / WAVE / 10) before = kilobytes();
  }
  long grown = kilobytes() - before; if (shrink) bind_all(x, y);
  pthread_t last[4]; for (int n = 0; n < 4; n++) { check(pthread_create(&last[n], 0, waits, 0)); sem_wait(&begin); }
  printf("%ld %ld %ld", done, beside, grown); for (int n = 0; n < 4; n++) printf(" %d", cpu_of(last[n])); puts("");
  for (int n = 0; n < 4; n++) sem_post(&end);
  for (int n = 0; n < 4; n++) pthread_join(last[n], 0);
  return 0;
}
""".replace("@ALL@", str(THREADS)).replace("@WAVE@", str(WAVE))


@unittest.skipUnless(len(CPUS) == 2, "this needs two CPUs")
class Many(Shop):
    def compiled(self, *flags):
        self.write("prog.c", PROGRAM)
        self.run_it(CC, "-O1", "-w", *flags, "prog.c", "-o", "prog", "-pthread")

    def ran(self, *words, env=None):
        """Where four threads sit behind all of them."""
        result = self.run_it("taskset", "-c", f"{CPUS[0]},{CPUS[1]}", "./prog", *words, env=env)
        done, beside, grown, *seats = map(int, result.stdout.split())
        self.assertEqual((done, beside), (THREADS, THREADS // 4 if words[0] == MIXED else 0))
        self.assertLessEqual(grown, MOST_GROWTH)
        return seats, result.stderr

    def test_balanced(self):
        self.compiled()
        for how in ("joined", MIXED):
            self.assertEqual(self.ran(how, *CPUS), ([-2] * 4, ""))

    def test_balanced_with_seats(self):
        """On two sockets that are pretended, and on this machine with nothing skipped: seats are taken and given back."""
        self.compiled()
        self.assertEqual(self.ran(MIXED, *CPUS, env={"HEARTH_MACHINE": PAPERS_MACHINE}), ([-2] * 4, ""))
        _, said = self.ran(MIXED, *CPUS, env={"HEARTH_BTLP": "print"})
        self.assertGreaterEqual(said.count("\n"), THREADS)

    def test_bound_and_moved(self):
        """Bound to cores; threads end in the opposite order, and CPUs are taken away and given back all the time."""
        self.compiled("--mode=paper", "--gap=loop-threads=by-data")
        for words in ((MIXED, *CPUS), (MIXED, *CPUS, "shrink")):
            seats, said = self.ran(*words)
            self.assertEqual(said, "")
            if "shrink" not in words:
                self.assertEqual(sorted(seats), sorted(CPUS * 2), words)


if __name__ == "__main__":
    unittest.main()
