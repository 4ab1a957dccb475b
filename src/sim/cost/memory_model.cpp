#include "sim/cost/memory_model.h"

#include <algorithm>
#include <cmath>

namespace hearth::sim {

using placement::Shares;

namespace {

constexpr bool reads(placement::Access mode) { return (static_cast<unsigned>(mode) & 1u) != 0; }
constexpr bool writes(placement::Access mode) { return (static_cast<unsigned>(mode) & 2u) != 0; }

std::uint64_t rounded(double bytes) { return static_cast<std::uint64_t>(bytes + 0.5); }

}  // namespace

MemoryModel::MemoryModel(const Workload& workload, const topology::Machine& machine,
                         const Parameters& parameters, std::span<const std::uint32_t> workers, PageMap& pages,
                         Fluid& fluid)
    : workload_(workload),
      pages_(pages),
      locations_(static_cast<std::int32_t>(workers.size())),
      home_caches_(machine.location_kind == topology::LocationKind::home_cache),
      ps_per_cycle_(1000 / parameters.clock_ghz.value),
      llc_ns_(parameters.llc_ns.value),
      off_chip_ns_(parameters.off_chip_ns.value),
      write_occupancy_(std::max(parameters.write_occupancy.value, 1.0)),
      line_bytes_(parameters.line_bytes),
      private_bytes_(parameters.private_bytes),
      call_ps_(parameters.move_pages_base_us.value * 1e6),
      page_ps_(parameters.move_pages_us.value * 1e6),
      touched_page_ps_((parameters.move_pages_us.value + parameters.fault_us.value) * 1e6),
      caches_(workers.size(), parameters.llc_bytes),
      set_caches_(workers.size(), parameters.llc_bytes, parameters.llc_ways),
      in_sets_(parameters.llc_ways != 0),
      misses_(workers.size() * workers.size(), 0) {
  for (std::size_t i = 0; i < kPatterns; ++i) {
    const PatternSpeed& pattern = parameters.patterns[i];
    speeds_[i] = {1 / (std::max(pattern.misses_in_flight.value, 1e-3) * parameters.line_bytes),
                  pattern.overlap.value};
  }
  const auto add = [&](const Figure& gbs) {
    weight_.push_back(0);
    return fluid.add_resource(gbs.value);
  };
  for (std::size_t i = 0; i < workers.size(); ++i) {
    // Last-level caches of a node, which stand together, have its memory in common.
    const bool shared = i != 0 && machine.location_kind == topology::LocationKind::llc &&
                        machine.locations[i].node == machine.locations[i - 1].node;
    controllers_.push_back(shared ? controllers_.back() : add(parameters.memory_gbs[i]));
    llc_part_.push_back(static_cast<double>(parameters.llc_bytes) / std::max(workers[i], 1u));
  }
  for (const Link& link : parameters.links) links_.push_back(add(link.gbs));
  coherent_ = parameters.coherence_gbs.value > 0;
  if (coherent_) coherence_ = add(parameters.coherence_gbs);
  off_chip_limited_ = parameters.off_chip_gbs.value > 0;
  if (off_chip_limited_) off_chip_ = add(parameters.off_chip_gbs);
  make_ways(machine, parameters);
  copied_.clear(locations_);
  if (home_caches_) fill_homes();
}

template <class Visit>
void MemoryModel::for_each_filled(bool by_parts, Visit visit) const {
  std::vector<const Access*> filled;
  for (const Access& access : workload_.accesses) {
    const FirstTouch by = workload_.regions[access.region].first_touch;
    if (by == FirstTouch::initial_thread || (by_parts && by == FirstTouch::by_parts))
      filled.push_back(&access);
  }
  const auto place = [](const Access* access) { return std::pair(access->region, access->offset); };
  std::stable_sort(filled.begin(), filled.end(),
                   [&](const Access* one, const Access* other) { return place(one) < place(other); });
  std::uint64_t last = 0;
  for (const Access* access : filled) {
    const Extent extent = Extent::of(*access);
    if (extent.bytes() == 0 || extent.identity() == last) continue;
    last = extent.identity();
    visit(extent);
  }
}

void MemoryModel::fill_homes() {
  for_each_filled(
      true, [&](const Extent& extent) { fetched_from_outside(pages_.shares_of(extent), extent.identity()); });
}

void MemoryModel::warm(Location here) {
  if (home_caches_) return;
  const auto at = static_cast<std::size_t>(here);
  for_each_filled(false, [&](const Extent& written) {
    const Extent extent = in_lines(written);
    if (in_sets_)
      set_caches_.use(at, extent, true);
    else
      caches_.write(at, extent.identity(), extent.bytes());
  });
}

double MemoryModel::latency(const topology::Machine& machine, const Parameters& parameters, std::size_t from,
                            std::size_t to, bool write) const {
  const topology::Location& here = machine.locations[from];
  const topology::Location& home = machine.locations[to];
  if (home_caches_) {
    const double read =
        machine.home_latency_ns.at(static_cast<std::size_t>(here.llc), static_cast<std::size_t>(home.llc));
    return write ? read * parameters.write_latency.value : read;
  }
  const auto row = static_cast<std::size_t>(here.node), column = static_cast<std::size_t>(home.node);
  const double read = parameters.read_ns.at(row, column);
  if (!write) return read;
  if (!machine.write_latency_ns.empty() && machine.write_latency_ns.at(row, column) > 0)
    return machine.write_latency_ns.at(row, column);
  return read * parameters.write_latency.value;
}

void MemoryModel::make_ways(const topology::Machine& machine, const Parameters& parameters) {
  const std::size_t nodes = machine.nodes.size();
  const auto enter_route = [&](std::size_t from, std::size_t to) {
    if (from == to || parameters.routes.empty()) return std::uint32_t{0};
    const auto& route = parameters.routes[from * nodes + to];
    for (const std::uint32_t link : route) way_links_.push_back(links_[link]);
    return static_cast<std::uint32_t>(route.size());
  };
  for (std::size_t here = 0; here < controllers_.size(); ++here) {
    for (std::size_t home = 0; home < controllers_.size(); ++home) {
      Way& way = ways_.emplace_back();
      way.read_ns = latency(machine, parameters, here, home, false);
      way.write_ns = latency(machine, parameters, here, home, true);
      const int node = machine.locations[here].node, other = machine.locations[home].node;
      const bool stays = here == home || (!home_caches_ && node == other);
      way.occupancy = stays ? 1 : std::max(parameters.remote_occupancy.value, 1.0);
      const bool routed = !home_caches_ && node >= 0 && other >= 0;
      way.first_fill = static_cast<std::uint32_t>(way_links_.size());
      way.fills = routed ? enter_route(static_cast<std::size_t>(other), static_cast<std::size_t>(node)) : 0;
      way.first_back = static_cast<std::uint32_t>(way_links_.size());
      way.backs = routed ? enter_route(static_cast<std::size_t>(node), static_cast<std::size_t>(other)) : 0;
    }
  }
}

// What the work moves between two passes of the access over a byte, its own bytes included.
double MemoryModel::beside(const Work& work, const Access& access) const {
  double sum = 0;
  for (std::uint32_t i = 0; i < work.accesses; ++i) {
    const Access& other = workload_.accesses[work.first_access + i];
    const double bytes = static_cast<double>(other.length) * other.rows;
    sum += bytes * std::min(1.0, static_cast<double>(other.passes) / static_cast<double>(access.passes));
  }
  return sum;
}

// Short rows move whole lines.
Extent MemoryModel::in_lines(const Extent& extent) const {
  if (extent.rows < 2 || extent.pitch < extent.length) return extent;
  const std::uint64_t begin = extent.offset - extent.offset % line_bytes_;
  const std::uint64_t lines = (extent.offset + extent.length - begin + line_bytes_ - 1) / line_bytes_;
  const std::uint64_t length = std::min(lines * line_bytes_, extent.pitch);
  if (begin + (extent.rows - 1) * extent.pitch + length > workload_.regions[extent.region].bytes)
    return extent;
  if (length == extent.pitch) return {extent.region, 1, begin, extent.rows * length, 0};
  return {extent.region, extent.rows, begin, length, extent.pitch};
}

// `bytes` of an extent of `total` that lies as `shares` say, which may be several passes over it. Each home's
// part is whole bytes, and nothing is lost to rounding.
double MemoryModel::move(const Shares& shares, std::uint64_t total, std::uint64_t bytes, bool write,
                         Location here, Moved& moved) const {
  if (bytes == 0) return 0;
  const std::uint64_t passes = bytes / total, rest = bytes % total;
  const double part_of_rest = static_cast<double>(rest) / static_cast<double>(total);
  std::uint64_t* to = write ? moved.written : moved.filled;
  const Way* ways = &way(here, 0);
  std::uint64_t before = 0, given = 0;
  double ns = 0;
  const auto add = [&](Location home, std::uint64_t share) {
    std::uint64_t part = share * passes;
    if (rest != 0) {
      before += share;
      const std::uint64_t until =
          before == total ? rest : std::min(rest, rounded(static_cast<double>(before) * part_of_rest));
      part += until - given;
      given = until;
    }
    to[home] += part;
    ns += static_cast<double>(part) * (write ? ways[home].write_ns : ways[home].read_ns);
  };
  for (Location home = 0; home < locations_; ++home)
    if (shares.at[home] != 0) add(home, shares.at[home]);
  if (shares.unknown != 0) add(here, shares.unknown);  // what nobody has placed counts as near
  return ns;
}

std::uint64_t MemoryModel::fetched_from_outside(const Shares& shares, std::uint64_t identity) {
  std::uint64_t held = 0;
  for (Location home = 0; home < locations_; ++home) {
    if (shares.at[home] == 0) continue;
    const auto at = static_cast<std::size_t>(home);
    held += caches_.use(at, identity + at * 0x9e3779b97f4a7c15u, shares.at[home]);
  }
  return shares.known() - std::min(held, shares.known());
}

double MemoryModel::walk(const Work& work, const Access& access, Location here, Moved& moved) {
  const Extent extent = in_lines(Extent::of(access));
  const std::uint64_t total = extent.bytes();
  if (total == 0 || access.passes <= 0) return 0;
  copied_pages_ += pages_.touch(extent, here, copied_);
  const Shares& shares = pages_.shares_of(extent);
  const bool write = writes(access.mode);
  const Speed& speed = speeds_[static_cast<std::size_t>(access.pattern)];
  const auto passes = static_cast<double>(access.passes);
  const std::uint64_t first = passes >= 1 ? total : rounded(static_cast<double>(total) * passes);
  const std::uint64_t later = passes > 1 ? rounded(static_cast<double>(total) * (passes - 1)) : 0;
  const bool private_serves = later == 0 || beside(work, access) <= static_cast<double>(private_bytes_);
  const std::uint64_t identity = extent.identity();

  if (home_caches_) {
    // Later passes come from the home again, or are written through to it.
    const std::uint64_t bytes = first + (private_serves && !write ? 0 : later);
    const double ns = move(shares, total, bytes, write, here, moved);
    const std::uint64_t outside = std::min(first, fetched_from_outside(shares, identity));
    hits_ += bytes - outside;
    moved.off_chip += outside;
    return (ns + static_cast<double>(outside) * off_chip_ns_) * speed.per_line_ns;
  }

  const auto at = static_cast<std::size_t>(here);
  const std::uint64_t kept = in_sets_ ? set_caches_.use(at, extent, write)
                             : write  ? caches_.write(at, identity, total)
                                      : caches_.use(at, identity, total);
  const std::uint64_t held = std::min(first, kept);
  std::uint64_t hit = held, missed = first - held;
  if (!private_serves) (beside(work, access) <= llc_part_[at] ? hit : missed) += later;
  hits_ += hit;
  const double ns = move(shares, total, missed, write, here, moved);
  return (ns + static_cast<double>(hit) * llc_ns_) * speed.per_line_ns;
}

void MemoryModel::use_way(Location here, Location home, std::uint64_t filled, std::uint64_t written) {
  const Way& to = way(here, home);
  const double back = static_cast<double>(written) * (write_occupancy_ - 1);
  const auto in = static_cast<double>(filled + written);
  use(controllers_[static_cast<std::size_t>(home)], (in + back) * to.occupancy);
  for (std::uint32_t k = 0; k < to.fills; ++k) use(way_links_[to.first_fill + k], in);
  if (back > 0)
    for (std::uint32_t k = 0; k < to.backs; ++k) use(way_links_[to.first_back + k], back);
}

std::uint64_t MemoryModel::use_copies(const Shares& from, Location here, Location to) {
  for (Location home = 0; home < locations_; ++home)
    if (from.at[home] != 0) use_way(here, home, from.at[home], 0);
  const std::uint64_t bytes = from.known();
  if (bytes != 0) use_way(here, to, 0, bytes);
  migrated_bytes_ += bytes;
  return 2 * bytes;
}

MemoryModel::Demand MemoryModel::demand(double alone_ps, std::uint64_t bytes) {
  if (bytes == 0) return {static_cast<Time>(alone_ps + 0.5), 0, {}};
  if (coherent_) use(coherence_, static_cast<double>(bytes));
  const auto whole = static_cast<double>(bytes);
  uses_.clear();
  for (const Fluid::Resource resource : used_) {
    uses_.push_back({resource, weight_[resource] / whole});
    weight_[resource] = 0;
  }
  used_.clear();
  return {std::max<Time>(static_cast<Time>(std::ceil(alone_ps)), 1), whole, uses_};
}

MemoryModel::Demand MemoryModel::migrate(const Migration& migration, Location here) {
  const Extent extent{migration.region, 1, migration.offset, migration.length, 0};
  if (migration.kind == Migration::Kind::next_touch) {
    pages_.mark(extent);
    return demand(call_ps_, 0);
  }
  const Location to = migration.to < 0 ? here : std::min(migration.to, locations_ - 1);
  Shares from(locations_);
  const std::uint64_t pages = pages_.move(extent, to, false, from);
  return demand(call_ps_ + static_cast<double>(pages) * page_ps_,
                use_copies(from, here, pages_.home_near(to)));
}

MemoryModel::Demand MemoryModel::begin(const Work& work, Location here) {
  const double computing = static_cast<double>(work.cycles) * ps_per_cycle_;
  if (work.accesses == 0) return demand(computing, 0);
  Moved moved(locations_);
  double waiting = 0, hidden = 0;
  for (std::uint32_t i = 0; i < work.accesses; ++i) {
    const Access& access = workload_.accesses[work.first_access + i];
    const double ps = 1000 * walk(work, access, here, moved);
    waiting += ps;
    hidden += ps * speeds_[static_cast<std::size_t>(access.pattern)].overlap;
  }
  const double overlap = waiting > 0 ? hidden / waiting : 1;
  double alone = std::max(computing, waiting) + (1 - overlap) * std::min(computing, waiting);

  std::uint64_t bytes = 0;
  std::uint64_t* row = &misses_[static_cast<std::size_t>(here) * controllers_.size()];
  for (Location home = 0; home < locations_; ++home) {
    const std::uint64_t filled = moved.filled[home], written = moved.written[home];
    if ((filled | written) == 0) continue;
    bytes += filled + written;
    row[home] += filled + written;
    use_way(here, home, filled, written);
  }
  if (off_chip_limited_ && moved.off_chip != 0) use(off_chip_, static_cast<double>(moved.off_chip));
  if (copied_pages_ != 0) {
    bytes += use_copies(copied_, here, pages_.home_near(here));
    alone += static_cast<double>(copied_pages_) * touched_page_ps_;
    copied_.clear(locations_);
    copied_pages_ = 0;
  }
  return demand(alone, bytes);
}

}  // namespace hearth::sim
