// Regions, slabs and blocks; see managed.h for what they are, and owner_table.h for how readers stay
// wait-free beside them. What is written here is guarded by `lock` unless it says otherwise; a block's own
// entry belongs to whoever owns the block.
#include "memory/managed.h"

#include <cerrno>
#include <cstring>

#include <algorithm>
#include <atomic>

#include <pthread.h>
#include <sys/mman.h>

#include "base/assert.h"
#include "base/log.h"
#include "memory/kernel_pages.h"
#include "memory/page_map.h"

namespace hearth::memory {

constinit placement::OwnerTable owner_table;

namespace {

using placement::Allocation;
using placement::BlockTable;
using placement::ByteRange;
using placement::Distribution;
using placement::Kind;
using placement::kMaxLocations;
using placement::kSlabClassCount;
using placement::kSlabClasses;
using placement::Layout;
using placement::OwnerTable;
using placement::Shape;
using placement::slab_class_for;

constexpr std::size_t kGranule = OwnerTable::kGranule;
constexpr std::size_t kMostManaged = std::size_t{16} << 40;
constexpr std::size_t kLeastManaged = std::size_t{1} << 30;
/// Freed blocks from here on give their pages back at once, as the C library's large blocks do.
constexpr std::size_t kGivesPagesBack = 16 * kPage;

/// What is known of one block.
struct Block {
  std::atomic<std::size_t> size;  // as asked for; 0: free. Read without the lock by block_at()
  std::atomic<std::uintptr_t> tag;
  static constexpr std::uintptr_t kUsedBefore = 1;  // in the tag of a free block: its bytes may not be zero
};

/// What is known of one region beside its layout. Type-stable, indexed by the region's id.
struct Extent {
  std::uint64_t begin;
  std::size_t bytes;
  std::size_t block_bytes;     // of a slab's blocks; of a single block its capacity
  std::uint32_t count;         // blocks
  std::uint32_t carved;        // slab: blocks from here on were never handed out
  std::atomic<Block*> blocks;  // null: nothing to be found here
  Block single;
  Distribution what;  // as laid out: coarse and nearest have `home`
  Location home;
  std::uint32_t home_index;
  void* block_table;  // custom
  std::size_t block_table_bytes;
  const Shape* shape;  // weighted
  bool huge;
};

/// Blocks of one size with the same policy.
struct SizeList {
  OwnerTable::RegionId slab = 0;  // where new blocks are carved
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

constinit pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
constinit pthread_once_t once = PTHREAD_ONCE_INIT;
Zone zones[kMaxLocations + 1];
Extent* extents = nullptr;  // constant after set_up()
constinit std::atomic<std::uint64_t> coarse_blocks{0};

struct Guard {
  Guard() { pthread_mutex_lock(&lock); }
  ~Guard() { pthread_mutex_unlock(&lock); }
};

/// Somebody has the lock: whoever asks, unless it has forgotten to take it.
[[maybe_unused]] bool is_locked() {
  if (pthread_mutex_trylock(&lock) != 0) return true;
  pthread_mutex_unlock(&lock);
  return false;
}

bool is_power_of_two(std::size_t n) { return n != 0 && (n & (n - 1)) == 0; }
std::size_t rounded_up(std::size_t n, std::size_t to) { return (n + to - 1) / to * to; }
void* pointer(std::uint64_t address) { return reinterpret_cast<void*>(address); }

void* map_zeroed(std::size_t bytes) {
  void* memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

// ---- memory for our own bookkeeping: zeroed, powers of two, used again, never unmapped

struct Spare {
  Spare* next;
};
Spare* spares[48];
char* spare_at = nullptr;
std::size_t spare_left = 0;

int spare_class(std::size_t bytes) { return bytes <= 64 ? 6 : 64 - __builtin_clzll(bytes - 1); }

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

// ---- the range of addresses

void before_fork() { pthread_mutex_lock(&lock); }
void after_fork() { pthread_mutex_unlock(&lock); }

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
    extents = static_cast<Extent*>(map_zeroed((bytes / kGranule + 1) * sizeof(Extent)));
  }
  if (table == nullptr || extents == nullptr) {
    if (base != MAP_FAILED) munmap(base, bytes + kGranule);
    warn(
        "no %zu MiB of address space can be reserved (%s; see ulimit -v): data is not distributed, its "
        "memory lies where "
        "the operating system puts it.",
        kLeastManaged >> 20, std::strerror(errno));
    return;
  }
  pthread_atfork(before_fork, after_fork, after_fork);
  owner_table.attach(table, rounded_up(reinterpret_cast<std::uintptr_t>(base), kGranule), bytes);
}

bool ready() {
  pthread_once(&once, set_up);
  return owner_table.size() != 0;
}

bool commit(std::uint64_t begin, std::size_t bytes) {
  return mmap(pointer(begin), bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
              0) != MAP_FAILED;
}

/// Pages, policy and all are gone; the addresses stay reserved.
void decommit(std::uint64_t begin, std::size_t bytes) {
  if (mmap(pointer(begin), bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
           0) == MAP_FAILED)
    madvise(pointer(begin), bytes, MADV_DONTNEED);  // too many mappings: at least the pages
}

// ---- telling the kernel

bool too_many_pieces(const Layout& layout, std::uint64_t begin, std::uint64_t end) {
  std::size_t pieces = 0;
  for (std::uint64_t at = begin; at < end && pieces <= kMostPieces; at = layout.run_end(at)) ++pieces;
  return pieces > kMostPieces;
}

bool bind_pieces(const MemoryHomes& machine, const Layout& layout, std::uint64_t begin, std::uint64_t end) {
  for (std::uint64_t at = begin, next; at < end; at = next) {
    next = std::min(end, layout.run_end(at));
    const Location owner = layout.owner(at);
    if (owner != kUnknown &&
        kernel::prefer(pointer(at), next - at, machine.node[owner]) != kernel::Outcome::done)
      return false;
  }
  return true;
}

bool populate_pieces(const MemoryHomes& machine, const Layout& layout, std::uint64_t begin,
                     std::uint64_t end) {
  kernel::ThreadPolicy policy;
  for (std::int32_t h = 0; h < machine.homes.count; ++h) {
    const Location home = machine.homes.at[h];
    if (policy.prefer(machine.node[home]) != kernel::Outcome::done) return false;
    for (std::uint64_t at = begin, next; at < end; at = next) {
      next = std::min(end, layout.run_end(at));
      if (layout.owner(at) == home) kernel::ThreadPolicy::populate(pointer(at), next - at);
    }
  }
  return true;
}

/// Makes the kernel do what the layout says, for pages that were just committed. False: the layout is not to
/// be believed.
bool place(const MemoryHomes& machine, const Layout& layout, std::uint64_t begin, std::size_t bytes,
           bool huge) {
  if (!machine.kernel_places || !machine.several()) return true;
  void* memory = pointer(begin);
  const std::size_t length = rounded_up(bytes, kPage);
  const bool divided = layout.form != Layout::Form::single;
  if (huge)
    madvise(memory, length, MADV_HUGEPAGE);
  else if (divided && layout.unit < kHugePage)
    madvise(memory, length, MADV_NOHUGEPAGE);  // fails only where there are no huge pages anyway
  if (layout.form == Layout::Form::single)
    return kernel::prefer(memory, length, machine.node[layout.single]) == kernel::Outcome::done;
  if (layout.form == Layout::Form::cyclic && layout.anchor == 0) {
    std::uint16_t nodes[kMaxLocations];
    std::int32_t count = 0;
    for (std::int32_t h = 0; h < machine.homes.count; ++h) nodes[count++] = machine.node[machine.homes.at[h]];
    return kernel::interleave(memory, length, nodes, count) == kernel::Outcome::done;
  }
  if (layout.form == Layout::Form::unknown) return true;
  return too_many_pieces(layout, begin, begin + length)
             ? populate_pieces(machine, layout, begin, begin + length)
             : bind_pieces(machine, layout, begin, begin + length);
}

// ---- slabs

const Shape* shape_of(const MemoryHomes& machine, Kind kind) {
  return kind == Kind::fine || kind == Kind::interleaved ? &machine.rounds : &machine.equal;
}

bool fits_slab(const Distribution& what) {
  return what.kind == Kind::coarse || what.kind == Kind::nearest || what.kind == Kind::fine ||
         what.kind == Kind::interleaved;
}

/// Enters a region for memory that is not committed yet; 0 when there is none left.
OwnerTable::RegionId take_region(std::size_t bytes, std::size_t alignment, std::uint64_t& begin) {
  HEARTH_ASSERT(is_locked(), "a region of %zu bytes is entered without the lock", bytes);
  const std::size_t extra = alignment > kGranule ? alignment / kGranule - 1 : 0;
  begin = owner_table.find_free(rounded_up(bytes, kGranule) / kGranule + extra);
  if (begin == 0) return 0;
  begin = rounded_up(begin, std::max(alignment, kGranule));
  const OwnerTable::RegionId id = owner_table.enter({begin, begin + bytes, {}});
  if (id != 0) {
    Extent& extent = extents[id];
    extent.begin = begin;
    extent.bytes = bytes;
  }
  return id;
}

/// A new slab, with the lock held; 0 when there is no memory.
OwnerTable::RegionId make_slab(const MemoryHomes& machine, SizeList& list, std::size_t block_bytes, Kind kind,
                               std::uint32_t home_index) {
  const std::size_t bytes = placement::slab_bytes(block_bytes, list.slabs);
  const auto count = static_cast<std::uint32_t>(bytes / block_bytes);
  auto* blocks = static_cast<Block*>(take_spare(count * sizeof(Block)));
  std::uint64_t begin = 0;
  const OwnerTable::RegionId id = blocks == nullptr ? 0 : take_region(bytes, 1, begin);
  if (id == 0) {
    give_spare(blocks, count * sizeof(Block));
    return 0;
  }
  const bool spread = kind == Kind::fine;
  Extent& extent = extents[id];
  extent.block_bytes = block_bytes;
  extent.count = count;
  extent.carved = 0;
  extent.what = {.kind = kind};
  extent.home = spread ? kUnknown : machine.homes.at[home_index];
  extent.home_index = home_index;
  extent.huge = false;
  const Layout layout =
      lay_out({.kind = spread ? Kind::fine : Kind::nearest}, {begin, bytes, machine.unit, extent.home, 0},
              machine.homes, shape_of(machine, kind), nullptr, {});
  if (!commit(begin, bytes)) {
    owner_table.remove(id);
    give_spare(blocks, count * sizeof(Block));
    return 0;
  }
  if (place(machine, layout, begin, bytes, false)) owner_table.change(id, layout);
  extent.blocks.store(blocks, std::memory_order_release);  // pairs with block_at()
  ++list.slabs;
  return id;
}

void* from_slab(const MemoryHomes& machine, const ManagedRequest& request, Location home,
                std::uint32_t home_index) {
  const int size_class = slab_class_for(request.size, request.alignment);
  const std::size_t block_bytes = kSlabClasses[size_class];
  const bool spread = home == kUnknown;
  SizeList& list = zones[spread ? kSpreadZone : home].sizes[size_class];
  Extent* extent = nullptr;
  std::uint32_t index = 0;
  bool used_before = false;
  {
    Guard guard;
    if (list.free_count > 0) {
      const std::uint64_t number = list.free[--list.free_count];
      extent = &extents[number >> 32];
      index = static_cast<std::uint32_t>(number);
    } else {
      if (list.slab == 0 || extents[list.slab].carved == extents[list.slab].count) {
        const OwnerTable::RegionId slab =
            make_slab(machine, list, block_bytes, spread ? Kind::fine : Kind::nearest, home_index);
        if (slab == 0) return nullptr;
        list.slab = slab;
      }
      extent = &extents[list.slab];
      index = extent->carved++;
    }
    HEARTH_ASSERT(index < extent->carved && extent->carved <= extent->count, "block %u of %u, of which %u were carved",
                  index, extent->count, extent->carved);
    Block& block = extent->blocks.load(std::memory_order_relaxed)[index];
    HEARTH_ASSERT(block.size.load(std::memory_order_relaxed) == 0, "block %u is handed out, and has %zu bytes in use",
                  index, block.size.load(std::memory_order_relaxed));
    used_before = (block.tag.load(std::memory_order_relaxed) & Block::kUsedBefore) != 0;
    block.tag.store(request.tag, std::memory_order_relaxed);
    block.size.store(request.size, std::memory_order_relaxed);
  }
  void* memory = pointer(extent->begin + index * block_bytes);
  if (request.zeroed && used_before) std::memset(memory, 0, request.size);
  return memory;
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

void release_to_slab(OwnerTable::RegionId id, std::uint32_t index) {
  Extent& extent = extents[id];
  Block& block = extent.blocks.load(std::memory_order_relaxed)[index];
  const std::size_t bytes = extent.block_bytes;
  bool dirty = true;
  // The pages go back, and with them whatever has moved them: the next owner's come from where the policy
  // says.
  if (bytes >= kGivesPagesBack)
    dirty = madvise(pointer(extent.begin + index * bytes), bytes, MADV_DONTNEED) != 0;
  const bool spread = extent.home == kUnknown;
  Guard guard;
  block.size.store(0, std::memory_order_relaxed);
  block.tag.store(dirty ? Block::kUsedBefore : 0, std::memory_order_relaxed);
  SizeList& list = zones[spread ? kSpreadZone : extent.home].sizes[slab_class_for(bytes, 1)];
  HEARTH_ASSERT(list.free_count <= list.free_room, "%zu free blocks in room for %zu", list.free_count, list.free_room);
  HEARTH_ASSERT_STRUCTURE(!is_listed(list, std::uint64_t{id} << 32 | index), "block %u of region %u is free already",
                          index, id);
  if (make_room(list)) list.free[list.free_count++] = std::uint64_t{id} << 32 | index;
}

// ---- blocks with a region of their own

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

void forget_region(OwnerTable::RegionId id) {
  Guard guard;
  Extent& extent = extents[id];
  extent.blocks.store(nullptr, std::memory_order_relaxed);
  owner_table.remove(id);
  give_spare(extent.block_table, extent.block_table_bytes);
  extent.block_table = nullptr;
}

void* with_own_region(const MemoryHomes& machine, const ManagedRequest& request, Location home,
                      std::uint32_t home_index, const Shape* shape) {
  const std::size_t unit = unit_for(machine, request);
  const std::size_t bytes = rounded_up(request.size, std::max(unit, kPage));
  const Kind kind = request.what.kind == Kind::coarse ? Kind::nearest : request.what.kind;
  std::size_t blocks = 0, block_bytes = 0;
  std::uint64_t begin = 0;
  OwnerTable::RegionId id = 0;
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
    Extent& extent = extents[id];
    extent.block_bytes = bytes;
    extent.count = 1;
    extent.what = request.what;
    extent.what.kind = kind;
    extent.what.weights = nullptr;
    extent.home = home;
    extent.home_index = home_index;
    extent.shape = shape;
    extent.huge = request.huge;
    extent.block_table = table;
    extent.block_table_bytes = table_bytes;
  }
  Extent& extent = extents[id];
  if (!commit(begin, bytes)) {
    forget_region(id);
    return nullptr;
  }
  BlockTable table;
  if (kind == Kind::custom)
    table = BlockTable(extent.block_table, request.what, machine.homes, blocks, block_bytes);
  Distribution what = request.what;
  what.kind = kind;
  Layout layout =
      lay_out(what, {begin, bytes, unit, home, 0}, machine.homes, shape_of(machine, what.kind), shape, table);
  if (kind == Kind::weighted) layout.grain = weighted_grain(*shape, bytes, unit, kMostPieces);
  if (place(machine, layout, begin, bytes, request.huge)) {
    Guard guard;
    owner_table.change(id, layout);
  }
  extent.single.tag.store(request.tag, std::memory_order_relaxed);
  extent.single.size.store(request.size, std::memory_order_relaxed);
  extent.blocks.store(&extent.single, std::memory_order_release);  // pairs with block_at()
  return pointer(begin);
}

void* allocate_at(const MemoryHomes& machine, const ManagedRequest& request, Location home,
                  std::uint32_t home_index, const Shape* shape) {
  const bool slab = fits_slab(request.what) && request.size <= kLargestInSlab &&
                    slab_class_for(request.size, request.alignment) >= 0;
  return slab ? from_slab(machine, request, home, home_index)
              : with_own_region(machine, request, home, home_index, shape);
}

bool is_legal(const ManagedRequest& request) {
  // Far below what rounding up could overflow.
  constexpr std::size_t kMost = std::size_t{1} << 60;
  return request.size != 0 && request.size < kMost && is_power_of_two(request.alignment) &&
         request.alignment < kMost;
}

std::uint32_t index_of(const MemoryHomes& machine, Location home) {
  for (std::int32_t h = 0; h < machine.homes.count; ++h)
    if (machine.homes.at[h] == home) return static_cast<std::uint32_t>(h);
  return 0;
}

}  // namespace

bool reserve_managed_range() { return ready(); }

void* managed_allocate(const ManagedRequest& request) {
  const MemoryHomes& machine = memory_homes();
  if (!is_legal(request) || machine.homes.count == 0 || !ready()) return nullptr;
  Location home = kUnknown;
  std::uint32_t home_index = 0;
  if (request.what.kind == Kind::coarse) {
    // A ticket for each allocation: whole allocations take turns, whoever makes them.
    const std::uint64_t ticket = coarse_blocks.fetch_add(1, std::memory_order_relaxed);
    home_index = static_cast<std::uint32_t>(ticket % static_cast<std::uint64_t>(machine.homes.count));
    home = machine.homes.at[home_index];
  } else if (request.what.kind == Kind::nearest) {
    const Location here = request.requester != kUnknown ? request.requester : location_here();
    home = here >= 0 && here < machine.locations ? machine.nearest[here] : machine.homes.at[0];
    home_index = index_of(machine, home);
  }
  return allocate_at(machine, request, home, home_index, nullptr);
}

std::size_t managed_footprint(const Distribution& what, std::size_t alignment, std::size_t size) {
  const ManagedRequest request{.what = what, .size = size, .alignment = alignment};
  if (!is_legal(request)) return SIZE_MAX;
  const int size_class = fits_slab(what) && size <= kLargestInSlab ? slab_class_for(size, alignment) : -1;
  return size_class >= 0 ? kSlabClasses[size_class]
                         : rounded_up(size, std::max(unit_for(memory_homes(), request), kPage));
}

namespace {

/// The region and block of an address; null when it is in no block.
Block* find_block(const void* address, OwnerTable::RegionId& id, std::uint32_t& index) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  id = owner_table.id_at(at);
  if (id == 0) return nullptr;
  Extent& extent = extents[id];
  Block* blocks =
      extent.blocks.load(std::memory_order_acquire);  // pairs with the store when the region is ready
  const std::uint64_t offset = at - extent.begin;
  if (blocks == nullptr || extent.block_bytes == 0 || offset >= extent.bytes) return nullptr;
  index = static_cast<std::uint32_t>(offset / extent.block_bytes);
  return index < extent.count ? &blocks[index] : nullptr;
}

}  // namespace

bool block_at(const void* address, ManagedBlock& out) {
  OwnerTable::RegionId id = 0;
  std::uint32_t index = 0;
  const Block* block = find_block(address, id, index);
  if (block == nullptr) return false;
  const Extent& extent = extents[id];
  out.begin = static_cast<char*>(pointer(extent.begin + index * extent.block_bytes));
  out.size = block->size.load(std::memory_order_relaxed);
  out.capacity = extent.block_bytes;
  out.tag = block->tag.load(std::memory_order_relaxed);
  out.kind = extent.what.kind;
  out.in_slab = block != &extent.single;
  return static_cast<const char*>(address) < out.begin + out.size;
}

void set_tag(void* block, std::uintptr_t tag) {
  OwnerTable::RegionId id = 0;
  std::uint32_t index = 0;
  if (Block* found = find_block(block, id, index)) found->tag.store(tag, std::memory_order_relaxed);
}

void managed_release(void* block) {
  OwnerTable::RegionId id = 0;
  std::uint32_t index = 0;
  Block* found = find_block(block, id, index);
  if (found == nullptr || found->size.load(std::memory_order_relaxed) == 0 ||
      pointer(extents[id].begin + index * extents[id].block_bytes) != block)
    fatal("%p is freed, but is no block of Hearth's managed memory, or was freed before.", block);
  Extent& extent = extents[id];
  if (found != &extent.single) {
    release_to_slab(id, index);
    return;
  }
  decommit(extent.begin, extent.bytes);
  found->size.store(0, std::memory_order_relaxed);
  forget_region(id);
}

void* managed_resize(void* block, std::size_t size, std::size_t alignment) {
  OwnerTable::RegionId id = 0;
  std::uint32_t index = 0;
  Block* found = find_block(block, id, index);
  if (found == nullptr || size == 0) return nullptr;
  Extent& extent = extents[id];
  const std::size_t had = found->size.load(std::memory_order_relaxed);
  const bool aligned = is_power_of_two(alignment) && reinterpret_cast<std::uintptr_t>(block) % alignment == 0;
  // Stays while it fits and does not waste more than half.
  if (aligned && size <= extent.block_bytes && (size >= extent.block_bytes / 2 || size >= had)) {
    found->size.store(size, std::memory_order_relaxed);
    return block;
  }
  const ManagedRequest request{.what = extent.what,
                               .size = size,
                               .alignment = alignment,
                               .tag = found->tag.load(std::memory_order_relaxed),
                               .huge = extent.huge};
  if (!is_legal(request)) return nullptr;
  void* other = allocate_at(memory_homes(), request, extent.home, extent.home_index, extent.shape);
  if (other == nullptr) return nullptr;
  std::memcpy(other, block, std::min(had, size));
  managed_release(block);
  return other;
}

namespace {

/// Pages with a computed owner, and whether the kernel agrees. Those that nobody has touched lie nowhere yet.
class Samples {
 public:
  static constexpr std::size_t kMost = kernel::kMostPagesAtOnce;

  void add(std::uint64_t address) {
    if (count_ == kMost || owner_table.owner(address) == kUnknown) return;
    pages_[count_++] = pointer(address & ~std::uint64_t{kPage - 1});
  }
  /// Calls visit(address, right) for each.
  template <class Visit>
  void compare(const MemoryHomes& machine, Visit&& visit) {
    if (count_ == 0 || kernel::query(pages_, count_, status_) != kernel::Outcome::done) return;
    for (std::size_t i = 0; i < count_; ++i) {
      const auto address = reinterpret_cast<std::uintptr_t>(pages_[i]);
      const Location computed = owner_table.owner(address);
      if (status_[i] >= 0 && computed != kUnknown) visit(address, machine.is_at(computed, status_[i]));
    }
  }

 private:
  std::size_t count_ = 0;
  void* pages_[kMost];
  int status_[kMost];
};

void check_region(const MemoryHomes& machine, const OwnerTable::Region& region) {
  Samples samples;
  const std::uint64_t first = region.begin / kPage, pages = (region.end - region.begin + kPage - 1) / kPage;
  const std::uint64_t parts = std::min<std::uint64_t>(pages, Samples::kMost);
  // One page of each part, at a place that looks random: the first ones would all be one node's.
  for (std::uint64_t i = 0; i < parts; ++i) {
    const std::uint64_t begin = pages * i / parts, end = pages * (i + 1) / parts;
    samples.add((first + begin + (i * 0x9e3779b97f4a7c15u >> 32) % (end - begin)) * kPage);
  }
  std::uint32_t right = 0, wrong = 0;
  samples.compare(machine, [&](std::uint64_t, bool is_right) { ++(is_right ? right : wrong); });
  // Every fourth wrong: the policy does not hold here.
  if (wrong == 0 || wrong * 4 < right + wrong) return;
  {
    Guard guard;
    if (const OwnerTable::RegionId id = owner_table.id_at(region.begin)) owner_table.change(id, {});
  }
  page_map.forget({region.begin, region.end});
  HEARTH_WARN_ONCE(
      "%u of %u pages looked at in distributed memory do not lie where they were placed: a node has no room "
      "left, or somebody has moved them. Tasks go by what the kernel tells of this memory from now on.",
      wrong, right + wrong);
}

}  // namespace

void check_owners(const std::uint64_t* addresses, std::size_t count) {
  const MemoryHomes& machine = memory_homes();
  if (!machine.kernel_places || owner_table.size() == 0) return;
  Samples samples;
  for (std::size_t i = 0; i < std::min(count, kMostOwnersChecked); ++i) samples.add(addresses[i]);
  constexpr int kMostRegions = 4;  // others have their turn the next time
  int looked = 0;
  OwnerTable::Region region;
  samples.compare(machine, [&](std::uint64_t address, bool right) {
    if (right || looked == kMostRegions || (address >= region.begin && address < region.end)) return;
    ++looked;
    if (owner_table.find(address, region)) check_region(machine, region);
  });
}

}  // namespace hearth::memory
