// What the topology tests share: recorded trees, unpacked once per test program, and machines made from small
// descriptions.
#pragma once

#include <map>
#include <memory>
#include <stdexcept>
#include <string>

#include "survey/archive.h"
#include "topology/model.h"
#include "topology/sysfs.h"

namespace hearth::topology::test {

/// The folder of trees/NAME.tar.gz, unpacked.
inline const std::string& tree(const std::string& name) {
  static std::map<std::string, std::unique_ptr<survey::UnpackedArchive>> unpacked;
  auto& slot = unpacked[name];
  if (!slot) {
    slot = std::make_unique<survey::UnpackedArchive>(
        survey::read_archive(std::string(HEARTH_TREES) + '/' + name + ".tar.gz"));
  }
  return slot->folder();
}

inline Machine machine_of_tree(const std::string& name) {
  const SystemRoot root(tree(name));
  return read_sysfs(root, read_allowance(root, recorded_affinity(root)));
}

inline CpuMask cpus(const char* list) {
  CpuMask mask;
  if (!CpuMask::parse_list(list, mask)) throw std::invalid_argument(list);
  return mask;
}

/// A regular machine whose SMT siblings are neighbours (by-core) or come last (by-thread).
inline Machine regular(int packages, int nodes, int llcs, int cores, int threads,
                       const char* numbering = "by-core") {
  const std::string text =
      "schema = 1\nname = \"test\"\n[structure]\nmark = \"A\"\npackages = " + std::to_string(packages) +
      "\nnodes_per_package = " + std::to_string(nodes) + "\nllcs_per_node = " + std::to_string(llcs) +
      "\ncores_per_llc = " + std::to_string(cores) + "\nthreads_per_core = " + std::to_string(threads) +
      "\nnumbering = \"" + numbering + "\"\n";
  LoadedMachine loaded = parse_model(text, "test.toml");
  if (!loaded.ok()) throw std::runtime_error(loaded.error);
  return std::move(loaded.machine);
}

inline Machine restricted(Machine machine, const char* list) {
  machine.restrict_to(cpus(list), {}, {});
  return machine;
}

}  // namespace hearth::topology::test
