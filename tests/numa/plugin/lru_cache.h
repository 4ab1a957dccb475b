// SPDX-License-Identifier: GPL-2.0-or-later
//
// One cache of the plugins' machines, LRU, and the word by which caches stay coherent. Not synchronised.
//
// Every line has one word that names its last writer and a version, which goes up when a store takes the line away from
// somebody. A copy of an older version is stale.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { kMaxCpus = 64, kMaxNodes = 16, kLineShift = 6, kL1Ways = 8, kL2Ways = 8, kLlcWays = 16 };
// The word of a line: bits 0-6 the last writer's CPU + 1, bit 7 read by somebody else since, bits 8-31 version.
enum { kWriterMask = 0x7f, kReadByOthers = 0x80, kVersionShift = 8 };

// `sets` rows of `ways` entries, most recently used first.
struct entry {
  uint32_t line_plus_one;
  uint32_t version : 31;
  uint32_t dirty : 1;
};
struct cache {
  struct entry* entries;
  uint32_t sets;
  uint32_t ways;
};
struct found {
  bool present, stale, dirty;
};

/// False: the sets are no power of two, or there is no memory.
static inline bool make_cache(struct cache* cache, unsigned kib, uint32_t ways) {
  uint32_t sets = kib * 1024 / (1u << kLineShift) / ways;
  if (sets == 0 || (sets & (sets - 1)) != 0) return false;
  *cache = (struct cache){calloc((size_t)sets * ways, sizeof(struct entry)), sets, ways};
  return cache->entries != NULL;
}

static inline void empty_cache(struct cache* cache) {
  memset(cache->entries, 0, (size_t)cache->sets * cache->ways * sizeof(struct entry));
}

/// Looks for the line as it was before the access; afterwards it is there, most recently used, in its present version.
static inline struct found touch(struct cache* cache, uint32_t line, uint32_t before, uint32_t now, bool store) {
  struct entry* row = cache->entries + (size_t)(line & (cache->sets - 1)) * cache->ways;
  struct found found = {false, false, false};
  uint32_t way = 0;
  for (; way < cache->ways; ++way) {
    if (row[way].line_plus_one != line + 1) continue;
    found.present = row[way].version == before;
    found.stale = !found.present;
    found.dirty = found.present && row[way].dirty;
    break;
  }
  if (way == cache->ways) way = cache->ways - 1;  // the least recently used one leaves
  memmove(row + 1, row, way * sizeof *row);
  row[0] = (struct entry){line + 1, now, store || found.dirty};
  return found;
}

/// A line's word behind an access by `me`, which is a CPU + 1.
static inline uint32_t word_after(uint32_t before, uint32_t me, bool store) {
  uint32_t writer = before & kWriterMask;
  if (!store) return writer != me ? before | kReadByOthers : before;
  if (writer == me && (before & kReadByOthers) == 0) return before;
  return ((before >> kVersionShift) + 1) << kVersionShift | me;
}
