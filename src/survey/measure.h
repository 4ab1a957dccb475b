// A machine model made from the machine it runs on, for `hearth topo --measure`. Nothing here writes anything: what is
// measured and what is to say comes back. Called by one thread.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "topology/machine.h"

namespace hearth::survey {

/// What was measured, by locations of the machine (row: who computes). 0: not measured, or there is nothing
/// to measure (a node without CPUs computes nothing).
struct Measured {
  topology::Matrix<double> read_ns;
  topology::Matrix<double> read_mbs;
  std::vector<double> loaded_ns;  // local, while the node's other cores read
  std::vector<double> memory_gbs;
  double all_local_gbs = 0;  // all nodes at once
  double write_latency = 0;
  double write_occupancy = 0;
  double llc_ns = 0;
  double clock_ghz = 0;
  double stream_misses = 0;
  double strided_misses = 0;
  double random_misses = 0;
  double move_pages_base_us = 0;
  double move_pages_us = 0;
  double move_thread_us = 0;
  std::size_t private_bytes = 0;
  std::size_t page_bytes = 4096;
  std::vector<std::string> remarks;  // what could not be measured, and what makes the figures doubtful
};

/// The model file: structure from the machine, figures from the measurement. Pure.
std::string model_text(const topology::Machine& machine, const Measured& measured, const std::string& name,
                       const std::string& title);

/// Called before each measurement, which takes well below a second or two. False: stop.
struct Step {
  const std::string& what;
  double done;      // seconds of the plan
  double expected;  // seconds of the whole plan
};
using Watch = std::function<bool(const Step& step)>;

/// Nothing when it was stopped. `quick`: one core for each node, short times. Throws std::runtime_error with a message
/// for people.
std::optional<Measured> measure(const topology::Machine& machine, bool quick, const Watch& watch);

}  // namespace hearth::survey
