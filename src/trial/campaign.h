// Runs what is planned: all programs once, then again in rounds as long as time allows, each round in another order. One
// thread; the programs run one at a time.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "topology/machine.h"
#include "trial/plan.h"
#include "trial/process.h"
#include "trial/result.h"

namespace hearth::trial {

struct CampaignRequest {
  std::vector<std::string> sets;
  std::vector<Runtime> runtimes;  // Hearth first, without and with policies
  std::string programs;           // the folder of the programs
  std::string scratch;            // an empty folder, for links
  double minutes = 10;
  int rounds = 15;  // at most
  int threads = 1;
  bool quick = false, tiny = false;
};

struct Campaign {
  /// Before each program. `expected` changes as more is known. False: stop.
  std::function<bool(const std::string& what, double done_s, double expected_s)> watch;
  std::function<bool()> stopped;
  /// Something that a person should know: not part of the result, and may have paths.
  std::function<void(const std::string& text)> say;
};

Result run_campaign(const CampaignRequest& request, const topology::Machine& machine, const Campaign& campaign);

/// What a program that ended so has found: nanoseconds by row, or why there is nothing. Pure.
struct Answer {
  State state = State::measured;
  std::string why;
  std::string served_by;  // file of the runtime, as the program tells it
  std::map<std::string, double> ns;
};
Answer answer_of(const Job& job, const Ended& ended, double limit_s);

}  // namespace hearth::trial
