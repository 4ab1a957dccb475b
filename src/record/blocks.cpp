// See blocks.h.
#include "record/blocks.h"

#include <map>
#include <set>
#include <tuple>

namespace hearth::record {
namespace {

/// Something that happened at an address.
struct Event {
  enum class What : std::uint8_t { allocated, touched, home, freed };  // at the same time, in this order
  Nanoseconds when;
  What what;
  std::size_t index;
};

class Matching {
 public:
  Matching(ProcessAssembly& assembly, const Marks& from) : assembly_(assembly), out_(assembly.out()), from_(from) {}

  void run() {
    std::stable_sort(out_.allocations.begin() + static_cast<std::ptrdiff_t>(from_.allocations), out_.allocations.end(),
                     [](const Allocation& a, const Allocation& b) { return a.when < b.when; });
    std::vector<Event> events;
    const auto add = [&](Event::What what, std::size_t first, std::size_t count, auto when) {
      for (std::size_t i = first; i < count; ++i) events.push_back({when(i), what, i});
    };
    add(Event::What::allocated, from_.allocations, out_.allocations.size(),
        [&](auto i) { return out_.allocations[i].when; });
    add(Event::What::home, 0, assembly_.homes.size(), [&](auto i) { return assembly_.homes[i].second.when; });
    add(Event::What::freed, 0, assembly_.frees.size(), [&](auto i) { return assembly_.frees[i].second; });
    add(Event::What::touched, 0, assembly_.touches.size(), [&](auto i) { return assembly_.touches[i].second.when; });
    std::stable_sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
      return std::tie(a.when, a.what) < std::tie(b.when, b.what);
    });
    for (const Event& event : events) take(event);
  }

 private:
  void take(const Event& event) {
    switch (event.what) {
      case Event::What::allocated: put(static_cast<Index>(event.index)); break;
      case Event::What::home: {
        const auto& [address, home] = assembly_.homes[event.index];
        const Index block = block_at(address);
        if (block == kNone) return;
        out_.homes.push_back(home);
        out_.homes.back().allocation = block;
        break;
      }
      case Event::What::touched: {
        const auto& [address, touch] = assembly_.touches[event.index];
        const Index block = block_around(address);
        // Memory that the kernel takes away to see who uses it (AutoNUMA) faults again: the first time counts.
        if (block == kNone || !seen_.insert({block, address / kSmallPage}).second) return;
        out_.touches.push_back(touch);
        out_.touches.back().allocation = block;
        break;
      }
      case Event::What::freed: {
        const Index block = block_at(assembly_.frees[event.index].first);
        if (block == kNone) return;
        out_.allocations[block].freed = event.when;
        live_.erase(out_.allocations[block].address);
        break;
      }
    }
  }

  /// What lay there before is gone, though nobody has seen it go.
  void put(Index index) {
    const Allocation& block = out_.allocations[index];
    const std::uint64_t end = block.address + std::min(block.bytes, UINT64_MAX - block.address);
    auto at = live_.lower_bound(block.address);
    if (at != live_.begin() && reaches(std::prev(at)->second, block.address)) --at;
    while (at != live_.end() && at->first < end) at = live_.erase(at);
    live_[block.address] = index;
  }

  bool reaches(Index index, std::uint64_t address) const {
    const Allocation& block = out_.allocations[index];
    return address >= block.address && address - block.address < block.bytes;
  }

  Index block_at(std::uint64_t address) const {
    const auto at = live_.find(address);
    return at == live_.end() ? kNone : at->second;
  }

  Index block_around(std::uint64_t address) const {
    auto at = live_.upper_bound(address);
    if (at == live_.begin()) return kNone;
    --at;
    return reaches(at->second, address) ? at->second : kNone;
  }

  static constexpr std::uint64_t kSmallPage = 4096;

  std::set<std::pair<Index, std::uint64_t>> seen_;  // pages of blocks that were touched
  ProcessAssembly& assembly_;
  Recording& out_;
  const Marks& from_;
  std::map<std::uint64_t, Index> live_;  // by address
};

}  // namespace

void match_blocks(ProcessAssembly& assembly, const Marks& from) { Matching(assembly, from).run(); }

}  // namespace hearth::record
