// `metis`: METIS_PartGraphRecursive parts the threads (METIS_PartGraphKway leaves parts empty where they are small);
// which part goes to which cores is ours. With more threads than cores there is a part for each core; else a part for
// each unit of the deepest level that has fewer units than there are threads, in which each thread gets a core of its
// own where there are enough.
#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "mappers/foreign.h"
#include "mappers/mapper.h"
#include "mappers/parts.h"

#ifdef HEARTH_HAS_METIS
#include <metis.h>
#endif

namespace hearth::mappers {

#ifdef HEARTH_HAS_METIS
static_assert(IDXTYPEWIDTH == 32, "foreign.h makes 32-bit numbers");

std::string metis_parts(const Graph& graph, std::uint32_t parts, Groups& part_of) {
  static const ForeignLibrary library{"libmetis.so.5", "libmetis.so"};
  decltype(METIS_PartGraphRecursive)* part_graph = nullptr;
  decltype(METIS_SetDefaultOptions)* set_defaults = nullptr;
  if (!library.is_open() || !library.find("METIS_PartGraphRecursive", part_graph) ||
      !library.find("METIS_SetDefaultOptions", set_defaults))
    return not_installed("libmetis.so.5", "libmetis5");
  part_of.assign(graph.size(), 0);
  if (parts < 2) return {};  // METIS 5.1 crashes on one part
  CompressedGraph input = compressed(graph);
  idx_t vertices = static_cast<idx_t>(graph.size()), constraints = 1, wanted = static_cast<idx_t>(parts), cut = 0;
  std::vector<idx_t> result(graph.size(), 0);
  input.neighbour.push_back(0);  // it wants addresses where there are no edges, too
  input.edge_weight.push_back(0);
  idx_t options[METIS_NOPTIONS];
  set_defaults(options);
  options[METIS_OPTION_NCUTS] = kMetisCuts;
  options[METIS_OPTION_NITER] = kMetisIterations;
  const int status = part_graph(&vertices, &constraints, input.first.data(), input.neighbour.data(), input.load.data(),
                                nullptr, input.edge_weight.data(), &wanted, nullptr, nullptr, options, &cut,
                                result.data());
  if (status != METIS_OK) return fmt::format("METIS_PartGraphRecursive fails with status {}", status);
  part_of.assign(result.begin(), result.end());
  return {};
}

#else

std::string metis_parts(const Graph&, std::uint32_t, Groups&) { return not_built_in("metis", "libmetis-dev"); }

#endif

Mapping map_metis(const Graph& graph, const Target& target) { return map_parts(graph, target, metis_parts); }

}  // namespace hearth::mappers
