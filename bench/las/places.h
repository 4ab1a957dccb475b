// Where threads and pages are, and how far nodes are from each other, asked of the kernel: any runtime, no
// libraries. Called by one thread at a time, but for place_of_thread().
#pragma once

#include <stddef.h>

enum { kPlacesMostNodes = 64 };

/// How many nodes the kernel numbers: the highest + 1; 1 where it tells none.
int places_nodes(void);
/// As the firmware tells it: 10 is local.
int places_distance(int from, int to);
/// The node on whose CPU the calling thread runs.
int place_of_thread(void);
/// Adds, for each page of the range that has a home, its part of `amount` to at[home].
void places_of_range(const void* begin, size_t bytes, double amount, double* at);
/// All memory of the process that nothing else places from now on goes page by page round all nodes, as
/// numactl
/// --interleave=all does it. False when the kernel refuses.
int places_interleave(void);
