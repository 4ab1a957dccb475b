// `hearth top`: what a running program does, every second.
#pragma once

#include <string>

namespace hearth::cli {

struct TopRequest {
  std::string program;    // a process's number, or a command's name; empty: the only one, or a list
  double interval = 1;    // seconds
  bool once = false;      // one look, and the end
  bool json = false;      // a line of JSON for each look
};

/// The exit status; what is wrong has been said.
int top_main(const TopRequest& request);

}  // namespace hearth::cli
