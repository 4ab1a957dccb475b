// Managed blocks: which distribution a request gets, blocks with a region of their own, and finding the block of an address; see
// managed.h. Slabs are in managed_slabs.cpp, regions and the lock in managed_regions.cpp.
#include "memory/managed.h"

#include <cstring>

#include <algorithm>
#include <atomic>

#include "base/log.h"
#include "memory/block_events.h"
#include "memory/kernel_pages.h"
#include "memory/managed_regions.h"
#include "memory/managed_slabs.h"
#include "memory/page_policy.h"

namespace hearth::memory {
namespace {

using placement::BlockTable;
using placement::Distribution;
using placement::Kind;
using placement::kSlabClasses;
using placement::Layout;
using placement::Shape;
using placement::slab_class_for;

constinit std::atomic<std::uint64_t> coarse_blocks{0};

bool is_power_of_two(std::size_t n) { return n != 0 && (n & (n - 1)) == 0; }

struct KnownShape {
  Shape shape;
  KnownShape* next;
};
KnownShape* known_shapes = nullptr;  // for ever, since layouts point at them: one for each list of weights

const Shape* shape_for(const MemoryHomes& machine, const std::uint32_t* weights) {
  const Shape wanted = make_shape(machine.homes, weights);
  for (const KnownShape* known = known_shapes; known != nullptr; known = known->next)
    if (std::memcmp(&known->shape, &wanted, sizeof(Shape)) == 0) return &known->shape;
  auto* known = static_cast<KnownShape*>(take_spare(sizeof(KnownShape)));
  if (known == nullptr) return nullptr;
  known->shape = wanted;
  known->next = known_shapes;
  known_shapes = known;
  return &known->shape;
}

/// The unit of a large block: what owners change by.
std::size_t unit_for(const MemoryHomes& machine, const ManagedRequest& request) {
  if (machine.unit < kPage) return machine.unit;
  if (request.huge && request.size >= kHugePage) return kHugePage;
  // Blocked parts of many huge pages are nearly equal in huge pages too, and then keep them.
  const auto parts = static_cast<std::size_t>(machine.homes.count);
  if (request.what.kind == Kind::blocked && request.size >= parts * 8 * kHugePage) return kHugePage;
  return kPage;
}

void* allocate_region(const MemoryHomes& machine, const ManagedRequest& request, Location home,
                      std::uint32_t home_index, const Shape* shape) {
  const std::size_t unit = unit_for(machine, request);
  const std::size_t bytes = rounded_up(request.size, std::max(unit, kPage));
  const Kind kind = request.what.kind == Kind::coarse ? Kind::nearest : request.what.kind;
  std::size_t blocks = 0, block_bytes = 0;
  std::uint64_t begin = 0;
  RegionId id = 0;
  {
    Guard guard;
    if (kind == Kind::weighted && shape == nullptr) shape = shape_for(machine, request.what.weights);
    if (kind == Kind::weighted && shape == nullptr) return nullptr;
    void* table = nullptr;
    std::size_t table_bytes = 0;
    if (kind == Kind::custom) {
      if (request.what.owner == nullptr) return nullptr;
      // A part that is longer than the block is the block; any number may be asked for.
      block_bytes = rounded_up(std::clamp(request.what.block_bytes, unit, bytes), unit);
      blocks = (bytes + block_bytes - 1) / block_bytes;
      table_bytes = BlockTable::bytes_needed(blocks, machine.homes);
      table = take_spare(table_bytes);
      if (table == nullptr) return nullptr;
    }
    id = take_region(bytes, request.alignment, begin);
    if (id == 0) {
      give_spare(table, table_bytes);
      return nullptr;
    }
    ManagedRegion& region = regions[id];
    region.block_bytes = bytes;
    region.count = 1;
    region.what = request.what;
    region.what.kind = kind;
    region.what.weights = nullptr;
    region.home = home;
    region.home_index = home_index;
    region.shape = shape;
    region.huge = request.huge;
    region.site = request.site;
    region.site_kind = request.what.kind;
    region.used.store(false, std::memory_order_relaxed);
    region.block_table = table;
    region.block_table_bytes = table_bytes;
  }
  ManagedRegion& region = regions[id];
  if (!commit(begin, bytes)) {
    forget_region(id);
    return nullptr;
  }
  BlockTable table;
  if (kind == Kind::custom) table = BlockTable(region.block_table, request.what, machine.homes, blocks, block_bytes);
  Distribution what = request.what;
  what.kind = kind;
  Layout layout = lay_out(what, {begin, bytes, unit, home, 0}, machine.homes, shape_of(machine, what.kind), shape,
                          table);
  if (kind == Kind::weighted) layout.grain = weighted_grain(*shape, bytes, unit, request.most_pieces);
  if (apply_layout(machine, layout, begin, bytes, request.huge)) {
    Guard guard;
    owner_table.change(id, layout);
  }
  region.single.tag.store(request.tag, std::memory_order_relaxed);
  region.single.size.store(request.size, std::memory_order_relaxed);
  region.blocks.store(&region.single, std::memory_order_release);  // pairs with block_at()
  return pointer(begin);
}

void* allocate_at(const MemoryHomes& machine, const ManagedRequest& request, Location home, std::uint32_t home_index,
                  const Shape* shape) {
  return fits_slab(request) ? allocate_in_slab(machine, request, home, home_index)
                            : allocate_region(machine, request, home, home_index, shape);
}

bool is_legal(const ManagedRequest& request) {
  // Far below what rounding up could overflow.
  constexpr std::size_t kMost = std::size_t{1} << 60;
  return request.size != 0 && request.size < kMost && is_power_of_two(request.alignment) && request.alignment < kMost;
}

std::uint32_t index_of(const MemoryHomes& machine, Location home) {
  for (std::int32_t h = 0; h < machine.homes.count; ++h)
    if (machine.homes.at[h] == home) return static_cast<std::uint32_t>(h);
  return 0;
}

}  // namespace

bool reserve_managed_range() { return reserve_range(); }

constinit std::atomic<BlockObserver> block_observer{nullptr};
constinit thread_local const void* allocating_for __attribute__((tls_model("initial-exec"))) = nullptr;

namespace {

[[gnu::cold]] void tell(const BlockNote& note) {
  // Relaxed: set before the program's first region, and never called for what came before.
  if (const BlockObserver observer = block_observer.load(std::memory_order_relaxed)) observer(note);
}

bool is_observed(std::uintptr_t tag) {
  return HEARTH_UNLIKELY(block_observer.load(std::memory_order_relaxed) != nullptr) && tag != kTagOfMalloc;
}

void* told(void* block, const ManagedRequest& request) {
  if (block != nullptr && is_observed(request.tag)) tell({block, request.size, request.what.kind, allocating_for});
  return block;
}

}  // namespace

namespace {

/// The home of the next coarse allocation: whole allocations take turns, whoever makes them.
std::uint32_t next_coarse_home(const MemoryHomes& machine) {
  const std::uint64_t ticket = coarse_blocks.fetch_add(1, std::memory_order_relaxed);
  return static_cast<std::uint32_t>(ticket % static_cast<std::uint64_t>(machine.homes.count));
}

}  // namespace

bool distribute_mapping(void* begin, std::size_t bytes, const Distribution& what, bool huge, std::size_t most_pieces) {
  const MemoryHomes& machine = memory_homes();
  if (machine.homes.count == 0 || what.kind == Kind::custom || what.kind == Kind::standard) return true;
  const auto at = reinterpret_cast<std::uintptr_t>(begin);
  const std::size_t unit = unit_for(machine, {.what = what, .size = bytes, .huge = huge});
  Location home = kUnknown;
  Distribution one = what;
  if (what.kind == Kind::coarse) {
    home = machine.homes.at[next_coarse_home(machine)];
    one.kind = Kind::nearest;
  }
  const Shape* shape = nullptr;
  if (what.kind == Kind::weighted) {
    Guard guard;
    shape = shape_for(machine, what.weights);
    if (shape == nullptr) return false;
  }
  Layout layout = lay_out(one, {at, rounded_up(bytes, kPage), unit, home, 0}, machine.homes, shape_of(machine, one.kind), shape, {});
  if (what.kind == Kind::weighted) layout.grain = weighted_grain(*shape, bytes, unit, most_pieces);
  return apply_layout(machine, layout, at, bytes, huge);
}

void* managed_allocate(const ManagedRequest& request) {
  const MemoryHomes& machine = memory_homes();
  if (!is_legal(request) || machine.homes.count == 0 || !reserve_range()) return nullptr;
  Location home = kUnknown;
  std::uint32_t home_index = 0;
  if (request.what.kind == Kind::coarse) {
    home_index = next_coarse_home(machine);
    home = machine.homes.at[home_index];
  } else if (request.what.kind == Kind::nearest) {
    const Location here = request.requester != kUnknown ? request.requester : location_here();
    home = here >= 0 && here < machine.locations ? machine.nearest[here] : machine.homes.at[0];
    home_index = index_of(machine, home);
  }
  return told(allocate_at(machine, request, home, home_index, nullptr), request);
}

std::size_t managed_block_bytes(const Distribution& what, std::size_t alignment, std::size_t size) {
  const ManagedRequest request{.what = what, .size = size, .alignment = alignment};
  if (!is_legal(request)) return SIZE_MAX;
  return fits_slab(request) ? kSlabClasses[slab_class_for(size, alignment)]
                            : rounded_up(size, std::max(unit_for(memory_homes(), request), kPage));
}

namespace {

/// The region and block of an address; null when it is in no block.
Block* find_block(const void* address, RegionId& id, std::uint32_t& index) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  id = owner_table.id_at(at);
  if (id == 0) return nullptr;
  ManagedRegion& region = regions[id];
  Block* blocks = region.blocks.load(std::memory_order_acquire);  // pairs with the store when the region is ready
  const std::uint64_t offset = at - region.begin;
  if (blocks == nullptr || region.block_bytes == 0 || offset >= region.bytes) return nullptr;
  index = static_cast<std::uint32_t>(offset / region.block_bytes);
  return index < region.count ? &blocks[index] : nullptr;
}

}  // namespace

bool block_at(const void* address, ManagedBlock& out) {
  RegionId id = 0;
  std::uint32_t index = 0;
  const Block* block = find_block(address, id, index);
  if (block == nullptr) return false;
  const ManagedRegion& region = regions[id];
  out.begin = static_cast<char*>(pointer(region.begin + index * region.block_bytes));
  out.size = block->size.load(std::memory_order_relaxed);
  out.capacity = region.block_bytes;
  out.tag = block->tag.load(std::memory_order_relaxed);
  out.kind = region.what.kind;
  out.in_slab = block != &region.single;
  out.site = region.site;
  out.site_kind = region.site_kind;
  return static_cast<const char*>(address) < out.begin + out.size;
}

bool first_use(const void* address) {
  RegionId id = 0;
  std::uint32_t index = 0;
  if (find_block(address, id, index) == nullptr) return false;
  return !regions[id].used.exchange(true, std::memory_order_relaxed);
}

void set_tag(void* block, std::uintptr_t tag) {
  RegionId id = 0;
  std::uint32_t index = 0;
  if (Block* found = find_block(block, id, index)) found->tag.store(tag, std::memory_order_relaxed);
}

void managed_release(void* block) {
  RegionId id = 0;
  std::uint32_t index = 0;
  Block* found = find_block(block, id, index);
  if (found == nullptr || found->size.load(std::memory_order_relaxed) == 0 ||
      pointer(regions[id].begin + index * regions[id].block_bytes) != block)
    fatal("freeing %p: not a block that Hearth has allocated, or freed before.", block);
  ManagedRegion& region = regions[id];
  if (is_observed(found->tag.load(std::memory_order_relaxed))) tell({.begin = block});
  if (found != &region.single) {
    release_to_slab(id, index);
    return;
  }
  decommit(region.begin, region.bytes);
  found->size.store(0, std::memory_order_relaxed);
  forget_region(id);
}

void* managed_resize(void* block, std::size_t size, std::size_t alignment) {
  RegionId id = 0;
  std::uint32_t index = 0;
  Block* found = find_block(block, id, index);
  if (found == nullptr || size == 0) return nullptr;
  ManagedRegion& region = regions[id];
  const std::size_t had = found->size.load(std::memory_order_relaxed);
  const bool aligned = is_power_of_two(alignment) && reinterpret_cast<std::uintptr_t>(block) % alignment == 0;
  // Stays while it fits and does not waste more than half.
  if (aligned && size <= region.block_bytes && (size >= region.block_bytes / 2 || size >= had)) {
    found->size.store(size, std::memory_order_relaxed);
    return block;
  }
  const ManagedRequest request{.what = region.what,
                               .size = size,
                               .alignment = alignment,
                               .tag = found->tag.load(std::memory_order_relaxed),
                               .huge = region.huge,
                               .own_pages = region.site != 0,
                               .site = region.site};
  if (!is_legal(request)) return nullptr;
  void* other = told(allocate_at(memory_homes(), request, region.home, region.home_index, region.shape), request);
  if (other == nullptr) return nullptr;
  std::memcpy(other, block, std::min(had, size));
  managed_release(block);
  return other;
}

}  // namespace hearth::memory
