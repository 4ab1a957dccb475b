// See allocation_use.h.
#include "report/allocation_use.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "report/run.h"

namespace hearth::report {
namespace {

using replay::RecordingFile;
using replay::Row;

constexpr std::int64_t kMostBytes = std::int64_t{1} << 56;
constexpr std::size_t kMostNeighbours = 8;  // blocks before an address that may reach over it: blocks do not overlap

/// Which allocation was at an address at a time.
class Blocks {
 public:
  struct Block {
    std::int64_t bytes, when, freed;
    std::size_t index;
  };

  void add(std::uint64_t address, const Block& block) { at_[address].push_back(block); }

  const Block* find(std::uint64_t address, std::int64_t when) const {
    auto at = at_.upper_bound(address);
    for (std::size_t i = 0; i < kMostNeighbours && at != at_.begin(); ++i) {
      --at;
      const auto& all = at->second;  // by time
      auto later = std::upper_bound(all.begin(), all.end(), when,
                                    [](std::int64_t time, const Block& block) { return time < block.when; });
      if (later == all.begin()) continue;
      const Block& block = *--later;
      if (static_cast<std::int64_t>(address - at->first) < block.bytes && (block.freed < 0 || when <= block.freed))
        return &block;
    }
    return nullptr;
  }

 private:
  std::map<std::uint64_t, std::vector<Block>> at_;
};

class Reading {
 public:
  Reading(RecordingFile& file, const Run& run) : file_(file), run_(run), uses_(run.allocations.size()) {}

  std::vector<AllocationUse> run() {
    if (uses_.empty()) return std::move(uses_);
    for (std::size_t i = 0; i < run_.allocations.size(); ++i) index_[run_.allocations[i].id] = i;
    if (run_.places.told) {
      footprints();
      homes();
      touches();
    }
    return std::move(uses_);
  }

 private:
  Blocks blocks() {
    Blocks all;
    file_.query("SELECT id, address, length, allocated_ns, freed_ns FROM allocation ORDER BY allocated_ns",
                [&](const Row& row) {
                  const auto index = index_.find(row.integer(0));
                  const std::int64_t bytes = row.integer(2);
                  if (index == index_.end() || bytes <= 0 || bytes > kMostBytes) return;
                  all.add(static_cast<std::uint64_t>(row.integer(1)),
                          {bytes, row.integer(3), row.integer_or(4, -1), index->second});
                });
    return all;
  }

  void footprints() {
    const Blocks all = blocks();
    std::int64_t last_task = -1;
    std::vector<std::size_t> read_by_last, written_by_last;  // allocations that the last task has been counted for
    file_.query("SELECT task, address, length, rows, access FROM footprint ORDER BY task", [&](const Row& row) {
      const std::int64_t task = row.integer(0), length = row.integer(2), rows = row.integer(3);
      if (task < 0 || task >= static_cast<std::int64_t>(run_.tasks.size()) || length <= 0 || rows <= 0 ||
          length > kMostBytes / rows)
        return;
      const Task& it = run_.tasks[static_cast<std::size_t>(task)];
      const Blocks::Block* const block = all.find(static_cast<std::uint64_t>(row.integer(1)), std::max(it.begin, it.created));
      if (block == nullptr) return;
      if (task != last_task) read_by_last.clear(), written_by_last.clear();
      last_task = task;
      const std::string access = row.text(4);
      const double bytes = static_cast<double>(std::min(length * rows, block->bytes));
      add(task, block->index, bytes, access != "write", access != "read", read_by_last, written_by_last);
    });
  }

  void add(std::int64_t task, std::size_t index, double bytes, bool reads, bool writes,
           std::vector<std::size_t>& read_by, std::vector<std::size_t>& written_by) {
    AllocationUse& use = uses_[index];
    const auto first_time = [index](std::vector<std::size_t>& seen) {
      if (std::find(seen.begin(), seen.end(), index) != seen.end()) return false;
      seen.push_back(index);
      return true;
    };
    if (reads) use.read += bytes, use.readers += first_time(read_by);
    if (writes) use.written += bytes, use.writers += first_time(written_by);
    const std::int32_t on = run_.places.ran_on.empty() ? kNone : run_.places.ran_on[static_cast<std::size_t>(task)];
    if (on < 0) return;
    at(use.used_at, on) += bytes * (reads + writes);
  }

  void homes() {
    for (const AllocationPlace& place : run_.places.homes)
      if (AllocationUse* const use = of(place.allocation); use != nullptr && is_location(place.location) && place.bytes > 0)
        at(use->home_at, place.location) += static_cast<double>(place.bytes);
  }

  void touches() {
    for (const AllocationPlace& place : run_.places.first_touches)
      if (AllocationUse* const use = of(place.allocation); use != nullptr && is_location(place.location) && place.bytes > 0)
        at(use->touched_at, place.location) += static_cast<double>(place.bytes);
    if (run_.places.first_touches.empty()) return;
    const auto samples = [&](auto visit) {
      file_.query("SELECT allocation, thread, sum(pages) FROM first_touch GROUP BY 1, 2", [&](const Row& row) {
        const std::int64_t pages = row.integer(2);
        if (AllocationUse* const use = of(row.integer(0)); use != nullptr && pages > 0 && pages < kMostBytes)
          visit(*use, row.integer_or(1, kNone), static_cast<double>(pages));
      });
    };
    std::map<const AllocationUse*, double> all;
    samples([&](AllocationUse& use, std::int64_t, double pages) { all[&use] += pages; });
    samples([&](AllocationUse& use, std::int64_t thread, double pages) {
      const double part = pages / all[&use];
      if (part <= use.first_part || thread < 0 || thread >= static_cast<std::int64_t>(run_.threads.size())) return;
      use.first_part = part;
      use.first_toucher = static_cast<std::int32_t>(thread);
    });
  }

  AllocationUse* of(std::int64_t allocation) {
    const auto index = index_.find(allocation);
    return index == index_.end() ? nullptr : &uses_[index->second];
  }
  bool is_location(std::int32_t location) const { return location >= 0 && location < run_.places.locations; }
  double& at(std::vector<double>& by_location, std::int32_t location) const {
    by_location.resize(static_cast<std::size_t>(run_.places.locations));
    return by_location[static_cast<std::size_t>(location)];
  }

  RecordingFile& file_;
  const Run& run_;
  std::vector<AllocationUse> uses_;
  std::map<std::int64_t, std::size_t> index_;  // by id
};

double sum_of(const std::vector<double>& all) { return std::accumulate(all.begin(), all.end(), 0.0); }

}  // namespace

double AllocationUse::remote_share() const {
  const double used = sum_of(used_at), known = sum_of(home_at);
  if (used <= 0 || known <= 0) return -1;
  double local = 0;
  for (std::size_t i = 0; i < used_at.size(); ++i) local += used_at[i] / used * home_at[i] / known;
  return std::clamp(1 - local, 0.0, 1.0);
}

AllocationUse::Most AllocationUse::most_of(const std::vector<double>& by_location) {
  const double sum = sum_of(by_location);
  if (sum <= 0) return {};
  const auto most = std::max_element(by_location.begin(), by_location.end());
  return {static_cast<std::int32_t>(most - by_location.begin()), *most / sum};
}

std::vector<AllocationUse> read_allocation_uses(RecordingFile& file, const Run& run) { return Reading(file, run).run(); }

}  // namespace hearth::report
