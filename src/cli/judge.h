// Footprints held against what tasks touched: pure, on what one process has written down. Everything is in whole pages.
//
// A range whose length the compiler did not pass (gcc passes none) ends, in hindsight, where the next one of the same
// place in the clause begins. That is a guess: of such a range nobody can say that it was not touched, and what a task
// touches beyond what it names may be taken for it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/page_set.h"

namespace hearth::cli {

inline constexpr std::uint64_t kCheckedPage = 4096;

/// Pages [first, last).
struct Pages {
  std::uint64_t first = 0, last = 0;
};

struct Range {
  std::uint64_t begin, length, rows, pitch, access;
  bool inferred;  // the compiler passed no length
};

struct Touched {
  Pages pages;
  bool written, crowded, runtime;
};

struct Execution {
  std::string function;  // a key: "module+offset"
  bool blind;
  std::vector<Range> ranges;
  std::vector<Touched> touched;
};

/// What one process did between its start and its end: one address space.
struct Process {
  std::vector<Execution> executions;
  std::uint64_t without = 0, unwatched = 0;
  bool ended = false, system_calls = true;
};

/// One kind of difference of one function.
struct Finding {
  std::uint64_t tasks = 0;
  std::uint64_t most_bytes = 0;  // of a task
  std::vector<Pages> examples;   // of the first task that has it
};

struct Verdict {
  std::uint64_t tasks = 0, blind = 0;
  std::uint64_t guessed = 0;  // tasks with ranges whose lengths are guesses
  Finding undeclared, unannounced_write, untouched;
  bool clean() const { return undeclared.tasks == 0 && unannounced_write.tasks == 0 && untouched.tasks == 0; }
};

/// Sets the lengths that nobody passed, now that all addresses are known.
void complete_lengths(Process& process);

/// Pages of data: somebody's footprint has them. Of the pages that only lengths that nobody passed put there, those that
/// most tasks touch are not: they hold small objects of everybody's, between one task's data and the next.
PageSet data_pages(const Process& process);

void judge(const Execution& execution, const PageSet& data, Verdict& verdict);

}  // namespace hearth::cli
