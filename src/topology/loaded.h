// What reading a machine from a file or a string gives: the machine, or one line that says why not.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "topology/machine.h"

namespace hearth::topology {

struct LoadedMachine {
  Machine machine;
  std::string title;  // of a model file, in words
  std::string error;  // "FILE:LINE: what is wrong; legal: ..."; empty: the machine is good
  /// Of a model file: all that is wrong with it, as far as can be seen, by line.
  std::vector<std::string> problems;

  bool ok() const { return error.empty(); }
  static LoadedMachine failure(std::string why) {
    LoadedMachine loaded;
    loaded.error = std::move(why);
    loaded.problems = {loaded.error};
    return loaded;
  }
};

}  // namespace hearth::topology
