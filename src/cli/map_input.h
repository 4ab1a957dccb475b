// What `hearth map` and `hearth run --places-from` read: graphs of threads, and machines. Used by one thread.
#pragma once

#include <string>

#include "mappers/graph_file.h"
#include "replay/communication.h"
#include "sim/cost/parameters.h"
#include "topology/machine.h"

namespace hearth::cli {

/// A graph file, or a recording.
mappers::LoadedGraph load_graph(const std::string& path);
mappers::Graph graph_of(const replay::Communication& communication);

struct MapMachine {
  topology::Machine machine;
  std::string name;            // for people
  sim::Parameters parameters;  // where there are any
  std::string no_simulation;   // why there are none; empty: there are
  std::string error;           // not empty: there is no machine
};
/// By --machine, else HEARTH_MACHINE, else the one that this runs on.
MapMachine load_map_machine(const std::string& description);

}  // namespace hearth::cli
