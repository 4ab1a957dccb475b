// OwnerTable: who owns which bytes of the managed memory, one contiguous range of addresses that is cut into
// granules. Regions (whole granules, one Layout) are entered and removed by allocations; anybody asks.
//
// Readers are wait-free: a lookup is two loads that lead to the region, a copy of its layout, and arithmetic.
// A region's slot carries a version, odd while it is written; a reader that finds it changed afterwards
// treats the bytes as unknown. Slots are type-stable and their memory, shapes and block tables are never
// unmapped, so the worst that a reader of memory that is being freed can get is "unknown". Writers exclude
// each other (the caller's lock). The table's memory is the caller's too: zeroed, and there until the process
// ends.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "placement/distribution.h"

namespace hearth::placement {

class OwnerTable {
 public:
  using RegionId = std::uint32_t;                                // 0: none
  static constexpr std::size_t kGranule = std::size_t{2} << 20;  // a huge page: neighbours never share one
  /// A query looks at no more regions than this; what lies beyond them is unknown. Honest ranges lie in one.
  static constexpr int kMostRegions = 16;

  struct Region {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;  // bytes in use; the last granule may reach further
    Layout layout;
  };

  static std::size_t bytes_needed(std::size_t managed_bytes);

  constexpr OwnerTable() = default;
  /// Before anybody else asks. `memory` is bytes_needed(managed_bytes) zeroed bytes.
  void attach(void* memory, std::uint64_t base, std::size_t managed_bytes);

  bool manages(std::uint64_t address) const {
    return address - base_.load(std::memory_order_relaxed) < size_.load(std::memory_order_relaxed);
  }

  /// Adds the bytes by location of a range, unknown ones included. Any thread, wait-free.
  void add_shares(ByteRange range, Shares& shares) const {
    if (!add_computed(range, shares)) add_pieces(range, shares);
  }
  /// The same for a range in one region whose bytes are all at one location, spread evenly or dealt block by
  /// block, as most are: without a copy of the region. False, and nothing added: it is another.
  bool add_computed(ByteRange range, Shares& shares) const {
    const RegionId id = id_at(range.begin);
    if (id == 0) return false;
    const Slot& slot = slots_[id];
    // Pairs with the release store of the even version in write().
    const std::uint32_t version = slot.version.load(std::memory_order_acquire);
    if (range.begin < slot.begin.load(std::memory_order_relaxed) ||
        range.end > slot.end.load(std::memory_order_relaxed) || range.end <= range.begin ||
        (version & 1) != 0)
      return false;
    if (slot.form.load(std::memory_order_relaxed) != Layout::Form::single) {
      if (const std::int32_t slots = slot.plain_slots.load(std::memory_order_relaxed); slots != 0)
        return add_plain(slot, version, slots, range.begin, range.end, shares);
      return add_blocks(slot, version, range.begin, range.end, shares);
    }
    const Location single = slot.single.load(std::memory_order_relaxed);
    if (static_cast<std::uint32_t>(single) >= static_cast<std::uint32_t>(shares.locations) ||
        !unchanged(slot, version))
      return false;
    shares.add_known(single, range.end - range.begin);
    return true;
  }
  /// The same for any other range.
  void add_pieces(ByteRange range, Shares& shares) const;
  /// Who owns one byte. Any thread, wait-free.
  Location owner(std::uint64_t address) const;
  /// A copy of the region that holds `address`; false when there is none. Any thread, wait-free.
  bool find(std::uint64_t address, Region& copy) const;
  RegionId id_at(std::uint64_t address) const {
    const std::uint64_t offset = address - base_.load(std::memory_order_relaxed);
    if (offset >= size_.load(std::memory_order_acquire)) return 0;
    return granules_[offset / kGranule].load(std::memory_order_acquire);  // pairs with the store in enter()
  }

  /// Writers. `region.begin` is a multiple of kGranule, its granules are free. 0 when all slots are taken.
  RegionId enter(const Region& region);
  void remove(RegionId id);
  /// Another layout for a region; Layout{} when nobody is to believe what was computed.
  void change(RegionId id, const Layout& layout);
  /// The first of `granules` free ones in a row, as an address; 0 when there is none. Not yet taken.
  std::uint64_t find_free(std::size_t granules);

  std::uint64_t base() const { return base_.load(std::memory_order_relaxed); }
  std::size_t size() const { return size_.load(std::memory_order_relaxed); }
  std::size_t most_regions() const { return slots_count_; }

 private:
  // A Region in atomic fields. The first line is all that most queries read.
  struct alignas(64) Slot {
    std::atomic<std::uint32_t> version;  // odd: being written
    std::atomic<Layout::Form> form;
    std::atomic<std::uint8_t> plain_slots;  // of a cyclic form all of whose slots are alike; or 0
    std::atomic<Location> single;
    std::atomic<std::uint64_t> begin, end, anchor, grain;
    std::atomic<const Shape*> shape;
    std::atomic<std::uint32_t> extra;
    std::atomic<std::uint64_t> unit;
    std::atomic<const void*> block_memory;
    std::atomic<std::size_t> block_count, block_bytes;
    std::atomic<std::int32_t> block_locations;
    RegionId next_free;  // writers'
  };

  // Of [begin, end) in the region, if that has not changed and is of the kind. Numbers and no ByteRange:
  // these stay in registers.
  static bool add_plain(const Slot& slot, std::uint32_t version, std::int32_t slots, std::uint64_t begin,
                        std::uint64_t end, Shares& shares);
  static bool add_blocks(const Slot& slot, std::uint32_t version, std::uint64_t begin, std::uint64_t end,
                         Shares& shares);
  static bool add_many_blocks(const Slot& slot, std::uint32_t version, std::uint64_t from, std::uint64_t to,
                              Shares& shares);
  static BlockTable blocks_of(const Slot& slot);
  static Region copy_of(const Slot& slot);
  bool read(RegionId id, Region& copy, std::uint32_t& version) const;
  static bool unchanged(const Slot& slot, std::uint32_t version) {
    std::atomic_thread_fence(std::memory_order_acquire);  // pairs with the release fence in write()
    return slot.version.load(std::memory_order_relaxed) == version;
  }
  void write(RegionId id, const Region& region);
  // Some region that has one of these granules, and is not `beside`; 0: none. For assertions.
  RegionId holder_of(std::size_t first, std::size_t last, RegionId beside) const;

  std::atomic<std::uint64_t> base_{0};
  std::atomic<std::uint64_t> size_{0};  // 0 until attach(): nothing is managed
  std::atomic<std::uint32_t>* granules_ = nullptr;
  Slot* slots_ = nullptr;
  std::size_t slots_count_ = 0;
  std::size_t slots_used_ = 0;  // slots from here on were never used; slot 0 is "none"
  RegionId free_slots_ = 0;
  std::size_t first_free_ = 0;  // no granule below is free
};

}  // namespace hearth::placement
