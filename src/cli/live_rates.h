// What a running program did between two looks at it, as a table for people and as JSON for scripts. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/live_programs.h"

namespace hearth::cli {

struct ThreadRates {
  int number = 0;
  std::int32_t kernel_id = 0, location = -1;
  std::uint32_t team = 0;  // of the region that it has begun; 0: it is in none of its own
  double cpu = -1;         // part of one CPU; -1: not known
  double tasks = 0, stolen = 0, dealt = 0, regions = 0;  // a second
  double home = -1;        // part of the tasks that ran where their data is; -1: of none it is known
};

struct LiveRates {
  std::string name, version, policy;
  int pid = 0;
  double up_seconds = 0, seconds = 0;  // since its runtime started; that the rates are of
  std::uint32_t locations = 0, threads_beyond = 0;
  std::uint64_t threads_moved = 0, pages_moved = 0;  // since the start
  ThreadRates all;                                   // sums; its cpu as well
  std::vector<ThreadRates> threads;                  // busiest first
};

LiveRates rates_of(const LiveProgram& program, const LiveSnapshot& before, const LiveSnapshot& now);

/// At most `rows` lines of at most `columns` letters; 0: as many as there are.
std::string table_of(const LiveRates& rates, std::size_t rows, std::size_t columns);
/// One line; docs/reference/top.md tells the fields.
std::string json_of(const LiveRates& rates);

}  // namespace hearth::cli
