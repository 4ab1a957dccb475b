// PageMap: where each byte of a workload's regions lies, by the runtime's own distributions.
//
// Every region begins at an address of its own, a multiple of 2 MiB, as managed memory's do
// (placement/owner_table.h); those that go round page by page and fit into slabs stand side by side in them
// (placement/slabs.h), since it is the address that says where a page is. It is cut into units: pages, or
// lines where home caches are the locations. What no distribution places lies where it was first touched:
// beside the initial thread, in equal contiguous parts beside the workers, or beside whoever uses it first; a
// machine of home caches deals it out line by line. A location without memory touches memory at the nearest
// that has some. Used by one thread.
#pragma once

#include <cstdint>

#include <memory>
#include <span>
#include <vector>

#include "placement/distribution.h"
#include "policy/machine_tables.h"
#include "sim/workload/workload.h"
#include "topology/machine.h"

namespace hearth::sim {

using placement::Location;

/// Bytes of one region in one piece, or in several that lie evenly.
struct Extent {
  RegionIndex region;
  std::uint32_t rows;
  std::uint64_t offset, length, pitch;

  static Extent of(const Access& access) {
    // Rows without gaps are one.
    if (access.pitch == access.length && access.rows != 0)
      return {access.region, 1, access.offset, access.length * access.rows, 0};
    return {access.region, access.rows, access.offset, access.length, access.pitch};
  }
  std::uint64_t bytes() const { return length * rows; }
  /// Differs for different extents, as far as 64 bits can tell.
  std::uint64_t identity() const;
  friend bool operator==(const Extent&, const Extent&) = default;
};

class PageMap {
 public:
  struct Setup {
    const topology::Machine& machine;
    const policy::MachineTables& tables;
    placement::Distribution what;
    bool everything = false;
    std::uint64_t page_bytes = 4096;
    std::uint64_t line_bytes = 64;
    std::uint64_t allocations_before = 0;             // distributed ones
    std::span<const Location> workers;                // by worker: where it is; [0] is the initial thread
    std::span<const placement::Kind> by_region = {};  // instead of `what`; empty: none
  };

  PageMap(const Workload& workload, const Setup& setup);

  /// Adds the bytes by location; untouched ones are unknown.
  void add_shares(const Extent& extent, placement::Shares& shares) const;
  /// The same of one extent alone. The reference is good until the next call. Extents of many rows are
  /// remembered.
  const placement::Shares& shares_of(const Extent& extent);
  /// Whoever is at `where` uses the extent: untouched pages come to lie there, and so do marked ones. What
  /// has moved for that is added, by where it was; the number of pages.
  std::uint64_t touch(const Extent& extent, Location where, placement::Shares& moved) {
    const Pages& pages = pages_[extent.region];
    if (HEARTH_UNLIKELY(pages.untouched != 0)) touch_untouched(extent, where);
    return HEARTH_LIKELY(pages.marked_pages == 0) ? 0 : move(extent, where, true, moved);
  }
  /// Moves the pages of the extent that do not lie at `to`, all or only the marked ones.
  std::uint64_t move(const Extent& extent, Location to, bool only_marked, placement::Shares& moved);
  /// The pages of the extent will move when somebody uses them.
  void mark(const Extent& extent);
  /// The location itself, or the nearest that has memory.
  Location home_near(Location where) const { return nearest_home_[static_cast<std::size_t>(where)]; }

 private:
  struct Run {
    std::uint64_t end;  // offset in the region
    Location owner;
  };
  struct Pages {
    std::uint64_t base = 0;
    std::uint64_t bytes = 0;
    placement::Layout layout;
    // Of regions that no rule describes: owners by page, and how many have none yet; then runs of pages with
    // one owner, or a table if there are many.
    std::vector<std::uint8_t> owner;
    std::uint64_t untouched = 0;
    std::vector<Run> runs;
    // By page, once any has moved or is to: where it lies since then; whether it is marked.
    std::vector<std::uint8_t> moved_to, marked;
    std::uint64_t marked_pages = 0;
    std::unique_ptr<std::uint64_t[]> table;
  };
  struct Remembered {
    Extent extent{UINT32_MAX, 0, 0, 0, 0};
    placement::Shares shares;
  };
  static constexpr std::uint8_t kUntouched = 0xff, kUnmoved = 0xff;
  static constexpr std::size_t kMostRuns = 4096;
  static constexpr std::size_t kRemembered = 1024;
  static constexpr std::uint32_t kManyRows = 4;

  void add_piece(const Pages& pages, std::uint64_t begin, std::uint64_t end, placement::Shares& shares) const;
  void add_unmoved(const Pages& pages, std::uint64_t begin, std::uint64_t end,
                   placement::Shares& shares) const;
  template <class Visit>
  void for_each_page(const Extent& extent, Visit visit) const;
  void touch_untouched(const Extent& extent, Location where);
  void make_table(Pages& pages, const placement::Distribution& what, std::uint64_t block_bytes);
  void settle_owners(Pages& pages);

  std::vector<Pages> pages_;  // by region
  std::int32_t locations_;
  std::uint64_t page_bytes_;
  placement::Homes homes_;
  std::vector<std::uint8_t> home_index_;  // by location
  std::vector<Location> nearest_home_;
  placement::Shape equal_, rounds_, weighted_;
  std::vector<Remembered> remembered_;
  placement::Shares scratch_;
};

}  // namespace hearth::sim
