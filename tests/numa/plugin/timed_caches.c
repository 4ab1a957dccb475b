// SPDX-License-Identifier: GPL-2.0-or-later
//
// See timed_caches.h. Also like llc_matrix.c, whose counts are exact since one thread runs all CPUs there.
#include "timed_caches.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct own {
  _Alignas(128) struct cache l1;
  struct cache l2;
  uint64_t last_virtual_line;
  _Atomic uint32_t* last_word;
  uint32_t last_value;
  bool last_dirty;
};

struct shared {
  _Alignas(128) pthread_mutex_t lock;
  struct cache cache;
};

struct cache_machine cache_machine;
static struct own own[kMaxCpus];
static struct shared llc[kMaxNodes];
static _Atomic uint32_t* words;
static uint64_t word_count;
static unsigned l1_kib = 32, l2_kib = 256, llc_kib = 2048;

static void need_cache(struct cache* cache, unsigned kib, uint32_t ways) {
  if (make_cache(cache, kib, ways)) return;
  fprintf(stderr, "timed_memory: no cache of %u KiB and %u ways\n", kib, ways);
  exit(3);
}

bool caches_take_word(const char* word, const double* numbers, int count) {
  if (strcmp(word, "cpus") == 0 && count <= kMaxCpus) {
    cache_machine.cpu_count = count;
    for (int i = 0; i < count; ++i) {
      cache_machine.node_of_cpu[i] = (int)numbers[i];
      if ((int)numbers[i] >= cache_machine.node_count) cache_machine.node_count = (int)numbers[i] + 1;
    }
  } else if (strcmp(word, "homes") == 0 && count <= kMaxNodes) {
    cache_machine.home_count = count;
    for (int i = 0; i < count; ++i) {
      cache_machine.homes[i] = (int)numbers[i];
      if ((int)numbers[i] >= cache_machine.node_count) cache_machine.node_count = (int)numbers[i] + 1;
    }
  } else if (strcmp(word, "mib") == 0 && count == 1) {
    // QEMU 7.2 adds the address of the memory region to the offset in the RAM block that already contains it.
    cache_machine.raw_bytes_per_home = 2 * (uint64_t)numbers[0] << 20;
  } else if (strcmp(word, "caches_kib") == 0 && count == 3) {
    l1_kib = (unsigned)numbers[0];
    l2_kib = (unsigned)numbers[1];
    llc_kib = (unsigned)numbers[2];
  } else {
    return false;
  }
  return true;
}

void caches_make(int cpu_count) {
  word_count = cache_machine.raw_bytes_per_home * (uint64_t)cache_machine.home_count >> kLineShift;
  words = mmap(NULL, word_count * sizeof *words, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
               -1, 0);
  if (cache_machine.cpu_count != cpu_count || word_count == 0 || words == MAP_FAILED) {
    fprintf(stderr, "timed_memory: the model has %d CPUs, the machine %d\n", cache_machine.cpu_count, cpu_count);
    exit(3);
  }
  for (int i = 0; i < cpu_count; ++i) {
    need_cache(&own[i].l1, l1_kib, kL1Ways);
    need_cache(&own[i].l2, l2_kib, kL2Ways);
  }
  for (int node = 0; node < cache_machine.node_count; ++node) {
    pthread_mutex_init(&llc[node].lock, NULL);
    need_cache(&llc[node].cache, llc_kib, kLlcWays);
  }
}

void caches_new_region(void) {
  for (int node = 0; node < cache_machine.node_count; ++node) {
    pthread_mutex_lock(&llc[node].lock);
    empty_cache(&llc[node].cache);
    pthread_mutex_unlock(&llc[node].lock);
  }
}

void caches_begin(unsigned cpu) {
  empty_cache(&own[cpu].l1);
  empty_cache(&own[cpu].l2);
  own[cpu].last_virtual_line = UINT64_MAX;
}

struct served caches_touch(unsigned cpu, uint64_t raw, bool store) {
  struct own* mine = &own[cpu];
  uint64_t wide_line = raw >> kLineShift;
  if (wide_line >= word_count) return (struct served){kByUpperCaches, 0, false};  // a device's memory
  uint32_t line = (uint32_t)wide_line;
  _Atomic uint32_t* word = &words[line];
  uint32_t before = atomic_load_explicit(word, memory_order_relaxed), after = word_after(before, cpu + 1, store);
  uint32_t writer = before & kWriterMask;
  if (after != before) atomic_store_explicit(word, after, memory_order_relaxed);
  uint32_t old_version = before >> kVersionShift, version = after >> kVersionShift;
  mine->last_word = word;
  mine->last_value = after;
  mine->last_dirty = store;

  // A store goes down until it finds the line dirty, and a new version to every level.
  bool renewed = version != old_version;
  struct found l1 = touch(&mine->l1, line, old_version, version, store);
  if (l1.present && !renewed && (!store || l1.dirty)) return (struct served){kByUpperCaches, 0, false};
  struct found l2 = touch(&mine->l2, line, old_version, version, store);
  bool upper = l1.present || l2.present;
  if (upper && !renewed && (!store || l2.dirty)) return (struct served){kByUpperCaches, 0, false};
  int node = cache_machine.node_of_cpu[cpu];
  pthread_mutex_lock(&llc[node].lock);
  struct found last = touch(&llc[node].cache, line, old_version, version, store);
  pthread_mutex_unlock(&llc[node].lock);
  int home = cache_machine.homes[raw / cache_machine.raw_bytes_per_home];
  if (upper) return (struct served){kByUpperCaches, home, store && !last.dirty};
  if (last.present) return (struct served){kByLlc, home, store && !last.dirty};
  if (last.stale && writer != 0) return (struct served){kByOtherCache, cache_machine.node_of_cpu[writer - 1], false};
  return (struct served){kByMemory, home, store};
}

bool caches_same_line(unsigned cpu, uint64_t virtual_line, bool store) {
  const struct own* mine = &own[cpu];
  return virtual_line == mine->last_virtual_line && (!store || mine->last_dirty) &&
         atomic_load_explicit(mine->last_word, memory_order_relaxed) == mine->last_value;
}

void caches_was_line(unsigned cpu, uint64_t virtual_line) { own[cpu].last_virtual_line = virtual_line; }
