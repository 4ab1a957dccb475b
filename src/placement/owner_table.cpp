// The protocol of slots; see owner_table.h.
//
// Orders: of a slot, as follows; a granule's number is stored with release and loaded with acquire in id_at(), so whoever
// finds a region sees its slot written; size_ likewise, attach() and id_at(), so whoever sees it sees the two arrays.
//
// Writer: version odd (relaxed), release fence, fields (relaxed), version even (release).
// Reader: version (acquire), fields (relaxed), acquire fence, version again (relaxed). The acquire load pairs
// with the release store of the version, so that the words are at least as new; the reader's fence pairs with
// the writer's, so that a reader that got a field of a later writing also sees a later version.
#include "placement/owner_table.h"

#include <algorithm>
#include <cinttypes>

#include "base/assert.h"

namespace hearth::placement {
namespace {

std::size_t slots_for(std::size_t granules) {
  // Every granule could be a region of its own.
  return granules + 1;
}

std::size_t rounded_up(std::size_t bytes) { return (bytes + 63) & ~std::size_t{63}; }

}  // namespace

std::size_t OwnerTable::bytes_needed(std::size_t managed_bytes) {
  const std::size_t granules = managed_bytes / kGranule;
  return rounded_up(granules * sizeof(std::atomic<std::uint32_t>)) + slots_for(granules) * sizeof(Slot);
}

void OwnerTable::attach(void* memory, std::uint64_t base, std::size_t managed_bytes) {
  const std::size_t granules = managed_bytes / kGranule;
  // All-zero bytes are the initial state of both arrays, and they are too large to be written.
  granules_ = static_cast<std::atomic<std::uint32_t>*>(memory);
  slots_ = reinterpret_cast<Slot*>(static_cast<char*>(memory) +
                                   rounded_up(granules * sizeof(std::atomic<std::uint32_t>)));
  slots_count_ = slots_for(granules);
  slots_used_ = 1;
  base_.store(base, std::memory_order_relaxed);
  size_.store(granules * kGranule, std::memory_order_release);
}

BlockTable OwnerTable::blocks_of(const Slot& slot) {
  return BlockTable(
      slot.block_memory.load(std::memory_order_relaxed), slot.block_count.load(std::memory_order_relaxed),
      slot.block_bytes.load(std::memory_order_relaxed), slot.block_locations.load(std::memory_order_relaxed));
}

// Made field by field: an object that is cleared first costs as much as the rest of a query.
[[gnu::always_inline]] inline OwnerTable::Region OwnerTable::copy_of(const Slot& slot) {
  const Layout::Form form = slot.form.load(std::memory_order_relaxed);
  return {.begin = slot.begin.load(std::memory_order_relaxed),
          .end = slot.end.load(std::memory_order_relaxed),
          .layout = {.form = form,
                     .single = slot.single.load(std::memory_order_relaxed),
                     .anchor = slot.anchor.load(std::memory_order_relaxed),
                     .grain = slot.grain.load(std::memory_order_relaxed),
                     .extra = slot.extra.load(std::memory_order_relaxed),
                     .unit = slot.unit.load(std::memory_order_relaxed),
                     .shape = slot.shape.load(std::memory_order_relaxed),
                     .blocks = form == Layout::Form::blocks ? blocks_of(slot) : BlockTable()}};
}

bool OwnerTable::read(RegionId id, Region& copy, std::uint32_t& version) const {
  const Slot& slot = slots_[id];
  version = slot.version.load(std::memory_order_acquire);
  copy = copy_of(slot);
  return (version & 1) == 0 && unchanged(slot, version);
}

bool OwnerTable::find(std::uint64_t address, Region& copy) const {
  const RegionId id = id_at(address);
  std::uint32_t version = 0;
  return id != 0 && read(id, copy, version) && address >= copy.begin && address < copy.end;
}

Location OwnerTable::owner(std::uint64_t address) const {
  const RegionId id = id_at(address);
  Region region;
  std::uint32_t version = 0;
  if (id == 0 || !read(id, region, version) || address < region.begin || address >= region.end)
    return kUnknown;
  const Location owner = region.layout.owner(address);
  // Only a block table lies outside of the copy.
  return region.layout.form != Layout::Form::blocks || unchanged(slots_[id], version) ? owner : kUnknown;
}

bool OwnerTable::add_plain(const Slot& slot, std::uint32_t version, std::int32_t slots, std::uint64_t begin,
                           std::uint64_t end, Shares& shares) {
  const std::uint64_t anchor = slot.anchor.load(std::memory_order_relaxed);
  const std::uint64_t grain = slot.grain.load(std::memory_order_relaxed);
  if (!takes_plain_slots(shares, slots) || !unchanged(slot, version)) return false;
  add_plain_shares(slots, grain, begin - anchor, end - anchor, shares);
  return true;
}

bool OwnerTable::add_blocks(const Slot& slot, std::uint32_t version, std::uint64_t begin, std::uint64_t end,
                            Shares& shares) {
  if (slot.form.load(std::memory_order_relaxed) != Layout::Form::blocks) return false;
  const std::uint64_t anchor = slot.anchor.load(std::memory_order_relaxed);
  const std::uint64_t from = begin - anchor, to = end - anchor;
  const BlockTable blocks = blocks_of(slot);
  // Between two writings the fields need not fit together; what they say of the table's memory must.
  if (!unchanged(slot, version)) return false;
  if (HEARTH_UNLIKELY(!blocks.is_in_two(from, to))) return add_many_blocks(slot, version, from, to, shares);
  return blocks.add_two(from, to, shares, [&slot, version] { return unchanged(slot, version); });
}

[[gnu::noinline]] bool OwnerTable::add_many_blocks(const Slot& slot, std::uint32_t version,
                                                   std::uint64_t from, std::uint64_t to, Shares& shares) {
  const BlockTable blocks = blocks_of(slot);
  return unchanged(slot, version) &&
         blocks.add_shares(from, to, shares, [&slot, version] { return unchanged(slot, version); });
}

void OwnerTable::add_pieces(ByteRange range, Shares& shares) const {
  if (size_.load(std::memory_order_acquire) == 0) {  // there are no slots
    shares.unknown += range.bytes();
    return;
  }
  std::uint64_t at = range.begin;
  if (at < base() && base() < range.end) {
    shares.unknown += base() - at;
    at = base();
  }
  for (int looked = 0; at < range.end && looked < kMostRegions; ++looked) {
    const RegionId id = id_at(at);
    const Slot& slot = slots_[id];  // that of id 0 is nobody's, and empty
    const std::uint32_t version = slot.version.load(std::memory_order_acquire);
    const Region region = copy_of(slot);
    if ((version & 1) != 0 || !unchanged(slot, version) || at < region.begin || at >= region.end) {
      // Nobody's: on to the next granule.
      const std::uint64_t next = std::min(range.end, (at | (kGranule - 1)) + 1);
      if (!manages(at) || next <= at) break;
      shares.unknown += next - at;
      at = next;
      continue;
    }
    const std::uint64_t end = std::min(range.end, region.end);
    if (region.layout.form != Layout::Form::blocks) {
      region.layout.add_shares(at, end, shares);
    } else {
      const std::uint64_t anchor = region.layout.anchor;
      if (!region.layout.blocks.add_shares(at - anchor, end - anchor, shares,
                                           [&slot, version] { return unchanged(slot, version); }))
        shares.unknown += end - at;
    }
    at = end;
  }
  if (at < range.end) shares.unknown += range.end - at;
}

void OwnerTable::write(RegionId id, const Region& region) {
  Slot& slot = slots_[id];
  const Layout& layout = region.layout;
  const std::uint32_t version = slot.version.load(std::memory_order_relaxed);
  HEARTH_ASSERT(id != 0 && id < slots_used_ && (version & 1) == 0,
                "region %u of %zu is written while its version is %u: writers exclude each other", id, slots_used_,
                version);
  slot.version.store(version + 1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);  // pairs with the acquire fence in unchanged()
  slot.begin.store(region.begin, std::memory_order_relaxed);
  slot.end.store(region.end, std::memory_order_relaxed);
  slot.form.store(layout.form, std::memory_order_relaxed);
  const bool plain = layout.form == Layout::Form::cyclic && layout.extra == 0 && layout.grain != 0 &&
                     layout.shape->is_plain();
  slot.plain_slots.store(static_cast<std::uint8_t>(plain ? layout.shape->slots : 0),
                         std::memory_order_relaxed);
  slot.single.store(layout.single, std::memory_order_relaxed);
  slot.anchor.store(layout.anchor, std::memory_order_relaxed);
  slot.grain.store(layout.grain, std::memory_order_relaxed);
  slot.shape.store(layout.shape, std::memory_order_relaxed);
  slot.extra.store(layout.extra, std::memory_order_relaxed);
  slot.unit.store(layout.unit, std::memory_order_relaxed);
  slot.block_memory.store(layout.blocks.memory(), std::memory_order_relaxed);
  slot.block_count.store(layout.blocks.blocks(), std::memory_order_relaxed);
  slot.block_bytes.store(layout.blocks.block_bytes(), std::memory_order_relaxed);
  slot.block_locations.store(layout.blocks.locations(), std::memory_order_relaxed);
  slot.version.store(version + 2, std::memory_order_release);
}

OwnerTable::RegionId OwnerTable::holder_of(std::size_t first, std::size_t last, RegionId beside) const {
  for (std::size_t g = first; g < last; ++g)
    if (const RegionId id = granules_[g].load(std::memory_order_relaxed); id != 0 && id != beside) return id;
  return 0;
}

OwnerTable::RegionId OwnerTable::enter(const Region& region) {
  RegionId id = free_slots_;
  if (id != 0)
    free_slots_ = slots_[id].next_free;
  else if (slots_used_ < slots_count_)
    id = static_cast<RegionId>(slots_used_++);
  else
    return 0;
  write(id, region);
  const std::size_t first = (region.begin - base()) / kGranule;
  const std::size_t last = (region.end - base() + kGranule - 1) / kGranule;
  HEARTH_ASSERT(region.begin % kGranule == 0 && region.end > region.begin && last <= size() / kGranule,
                "region %u is [%#" PRIx64 ", %#" PRIx64 ")", id, region.begin, region.end);
  HEARTH_ASSERT_INVARIANT(holder_of(first, last, id) == 0, "region %u lies over region %u", id,
                          holder_of(first, last, id));
  for (std::size_t g = first; g < last; ++g) granules_[g].store(id, std::memory_order_release);
  if (first == first_free_) first_free_ = last;
  return id;
}

void OwnerTable::remove(RegionId id) {
  Region region;
  std::uint32_t version = 0;
  read(id, region, version);
  const std::size_t first = (region.begin - base()) / kGranule;
  const std::size_t last = (region.end - base() + kGranule - 1) / kGranule;
  HEARTH_ASSERT_INVARIANT(first < last && holder_of(first, last, 0) == id && holder_of(first, last, id) == 0,
                          "region %u is removed, and %zu granules from %zu on are not all its own", id, last - first,
                          first);
  for (std::size_t g = first; g < last; ++g) granules_[g].store(0, std::memory_order_release);
  HEARTH_ASSERT_INVARIANT(holder_of(first, last, 0) == 0, "region %u is removed, and keeps some of its %zu granules", id,
                          last - first);
  write(id, Region{});
  slots_[id].next_free = free_slots_;
  free_slots_ = id;
  first_free_ = std::min(first_free_, first);
}

void OwnerTable::change(RegionId id, const Layout& layout) {
  Region region;
  std::uint32_t version = 0;
  read(id, region, version);
  region.layout = layout;
  write(id, region);
}

std::uint64_t OwnerTable::find_free(std::size_t granules) {
  const std::size_t count = size() / kGranule;
  std::size_t run = 0;
  for (std::size_t g = first_free_; g < count; ++g) {
    run = granules_[g].load(std::memory_order_relaxed) == 0 ? run + 1 : 0;
    if (run == granules) return base() + (g + 1 - granules) * kGranule;
  }
  return 0;
}

}  // namespace hearth::placement
