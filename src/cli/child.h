// The program as a child of this process: started, waited for, and given the signals that were meant for it.
#pragma once

#include <string>
#include <vector>

namespace hearth::cli {

/// Runs a command to its end, and passes on the signals that only this process got. The status is that of waitpid();
/// -1, and said: no process could be started.
int run_child(const std::vector<std::string>& command);

/// End as the program ended, so that whoever started us sees no difference. The exit status, if it was one.
int end_like(int status);

}  // namespace hearth::cli
