// How far tasks were from their data: bytes by the node where a task ran and the node where the data lay.
//
// A recording knows it when it has the table of bytes by node; else `why_unknown` says in a sentence what is missing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/run.h"

namespace hearth::report {

struct Locality {
  bool known = false;
  std::string why_unknown;
  std::int32_t nodes = 0;
  std::vector<double> bytes;  // [node of the task * nodes + node of the data]
  double all = 0, remote = 0;

  double remote_share() const { return all > 0 ? remote / all : 0; }
};

Locality locality_of(const Run& run);

}  // namespace hearth::report
