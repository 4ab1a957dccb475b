// Holds computed owners against those that the kernel tells (managed.h). Any thread; only the change of a region's owners takes
// the lock of managed memory.
#include <algorithm>

#include "base/log.h"
#include "memory/kernel_pages.h"
#include "memory/managed.h"
#include "memory/managed_regions.h"
#include "memory/page_map.h"

namespace hearth::memory {
namespace {

using placement::OwnerTable;

/// Pages with a computed owner, and whether the kernel agrees. Those that nobody has touched lie nowhere yet.
class Samples {
 public:
  static constexpr std::size_t kMost = kernel::kMostPagesAtOnce;

  void add(std::uint64_t address) {
    if (count_ == kMost || owner_table.owner(address) == kUnknown) return;
    pages_[count_++] = pointer(address & ~std::uint64_t{kPage - 1});
  }
  /// Calls visit(address, right) for each.
  template <class Visit>
  void compare(const MemoryHomes& machine, Visit&& visit) {
    if (count_ == 0 || kernel::query(pages_, count_, status_) != kernel::Outcome::done) return;
    for (std::size_t i = 0; i < count_; ++i) {
      const auto address = reinterpret_cast<std::uintptr_t>(pages_[i]);
      const Location computed = owner_table.owner(address);
      if (status_[i] >= 0 && computed != kUnknown) visit(address, machine.is_at(computed, status_[i]));
    }
  }

 private:
  std::size_t count_ = 0;
  void* pages_[kMost];
  int status_[kMost];
};

void check_region(const MemoryHomes& machine, const OwnerTable::Region& region) {
  Samples samples;
  const std::uint64_t first = region.begin / kPage, pages = (region.end - region.begin + kPage - 1) / kPage;
  const std::uint64_t parts = std::min<std::uint64_t>(pages, Samples::kMost);
  // One page of each part, at a place that looks random: the first ones would all be one node's.
  for (std::uint64_t i = 0; i < parts; ++i) {
    const std::uint64_t begin = pages * i / parts, end = pages * (i + 1) / parts;
    samples.add((first + begin + (i * 0x9e3779b97f4a7c15u >> 32) % (end - begin)) * kPage);
  }
  std::uint32_t right = 0, wrong = 0;
  samples.compare(machine, [&](std::uint64_t, bool is_right) { ++(is_right ? right : wrong); });
  // Every fourth wrong: the policy does not hold here.
  if (wrong == 0 || wrong * 4 < right + wrong) return;
  {
    Guard guard;
    if (const OwnerTable::RegionId id = owner_table.id_at(region.begin)) owner_table.change(id, {});
  }
  page_map.forget({region.begin, region.end});
  HEARTH_WARN_ONCE(
      "%u of %u sampled pages of distributed memory are not where they were placed: a node is full, or somebody has moved them. "
      "From now on Hearth asks the kernel where this memory is.",
      wrong, right + wrong);
}

}  // namespace

void check_owners(const std::uint64_t* addresses, std::size_t count) {
  const MemoryHomes& machine = memory_homes();
  if (!machine.kernel_places || owner_table.size() == 0) return;
  Samples samples;
  for (std::size_t i = 0; i < std::min(count, kMostOwnersChecked); ++i) samples.add(addresses[i]);
  constexpr int kMostRegions = 4;  // others have their turn the next time
  int looked = 0;
  OwnerTable::Region region;
  samples.compare(machine, [&](std::uint64_t address, bool right) {
    if (right || looked == kMostRegions || (address >= region.begin && address < region.end)) return;
    ++looked;
    if (owner_table.find(address, region)) check_region(machine, region);
  });
}

}  // namespace hearth::memory
