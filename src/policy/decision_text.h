// A log of decisions: what TaskPolicy::deal() was shown, and what it answered, as lines of JSON.
//
// The runtime and the simulator write theirs with these functions, so that their logs can be compared line by
// line. A log is a head, a line for each decision, and an end; docs/reference/decision-log.md has the fields. Everything
// here is pure text in the caller's memory; a DecisionBudget belongs to whoever writes the log.
#pragma once

#include <cstddef>
#include <cstdint>

#include "policy/task_policy.h"

namespace hearth::policy {

/// Who a task is: the number of the thread whose implicit task made it or made its ancestors, and from there
/// down each one's number among its siblings, in the order in which they were made: "0.7.2". Made from the
/// end, by climbing from the task to its parent; of a path that is too long the beginning is left out.
class TaskPath {
 public:
  void prepend(std::uint32_t number);
  const char* text() const { return begin_; }

 private:
  static constexpr std::size_t kRoom = 256;
  static constexpr std::size_t kLongestNumber = 10;
  char text_[kRoom] = {};
  char* begin_ = text_ + kRoom - 1;
};

struct Decision {
  const char* task = "";       // its path
  const char* construct = "";  // where it comes from, for people
  bool released = false;       // dealt by whoever ended the last task that it waited for, not by its creator
  bool stated = false;         // the program states the footprint itself: MachineTables::stated
  Location creator;            // where the worker is that deals it
  const Need& need;
  const LoadView& load;
  Location chosen;
};

struct DecisionHead {
  const char* program;
  const char* machine;  // its name
  const char* policy;
  const MachineView& view;
};

/// Rooms that every line fits into: texts of users are cut.
inline constexpr std::size_t kDecisionRoom = 12 * 1024;
inline constexpr std::size_t kDecisionHeadRoom = 64 * 1024;

/// Each writes one line with its end into `out` and returns its length.
std::size_t decision_head(const DecisionHead& head, char (&out)[kDecisionHeadRoom]);
std::size_t decision_line(const Decision& decision, char (&out)[kDecisionRoom]);

/// How much of a log is written: the decisions whose lines fit, and how many did not.
class DecisionBudget {
 public:
  static constexpr std::uint64_t kMost = std::uint64_t{256} << 20;

  explicit constexpr DecisionBudget(std::uint64_t most = kMost) : left_(most) {}
  /// Whether the next decision's line is to be written.
  bool admits(std::size_t bytes) {
    // Once one is left out all later ones are: a log has no gaps.
    if (left_out_ != 0 || bytes > left_) {
      ++left_out_;
      return false;
    }
    left_ -= bytes;
    ++written_;
    return true;
  }
  /// The line by which a log ends; one without it was cut.
  std::size_t end_line(char (&out)[kDecisionRoom]) const;

 private:
  std::uint64_t left_;
  std::uint64_t written_ = 0;
  std::uint64_t left_out_ = 0;
};

}  // namespace hearth::policy
