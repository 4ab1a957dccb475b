// The parser of GOMP_CPU_AFFINITY. Grammar in affinity_env.h.
#include "topology/affinity_env.h"
#include "topology/cpu_list.h"
#include "topology/text.h"

namespace hearth::topology {
namespace {

constexpr std::string_view kLegal = "CPU numbers and ranges such as \"0 3 1-2 4-15:2\"";

}  // namespace

ParsedPlaces parse_gomp_cpu_affinity(std::string_view text, const Machine& machine) {
  ParsedPlaces result;
  result.list.name = "list";
  const auto refuse = [&](std::string wrong, std::size_t column) {
    result.refused = true;
    result.list = places_of(PlaceUnit::cores, machine);
    result.remarks.clear();
    result.remarks.push_back({std::move(wrong), column, std::string(kLegal), "no GOMP_CPU_AFFINITY"});
    return result;
  };
  Scanner scan(text);
  scan.skip_space();
  if (scan.at_end()) return refuse("no CPUs", 0);
  ListFault fault;
  std::vector<unsigned> cpus;
  while (!scan.at_end()) {
    if (!read_range(scan, cpus, fault)) return refuse(fault.wrong, fault.column);
    const std::size_t before = scan.position();
    scan.skip_space();
    if (scan.take(',')) {
      scan.skip_space();
      if (scan.at_end()) return refuse("the text ends where a CPU number should stand", scan.column());
    } else if (!scan.at_end() && scan.position() == before) {
      return refuse("unexpected text", scan.column());
    }
  }
  UsableOnly usable(machine);
  usable.one_place_each(cpus, result.list.places);
  usable.remark(result.list, result.remarks);
  if (result.list.places.empty()) {
    return refuse(
        format("none of its CPUs can be used by this process, which may use %s", machine.usable.list().c_str()), 0);
  }
  return result;
}

}  // namespace hearth::topology
