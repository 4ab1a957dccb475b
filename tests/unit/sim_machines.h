// Machines with figures that are easy to reckon with, for the tests of sim/.
#pragma once

#include <string>

#include <gtest/gtest.h>

#include "sim/cost/parameters.h"
#include "topology/model.h"

namespace hearth::sim {

inline topology::Machine model(const char* name) {
  topology::LoadedMachine loaded =
      topology::load_model(std::string(HEARTH_SOURCE_DIR "/models/") + name + ".toml");
  EXPECT_TRUE(loaded.ok()) << loaded.error;
  return loaded.machine;
}

inline Figure known(double value) { return {value, value, value, 'A'}; }

/// 1 GHz; one miss of 64 bytes at a time, in 64 ns, so a byte a nanosecond, and 128 ns if it is far; nothing
/// overlaps; memory serves 10 bytes a nanosecond. No caches, no links, and scheduling costs nothing.
inline Parameters plain_parameters(const topology::Machine& machine) {
  Parameters p;
  p.clock_ghz = known(1);
  for (PatternSpeed& speed : p.patterns) speed = {known(1), known(0)};
  p.memory_gbs.assign(machine.locations.size(), known(10));
  p.routes.resize(machine.nodes.size() * machine.nodes.size());
  p.read_ns = topology::Matrix<double>(machine.nodes.size(), 128);
  for (std::size_t i = 0; i < machine.nodes.size(); ++i) p.read_ns.at(i, i) = 64;
  p.remote_occupancy = known(1);
  p.write_occupancy = known(1);
  p.write_latency = known(1);
  p.backoff_min_ns = known(1000);
  p.backoff_max_ns = known(128000);
  return p;
}

}  // namespace hearth::sim
