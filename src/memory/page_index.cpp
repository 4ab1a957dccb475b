// See page_index.h.
//
// Orders: a table is filled before its address is stored with release, and read after that was loaded with acquire. An
// entry's number is cleared with release after the table below it was published, and a reader that finds no number
// (acquire) therefore finds the table.
#include "memory/page_index.h"

#include <algorithm>

#include <sys/mman.h>

#include "base/assert.h"
#include "memory/homes.h"

namespace hearth::memory {

struct PageIndex::Leaf {
  std::atomic<Id> at[kEntries];
};

namespace {

// Zeroed memory for tables, never given back; cut from chunks, since a system call for each would cost more than all
// else. Under the writers' lock.
constexpr std::size_t kChunk = std::size_t{1} << 20;
char* chunk_at = nullptr;
std::size_t chunk_left = 0;

void* cut(std::size_t bytes) {
  if (chunk_left < bytes) {
    void* memory = mmap(nullptr, kChunk, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return nullptr;
    chunk_at = static_cast<char*>(memory);
    chunk_left = kChunk;
  }
  void* memory = chunk_at;
  chunk_at += bytes;
  chunk_left -= bytes;
  return memory;
}

}  // namespace

PageIndex::Id PageIndex::find(std::uint64_t address) const {
  const std::uint64_t page = address / kPage;
  if (page >> (kBits * kLevels) != 0) return 0;
  const Table* table = &root_;
  for (int level = kLevels - 1; level > 0; --level) {
    const Entry& entry = table->at[page >> (kBits * level) & (kEntries - 1)];
    if (const Id id = entry.id.load(std::memory_order_acquire); id != 0) return id;
    table = entry.below.load(std::memory_order_acquire);
    if (table == nullptr) return 0;
  }
  return reinterpret_cast<const Leaf*>(table)->at[page & (kEntries - 1)].load(std::memory_order_acquire);
}

bool PageIndex::set(placement::ByteRange pages, Id id) {
  HEARTH_ASSERT(pages.begin % kPage == 0 && pages.end % kPage == 0 && pages.bytes() != 0, "pages %#zx to %#zx",
                std::size_t{pages.begin}, std::size_t{pages.end});
  return set_in(root_, kLevels - 1, pages.begin / kPage, pages.end / kPage - 1, id);
}

PageIndex::Table* PageIndex::new_table(int level, Id id) {
  // `level`: whose entry it hangs below.
  if (level == 1) {
    auto* leaf = static_cast<Leaf*>(cut(sizeof(Leaf)));
    if (leaf == nullptr) return nullptr;
    for (auto& one : leaf->at) one.store(id, std::memory_order_relaxed);
    return reinterpret_cast<Table*>(leaf);
  }
  auto* table = static_cast<Table*>(cut(sizeof(Table)));
  if (table == nullptr) return nullptr;
  for (auto& one : table->at) one.id.store(id, std::memory_order_relaxed);
  return table;
}

// Makes the entry's number stand in the entries of a table below it.
bool PageIndex::open_up(Entry& entry, int level) {
  const Id id = entry.id.load(std::memory_order_relaxed);
  Table* below = entry.below.load(std::memory_order_relaxed);
  if (below == nullptr) {
    below = new_table(level, id);
    if (below == nullptr) return false;
    entry.below.store(below, std::memory_order_release);
  } else if (id != 0) {
    if (level == 1)
      for (auto& one : reinterpret_cast<Leaf*>(below)->at) one.store(id, std::memory_order_relaxed);
    else
      for (auto& one : below->at) one.id.store(id, std::memory_order_relaxed);
  }
  if (id != 0) entry.id.store(0, std::memory_order_release);
  return true;
}

void PageIndex::wipe(Table* table, int level) {
  if (level == 1) {
    for (auto& one : reinterpret_cast<Leaf*>(table)->at) one.store(0, std::memory_order_relaxed);
    return;
  }
  for (auto& one : table->at) {
    one.id.store(0, std::memory_order_relaxed);
    if (Table* below = one.below.load(std::memory_order_relaxed)) wipe(below, level - 1);
  }
}

bool PageIndex::set_in(Table& table, int level, std::uint64_t first, std::uint64_t last, Id id) {
  const int shift = kBits * level;
  for (std::uint64_t slot = first >> shift; slot <= last >> shift; ++slot) {
    Entry& entry = table.at[slot & (kEntries - 1)];
    const std::uint64_t begin = slot << shift, end = begin + ((std::uint64_t{1} << shift) - 1);
    if (first <= begin && end <= last) {
      entry.id.store(id, std::memory_order_release);
      if (Table* below = entry.below.load(std::memory_order_relaxed)) wipe(below, level);
      continue;
    }
    if (entry.below.load(std::memory_order_relaxed) == nullptr && entry.id.load(std::memory_order_relaxed) == id) continue;
    if (!open_up(entry, level)) return false;
    Table* below = entry.below.load(std::memory_order_relaxed);
    const std::uint64_t from = std::max(first, begin), to = std::min(last, end);
    if (level == 1)
      set_leaf(*reinterpret_cast<Leaf*>(below), from, to, id);
    else if (!set_in(*below, level - 1, from, to, id))
      return false;
  }
  return true;
}

void PageIndex::set_leaf(Leaf& leaf, std::uint64_t first, std::uint64_t last, Id id) {
  for (std::uint64_t page = first; page <= last; ++page)
    leaf.at[page & (kEntries - 1)].store(id, std::memory_order_release);
}

PageIndex::Id PageIndex::first_in(placement::ByteRange pages) const {
  return first_below(root_, kLevels - 1, pages.begin / kPage, (pages.end - 1) / kPage);
}

PageIndex::Id PageIndex::first_below(const Table& table, int level, std::uint64_t first, std::uint64_t last) {
  const int shift = kBits * level;
  for (std::uint64_t slot = first >> shift; slot <= last >> shift; ++slot) {
    const Entry& entry = table.at[slot & (kEntries - 1)];
    if (const Id id = entry.id.load(std::memory_order_relaxed); id != 0) return id;
    const Table* below = entry.below.load(std::memory_order_relaxed);
    if (below == nullptr) continue;
    const std::uint64_t begin = slot << shift, end = begin + ((std::uint64_t{1} << shift) - 1);
    const std::uint64_t from = std::max(first, begin), to = std::min(last, end);
    if (level > 1) {
      if (const Id id = first_below(*below, level - 1, from, to); id != 0) return id;
      continue;
    }
    for (std::uint64_t page = from; page <= to; ++page)
      if (const Id id = reinterpret_cast<const Leaf*>(below)->at[page & (kEntries - 1)].load(std::memory_order_relaxed);
          id != 0)
        return id;
  }
  return 0;
}

}  // namespace hearth::memory
