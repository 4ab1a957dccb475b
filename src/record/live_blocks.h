// The large blocks of the process that are not freed yet, so that a free is noted if, and only if, its block was.
//
// A table without locks: an address belongs to one group of slots, and a group's count tells the frees of all other blocks,
// which are by far the most, that there is nothing to look for. Any thread; who allocates and who frees a block are in order by
// the program's own doing. At the end, when all are visited, a block that comes or goes at that moment may be missing, or have
// the length of the one before it. Where a group is full a block is not kept, and its free not noted.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/cpu.h"

namespace hearth::record {

class LiveBlocks {
 public:
  void add(std::uint64_t address, std::uint64_t bytes) {
    Group& group = groups_[group_of(address)];
    for (Slot& slot : group.slots) {
      std::uint64_t none = 0;
      if (slot.address.load(std::memory_order_relaxed) != 0 ||
          !slot.address.compare_exchange_strong(none, address, std::memory_order_relaxed))
        continue;
      slot.bytes.store(bytes, std::memory_order_relaxed);
      group.count.fetch_add(1, std::memory_order_relaxed);
      return;
    }
  }

  /// The block's bytes, and it is gone from here; 0: it is not here.
  std::uint64_t remove(std::uint64_t address) {
    Group& group = groups_[group_of(address)];
    if (HEARTH_LIKELY(group.count.load(std::memory_order_relaxed) == 0)) return 0;
    return remove_from(group, address);
  }

  /// Calls visit(address, bytes) for each.
  template <class Visit>
  void for_each(Visit visit) const {
    for (const Group& group : groups_)
      for (const Slot& slot : group.slots)
        if (const std::uint64_t address = slot.address.load(std::memory_order_relaxed)) visit(address, slot.bytes.load(std::memory_order_relaxed));
  }

 private:
  struct Slot {
    std::atomic<std::uint64_t> address{0};
    std::atomic<std::uint64_t> bytes{0};
  };
  static constexpr std::size_t kSlots = 12, kGroups = 4096;
  struct Group {
    std::atomic<std::uint32_t> count{0};
    Slot slots[kSlots];
  };

  static std::size_t group_of(std::uint64_t address) { return (address * 0x9e3779b97f4a7c15u) >> 52; }
  static_assert(kGroups == 4096);

  [[gnu::noinline]] std::uint64_t remove_from(Group& group, std::uint64_t address) {
    for (Slot& slot : group.slots) {
      if (slot.address.load(std::memory_order_relaxed) != address) continue;
      const std::uint64_t bytes = slot.bytes.load(std::memory_order_relaxed);
      slot.address.store(0, std::memory_order_relaxed);
      group.count.fetch_sub(1, std::memory_order_relaxed);
      return bytes;
    }
    return 0;
  }

  Group groups_[kGroups];
};

extern constinit LiveBlocks live_blocks;

}  // namespace hearth::record
