// Lists of processors as the kernel writes them: "0-3,8". Nothing in them is trusted.
#pragma once

#include <charconv>
#include <string_view>

namespace hearth::record {

/// Calls visit(cpu) for each; what cannot be read ends the list.
template <class Visit>
void for_each_cpu(std::string_view list, Visit visit) {
  constexpr unsigned kMost = 4096;
  const char* at = list.data();
  const char* const end = at + list.size();
  while (at < end) {
    unsigned first = 0;
    auto parsed = std::from_chars(at, end, first);
    if (parsed.ec != std::errc()) break;
    unsigned last = first;
    if (parsed.ptr < end && *parsed.ptr == '-') parsed = std::from_chars(parsed.ptr + 1, end, last);
    for (unsigned cpu = first; cpu <= last && cpu < kMost; ++cpu) visit(cpu);
    at = parsed.ptr + 1;
  }
}

}  // namespace hearth::record
