// `hearth topo`: shows the machine as Hearth sees it, and what this process may use of it.
#pragma once

#include <string>

#include "topology/machine.h"

namespace hearth::cli {

struct TopoRequest {
  bool json = false;
  std::string machine;   // empty: HEARTH_MACHINE, or this machine
  std::string location;  // empty: as HEARTH_LOCATION says
  std::string replay;    // an archive to show
  std::string gather;    // the archive to write
  bool measure = false;
  std::string write;  // where the measured model goes; empty: standard output
  bool keep = false;  // the model goes to where programs look for it
  bool quick = false;
};
/// Each failure is said in one line.
int topo_main(const TopoRequest& request);

/// --measure. `file`: empty for standard output. Throws std::runtime_error with a message for people.
int measure_machine(const std::string& file, bool quick);

/// The text and the JSON document that the command prints.
std::string describe_machine(const topology::Machine& machine, bool utf8);
std::string machine_json(const topology::Machine& machine);

}  // namespace hearth::cli
