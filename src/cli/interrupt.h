// Ctrl-C and its kin, for work that takes long: a flag to look at, so that what was begun can be left tidily.
//
// The handlers only store the signal's number. The same signal a second time ends the process at once.
#pragma once

#include <csignal>

namespace hearth::cli {

/// As long as it lives SIGINT, SIGTERM and SIGHUP are noted instead of ending the process. One at a time.
class InterruptWatch {
 public:
  InterruptWatch();
  ~InterruptWatch();
  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;

 private:
  struct sigaction before_[3] = {};
};

/// The signal that came while an InterruptWatch lived, or 0.
int interrupted();
/// Ends the process as that signal does without a handler.
[[noreturn]] void end_interrupted();

}  // namespace hearth::cli
