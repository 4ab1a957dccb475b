// CostModel: what it costs to reach memory, to move pages and to move threads, for each pair of locations. The API's
// hearth_cost_…, the policies and the simulator ask the same object (MaMI's costs: Broquedis et al. 2009, 3.2).
//
// A value of fixed size without memory of its own; too large for a stack. One thread fills it in; then anybody reads, and
// observe_migration() corrects it while others read: single words, relaxed, and of two corrections at once one may be lost.
//
// Where the figures come from, the first that there is:
//   lines     set_…(), as the simulator's draws do; Machine's measured latencies (a model file; the kernel's HMAT for local
//             memory); else the firmware's SLIT: local latency x distance / 10, as ACPI 6.5, 5.2.17 defines it.
//             Local: 80 ns (83 in table 3 of the paper; today's servers 70 to 110). A written line: 1.7 x (table 3).
//   pages     set_migration(); else base + pages x (page + copy), where the copy reads each line there and writes it here,
//             as many at a time as a core can. Base: 100 us a call (measured: 50 to 150 whatever it moves), page: 0.5 us.
//             From 512 pages on a batch is a call, so the base is in the price of a page.
//   threads   4 us a call that binds one (measured: 2 to 4), and 200 us until all have arrived, since a CPU that is busy
//             lets them wait (measured: 180 to 210). The paper's user-level threads: 2.56 and none.
//   traps     12 us for a fault and for opening a page, 0.27 more for each further page of the unit (measured).
//   bandwidth Machine's, where a model or HMAT says it; else unknown (0), and nothing is limited by it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "placement/need.h"
#include "topology/machine.h"

namespace hearth::placement {

class CostModel {
 public:
  /// Migrations by pages: below 64, below 512, and more.
  static constexpr std::int32_t kSizeClasses = 3;
  static constexpr std::uint64_t kBatchPages = 512;
  static std::int32_t size_class(std::uint64_t pages) { return pages < 64 ? 0 : pages < kBatchPages ? 1 : 2; }
  static constexpr std::int32_t kMaxLinks = 64;
  /// One call that took very long, or a clock that jumped, changes a price at most so many times, up or down…
  static constexpr float kMostAtOnce = 2;
  /// …and all of them together so many times.
  static constexpr float kMostCorrection = 8;

  /// Every figure from `machine`, or its default. `locations`: the first so many count. Corrections are forgotten.
  void fill(const topology::Machine& machine, std::int32_t locations);

  std::int32_t locations() const { return locations_; }
  /// Bit n: location n has memory.
  std::uint64_t memory_locations() const { return memory_locations_; }

  /// One line alone, from the processors at `from` to the memory at `to`.
  double read_line_ns(Location from, Location to) const { return read_line_[pair(from, to)]; }
  double write_line_ns(Location from, Location to) const { return write_line_[pair(from, to)]; }
  /// One thread that goes through so many bytes, with nobody beside it.
  double read_ns(Location from, Location to, double bytes) const {
    return bytes / line_bytes * read_line_ns(from, to) / lines_at_a_time;
  }
  double write_ns(Location from, Location to, double bytes) const {
    return bytes / line_bytes * write_line_ns(from, to) / lines_at_a_time;
  }

  /// One thread that moves so many pages, as its own calls have taken so far.
  double migrate_ns(Location from, Location to, std::uint64_t pages) const;
  /// The same before any correction: base + pages x page.
  double planned_migrate_ns(Location from, Location to, std::uint64_t pages) const;
  /// One call, or calls of whole batches, took `ns`: counts for the pair, both ways, and its size class; and for pairs of
  /// which nobody knows anything.
  void observe_migration(Location from, Location to, std::uint64_t pages, double ns);
  double trap_ns(std::uint64_t pages) const {
    return trap_base_ns + trap_page_ns * static_cast<double>(pages > 0 ? pages - 1 : 0);
  }
  /// So many pages that are moved by the faults of whoever touches them next, with nobody beside it: units of 64 KiB, each
  /// a trap and a call; or touched_page_ns each, where that is known.
  double touch_ns(Location from, Location to, std::uint64_t pages) const;
  std::uint64_t pages(double bytes) const {
    const auto whole = static_cast<std::uint64_t>(bytes / page_bytes);
    return static_cast<double>(whole) * page_bytes < bytes ? whole + 1 : whole;
  }

  /// Bandwidth of all threads together, 10^9 bytes a second; 0: not known, no limit. What a byte takes of a memory:
  /// 1 if it is read from near, x remote_occupancy if it leaves its location, x write_occupancy if it is written.
  double memory_gbs(Location where) const { return memory_gbs_[where]; }
  /// From all processors at `from` to the memory at `to`.
  double pair_gbs(Location from, Location to) const { return pair_gbs_[pair(from, to)]; }
  /// Of a model that knows the machine's links: bit n of route() is link n, for answers from the memory at `to` on their
  /// way to `from`.
  std::int32_t links() const { return links_; }
  double link_gbs(std::int32_t link) const { return link_gbs_[link]; }
  std::uint64_t route(Location from, Location to) const { return route_[pair(from, to)]; }

  // For those who know better.
  void set_read_line_ns(Location from, Location to, double ns) { read_line_[pair(from, to)] = static_cast<float>(ns); }
  void set_write_line_ns(Location from, Location to, double ns) {
    write_line_[pair(from, to)] = static_cast<float>(ns);
  }
  /// Of one pair, both ways, and size class. Its correction is forgotten.
  void set_migration(Location one, Location other, std::int32_t size_class, double base_ns, double page_ns);
  /// Of all.
  void set_migration(double base_ns, double page_ns);
  /// From the line prices and the three figures below, as fill() does; after set_…_line_ns().
  void price_migrations(double base_ns = kDefaultBase, double page_ns = kDefaultPage);
  void set_memory_gbs(Location where, double gbs) { memory_gbs_[where] = static_cast<float>(gbs); }
  void set_pair_gbs(Location from, Location to, double gbs) { pair_gbs_[pair(from, to)] = static_cast<float>(gbs); }
  /// Returns its number, or -1: there are kMaxLinks already.
  std::int32_t add_link(double gbs);
  void add_to_route(Location from, Location to, std::int32_t link) {
    route_[pair(from, to)] |= std::uint64_t{1} << link;
  }

  static constexpr double kDefaultBase = 100'000;
  static constexpr double kDefaultPage = 500;
  static constexpr std::uint64_t kTouchedBytes = 64 << 10;

  double line_bytes = 64;
  double page_bytes = 4096;
  /// Lines that a core has under way: 10 to 12 line-fill buffers on Intel's cores since Nehalem.
  double lines_at_a_time = 10;
  double thread_move_ns = 4'000;      // each, one after the other
  double thread_arrive_ns = 200'000;  // once, for all that move together
  double trap_base_ns = 12'000;
  double trap_page_ns = 270;
  double touched_page_ns = 0;
  double remote_occupancy = 1;
  double write_occupancy = 2;  // it is filled first, and written back at last
  double machine_gbs = 0;      // all misses of the machine together; 0: no such limit

 private:
  struct Fit {
    float base = 0;
    float page = 0;
  };
  std::size_t pair(Location from, Location to) const {
    HEARTH_ASSERT(from >= 0 && from < locations_ && to >= 0 && to < locations_, "locations %d and %d of %d", from, to,
                  locations_);
    return static_cast<std::size_t>(from) * static_cast<std::size_t>(locations_) + static_cast<std::size_t>(to);
  }
  // Costs are alike both ways.
  std::size_t either_way(Location one, Location other) const {
    return one < other ? pair(one, other) : pair(other, one);
  }
  void fill_lines(const topology::Machine& machine);
  void fill_bandwidths(const topology::Machine& machine);

  static constexpr std::size_t kPairs = std::size_t{kMaxLocations} * kMaxLocations;
  std::int32_t locations_ = 0;
  std::int32_t links_ = 0;
  std::uint64_t memory_locations_ = 0;
  float read_line_[kPairs];
  float write_line_[kPairs];
  float pair_gbs_[kPairs];
  float memory_gbs_[kMaxLocations];
  float link_gbs_[kMaxLinks];
  std::uint64_t route_[kPairs];
  Fit fit_[kSizeClasses][kPairs];
  // Observed over planned time; 0: never observed.
  std::atomic<float> correction_[kSizeClasses][kPairs];
  std::atomic<float> correction_of_all_[kSizeClasses];
};

}  // namespace hearth::placement
