// See places.h.
//
// Orders: the filter is relaxed. A block is freed by a thread that has got it from the one that allocated it, so that
// thread sees what was noted for the block.
#include "btlp/recorder/places.h"

#include <algorithm>
#include <cstring>

namespace hearth::btlp::recorder {
namespace {

constexpr std::uint64_t kGrain = 8;

template <typename Ranges>
std::uint32_t in(const Ranges& ranges, std::uint64_t address) {
  auto next = ranges.upper_bound(address);
  if (next == ranges.begin()) return 0;
  --next;
  return address < next->second.end ? next->second.object : 0;
}

}  // namespace

void Places::seen(std::uint64_t page) { filter_[page % kFilter].store(1, std::memory_order_relaxed); }

bool Places::may_hold(std::uint64_t address, std::uint64_t bytes) const {
  if (bytes >= kLarge) return true;
  for (std::uint64_t page = address / kPage; page <= (address + bytes) / kPage; ++page)
    if (filter_[page % kFilter].load(std::memory_order_relaxed) != 0) return true;
  return false;
}

void Places::add_global(const void* address, std::uint64_t bytes, std::uint32_t object) {
  const auto from = reinterpret_cast<std::uint64_t>(address);
  globals_[from] = {from + bytes, object};
}

const char* Places::function(const void* address) const {
  const auto found = functions_.find(reinterpret_cast<std::uint64_t>(address));
  return found == functions_.end() ? nullptr : found->second;
}

void Places::mark(std::uint64_t address, std::uint64_t bytes, std::uint32_t object) {
  const std::uint64_t end = address + bytes;
  for (std::uint64_t page = address / kPage; page <= (end - 1) / kPage; ++page) {
    auto found = objects_.find(page);
    if (found == objects_.end()) {
      if (object == 0) continue;
      if (!exact_ && objects_.size() >= kMostObjectPages) {
        ++left_out_;
        return;
      }
      found = objects_.emplace(page, static_cast<std::uint32_t*>(take(kPage / kGrain * sizeof(std::uint32_t)))).first;
      seen(page);
    }
    const std::uint64_t from = std::max(address, page * kPage) % kPage / kGrain;
    const std::uint64_t to = (std::min(end, (page + 1) * kPage) - page * kPage + kGrain - 1) / kGrain;
    std::fill(found->second + from, found->second + to, object);
  }
}

void Places::add(std::uint64_t address, std::uint64_t bytes, std::uint32_t object) {
  if (bytes == 0) return;
  forget(address, bytes);
  if (bytes >= kLarge)
    large_[address] = {address + bytes, object};
  else
    mark(address, bytes, object);
}

void Places::forget(std::uint64_t address, std::uint64_t bytes) {
  if (bytes == 0) return;
  const std::uint64_t end = address + bytes;
  auto range = large_.upper_bound(address);
  if (range != large_.begin() && std::prev(range)->second.end > address) --range;
  while (range != large_.end() && range->first < end) range = large_.erase(range);
  const std::uint64_t first = address / kPage, last = (end - 1) / kPage;
  const auto clear = [&](std::uint64_t page, std::uint32_t* histories) {
    const std::uint64_t from = std::max(address, page * kPage), to = std::min(end, (page + 1) * kPage);
    if (from < to) std::memset(histories + from % kPage, 0, (to - from) * sizeof(std::uint32_t));
  };
  if (!exact_ && last - first > slots_.size()) {
    for (const Slot& slot : slots_)
      if (slot.histories != nullptr && slot.page >= first && slot.page <= last) clear(slot.page, slot.histories);
  } else {
    for (std::uint64_t page = first; page <= last; ++page) {
      if (exact_) {
        if (const auto found = pages_.find(page); found != pages_.end()) clear(page, found->second);
      } else if (!slots_.empty()) {
        const Slot& slot = slots_[page % kSlots];
        if (slot.histories != nullptr && slot.page == page) clear(page, slot.histories);
      }
    }
  }
  if (last - first > objects_.size()) {
    for (auto& [page, objects] : objects_)
      if (page >= first && page <= last) {
        const std::uint64_t from = std::max(address, page * kPage);
        mark(from, std::min(end, (page + 1) * kPage) - from, 0);
      }
    return;
  }
  mark(address, bytes, 0);
}

std::uint32_t Places::object_at(std::uint64_t address) const {
  if (const std::uint32_t object = in(globals_, address)) return object;
  if (const auto found = objects_.find(address / kPage); found != objects_.end())
    if (const std::uint32_t object = found->second[address % kPage / kGrain]) return object;
  return in(large_, address);
}

std::uint32_t* Places::histories(std::uint64_t address) {
  const std::uint64_t page = address / kPage;
  if (last_ != nullptr && last_page_ == page) return last_;
  std::uint32_t* found = nullptr;
  const std::size_t bytes = kPage * sizeof(std::uint32_t);
  if (exact_) {
    std::uint32_t*& histories = pages_[page];
    if (histories == nullptr) histories = static_cast<std::uint32_t*>(take(bytes));
    found = histories;
  } else {
    if (slots_.empty()) slots_.resize(kSlots);
    Slot& slot = slots_[page % kSlots];
    if (slot.histories == nullptr)
      slot.histories = static_cast<std::uint32_t*>(take(bytes));
    else if (slot.page != page)
      std::memset(slot.histories, 0, bytes);
    slot.page = page;
    found = slot.histories;
  }
  seen(page);
  last_page_ = page;
  last_ = found;
  return found;
}

}  // namespace hearth::btlp::recorder
