"""Recordings that the suites of the report look at."""
import shutil
import sqlite3

PROGRAM = r"""
#include <stdio.h>
enum { N = 64, LENGTH = 2048 };
static double x[N][LENGTH];
static int fib(int n) {
  if (n < 2) return n;
  int a, b;
#pragma omp task shared(a)
  a = fib(n - 1);
#pragma omp task shared(b)
  b = fib(n - 2);
#pragma omp taskwait
  return a + b;
}
int main(void) {
  int r = 0;
#pragma omp parallel
#pragma omp single
  {
    r = fib(10);
    for (int i = 0; i < N; i++) {
#pragma omp task depend(inout : x[i])
      for (int k = 0; k < LENGTH; k++) x[i][k] += k;
    }
  }
#pragma omp parallel for schedule(dynamic, 16)
  for (int i = 0; i < N; i++)
    for (int k = 0; k < LENGTH * i / 8; k++) x[i][k % LENGTH] += 1;
  printf("%d\n", r);
  return 0;
}
"""
TASKS, THREADS = 1_000_000, 16


def write_million(template, path):
    """A recording of a million tasks on 16 threads, their lengths and pauses as irregular as real ones."""
    shutil.copy(template, path)
    file = sqlite3.connect(path)
    for table in ("task", "span", "wait", "loop", "chunk", "edge", "footprint", "dependence", "allocation", "thread"):
        file.execute(f"DELETE FROM {table}")
    file.executemany("INSERT INTO thread VALUES(?,0,?,?,?,0,1,1)",
                     [(t, t, 100 + t, "worker" if t else "initial") for t in range(THREADS)])
    code = file.execute("SELECT min(id) FROM code").fetchone()[0]
    ends, rows, spans, mixed = [0] * THREADS, [], [], 12345
    for task in range(TASKS):
        mixed = (mixed * 1103515245 + 12345) & 0x7FFFFFFF
        thread = mixed % THREADS
        begin = ends[thread] + (mixed >> 8) % 700
        end = ends[thread] = begin + 500 + (mixed >> 12) % 9000
        rows.append((task, task, max(task // 4 - 1, 0) if task else None, code, max(begin - mixed % 5000, 0), thread, begin, end, end - begin))
        spans.append((task, thread, begin, end))
    file.executemany("INSERT INTO task(id, key, process, parent, kind, code, creator, created_ns, creation_ns, thread, cpu, begin_ns, end_ns, "
                     "work_ns, wait_ns, create_ns) VALUES(?,?,0,?,'explicit',?,0,?,100,?,0,?,?,?,0,0)", rows)
    file.executemany("INSERT INTO span(task, thread, cpu, begin_ns, end_ns) VALUES(?,?,0,?,?)", spans)
    file.commit()
    file.close()


PLACES = """
CREATE TABLE IF NOT EXISTS machine(process INTEGER PRIMARY KEY, name TEXT, source TEXT, pretended INTEGER, policy TEXT,
  locations TEXT, distances TEXT);
CREATE TABLE IF NOT EXISTS location(process INTEGER, id INTEGER, node INTEGER, cpus TEXT, holds_memory INTEGER,
  memory_bytes INTEGER, PRIMARY KEY(process, id)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS distance(process INTEGER, location INTEGER, memory INTEGER, distance INTEGER, latency_ns REAL,
  source TEXT, PRIMARY KEY(process, location, memory)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS home(allocation INTEGER, location INTEGER, bytes INTEGER, asked_ns INTEGER);
CREATE TABLE IF NOT EXISTS first_touch(allocation INTEGER, task INTEGER, thread INTEGER, location INTEGER, pages INTEGER,
  touched_ns INTEGER);
CREATE TABLE IF NOT EXISTS task_bytes(task INTEGER, memory INTEGER, read INTEGER, written INTEGER, source TEXT);
CREATE TABLE IF NOT EXISTS decision(task INTEGER, thread INTEGER, decided_ns INTEGER, released INTEGER, stated INTEGER,
  location INTEGER, chosen INTEGER, why TEXT);
"""
LOCATIONS = 4


def add_places(path):
    """Says of a recording that it was made on four locations: thread n at n % 4, data anywhere, and some decisions."""
    file = sqlite3.connect(path)
    file.executescript(PLACES)
    for table in ("machine", "location", "distance", "home", "first_touch", "task_bytes", "decision"):
        file.execute(f"DELETE FROM {table}")
    if not [c for c in file.execute("PRAGMA table_info(task)") if c[1] == "location"]:
        file.execute("ALTER TABLE task ADD COLUMN location INTEGER")
    file.execute("INSERT INTO machine VALUES(0, 'four', 'test', 1, 'adaptive', 'node', 'SLIT')")
    for location in range(LOCATIONS):
        file.execute("INSERT INTO location VALUES(0, ?, ?, ?, 1, 0)", (location, location, str(location)))
        for memory in range(LOCATIONS):
            file.execute("INSERT INTO distance VALUES(0, ?, ?, ?, NULL, 'SLIT')",
                         (location, memory, 10 if location == memory else 16 if location // 2 == memory // 2 else 22))
    file.execute("UPDATE task SET location = thread % ?", (LOCATIONS,))
    tasks = file.execute("SELECT id, location, thread FROM task WHERE kind = 'explicit' AND location IS NOT NULL").fetchall()
    for task, location, thread in tasks:
        memory = (location + (task * 7 % 5 > 2) * (task % LOCATIONS)) % LOCATIONS
        file.execute("INSERT INTO task_bytes VALUES(?, ?, ?, ?, 'decided')", (task, memory, 4096 + task, 128))
        if task % 3 == 0:
            file.execute("INSERT INTO task_bytes VALUES(?, -1, 100, 0, 'ended')", (task,))
        file.execute("INSERT INTO decision VALUES(?, ?, ?, 0, 0, ?, ?, ?)",
                     (task, thread, task * 10, location, memory if task % 2 else -1, "dealt" if task % 2 else "too little to gain"))
    file.commit()
    file.close()
