// What one run of `hearth bench` found, and its JSON (bench.schema.json says what is in it). Values only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trial/statistics.h"

namespace hearth::trial {

using Rows = std::vector<std::vector<double>>;

struct Conditions {
  bool quiet = true;
  std::vector<std::string> reasons;  // why not
  double load_before = 0;
  double others_percent = 0;
  double steal_percent = 0;
  std::string governor = "none";
  std::string numa_balancing = "unknown";
  std::string transparent_huge_pages = "unknown";
  double cpu_quota = 0;
  bool mbind = true;
};

struct NodeFacts {
  int cpus = 0;
  std::uint64_t memory_bytes = 0;
};

struct MeasuredFacts {
  Rows read_ns, read_mbs;
  std::vector<double> loaded_ns, memory_gbs;
  double cache_ns = 0;
  std::vector<std::string> remarks;
};

struct MachineFacts {
  std::string processor;
  int cpus = 1, cores = 0, packages = 0;
  std::vector<std::uint64_t> cache_bytes;
  std::uint64_t memory_bytes = 0;
  std::vector<NodeFacts> nodes;
  Rows distance;
  std::optional<MeasuredFacts> measured;
};

struct RuntimeFacts {
  std::string name, kind, build;
};

enum class State { measured, wrong, crashed, hung, refused, left_out };
const char* state_word(State state);

/// One benchmark on one runtime.
struct Row {
  std::string set, name, compiler, data, runtime;
  State state = State::left_out;
  std::string why;
  std::vector<double> ns;  // a figure for each round; NaN: none

  bool same_program(const Row& other) const {
    return set == other.set && name == other.name && compiler == other.compiler;
  }
};

struct Ratio {
  std::string set, name, compiler, ours, data, theirs;
  Spread spread;
};
const char* claim_word(const Spread& ratio);

struct Result {
  std::string hearth_version;
  std::vector<std::string> sets;
  double minutes = 10;
  int threads = 1;
  bool quick = false;
  std::uint64_t data_bytes = 0;
  std::string ended = "complete";
  double seconds = 0;
  int rounds = 0;
  Conditions conditions;
  MachineFacts machine;
  std::vector<RuntimeFacts> runtimes;
  std::vector<Row> rows;
  std::vector<std::string> left_out;

  bool is_hearth(const std::string& runtime) const;
};

/// Each row of Hearth by each rival that ran the same program with the memory that a program gets if nobody says anything.
std::vector<Ratio> ratios_of(const Result& result);

std::string json_of(const Result& result);

struct ReadResult {
  Result result;
  std::string problem;  // empty: it was read
};
/// Only what is as the schema says.
ReadResult read_result(const std::string& text);

/// Without what a schema forbids in sentences, and not too long.
std::string harmless(const std::string& text);

}  // namespace hearth::trial
