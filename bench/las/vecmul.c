// Vecmul: vector cross products, c[i] = a[i] x b[i]; one malloc per vector.
//
// The paper names the vectors (128 of 28 kB) and says neither how the work is cut nor in which order they are
// allocated. Here a vector is an array of points of space, and task i computes all of c[i] from all of a[i]
// and b[i]. They are allocated as a[0], b[0], c[0], a[1], ... so that `coarse` puts the three of a task on
// three nodes: something always stays remote, and the scheduler has to choose. Allocated list after list, 128
// being a multiple of 8, all three would share a node and Vecmul would be Map once more.
#include <stdlib.h>

#include "las.h"

// The paper has this one on the manycore only; its size for a NUMA machine is Map's.
static struct las_argument arguments[kLasArguments] = {{"vectors", 128, 128, 1, 1 << 16},
                                                       {"kib", 28, 1024, 1, 1 << 20}};

struct point {
  float x, y, z;
};
static int vectors;
static size_t points;
static struct point** a;
static struct point** b;
static struct point** c;

static struct point initial(int vector, size_t at) {
  const int seed = vector * 7 + (int)(at % 1021);
  return (struct point){(float)(seed % 13), (float)(seed % 17), (float)(seed % 19)};
}

static struct point cross(struct point p, struct point q) {
  return (struct point){p.y * q.z - p.z * q.y, p.z * q.x - p.x * q.z, p.x * q.y - p.y * q.x};
}

static void prepare(void) {
  vectors = (int)arguments[0].value;
  points = (size_t)arguments[1].value * 1024 / sizeof(struct point);
  a = malloc((size_t)vectors * sizeof(*a));
  b = malloc((size_t)vectors * sizeof(*b));
  c = malloc((size_t)vectors * sizeof(*c));
  if (a == NULL || b == NULL || c == NULL) las_fail("no memory");
  for (int i = 0; i < vectors; ++i) {
    a[i] = las_malloc(points * sizeof(struct point));
    b[i] = las_malloc(points * sizeof(struct point));
    c[i] = las_malloc(points * sizeof(struct point));
    for (size_t at = 0; at < points; ++at) {
      a[i][at] = initial(2 * i, at);
      b[i][at] = initial(2 * i + 1, at + 1);
      c[i][at] = (struct point){-1, -1, -1};
    }
  }
}

static void plan(void) {
  for (int i = 0; i < vectors; ++i) las_plan((struct las_task){.weight = 1, .i = i});
}

static void create(struct las_task task) {
  struct point *left = a[task.i], *right = b[task.i], *product = c[task.i];
#pragma omp task firstprivate(task) depend(in : left[0 : points], right[0 : points]) \
    depend(out : product[0 : points])
  las_run(task);
}

static void run(struct las_task task) {
  const struct point* left = a[task.i];
  const struct point* right = b[task.i];
  struct point* product = c[task.i];
  const size_t count = points;
  for (size_t at = 0; at < count; ++at) product[at] = cross(left[at], right[at]);
}

static void touches(const struct las_task* task) {
  las_touches(a[task->i], points * sizeof(struct point), 0);
  las_touches(b[task->i], points * sizeof(struct point), 0);
  las_touches(c[task->i], points * sizeof(struct point), 0);
}

static void check(void) {
  for (int i = 0; i < vectors; ++i) {
    for (size_t at = 0; at < points; ++at) {
      const struct point right = cross(initial(2 * i, at), initial(2 * i + 1, at + 1));
      if (c[i][at].x != right.x || c[i][at].y != right.y || c[i][at].z != right.z) las_fail("wrong result");
    }
  }
}

static void release(void) {
  for (int i = 0; i < vectors; ++i) {
    las_free(a[i]);
    las_free(b[i]);
    las_free(c[i]);
  }
  free(a);
  free(b);
  free(c);
}

int main(int argc, char** argv) {
  return las_main(
      argc, argv,
      &(struct las_benchmark){"vecmul", arguments, prepare, plan, create, run, touches, check, release});
}
