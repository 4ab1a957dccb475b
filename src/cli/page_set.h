// A set of pages, as parts that neither overlap nor touch. Plain values.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>

namespace hearth::cli {

class PageSet {
 public:
  void add(std::uint64_t first, std::uint64_t last) {
    if (first >= last) return;
    auto at = parts_.upper_bound(first);
    if (at != parts_.begin() && std::prev(at)->second >= first) --at;
    while (at != parts_.end() && at->first <= last) {
      first = std::min(first, at->first);
      last = std::max(last, at->second);
      at = parts_.erase(at);
    }
    parts_[first] = last;
  }
  /// Calls visit(first, last, inside) for the parts of [first, last), in order.
  template <class Visit>
  void split(std::uint64_t first, std::uint64_t last, Visit visit) const {
    auto at = parts_.upper_bound(first);
    if (at != parts_.begin() && std::prev(at)->second > first) --at;
    for (; first < last && at != parts_.end() && at->first < last; ++at) {
      if (first < at->first) visit(first, at->first, false);
      const std::uint64_t begin = std::max(first, at->first), end = std::min(last, at->second);
      visit(begin, end, true);
      first = end;
    }
    if (first < last) visit(first, last, false);
  }
  template <class Visit>
  void for_each(Visit visit) const {
    for (const auto& [first, last] : parts_) visit(first, last);
  }

 private:
  std::map<std::uint64_t, std::uint64_t> parts_;
};

}  // namespace hearth::cli
