// optimal_assignment() finds what trying all assignments finds, and keeps within the room of each node.
#include "../../bench/las/optimal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { kMostTasks = 7, kMostNodes = 4 };

static unsigned state = 1;
static unsigned draw(unsigned below) {
  state = state * 1664525u + 1013904223u;
  return (state >> 8) % below;
}

static double try_all(int task, int tasks, int nodes, const double* cost, int* room) {
  if (task == tasks) return 0;
  double least = INFINITY;
  for (int node = 0; node < nodes; ++node) {
    if (room[node] == 0) continue;
    --room[node];
    const double sum = cost[task * nodes + node] + try_all(task + 1, tasks, nodes, cost, room);
    ++room[node];
    if (sum < least) least = sum;
  }
  return least;
}

int main(void) {
  int impossible = 0;
  for (int round = 0; round < 3000; ++round) {
    const int tasks = (int)draw(kMostTasks) + 1;
    const int nodes = (int)draw(kMostNodes) + 1;
    double cost[kMostTasks * kMostNodes];
    int room[kMostNodes], left[kMostNodes], node_of[kMostTasks];
    for (int i = 0; i < tasks * nodes; ++i) cost[i] = draw(3) == 0 ? 0 : draw(20) / 4.0;
    for (int node = 0; node < nodes; ++node) left[node] = room[node] = (int)draw(4);
    const double least = try_all(0, tasks, nodes, cost, room);
    const int fits = optimal_assignment(tasks, nodes, cost, room, node_of);
    if (fits != isfinite(least)) {
      printf("round %d: says %d, the least is %g\n", round, fits, least);
      return 1;
    }
    impossible += !fits;
    if (!fits) continue;
    double sum = 0;
    for (int task = 0; task < tasks; ++task) {
      sum += cost[task * nodes + node_of[task]];
      if (--left[node_of[task]] < 0) {
        printf("round %d: node %d has too many\n", round, node_of[task]);
        return 1;
      }
    }
    if (fabs(sum - least) > 1e-6) {
      printf("round %d: %d tasks on %d nodes cost %g, could %g\n", round, tasks, nodes, sum, least);
      return 1;
    }
  }
  if (impossible == 0 || impossible == 3000) return 1;
  return 0;
}
