// What a compiled program carries for the support library: a record for each place that creates threads, and,
// where the link
// saw the whole program, the plan for all of them. The pass and the link step write these as data; keep them in step
// (pass/insert.cpp, link/plan_object.cpp).
//
// Plans are constant. A site is written by the support library alone: `created` by any thread that creates there
// (relaxed;
// a count, nothing hangs on it).
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { HEARTH_BTLP_VERSION = 2 };

/// Answers that are given when the program runs (analysis/gaps.h); 0 is what we have decided.
enum {
  HEARTH_BTLP_SEAT_IS_THREAD = 1,   // seat=thread
  HEARTH_BTLP_TURN_BY_CORE = 2,     // turn=cores
  HEARTH_BTLP_TIES_TO_FIRST = 4,    // ties=first
};

/// One thread of the program, in order of creation.
struct hearth_btlp_entry {
  const char* site;     // the key of its creation
  const char* routine;  // for people
  double load;          // estimated operations of one instance
  int32_t set;          // side-by-side threads that share data have one number; -1: none
  uint8_t type;         // Class: 0 autonomous, 1 side-by-side, 2 postponed, 3 unknown
  uint8_t many;         // more than one instance
  uint8_t after;        // it gets its CPUs behind its creation
  uint8_t unused;
};

struct hearth_btlp_plan {
  uint32_t version;
  uint32_t mode;  // Mode: 0 literal, 1 paper, 2 balanced
  uint32_t count;
  uint32_t sets;
  uint32_t rules;  // HEARTH_BTLP_SEAT_IS_THREAD and so on
  const struct hearth_btlp_entry* entries;
};

struct hearth_btlp_site {
  const char* key;
  const struct hearth_btlp_plan* plan;  // null: linked without the whole program in view; then what one file tells:
  uint32_t created;
  uint8_t type, many, mode, rules;
};

#ifdef __cplusplus
}
#endif
