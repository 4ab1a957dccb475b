// Machines described by hwloc: an XML file that lstopo wrote, or a synthetic string such as "package:2 numa:2
// l3:1 core:8 pu:2".
//
// libhwloc.so.15 (hwloc 2) is opened when the first of these is asked for and closed again after; the runtime
// library never links it, since it costs 12 ms of start-up and clashes with the copy that Open MPI brings.
// Only its headers are used to build.
#pragma once

#include <string>

#include "topology/loaded.h"

namespace hearth::topology {

LoadedMachine load_hwloc_xml(const std::string& path);
LoadedMachine load_hwloc_synthetic(const std::string& description);

}  // namespace hearth::topology
