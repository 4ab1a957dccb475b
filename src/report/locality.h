// How far tasks were from their data, and what the policy decided about it: sums over all tasks and over constructs. Pure.
//
// A recording knows it when it has the bytes of tasks by location; else `why_unknown` says in a sentence what is missing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/run.h"

namespace hearth::report {

struct TasksAndWork {
  std::int64_t tasks = 0, work = 0;
  void add(std::int64_t one) { ++tasks, work += one; }
};

struct ConstructLocality {
  std::int32_t construct = 0;
  double all = 0, remote = 0, unknown = 0, weighted = 0;  // bytes; weighted: known bytes x distance
  std::int64_t decided = 0, stayed = 0, dealt = 0;  // dealt: to another location than that of the thread that asked
  std::int64_t elsewhere = 0;                       // ran at another location than was chosen: stolen
  TasksAndWork near, far;                           // tasks whose bytes were nearly all local, and nearly all remote
};

struct Locality {
  bool known = false;
  std::string why_unknown;
  std::int32_t locations = 0;
  double all = 0, remote = 0, unknown = 0;    // bytes
  std::vector<ConstructLocality> constructs;  // those with bytes or decisions, by remote bytes
  std::vector<std::int64_t> whys;             // decisions, by Places::whys

  double remote_share() const { return all > unknown ? remote / (all - unknown) : 0; }
};

Locality locality_of(const Run& run);

/// A reason of a policy in words; one that this version does not know stays as it is.
std::string why_text(const std::string& word);

}  // namespace hearth::report
