// The model of the pretended machine: how long bytes take. Read once, before there are threads.
#pragma once

#include <stdint.h>

enum { kMostNodes = 16, kMostLinks = 64 };

struct model {
  double dilation;
  int nodes, cores;                     // cores of each node
  double in_flight, strided_in_flight;  // lines
  double overlap;                       // 0 to 1: how much of the shorter of computing and waiting the longer one hides
  double clock_ghz;
  double remote_occupancy, write_occupancy;
  double read_ns[kMostNodes][kMostNodes], write_ns[kMostNodes][kMostNodes];
  double node_gbs, coherence_gbs;  // 0: no limit
  int links;
  double link_gbs[kMostLinks];
  int route_length[kMostNodes][kMostNodes];
  int route[kMostNodes][kMostNodes][kMostLinks];  // from the first to the second
  double call_us, page_us;                        // of moving pages
};
extern struct model model;

void model_read(const char* file);
