// A minimum-cost flow from tasks to nodes. Tasks join one by one; each takes the cheapest path to a node with
// room, on which it may push tasks that stand already from node to node. After each step the assignment is
// the cheapest of the tasks so far: shortest augmenting paths keep the residual network free of negative
// cycles. O(tasks² · nodes), and nodes are few.
#include "optimal.h"

#include <float.h>
#include <stdlib.h>

enum { kMostNodes = 64 };

struct flow {
  int nodes;
  const double* cost;
  int* node_of;
  int* standing;  // the tasks that stand at each node: `tasks` slots per node
  int slots;
  int count[kMostNodes];
};

static double of(const struct flow* flow, int task, int node) {
  return flow->cost[(size_t)task * (size_t)flow->nodes + (size_t)node];
}

static int* at(struct flow* flow, int node) { return flow->standing + (size_t)node * (size_t)flow->slots; }

static void put(struct flow* flow, int task, int node) {
  at(flow, node)[flow->count[node]++] = task;
  flow->node_of[task] = node;
}

static void take(struct flow* flow, int task) {
  const int node = flow->node_of[task];
  int* standing = at(flow, node);
  int slot = 0;
  while (standing[slot] != task) ++slot;
  standing[slot] = standing[--flow->count[node]];
}

static int add(struct flow* flow, int task, const int* most) {
  const int nodes = flow->nodes;
  static int mover[kMostNodes][kMostNodes];  // who moves most cheaply from a node to another
  static double step[kMostNodes][kMostNodes];
  for (int from = 0; from < nodes; ++from) {
    for (int to = 0; to < nodes; ++to) {
      step[from][to] = DBL_MAX;
      if (from == to || flow->count[from] < most[from]) continue;  // nobody has to leave where there is room
      for (int slot = 0; slot < flow->count[from]; ++slot) {
        const int who = at(flow, from)[slot];
        const double more = of(flow, who, to) - of(flow, who, from);
        if (more < step[from][to]) {
          step[from][to] = more;
          mover[from][to] = who;
        }
      }
    }
  }
  double least[kMostNodes];
  int before[kMostNodes];
  for (int node = 0; node < nodes; ++node) {
    least[node] = of(flow, task, node);
    before[node] = -1;
  }
  for (int round = 0; round < nodes; ++round) {
    for (int from = 0; from < nodes; ++from) {
      for (int to = 0; to < nodes; ++to) {
        // The small bound keeps rounding from closing a circle.
        if (step[from][to] == DBL_MAX || least[from] + step[from][to] >= least[to] - 1e-9) continue;
        least[to] = least[from] + step[from][to];
        before[to] = from;
      }
    }
  }
  int last = -1;
  for (int node = 0; node < nodes; ++node) {
    if (flow->count[node] < most[node] && (last < 0 || least[node] < least[last])) last = node;
  }
  if (last < 0) return 0;
  for (; before[last] >= 0; last = before[last]) {
    const int who = mover[before[last]][last];
    take(flow, who);
    put(flow, who, last);
  }
  put(flow, task, last);
  return 1;
}

int optimal_assignment(int tasks, int nodes, const double* cost, const int* most, int* node_of) {
  if (nodes > kMostNodes) return 0;
  struct flow flow = {.nodes = nodes, .cost = cost, .node_of = node_of, .slots = tasks + 1};
  flow.standing = malloc((size_t)nodes * (size_t)flow.slots * sizeof *flow.standing);
  if (flow.standing == NULL) return 0;
  int fits = 1;
  for (int task = 0; task < tasks && fits; ++task) fits = add(&flow, task, most);
  free(flow.standing);
  return fits;
}

int optimal_equal_part(int tasks, int here, int threads) { return (tasks * here + threads - 1) / threads; }
