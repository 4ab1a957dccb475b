// What reading a machine from a file or a string gives: the machine, or one line that says why not.
#pragma once

#include <string>
#include <utility>

#include "topology/machine.h"

namespace hearth::topology {

struct LoadedMachine {
  Machine machine;
  std::string error;  // "FILE:LINE: what is wrong; legal: ..."; empty: the machine is good

  bool ok() const { return error.empty(); }
  static LoadedMachine failure(std::string why) {
    LoadedMachine loaded;
    loaded.error = std::move(why);
    return loaded;
  }
};

}  // namespace hearth::topology
