// `hearth memory`: how the memory of each node is used, and by whom.
#pragma once

#include <string>
#include <vector>

namespace hearth::cli {

struct MemoryRequest {
  bool json = false;
  bool all = false;              // every process, not only the largest
  std::string root;              // a folder with recorded /proc and /sys; empty: this machine
  std::vector<unsigned> pids;    // only these processes; empty: all
};
/// Each failure is said in one line.
int memory_main(const MemoryRequest& request);

}  // namespace hearth::cli
