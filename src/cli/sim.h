// `hearth sim`: benchmarks and recordings on machine models, under several policies and distributions of their data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hearth::cli {

struct SimRequest {
  std::string program;                // a generator's name, or a recording
  std::vector<std::string> settings;  // of the generator: name=value
  std::string machine;
  std::vector<std::string> policies, distributions;  // empty: the defaults
  bool advise = false;
  std::string significance = "gain";
  std::string threshold = "hops";
  std::string vicinity = "all";
  std::string seating = "close";
  std::string caches = "cold";
  std::uint64_t allocations_before = 0;
  std::uint32_t threads = 0;  // of the simulated program; 0: the machine's default
  std::uint32_t draws = 20;
  bool nominal = false;
  std::uint64_t first_seed = 1;
  std::string json;       // a file, or "-"
  std::string decisions;  // a file
  std::string recording;  // a file
  bool list = false;
};
/// The exit status; what is wrong has been said.
int sim_main(const SimRequest& request);

}  // namespace hearth::cli
