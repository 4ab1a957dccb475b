// See managed_slabs.h.
#include "memory/managed_slabs.h"

#include <cstring>

#include <algorithm>

#include <sys/mman.h>

#include "base/assert.h"
#include "memory/kernel_pages.h"
#include "memory/page_policy.h"

namespace hearth::memory {
namespace {

using placement::Kind;
using placement::kMaxLocations;
using placement::kSlabClassCount;
using placement::kSlabClasses;
using placement::Layout;
using placement::slab_class_for;

/// Freed blocks from here on give their pages back at once, as the C library's large blocks do.
constexpr std::size_t kGivesPagesBack = 16 * kPage;

/// Blocks of one size with the same policy.
struct SizeList {
  RegionId slab = 0;  // where new blocks are carved
  std::uint32_t slabs = 0;
  // Free blocks are chained through a vector of their numbers: region << 32 | index. The blocks themselves
  // are not touched, their pages may have gone back.
  std::uint64_t* free = nullptr;
  std::size_t free_count = 0, free_room = 0;
};

/// All slabs with one policy: one for each home, and the last for blocks that are spread unit by unit.
struct Zone {
  SizeList sizes[kSlabClassCount];
};
constexpr int kSpreadZone = kMaxLocations;
Zone zones[kMaxLocations + 1];

/// A new slab, with the lock held; 0 when there is no memory.
RegionId make_slab(const MemoryHomes& machine, SizeList& list, std::size_t block_bytes, Kind kind,
                   std::uint32_t home_index) {
  const std::size_t bytes = placement::slab_bytes(block_bytes, list.slabs);
  const auto count = static_cast<std::uint32_t>(bytes / block_bytes);
  auto* blocks = static_cast<Block*>(take_spare(count * sizeof(Block)));
  std::uint64_t begin = 0;
  const RegionId id = blocks == nullptr ? 0 : take_region(bytes, 1, begin);
  if (id == 0) {
    give_spare(blocks, count * sizeof(Block));
    return 0;
  }
  const bool spread = kind == Kind::fine;
  ManagedRegion& region = regions[id];
  region.block_bytes = block_bytes;
  region.count = count;
  region.carved = 0;
  region.what = {.kind = kind};
  region.home = spread ? kUnknown : machine.homes.at[home_index];
  region.home_index = home_index;
  region.huge = false;
  const Layout layout = lay_out({.kind = spread ? Kind::fine : Kind::nearest},
                                {begin, bytes, machine.unit, region.home, 0}, machine.homes, shape_of(machine, kind),
                                nullptr, {});
  if (!commit(begin, bytes)) {
    owner_table.remove(id);
    give_spare(blocks, count * sizeof(Block));
    return 0;
  }
  if (apply_layout(machine, layout, begin, bytes, false)) owner_table.change(id, layout);
  region.blocks.store(blocks, std::memory_order_release);  // pairs with block_at()
  ++list.slabs;
  return id;
}

/// Room for one more free block, with the lock held; without it the block is lost.
bool make_room(SizeList& list) {
  if (list.free_count < list.free_room) return true;
  const std::size_t room = list.free_room == 0 ? 64 : 2 * list.free_room;
  auto* larger = static_cast<std::uint64_t*>(take_spare(room * sizeof(std::uint64_t)));
  if (larger == nullptr) return false;
  if (list.free_count > 0) std::memcpy(larger, list.free, list.free_count * sizeof(std::uint64_t));
  give_spare(list.free, list.free_room * sizeof(std::uint64_t));
  list.free = larger;
  list.free_room = room;
  return true;
}

[[maybe_unused]] bool is_listed(const SizeList& list, std::uint64_t number) {
  return std::find(list.free, list.free + list.free_count, number) != list.free + list.free_count;
}

}  // namespace

bool fits_slab(const ManagedRequest& request) {
  const Kind kind = request.what.kind;
  const bool of_one_policy = kind == Kind::coarse || kind == Kind::nearest || kind == Kind::fine ||
                             kind == Kind::interleaved;
  return of_one_policy && !request.own_pages && request.size <= kLargestInSlab && slab_class_for(request.size, request.alignment) >= 0;
}

void* allocate_in_slab(const MemoryHomes& machine, const ManagedRequest& request, Location home,
                       std::uint32_t home_index) {
  const int size_class = slab_class_for(request.size, request.alignment);
  const std::size_t block_bytes = kSlabClasses[size_class];
  const bool spread = home == kUnknown;
  SizeList& list = zones[spread ? kSpreadZone : home].sizes[size_class];
  ManagedRegion* region = nullptr;
  std::uint32_t index = 0;
  bool used_before = false;
  {
    Guard guard;
    if (list.free_count > 0) {
      const std::uint64_t number = list.free[--list.free_count];
      region = &regions[number >> 32];
      index = static_cast<std::uint32_t>(number);
    } else {
      if (list.slab == 0 || regions[list.slab].carved == regions[list.slab].count) {
        const RegionId slab = make_slab(machine, list, block_bytes, spread ? Kind::fine : Kind::nearest, home_index);
        if (slab == 0) return nullptr;
        list.slab = slab;
      }
      region = &regions[list.slab];
      index = region->carved++;
    }
    HEARTH_ASSERT(index < region->carved && region->carved <= region->count, "block %u of %u, of which %u were carved",
                  index, region->count, region->carved);
    Block& block = region->blocks.load(std::memory_order_relaxed)[index];
    HEARTH_ASSERT(block.size.load(std::memory_order_relaxed) == 0, "block %u is handed out, and has %zu bytes in use",
                  index, block.size.load(std::memory_order_relaxed));
    used_before = (block.tag.load(std::memory_order_relaxed) & Block::kUsedBefore) != 0;
    block.tag.store(request.tag, std::memory_order_relaxed);
    block.size.store(request.size, std::memory_order_relaxed);
  }
  void* memory = pointer(region->begin + index * block_bytes);
  if (request.zeroed && used_before) std::memset(memory, 0, request.size);
  return memory;
}

void release_to_slab(RegionId id, std::uint32_t index) {
  ManagedRegion& region = regions[id];
  Block& block = region.blocks.load(std::memory_order_relaxed)[index];
  const std::size_t bytes = region.block_bytes;
  bool dirty = true;
  // The pages go back, and with them whatever has moved them: the next owner's come from where the policy
  // says.
  if (bytes >= kGivesPagesBack) dirty = madvise(pointer(region.begin + index * bytes), bytes, MADV_DONTNEED) != 0;
  const bool spread = region.home == kUnknown;
  Guard guard;
  block.size.store(0, std::memory_order_relaxed);
  block.tag.store(dirty ? Block::kUsedBefore : 0, std::memory_order_relaxed);
  SizeList& list = zones[spread ? kSpreadZone : region.home].sizes[slab_class_for(bytes, 1)];
  HEARTH_ASSERT(list.free_count <= list.free_room, "%zu free blocks in room for %zu", list.free_count, list.free_room);
  HEARTH_ASSERT_STRUCTURE(!is_listed(list, std::uint64_t{id} << 32 | index), "block %u of region %u is free already",
                          index, id);
  if (make_room(list)) list.free[list.free_count++] = std::uint64_t{id} << 32 | index;
}

}  // namespace hearth::memory
