// One program to its end, with a limit of time. One thread.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace hearth::trial {

struct Ended {
  enum class How { normally, by_signal, by_time, stopped, not_started } how = How::not_started;
  int status = 0;  // exit status, or the signal's number, or errno
  std::string output, errors;
  double seconds = 0;
};

/// `stop` is asked some times a second; once it says true, or after `limit_s`, the program and all that it started in its
/// group is killed. It also goes when this process dies. Exactly `environment` is its environment.
Ended run_process(const std::vector<std::string>& command, const std::vector<std::string>& environment, double limit_s,
                  const std::function<bool()>& stop);

/// This process's environment without what speaks to OpenMP runtimes, to Hearth or to the loader, and with `more`.
std::vector<std::string> plain_environment(const std::vector<std::pair<std::string, std::string>>& more);

}  // namespace hearth::trial
