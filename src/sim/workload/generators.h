// Programs to simulate without a recording: the six benchmarks of Muddukrishna et al. 2015 (table 4) with the
// tasks, dependences, footprints and allocations of bench/las/*.c, and random programs from a seed.
//
// What the C programs cannot say stands here: how long a task computes with its data at hand. Operations are
// counted (each generator's `ops_per_cycle` says which); how many of them a core does in a cycle is a
// parameter, whose defaults generators_las.cpp accounts for.
//
// Pure: the same arguments give the same workload everywhere.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/workload/builder.h"
#include "sim/workload/workload.h"

namespace hearth::sim {

/// The sizes that inputs=… chooses.
enum class Inputs : std::uint8_t {
  small,     // those of the C programs: for two cores
  paper,     // of the paper's figure 7
  manycore,  // of the paper's figure 9
};
inline constexpr std::size_t kInputs = 3;

/// name=value, a number or a word.
struct GeneratorParameter {
  const char* name;
  const char* meaning;
  double defaults[kInputs];
  double least = 0;
  double most = 0;
  bool whole = true;
  std::span<const char* const> words = {};  // legal values, where they are words; a value is the index
};

/// The values of a generator's parameters.
class Settings {
 public:
  Settings(std::span<const GeneratorParameter> parameters, std::span<const double> values)
      : parameters_(parameters), values_(values) {}
  double number(std::string_view name) const;
  std::uint64_t whole(std::string_view name) const { return static_cast<std::uint64_t>(number(name)); }
  /// Computing `operations` at ops_per_cycle.
  std::uint64_t cycles(double operations) const;

 private:
  std::span<const GeneratorParameter> parameters_;
  std::span<const double> values_;
};

struct Generator {
  const char* name;
  const char* meaning;
  std::span<const GeneratorParameter> parameters;
  /// How many accesses its tasks would have, to refuse what no memory holds; 0: these settings do not go
  /// together, and `why` says what is wrong.
  double (*accesses)(const Settings& settings, std::string& why);
  void (*make)(const Settings& settings, Builder& builder);
};
inline constexpr double kMostGeneratedAccesses = 1 << 25;

std::vector<Generator> generators();
const Generator* find_generator(std::string_view name);

struct Generated {
  Workload workload;
  std::string error;  // names what is legal

  bool ok() const { return error.empty(); }
};
/// `settings`: "name=value" each, the last one of a name counts; "inputs=small|paper|manycore" sets all that
/// is not set by itself.
Generated generate(const Generator& generator, const std::vector<std::string>& settings);

// What generators.cpp puts together.
std::span<const Generator> las_generators();
std::span<const Generator> random_generators();

}  // namespace hearth::sim
