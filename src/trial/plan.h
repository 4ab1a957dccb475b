// What is to be run, with which sizes, and how often it fits into the time. Pure.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "trial/runtimes.h"

namespace hearth::trial {

inline constexpr const char* kSets[] = {"machine", "overheads", "tasks", "las", "nested"};

struct Job {
  std::string set, benchmark, compiler, data;
  std::string program;  // a file in the folder of the programs
  std::vector<std::string> arguments;
  std::size_t runtime = 0;   // in PlanInput::runtimes
  bool las_output = false;   // lines of text instead of JSON
  bool row_is_name = false;  // its rows need no word before them
  double guess_s = 0;        // how long it takes, before anybody knows

  bool same_program(const Job& other) const {
    return set == other.set && benchmark == other.benchmark && compiler == other.compiler;
  }
};

struct PlanInput {
  std::vector<std::string> sets;
  bool quick = false;
  bool tiny = false;  // everything as small as it goes: for tests
  int threads = 1;
  int nodes = 1;
  std::uint64_t data_bytes = 0;
  std::vector<Runtime> runtimes;   // Hearth's with a policy run the set las only, the one without all others
  std::set<std::string> programs;  // files that there are
};

/// Jobs of one program stand together.
std::vector<Job> plan_jobs(const PlanInput& input);

struct DataInput {
  std::uint64_t cache_bytes = 0;      // the largest last-level cache
  std::uint64_t available_bytes = 0;  // of memory
  double seconds = 600;               // for all
  bool tiny = false;
};
struct DataChoice {
  std::uint64_t bytes = 0;  // 0: there is too little memory
  std::string remark;       // what is to be known about it; may be empty
};
/// Four times the cache if memory and time allow it: `las_jobs` of them in each of several rounds.
DataChoice choose_data(const DataInput& input, std::size_t las_jobs);

/// Of rounds that take so long each, how many more fit; at most `most`.
int rounds_that_fit(double seconds_left, double seconds_of_a_round, int most);

}  // namespace hearth::trial
