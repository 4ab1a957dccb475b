// What the report says first, in words: the run in four figures, the three things that cost most, and what to change.
//
// `hearth report --text` prints it, the page shows it. All shares are of thread time (figures.h): from one run nobody knows
// how much faster another would be, so nothing here says so; only a simulation's band does (Simulated).
#pragma once

#include <string>
#include <vector>

#include "report/figures.h"
#include "report/locality.h"

namespace hearth::report {

struct Answer {
  std::string question, figure, sentence;
};

struct Cost {
  std::string what, detail;  // one sentence each
  double share = 0;          // of thread time
  std::string part;          // of the page, that shows more: an id
};

struct Change {
  std::string what, where;  // a sentence; "file:line", or empty
  std::string how;          // a clause, a call or a command
  std::string gain;         // what is known of it
  double share = 0;         // of thread time that it concerns; by it they are sorted
};

struct FirstScreen {
  std::string title, facts;
  std::string warning;  // a sentence, if parts of the recording are missing
  std::vector<Answer> answers;
  std::vector<Cost> costs;  // most first; at most three
  std::vector<Change> changes;
  std::string no_change;  // why there are none
  std::vector<std::string> lacks;  // what the recording does not tell, in sentences
};

/// Advice about allocations that the caller has got from the simulator, or from its rules.
struct Advice {
  struct Allocation {
    std::string name, distribution, call;
    std::vector<std::string> sites;  // as Run::allocations has them
    std::int64_t bytes = 0;
    std::string why;
  };
  std::vector<Allocation> allocations;
  std::string gain;     // of all of them together; empty: nobody has simulated it
  std::string command;  // that puts it in force, or tells more
};

FirstScreen first_screen(const Run& run, const Figures& figures, const Locality& locality, const Advice& advice);

/// For a terminal, `width` columns wide.
std::string text_of(const FirstScreen& screen, std::size_t width);

}  // namespace hearth::report
