"""The programs and recordings that the browser's suite looks at."""
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
    file.executemany("INSERT INTO span VALUES(?,?,0,?,?)", spans)
    file.commit()
    file.close()
