// Joules from what the machine has to measure them: powercap (RAPL), perf's PMUs `power` and `power_core`, hwmon.
//
// A Meter is opened before what is to be measured, told to sample now and then, and read afterwards. Counters of
// powercap wrap at max_energy_range_uj, some of them after minutes at full load: whoever measures for longer calls
// sample() every so often (once in kSampleSeconds is enough for 1000 W of the smallest range there is). Where there
// is nothing to read, or nothing that may be read, there is no figure: never 0 J.
//
// All paths go through a SystemRoot, so tests read recorded trees. One thread at a time.
#pragma once

#include <cstdint>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "topology/system_root.h"

namespace hearth::energy {

inline constexpr int kSampleSeconds = 20;

/// What a counter counts. Packages contain their cores; memory is beside them, and the platform around all.
enum class Part : std::uint8_t { package, core, memory, platform, other };

struct Domain {
  std::string name;  // "package-0", "dram (package-0)", "cpu 3"
  Part part = Part::other;
  double joules = 0;  // since the meter was opened
};

struct Measured {
  bool available = false;
  std::string source;  // "powercap", "perf", "hwmon"
  std::vector<Domain> domains;
  std::string why_not;  // not available: in a sentence
  /// Packages and their memory; where no package is counted, cores; else the platform.
  double joules() const;
};

/// A counter of perf: opens one event on one CPU and reads it. Tests put theirs in place of the system call.
struct PerfCounters {
  /// A handle, or -1 with errno.
  std::function<int(std::uint32_t type, std::uint64_t config, int cpu)> open;
  std::function<bool(int handle, std::uint64_t& value)> read;
  std::function<void(int handle)> close;
  static PerfCounters system();
};

/// One counter that only rises, in units of `joules_per_count`, modulo `range` + 1 where it has one.
class Counter {
 public:
  Counter(Domain domain, double joules_per_count, std::uint64_t range)
      : domain_(std::move(domain)), joules_per_count_(joules_per_count), range_(range) {}
  virtual ~Counter() = default;
  /// False: it cannot be read any more. The first call is where counting begins.
  bool sample();
  const Domain& domain() const { return domain_; }

 protected:
  virtual bool value(std::uint64_t& out) = 0;

 private:
  Domain domain_;
  double joules_per_count_;
  std::uint64_t range_;  // the largest value; 0: it does not wrap
  std::uint64_t last_ = 0;
  bool begun_ = false;
};

class Meter {
 public:
  explicit Meter(const topology::SystemRoot& root, const PerfCounters& perf = PerfCounters::system());

  bool available() const { return !counters_.empty(); }
  void sample();
  Measured read();

 private:
  std::vector<std::unique_ptr<Counter>> counters_;
  std::string source_, why_not_;
};

// The readers, in the order in which the Meter asks them. Each adds what it finds, or says in `why_not` why that is
// nothing (empty: this machine has no such thing).
using Counters = std::vector<std::unique_ptr<Counter>>;
void find_powercap(const topology::SystemRoot& root, Counters& counters, std::string& why_not);
void find_perf(const topology::SystemRoot& root, const PerfCounters& perf, Counters& counters, std::string& why_not);
void find_hwmon(const topology::SystemRoot& root, Counters& counters, std::string& why_not);

}  // namespace hearth::energy
