// See decision_log.h.
#include "cli/decision_log.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "policy/decision_text.h"
#include "policy/machine_tables.h"
#include "policy/policies.h"

namespace hearth::cli {
namespace {

/// The paths that the runtime would give the tasks of a program in which the initial thread makes them all;
/// implicit tasks that make some are children of its own here.
class Paths {
 public:
  explicit Paths(const sim::Workload& workload)
      : parent_(workload.tasks.size(), 0), number_(workload.tasks.size(), 0) {
    for (sim::TaskIndex t = 0; t < workload.tasks.size(); ++t) {
      const sim::Task& task = workload.tasks[t];
      std::uint32_t number = 0;
      for (std::uint32_t s = 0; s < task.steps; ++s) {
        const sim::Step step = workload.steps[task.first_step + s];
        if (step.kind != sim::Step::Kind::create && step.kind != sim::Step::Kind::run) continue;
        parent_[step.index] = t;
        number_[step.index] = number++;
      }
    }
  }

  policy::TaskPath of(sim::TaskIndex task) const {
    policy::TaskPath path;
    for (; task != 0; task = parent_[task]) path.prepend(number_[task]);
    path.prepend(0);
    return path;
  }

 private:
  std::vector<sim::TaskIndex> parent_;
  std::vector<std::uint32_t> number_;
};

class File {
 public:
  explicit File(const std::string& path) : file_(std::fopen(path.c_str(), "w")) {
    if (file_ == nullptr) error_ = errno;
  }
  ~File() {
    if (file_ != nullptr) std::fclose(file_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  void write(const char* text, std::size_t length) {
    if (error_ == 0 && std::fwrite(text, 1, length, file_) != length) error_ = errno;
  }
  /// The errno of what failed first, or 0.
  int close() {
    FILE* const file = std::exchange(file_, nullptr);
    if (file != nullptr && std::fclose(file) != 0 && error_ == 0) error_ = errno;
    return error_;
  }

 private:
  FILE* file_;
  int error_ = 0;
};

}  // namespace

std::string log_decisions(const std::string& path, const sim::Workload& workload,
                          const topology::Machine& machine, const sim::Parameters& parameters,
                          sim::RunOptions options) {
  const policy::TaskPolicy& policy = options.policy == nullptr ? policy::work_stealing : *options.policy;
  File file(path);
  {
    const auto tables = std::make_unique<policy::MachineTables>();
    tables->fill(
        machine,
        static_cast<std::int32_t>(std::min<std::size_t>(machine.locations.size(), placement::kMaxLocations)),
        {options.significance, options.threshold, options.vicinity});
    const auto line = std::make_unique<char[][policy::kDecisionHeadRoom]>(1);
    file.write(line[0],
               policy::decision_head(
                   {workload.name.c_str(), machine.name.c_str(), policy.name(), tables->view}, line[0]));
  }
  const Paths paths(workload);
  policy::DecisionBudget budget;
  char line[policy::kDecisionRoom];
  options.deterministic = true;
  options.log = [&](const sim::Decision& decision) {
    const policy::TaskPath task = paths.of(decision.task);
    const std::size_t length =
        policy::decision_line({.task = task.text(),
                               .construct = workload.kinds[workload.tasks[decision.task].kind].c_str(),
                               .released = decision.released,
                               .stated = decision.stated,
                               .creator = decision.creator,
                               .need = decision.need,
                               .load = decision.load,
                               .chosen = decision.chosen},
                              line);
    if (budget.admits(length)) file.write(line, length);
  };
  simulate(workload, machine, parameters, options);
  file.write(line, budget.end_line(line));
  const int error = file.close();
  return error == 0 ? "" : fmt::format("{}: cannot be written: {}", path, std::strerror(error));
}

}  // namespace hearth::cli
