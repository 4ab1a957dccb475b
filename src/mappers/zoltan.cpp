// `zoltan`: Zoltan's parallel hypergraph partitioner, in one process. Not built in: Debian's needs MPI, which has to
// be started in the process that asks.
#include "mappers/parts.h"

namespace hearth::mappers {

std::string zoltan_parts(const Graph&, std::uint32_t, Groups&) {
  return "zoltan is not built in: it needs MPI in the process that asks, which no build of hearth has so far";
}

Mapping map_zoltan(const Graph& graph, const Target& target) { return map_parts(graph, target, zoltan_parts); }

}  // namespace hearth::mappers
