// What the threads of a recorded program exchanged: from the footprints of the tasks that each of them ran.
#pragma once

#include <cstdint>

#include <string>
#include <vector>

namespace hearth::replay {

struct Communication {
  struct Pair {
    std::uint32_t a = 0, b = 0;  // threads, a < b
    double bytes = 0;
  };
  std::vector<double> busy_us;  // by OpenMP thread number: time in tasks
  std::vector<Pair> pairs;
  std::string error;    // not empty: there is nothing
  std::string remarks;  // what could not be told, in sentences

  bool ok() const { return error.empty(); }
};

/// Of the process with the most work. A byte that two threads touch, at least one of them writing, counts as often as
/// the one touches it that does so less often.
Communication load_communication(const std::string& path);

}  // namespace hearth::replay
