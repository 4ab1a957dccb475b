// The range of addresses that managed memory lies in, and what is known of its regions and blocks: shared by managed.cpp,
// managed_slabs.cpp and owner_check.cpp, and by nobody else.
//
// What is written here is guarded by the one lock of managed memory (Guard) unless it says otherwise; a block's own entry
// belongs to whoever owns the block. owner_table.h says how readers stay wait-free beside it.
#pragma once

#include <cstddef>
#include <cstdint>

#include <atomic>

#include <pthread.h>

#include "memory/homes.h"
#include "memory/managed.h"
#include "placement/distribution.h"
#include "placement/owner_table.h"

namespace hearth::memory {

using RegionId = placement::OwnerTable::RegionId;

/// What is known of one block.
struct Block {
  std::atomic<std::size_t> size;  // as asked for; 0: free. Read without the lock by block_at()
  std::atomic<std::uintptr_t> tag;
  static constexpr std::uintptr_t kUsedBefore = 1;  // in the tag of a free block: its bytes may not be zero
};

/// What is known of one region beside its layout. Type-stable, indexed by the region's id.
struct ManagedRegion {
  std::uint64_t begin;
  std::size_t bytes;
  std::size_t block_bytes;     // of a slab's blocks; of a single block its capacity
  std::uint32_t count;         // blocks
  std::uint32_t carved;        // slab: blocks from here on were never handed out
  std::atomic<Block*> blocks;  // null: nothing to be found here
  Block single;
  placement::Distribution what;  // as laid out: coarse and nearest have `home`
  Location home;
  std::uint32_t home_index;
  void* block_table;  // custom
  std::size_t block_table_bytes;
  const placement::Shape* shape;  // weighted
  bool huge;
  SiteId site;  // of a block of its own; constant while there are blocks
  placement::Kind site_kind;
  std::atomic<bool> used;  // first_use() has been true
};

/// By id; constant once reserve_range() has succeeded.
extern ManagedRegion* regions;

extern pthread_mutex_t managed_lock;

class Guard {
 public:
  Guard() { pthread_mutex_lock(&managed_lock); }
  ~Guard() { pthread_mutex_unlock(&managed_lock); }
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;
};

inline std::size_t rounded_up(std::size_t n, std::size_t to) { return (n + to - 1) / to * to; }
inline void* pointer(std::uint64_t address) { return reinterpret_cast<void*>(address); }

/// The cycle of homes by which units take turns: in rounds for `fine` and `interleaved`, else each once.
inline const placement::Shape* shape_of(const MemoryHomes& machine, placement::Kind kind) {
  return kind == placement::Kind::fine || kind == placement::Kind::interleaved ? &machine.rounds : &machine.equal;
}

/// Reserves the addresses; only the first call does anything. False: there are none (said once). Takes no lock.
bool reserve_range();

// Memory for bookkeeping: zeroed, powers of two, used again, never unmapped. With the lock held.
void* take_spare(std::size_t bytes);
void give_spare(void* memory, std::size_t bytes);

/// Enters a region for memory that is not committed yet; 0 when there is none left. With the lock held.
RegionId take_region(std::size_t bytes, std::size_t alignment, std::uint64_t& begin);
/// The region is gone, with its table of blocks. Takes the lock.
void forget_region(RegionId id);

/// Makes addresses of the range usable: new zeroed pages. False: no memory.
bool commit(std::uint64_t begin, std::size_t bytes);
/// Pages, policy and all are gone; the addresses stay reserved.
void decommit(std::uint64_t begin, std::size_t bytes);

}  // namespace hearth::memory
