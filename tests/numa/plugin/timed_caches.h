// SPDX-License-Identifier: GPL-2.0-or-later
//
// Caches for timed_memory.c: an L1 and an L2 for each virtual CPU, and a last-level cache for each node, all LRU; who
// serves a line, and whether it will have to go back to memory.
//
// A CPU's own caches belong to its thread; a last-level cache has a lock. Every line of memory has a word (lru_cache.h): the
// cache of the last writer serves who has a stale copy. Words are atomic; of two accesses that race one may go unnoticed.
#pragma once

#include "lru_cache.h"
#include "qemu_plugin_api.h"

enum by_whom { kByUpperCaches, kByLlc, kByOtherCache, kByMemory };
struct served {
  enum by_whom whom;
  int home;        // node of its memory; of the writer, if that one's cache serves it
  bool goes_back;  // it is dirty now and was not
};

extern struct cache_machine {
  int cpu_count;
  int node_count;
  int node_of_cpu[kMaxCpus];
  int home_count;
  int homes[kMaxNodes];
  uint64_t raw_bytes_per_home;
} cache_machine;

/// Words of the model that say what the machine looks like; false: none of them.
bool caches_take_word(const char* word, const double* numbers, int count);
void caches_make(int cpu_count);

/// All last-level caches are cold; the caches of each CPU are when its thread calls caches_begin().
void caches_new_region(void);
void caches_begin(unsigned cpu);

struct served caches_touch(unsigned cpu, uint64_t raw, bool store);
/// The line that this CPU touched last: touching it again changes nothing, and is not even looked up.
bool caches_same_line(unsigned cpu, uint64_t virtual_line, bool store);
void caches_was_line(unsigned cpu, uint64_t virtual_line);
