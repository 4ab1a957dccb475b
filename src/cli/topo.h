// `hearth topo`: shows the machine as Hearth sees it, and what this process may use of it.
#pragma once

#include <string>

#include <CLI/App.hpp>

#include "topology/machine.h"
#include "topology/system_root.h"

namespace hearth::cli {

/// Adds the subcommand. Its callback does the work; on failure it prints one line and throws
/// CLI::RuntimeError.
void register_topo(CLI::App& app);

/// The text and the JSON document that the command prints.
std::string describe_machine(const topology::Machine& machine, bool utf8);
std::string machine_json(const topology::Machine& machine);

struct Gathered {
  std::size_t files = 0;
  std::size_t bytes = 0;
};
/// Writes what read_sysfs() and hwloc need of `root` to an archive. Only the needed lines of files that say
/// more than that.
Gathered gather(const topology::SystemRoot& root, const topology::CpuMask& affinity, const std::string& path);

}  // namespace hearth::cli
