// See managed_regions.h.
#include "memory/managed_regions.h"

#include <cerrno>
#include <cstring>

#include <algorithm>

#include <pthread.h>
#include <sys/mman.h>

#include "base/assert.h"
#include "base/log.h"
#include "memory/kernel_pages.h"
#include "memory/managed.h"

namespace hearth::memory {

constinit placement::OwnerTable owner_table;
constinit pthread_mutex_t managed_lock = PTHREAD_MUTEX_INITIALIZER;
constinit ManagedRegion* regions = nullptr;

namespace {

using placement::OwnerTable;

constexpr std::size_t kGranule = OwnerTable::kGranule;
constexpr std::size_t kMostManaged = std::size_t{16} << 40;
constexpr std::size_t kLeastManaged = std::size_t{1} << 30;

constinit pthread_once_t once = PTHREAD_ONCE_INIT;

/// Somebody has the lock: whoever asks, unless it has forgotten to take it.
[[maybe_unused]] bool is_locked() {
  if (pthread_mutex_trylock(&managed_lock) != 0) return true;
  pthread_mutex_unlock(&managed_lock);
  return false;
}

void* map_zeroed(std::size_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

struct Spare {
  Spare* next;
};
Spare* spares[48];
char* spare_at = nullptr;
std::size_t spare_left = 0;

int spare_class(std::size_t bytes) { return bytes <= 64 ? 6 : 64 - __builtin_clzll(bytes - 1); }

void before_fork() { pthread_mutex_lock(&managed_lock); }
void after_fork() { pthread_mutex_unlock(&managed_lock); }

void set_up() {
  std::size_t bytes = kMostManaged;
  void* base = MAP_FAILED;
  for (; bytes >= kLeastManaged; bytes /= 2) {
    // Aligned to huge pages: one granule more than is used.
    base = mmap(nullptr, bytes + kGranule, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base != MAP_FAILED) break;
  }
  void* table = nullptr;
  if (base != MAP_FAILED) {
    table = map_zeroed(OwnerTable::bytes_needed(bytes));
    regions = static_cast<ManagedRegion*>(map_zeroed((bytes / kGranule + 1) * sizeof(ManagedRegion)));
  }
  if (table == nullptr || regions == nullptr) {
    if (base != MAP_FAILED) munmap(base, bytes + kGranule);
    warn(
        "cannot reserve %zu MiB of address space (%s; see ulimit -v): data is not distributed; the operating system places it.",
        kLeastManaged >> 20, std::strerror(errno));
    return;
  }
  pthread_atfork(before_fork, after_fork, after_fork);
  owner_table.attach(table, rounded_up(reinterpret_cast<std::uintptr_t>(base), kGranule), bytes);
}

}  // namespace

void* take_spare(std::size_t bytes) {
  constexpr std::size_t kChunk = std::size_t{1} << 20;
  HEARTH_ASSERT(is_locked(), "%zu bytes of bookkeeping are taken without the lock", bytes);
  const int size_class = spare_class(bytes);
  const std::size_t size = std::size_t{1} << size_class;
  if (Spare* spare = spares[size_class]) {
    spares[size_class] = spare->next;
    return std::memset(static_cast<void*>(spare), 0, size);
  }
  if (size > kChunk / 4) return map_zeroed(size);
  if (spare_left < size) {
    // The rest of the old chunk is lost; it is less than a quarter.
    char* chunk = static_cast<char*>(map_zeroed(kChunk));
    if (chunk == nullptr) return nullptr;
    spare_at = chunk;
    spare_left = kChunk;
  }
  void* memory = spare_at;
  spare_at += size;
  spare_left -= size;
  return memory;
}

void give_spare(void* memory, std::size_t bytes) {
  if (memory == nullptr) return;
  HEARTH_ASSERT(is_locked(), "%zu bytes of bookkeeping are given back without the lock", bytes);
  auto* spare = static_cast<Spare*>(memory);
  const int size_class = spare_class(bytes);
  spare->next = spares[size_class];
  spares[size_class] = spare;
}

bool reserve_range() {
  pthread_once(&once, set_up);
  return owner_table.size() != 0;
}

bool commit(std::uint64_t begin, std::size_t bytes) {
  return mmap(pointer(begin), bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) !=
         MAP_FAILED;
}

void decommit(std::uint64_t begin, std::size_t bytes) {
  if (mmap(pointer(begin), bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) ==
      MAP_FAILED)
    madvise(pointer(begin), bytes, MADV_DONTNEED);  // too many mappings: at least the pages
}

RegionId take_region(std::size_t bytes, std::size_t alignment, std::uint64_t& begin) {
  HEARTH_ASSERT(is_locked(), "a region of %zu bytes is entered without the lock", bytes);
  const std::size_t extra = alignment > kGranule ? alignment / kGranule - 1 : 0;
  begin = owner_table.find_free(rounded_up(bytes, kGranule) / kGranule + extra);
  if (begin == 0) return 0;
  begin = rounded_up(begin, std::max(alignment, kGranule));
  const RegionId id = owner_table.enter({begin, begin + bytes, {}});
  if (id != 0) {
    ManagedRegion& region = regions[id];
    region.begin = begin;
    region.bytes = bytes;
    region.site = 0;
  }
  return id;
}

void forget_region(RegionId id) {
  Guard guard;
  ManagedRegion& region = regions[id];
  region.blocks.store(nullptr, std::memory_order_relaxed);
  owner_table.remove(id);
  give_spare(region.block_table, region.block_table_bytes);
  region.block_table = nullptr;
}

}  // namespace hearth::memory
