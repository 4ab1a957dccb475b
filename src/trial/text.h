// A result, and two of them side by side, for a terminal. Pure.
#pragma once

#include <string>
#include <vector>

#include "trial/result.h"

namespace hearth::trial {

/// "1.23 ms"
std::string time_text(double ns);
/// "1.23 ms ±4%": half of the interval.
std::string spread_text(const Spread& spread);
/// "0.870 (0.812 to 0.951)"
std::string ratio_text(const Spread& spread);

/// Rows that belong into one table: the runtimes across, one line for each program and distribution.
struct Column {
  std::string runtime, data;
};
struct Table {
  std::string set;
  std::vector<Column> columns;
  struct Line {
    std::string name, compiler;
    std::vector<const Row*> cells;  // null: not run
  };
  std::vector<Line> lines;
};
std::vector<Table> tables_of(const Result& result);

/// How often Hearth's figures are claimed to be less or more than a rival's.
struct Tally {
  std::string set, ours, data, theirs;
  int faster = 0, slower = 0, open = 0;
};
std::vector<Tally> tallies_of(const Result& result);

std::string summary_text(const Result& result);
/// What a file of this result tells about whom.
std::string contents_text(const Result& result);

/// What differs. It claims nothing where intervals overlap, or where a side has fewer than kFewest rounds.
std::string compare_text(const Result& a, const Result& b);

}  // namespace hearth::trial
