// Programs that Hearth serves just now, as their pages of live counters show them (base/live_page.h).
//
// Reads /proc and nothing else. What is read is trusted in nothing: a page may belong to a program that does as it likes
// with it. One thread at a time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <sys/types.h>

#include "base/live_page.h"

namespace hearth::cli {

/// A line of the page: its counts go on when another thread gets it.
struct LiveRow {
  int number = 0;           // the runtime's (gtid)
  LiveThread counts;        // kernel_id 0: no thread has it now
  double cpu_seconds = -1;  // that its thread has used so far; -1: not known
};

/// One look at a program.
struct LiveSnapshot {
  LiveHeader header{};
  std::uint64_t when_ns = 0;  // CLOCK_BOOTTIME
  std::vector<LiveRow> rows;  // by number
};

struct LiveProgram {
  pid_t pid = 0;
  std::string name;  // its command's
  std::string page;  // the path of the page under /proc
};

/// Those whose pages this user may read, by pid. `proc`: "/proc", or a copy of it for tests.
std::vector<LiveProgram> live_programs(const std::string& proc = "/proc");

/// Finds the program's page. Empty, or why not, in a sentence that says what can be done.
std::string find_live_program(pid_t pid, LiveProgram& out, const std::string& proc = "/proc");

/// Empty, or why not: the program has ended, or its page is of no use.
std::string look_at(const LiveProgram& program, LiveSnapshot& out, const std::string& proc = "/proc");

}  // namespace hearth::cli
