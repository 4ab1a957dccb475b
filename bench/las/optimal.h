// The best assignment of tasks to nodes under equal balance: the least sum of costs when no node gets more
// tasks of a kind than `most`. One call at a time.
#pragma once

/// cost[task * nodes + node]; node_of[task] is the answer. False: the tasks do not fit, or there is no
/// memory.
int optimal_assignment(int tasks, int nodes, const double* cost, const int* most, int* node_of);
/// The `most` of a node that has `here` of the threads: its equal part of the tasks, rounded up.
int optimal_equal_part(int tasks, int here, int threads);
