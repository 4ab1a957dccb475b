// MemoryModel: what a piece of work costs where it runs: how long alone, and which bytes move over which
// controllers and links.
//
// An access walks through its bytes `passes` times. The first pass finds in the location's cache what is left
// there (SharedCaches), the rest comes from memory; later passes cost nothing where the private cache holds
// what they walk through, a last-level hit where the worker's part of the location's cache does, and
// everything again where neither does. On machines of home caches a line is fetched from its home in every
// pass that the private cache does not serve; written bytes go through to the home each time; and what the
// home does not hold comes from outside the chip. Homes begin with what they hold once the memory is filled
// that an initial thread or a loop fills, allocation by allocation.
//
// Time alone: Little's law for each access, bytes x latency / (misses in flight x line); computing hides part
// of the waiting, or waiting of the computing: max + (1 - overlap) x min. Bytes that move: one unit of the
// home's controller for a local byte, `remote_occupancy` for one that leaves, times `write_occupancy` for a
// written one; a unit of each link on the way, and back for what is written back.
//
// Moved pages take the kernel's time for each, and are read from where they were and written where they come
// to lie by the CPU of who asked or touched. They are no misses.
//
// Used by one thread; caches and untouched pages change with every call.
#pragma once

#include <cstdint>

#include <algorithm>
#include <span>
#include <vector>

#include "sim/cost/fluid.h"
#include "sim/cost/page_map.h"
#include "sim/cost/parameters.h"
#include "sim/cost/set_caches.h"
#include "sim/cost/shared_caches.h"
#include "topology/machine.h"

namespace hearth::sim {

class MemoryModel {
 public:
  struct Demand {
    Time alone = 0;
    double bytes = 0;
    std::span<const Fluid::Use> uses;  // good until the next call
  };

  /// Enters the machine's resources into `fluid`. `workers`: how many are at each location.
  MemoryModel(const Workload& workload, const topology::Machine& machine, const Parameters& parameters,
              std::span<const std::uint32_t> workers, PageMap& pages, Fluid& fluid);

  /// The worker at `here` has just filled all that the initial thread fills.
  void warm(Location here);

  /// The work begins at location `here`.
  Demand begin(const Work& work, Location here);

  /// The worker at `here` has pages moved, which the kernel copies on its CPU.
  Demand migrate(const Migration& migration, Location here);
  std::uint64_t migrated_bytes() const { return migrated_bytes_; }

  /// The runtime's own data, which lies at `home`, moves for whoever is at `here`; it takes no time here.
  void move_own(Location here, Location home, std::uint64_t bytes) {
    misses_[static_cast<std::size_t>(here * locations_ + pages_.home_near(home))] += bytes;
  }

  /// Bytes by computing location x home, so far.
  const std::vector<std::uint64_t>& misses() const { return misses_; }
  std::uint64_t hits() const { return hits_; }

 private:
  // From a computing location to a home.
  struct Way {
    double read_ns, write_ns;
    double occupancy;
    std::uint32_t first_fill, fills;  // links in way_links_
    std::uint32_t first_back, backs;
  };
  struct Speed {
    double per_line_ns;  // 1 / (misses in flight x line)
    double overlap;
  };
  // Bytes by home that the work moves.
  struct Moved {
    std::uint64_t filled[placement::kMaxLocations];
    std::uint64_t written[placement::kMaxLocations];
    std::uint64_t off_chip = 0;

    explicit Moved(std::int32_t locations) {
      std::fill_n(filled, locations, 0);
      std::fill_n(written, locations, 0);
    }
  };

  const Way& way(Location here, Location home) const {
    return ways_[static_cast<std::size_t>(here * locations_ + home)];
  }
  void make_ways(const topology::Machine& machine, const Parameters& parameters);
  double latency(const topology::Machine& machine, const Parameters& parameters, std::size_t from,
                 std::size_t to, bool write) const;
  /// Adds what the access moves to `moved`; how long it waits.
  double walk(const Work& work, const Access& access, Location here, Moved& moved);
  Extent in_lines(const Extent& extent) const;
  double move(const placement::Shares& shares, std::uint64_t total, std::uint64_t bytes, bool write,
              Location here, Moved& moved) const;
  void fill_homes();
  /// Every extent that the initial thread or a loop has filled, once, in the order of the allocations.
  template <class Visit>
  void for_each_filled(bool by_parts, Visit visit) const;
  std::uint64_t fetched_from_outside(const placement::Shares& shares, std::uint64_t identity);
  void use(Fluid::Resource resource, double bytes) {
    if (weight_[resource] == 0) used_.push_back(resource);
    weight_[resource] += bytes;
  }
  double beside(const Work& work, const Access& access) const;
  void use_way(Location here, Location home, std::uint64_t filled, std::uint64_t written);
  /// Pages are copied to `to` from where `from` says; the bytes that move for that.
  std::uint64_t use_copies(const placement::Shares& from, Location here, Location to);
  Demand demand(double alone_ps, std::uint64_t bytes);

  const Workload& workload_;
  PageMap& pages_;
  std::int32_t locations_;
  bool home_caches_;
  std::vector<Way> ways_;
  std::vector<Fluid::Resource> way_links_;
  std::vector<Fluid::Resource> controllers_;  // by location
  std::vector<Fluid::Resource> links_;
  bool coherent_ = false, off_chip_limited_ = false;
  Fluid::Resource coherence_ = 0, off_chip_ = 0;
  Speed speeds_[kPatterns];
  double ps_per_cycle_, llc_ns_, off_chip_ns_, write_occupancy_;
  std::uint64_t line_bytes_, private_bytes_;
  double call_ps_, page_ps_, touched_page_ps_;  // what moving pages takes
  std::vector<double> llc_part_;                // of a worker, by location
  SharedCaches caches_;
  SetCaches set_caches_;  // instead of those, where the model tells the ways
  bool in_sets_;
  std::vector<std::uint64_t> misses_;
  std::uint64_t hits_ = 0;
  std::uint64_t migrated_bytes_ = 0;
  // Scratch of begin().
  std::vector<double> weight_;  // by resource; all 0 between calls
  std::vector<Fluid::Resource> used_;
  std::vector<Fluid::Use> uses_;
  placement::Shares copied_;  // pages that moved as they were touched, by where they were
  std::uint64_t copied_pages_ = 0;
};

}  // namespace hearth::sim
