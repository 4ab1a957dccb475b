// See memory.h.
#include "replay/memory.h"

#include <algorithm>
#include <map>
#include <numeric>

#include <fmt/format.h>

namespace hearth::replay {
namespace {

/// Ranges of unknown memory that are closer belong together.
constexpr std::uint64_t kPage = 4096;
/// HEARTH_DISTRIBUTE's least size, as long as nobody gives another: smaller blocks stay where they are.
constexpr std::uint64_t kLeastDistributed = 128 << 10;

class Finding {
 public:
  explicit Finding(Recorded& recorded) : r_(recorded) {}

  std::vector<sim::Region> run() {
    block_of_.assign(r_.touched.size(), kNone);
    if (r_.knows_allocations) look_up_blocks();
    name_blocks();
    for (std::size_t i = 0; i < r_.touched.size(); ++i)
      if (block_of_[i] != kNone) cut(r_.touched[i], r_.allocations[static_cast<std::size_t>(block_of_[i])]);
    cluster_the_others();
    return std::move(regions_);
  }

 private:
  /// Blocks and ranges in the order of time: which block was at the address last?
  void look_up_blocks() {
    std::vector<std::size_t> order(r_.touched.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return r_.at(r_.touched[a].task).created < r_.at(r_.touched[b].task).created;
    });
    std::map<std::uint64_t, std::size_t> blocks;  // by where they begin; they do not overlap
    std::size_t next = 0;
    for (const std::size_t i : order) {
      const std::int64_t when = r_.at(r_.touched[i].task).created;
      for (; next < r_.allocations.size() && r_.allocations[next].when <= when; ++next) put(blocks, next);
      const std::uint64_t address = r_.touched[i].begin;
      auto at = blocks.upper_bound(address);
      if (at == blocks.begin()) continue;
      const Allocation& block = r_.allocations[(--at)->second];
      if (address - block.begin < block.bytes) block_of_[i] = static_cast<std::int64_t>(at->second);
    }
  }

  /// What lay there before was freed.
  void put(std::map<std::uint64_t, std::size_t>& blocks, std::size_t index) {
    const Allocation& block = r_.allocations[index];
    auto at = blocks.lower_bound(block.begin);
    if (at != blocks.begin()) {
      const Allocation& before = r_.allocations[std::prev(at)->second];
      if (before.begin + before.bytes > block.begin) --at;
    }
    while (at != blocks.end() && at->first < block.begin + block.bytes) at = blocks.erase(at);
    blocks[block.begin] = index;
  }

  /// "heat.c:42 #3": the third block from there that tasks touch.
  void name_blocks() {
    std::vector<char> used(r_.allocations.size(), 0);
    for (const std::int64_t block : block_of_)
      if (block != kNone) used[static_cast<std::size_t>(block)] = 1;
    std::map<std::string, std::size_t> so_many, nth;
    for (std::size_t i = 0; i < used.size(); ++i) so_many[r_.allocations[i].site] += static_cast<std::size_t>(used[i]);
    region_of_block_.assign(used.size(), 0);
    for (std::size_t i = 0; i < used.size(); ++i) {
      if (used[i] == 0) continue;
      const Allocation& block = r_.allocations[i];
      region_of_block_[i] = static_cast<std::uint32_t>(regions_.size());
      sim::Region& region = regions_.emplace_back();
      region.name = so_many[block.site] == 1 ? block.site : fmt::format("{} #{}", block.site, ++nth[block.site]);
      region.bytes = block.bytes;
      region.distributed = block.of_hearth || block.bytes >= kLeastDistributed;
    }
  }

  /// Nobody can touch as one what was not allocated as one: a length beyond the block's end is a wrong guess.
  void cut(Touched& one, const Allocation& block) {
    const std::uint64_t room = block.begin + block.bytes - one.begin;
    if (one.rows > 1 && one.pitch != 0) {
      one.length = std::min(one.length, room);
      one.rows = std::min(one.rows, (room - one.length) / one.pitch + 1);
    } else {
      one.length = std::min(one.length, room);
    }
    one.memory = region_of_block_[static_cast<std::size_t>(&block - r_.allocations.data())];
    one.offset = one.begin - block.begin;
  }

  void cluster_the_others() {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < r_.touched.size(); ++i)
      if (block_of_[i] == kNone) order.push_back(i);
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      const Touched &one = r_.touched[a], &other = r_.touched[b];
      return one.begin != other.begin ? one.begin < other.begin : a < b;
    });
    std::uint64_t begin = 0, end = 0;
    const std::size_t first = regions_.size();
    for (const std::size_t i : order) {
      Touched& one = r_.touched[i];
      if (regions_.size() == first || one.begin > end + kPage) {
        begin = end = one.begin;
        sim::Region& region = regions_.emplace_back();
        region.name = fmt::format("{:#x}", begin);
        // Of omp_malloc(), or a mapping, or static data: only the program itself could follow advice about it.
        region.advisable = !r_.knows_allocations;
      }
      end = std::max(end, one.end());
      regions_.back().bytes = end - begin;
      one.memory = static_cast<std::uint32_t>(regions_.size() - 1);
      one.offset = one.begin - begin;
    }
  }

  Recorded& r_;
  std::vector<std::int64_t> block_of_;  // by range
  std::vector<std::uint32_t> region_of_block_;
  std::vector<sim::Region> regions_;
};

}  // namespace

std::vector<sim::Region> find_memory(Recorded& recorded) { return Finding(recorded).run(); }

}  // namespace hearth::replay
