// `hearth doctor`: what will come of a program on Hearth, here, and what stands in the way. Nothing is started.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/options.h"
#include "cli/program.h"
#include "runtime/settings/settings.h"
#include "topology/machine.h"
#include "topology/system_root.h"

namespace hearth::cli {

struct DoctorRequest {
  std::string program;  // empty: the machine and the environment only
  std::string replay;   // a machine of hearth topo --gather; empty: this one
  bool json = false;
};
/// kExitDiffers when something keeps Hearth from serving the program.
int doctor_main(const DoctorRequest& request);

/// One thing that was looked at.
struct Finding {
  enum class Weight : std::uint8_t {
    fine,
    note,   // worth knowing
    loses,  // Hearth serves the program, and can do less for it
    stops,  // it cannot serve it
  };
  Weight weight = Weight::fine;
  std::string what;
  std::string remedy = {};  // what to do; empty where there is nothing to be done
};
using Findings = std::vector<Finding>;

// By subject. All but judge_calls() only look at what they are given.
Findings judge_program(const Program& program);
Findings judge_machine(const topology::Machine& machine, const topology::SystemRoot& root);
Findings judge_container(const topology::Machine& machine, const topology::SystemRoot& root);
Findings judge_environment(const OptionReader& given, const rt::Settings& settings, const topology::Machine& machine);
/// Tries the system calls about memory and threads that containers refuse. What is changed is changed back.
Findings judge_calls(const topology::Machine& machine);

}  // namespace hearth::cli
