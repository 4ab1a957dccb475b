// The arithmetic of OpenMP's thread affinity policies. The rules stand in binding.h.
#include "topology/binding.h"

namespace hearth::topology {
namespace {

// `total` things divided among `parts`: the first total % parts get one more.
struct EqualParts {
  std::uint32_t small;   // size of a small share
  std::uint32_t larger;  // how many shares are small + 1

  EqualParts(std::uint32_t total, std::uint32_t parts) : small(total / parts), larger(total % parts) {}

  std::uint32_t start(std::uint32_t part) const { return part * small + (part < larger ? part : larger); }
  std::uint32_t size(std::uint32_t part) const { return small + (part < larger ? 1 : 0); }
  std::uint32_t part_of(std::uint32_t thing) const {
    const std::uint32_t in_larger = larger * (small + 1);
    return thing < in_larger ? thing / (small + 1) : larger + (thing - in_larger) / small;
  }
};

std::uint32_t wrapped_sum(std::uint32_t a, std::uint32_t b, std::uint32_t modulus) {
  return a >= modulus - b ? a - (modulus - b) : a + b;  // a, b < modulus; no overflow
}

}  // namespace

const char* proc_bind_name(ProcBind bind) {
  switch (bind) {
    case ProcBind::false_: return "false";
    case ProcBind::true_: return "true";
    case ProcBind::primary: return "primary";
    case ProcBind::close: return "close";
    case ProcBind::spread: return "spread";
  }
  return "?";
}

Binding bind_thread(ProcBind bind, PlaceRange partition, std::int32_t parent_place, std::uint32_t team_size,
                    std::uint32_t thread) {
  const std::uint32_t places = partition.count;
  if (bind == ProcBind::false_ || places == 0 || thread >= team_size) return {-1, partition};
  const bool parent_inside = parent_place >= 0 && partition.holds(static_cast<std::uint32_t>(parent_place));
  const std::uint32_t home = parent_inside ? static_cast<std::uint32_t>(parent_place) - partition.first : 0;
  const auto place = [&](std::uint32_t offset) { return static_cast<std::int32_t>(partition.first + offset); };

  if (bind == ProcBind::primary) return {place(home), partition};

  if (team_size > places) {
    const std::uint32_t steps = EqualParts(team_size, places).part_of(thread);
    const std::uint32_t offset = wrapped_sum(home, steps, places);
    if (bind == ProcBind::spread) return {place(offset), {partition.first + offset, 1}};
    return {place(offset), partition};
  }

  if (bind != ProcBind::spread) return {place(wrapped_sum(home, thread, places)), partition};

  const EqualParts parts(places, team_size);
  const std::uint32_t part = wrapped_sum(parts.part_of(home), thread, team_size);
  const std::uint32_t first = parts.start(part);
  return {place(thread == 0 ? home : first), {partition.first + first, parts.size(part)}};
}

}  // namespace hearth::topology
