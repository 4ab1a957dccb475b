// See cost.h.
#include "placement/cost.h"

#include <algorithm>

namespace hearth::placement {
namespace {

constexpr double kLocalLine = 80;
constexpr double kWrittenByRead = 1.7;
constexpr double kLocalDistance = 10;
// Of a new observation in the average.
constexpr float kNewPart = 0.25F;

std::size_t index(int n) { return static_cast<std::size_t>(n); }

// What is known of two nodes; 0: nothing.
double known(const topology::Matrix<float>& table, int from, int to) {
  if (table.empty() || from < 0 || to < 0) return 0;
  return table.at(index(from), index(to));
}

// The average with one more ratio, which counts as at most kMostAtOnce times what it was.
float corrected(float before, float ratio) {
  const float base = before == 0 ? 1 : before;
  const float part = before == 0 ? 1 : kNewPart;
  const float seen = std::clamp(ratio, base / CostModel::kMostAtOnce, base * CostModel::kMostAtOnce);
  return std::clamp(base + (seen - base) * part, 1 / CostModel::kMostCorrection, CostModel::kMostCorrection);
}

}  // namespace

void CostModel::fill(const topology::Machine& machine, std::int32_t locations) {
  HEARTH_ASSERT(locations >= 1 && locations <= kMaxLocations, "%d locations", locations);
  locations_ = locations;
  links_ = 0;
  std::fill_n(route_, locations_ * locations_, 0);
  if (!machine.llcs.empty() && machine.llcs.front().line_bytes != 0) line_bytes = machine.llcs.front().line_bytes;
  memory_locations_ = 0;
  for (Location i = 0; i < locations; ++i)
    if (machine.locations[index(i)].holds_memory) memory_locations_ |= std::uint64_t{1} << i;
  fill_lines(machine);
  fill_bandwidths(machine);
  price_migrations();
}

void CostModel::fill_lines(const topology::Machine& machine) {
  for (Location from = 0; from < locations_; ++from) {
    for (Location to = 0; to < locations_; ++to) {
      const topology::Location& here = machine.locations[index(from)];
      const topology::Location& there = machine.locations[index(to)];
      const double distance = machine.location_distance.at(index(from), index(to)) / kLocalDistance;
      const topology::NodeAccess none;
      const topology::NodeAccess& hmat = there.node >= 0 ? machine.nodes[index(there.node)].access : none;
      double read = machine.home_latency_ns.empty() ? known(machine.read_latency_ns, here.node, there.node)
                                                    : known(machine.home_latency_ns, here.llc, there.llc);
      if (read <= 0) read = (hmat.read_latency_ns != 0 ? hmat.read_latency_ns : kLocalLine) * distance;
      double write = known(machine.write_latency_ns, here.node, there.node);
      if (write <= 0 && hmat.write_latency_ns != 0) write = hmat.write_latency_ns * distance;
      if (write <= 0) write = read * kWrittenByRead;
      set_read_line_ns(from, to, read);
      set_write_line_ns(from, to, write);
    }
  }
}

void CostModel::fill_bandwidths(const topology::Machine& machine) {
  constexpr double kGigaByMega = 1e-3;
  for (Location to = 0; to < locations_; ++to) {
    const topology::Location& there = machine.locations[index(to)];
    // The caches of a node have its memory in common.
    const auto sharers = static_cast<double>(
        std::count_if(machine.locations.begin(), machine.locations.end(),
                      [&](const topology::Location& other) { return other.node == there.node; }));
    double local = known(machine.bandwidth_mbs, there.node, there.node);
    if (local <= 0 && there.node >= 0) local = machine.nodes[index(there.node)].access.read_bandwidth_mbs;
    set_memory_gbs(to, local * kGigaByMega / std::max(sharers, 1.0));
    for (Location from = 0; from < locations_; ++from) {
      const int node = machine.locations[index(from)].node;
      set_pair_gbs(from, to, node == there.node ? 0 : known(machine.bandwidth_mbs, node, there.node) * kGigaByMega);
    }
  }
}

void CostModel::price_migrations(double base_ns, double page_ns) {
  for (Location to = 0; to < locations_; ++to) {
    for (Location from = 0; from <= to; ++from) {
      const double copy = read_ns(to, from, page_bytes) + write_ns(to, to, page_bytes);
      const double page = page_ns + copy;
      for (std::int32_t size = 0; size < kSizeClasses - 1; ++size) set_migration(from, to, size, base_ns, page);
      set_migration(from, to, kSizeClasses - 1, 0, page + base_ns / static_cast<double>(kBatchPages));
    }
  }
  for (auto& one : correction_of_all_) one.store(0, std::memory_order_relaxed);  // alone: nobody reads yet
}

void CostModel::set_migration(Location one, Location other, std::int32_t size_class, double base_ns, double page_ns) {
  const std::size_t at = either_way(one, other);
  fit_[size_class][at] = {static_cast<float>(base_ns), static_cast<float>(page_ns)};
  correction_[size_class][at].store(0, std::memory_order_relaxed);  // alone: nobody reads yet
}

void CostModel::set_migration(double base_ns, double page_ns) {
  for (Location to = 0; to < locations_; ++to)
    for (Location from = 0; from <= to; ++from)
      for (std::int32_t size = 0; size < kSizeClasses; ++size) set_migration(from, to, size, base_ns, page_ns);
  for (auto& one : correction_of_all_) one.store(0, std::memory_order_relaxed);  // alone: nobody reads yet
}

double CostModel::planned_migrate_ns(Location from, Location to, std::uint64_t pages) const {
  if (from == to || pages == 0) return 0;
  const Fit& fit = fit_[size_class(pages)][either_way(from, to)];
  return fit.base + static_cast<double>(pages) * fit.page;
}

double CostModel::migrate_ns(Location from, Location to, std::uint64_t pages) const {
  const double planned = planned_migrate_ns(from, to, pages);
  if (planned == 0) return 0;
  const std::int32_t size = size_class(pages);
  // Relaxed: a correction is a number by itself and publishes nothing.
  float factor = correction_[size][either_way(from, to)].load(std::memory_order_relaxed);
  if (factor == 0) factor = correction_of_all_[size].load(std::memory_order_relaxed);
  return factor == 0 ? planned : planned * factor;
}

double CostModel::touch_ns(Location from, Location to, std::uint64_t pages) const {
  if (touched_page_ns > 0) return touched_page_ns * static_cast<double>(pages);
  const auto unit = std::max<std::uint64_t>(static_cast<std::uint64_t>(static_cast<double>(kTouchedBytes) / page_bytes),
                                            1);
  const double units = static_cast<double>(pages) / static_cast<double>(unit);
  return units * (trap_ns(unit) + migrate_ns(from, to, unit));
}

void CostModel::observe_migration(Location from, Location to, std::uint64_t pages, double ns) {
  const double planned = planned_migrate_ns(from, to, pages);
  if (planned <= 0 || !(ns > 0)) return;
  const auto ratio = static_cast<float>(ns / planned);
  const std::int32_t size = size_class(pages);
  // Relaxed, and not one operation: of two at once one may be lost, and prices are averages.
  for (std::atomic<float>* one : {&correction_[size][either_way(from, to)], &correction_of_all_[size]})
    one->store(corrected(one->load(std::memory_order_relaxed), ratio), std::memory_order_relaxed);
}

std::int32_t CostModel::add_link(double gbs) {
  if (links_ == kMaxLinks) return -1;
  link_gbs_[links_] = static_cast<float>(gbs);
  return links_++;
}

}  // namespace hearth::placement
