// The readers of energy counters, on recorded trees (tests/energy/trees): what they find, sum, leave out and say.
#include <gtest/gtest.h>

#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "energy/meter.h"
#include "energy/model.h"

namespace hearth::energy {
namespace {

/// A recorded tree as files in a folder that is gone afterwards.
class Tree {
 public:
  explicit Tree(const std::string& name) {
    std::string pattern = (std::filesystem::temp_directory_path() / "hearth-energy-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    std::ifstream in(std::string(HEARTH_TEST_DATA) + "/energy/trees/" + name + ".txt");
    EXPECT_TRUE(in) << name;
    for (std::string line; std::getline(in, line);) {
      if (line.empty() || line[0] == '#') continue;
      const std::size_t end = line.find(": ");
      if (end == std::string::npos)
        std::filesystem::create_directories(folder_ + line.substr(0, line.size() - 2));
      else
        set(line.substr(0, end), line.substr(end + 2));
    }
  }
  ~Tree() { std::filesystem::remove_all(folder_); }
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;

  void set(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(folder_ + path).parent_path());
    std::ofstream(folder_ + path) << text << '\n';
  }
  void remove(const std::string& path) const { std::filesystem::remove(folder_ + path); }
  topology::SystemRoot root() const { return topology::SystemRoot(folder_); }

 private:
  std::string folder_;
};

/// perf as a table, of which a test turns the values.
struct FakePerf {
  std::map<int, std::uint64_t> values;  // by handle
  std::map<int, std::string> opened;
  bool refuses = false;
  int next = 3;

  PerfCounters counters() {
    PerfCounters perf;
    perf.open = [this](std::uint32_t type, std::uint64_t config, int cpu) {
      errno = EACCES;
      if (refuses) return -1;
      opened[next] = std::to_string(type) + "/" + std::to_string(config) + "@" + std::to_string(cpu);
      values[next] = 1'000'000;
      return next++;
    };
    perf.read = [this](int handle, std::uint64_t& value) {
      value = values[handle];
      return true;
    };
    perf.close = [](int) {};
    return perf;
  }
};

PerfCounters no_perf() {
  static FakePerf fake;
  fake.refuses = true;
  return fake.counters();
}

TEST(EnergyMeter, IntelPackagesAndTheirMemoryAddUp) {
  const Tree tree("intel");
  Meter meter(tree.root(), no_perf());
  ASSERT_TRUE(meter.available());
  tree.set("/sys/class/powercap/intel-rapl:0/energy_uj", "31000000");
  tree.set("/sys/class/powercap/intel-rapl:1:0/energy_uj", "2250000");
  tree.set("/sys/class/powercap/intel-rapl-mmio:0/energy_uj", "900000000");
  const Measured measured = meter.read();
  ASSERT_TRUE(measured.available);
  EXPECT_EQ(measured.source, "powercap");
  ASSERT_EQ(measured.domains.size(), 4u);
  EXPECT_EQ(measured.domains[1].name, "dram (package-0)");
  EXPECT_DOUBLE_EQ(measured.joules(), 30 + 2);  // mmio counts package 0 a second time, and is not asked
}

TEST(EnergyMeter, PartsOfAPackageAndThePlatformDoNotCountTwice) {
  const Tree tree("laptop");
  Meter meter(tree.root(), no_perf());
  tree.set("/sys/class/powercap/intel-rapl:0/energy_uj", "5000010");
  tree.set("/sys/class/powercap/intel-rapl:0/intel-rapl:0:0/energy_uj", "3000004");
  tree.set("/sys/class/powercap/intel-rapl:1/energy_uj", "9000020");
  const Measured measured = meter.read();
  ASSERT_EQ(measured.domains.size(), 3u);
  EXPECT_EQ(measured.domains[1].name, "core (package-0)");
  EXPECT_DOUBLE_EQ(measured.joules(), 5);
}

TEST(EnergyMeter, ACounterThatPassesItsRangeGoesOnFromZero) {
  const Tree tree("intel");
  tree.set("/sys/class/powercap/intel-rapl:0/energy_uj", "262143328849");
  Meter meter(tree.root(), no_perf());
  // Two steps to the largest value and to zero, then 3 J.
  tree.set("/sys/class/powercap/intel-rapl:0/energy_uj", "2999998");
  meter.sample();
  tree.set("/sys/class/powercap/intel-rapl:0/energy_uj", "1999998");  // again: a whole range less one joule
  const Measured measured = meter.read();
  EXPECT_NEAR(measured.domains[0].joules, 3 + (262143328851e-6 - 1), 1e-6);
}

TEST(EnergyMeter, AmdCountsByCoreAndBySocket) {
  const Tree tree("amd");
  Meter meter(tree.root(), no_perf());
  tree.set("/sys/class/hwmon/hwmon2/energy1_input", "1000100");
  tree.set("/sys/class/hwmon/hwmon2/energy3_input", "7001000");
  const Measured measured = meter.read();
  EXPECT_EQ(measured.source, "hwmon");
  ASSERT_EQ(measured.domains.size(), 3u);
  EXPECT_EQ(measured.domains[0].part, Part::core);
  EXPECT_DOUBLE_EQ(measured.domains[0].joules, 1);
  EXPECT_DOUBLE_EQ(measured.joules(), 7);  // the socket contains its cores
}

TEST(EnergyMeter, PerfIsOpenedOnceForEachPackageAndCore) {
  const Tree tree("perf");
  FakePerf perf;
  Meter meter(tree.root(), perf.counters());
  ASSERT_EQ(perf.opened.size(), 4u);
  EXPECT_EQ(perf.opened[3], "9/2@0");
  EXPECT_EQ(perf.opened[4], "9/2@12");
  EXPECT_EQ(perf.opened[5], "10/1@0");
  perf.values[3] += std::uint64_t{1} << 32;
  perf.values[6] += std::uint64_t{1} << 31;
  const Measured measured = meter.read();
  EXPECT_EQ(measured.source, "perf");
  EXPECT_DOUBLE_EQ(measured.domains[3].joules, 0.5);
  EXPECT_DOUBLE_EQ(measured.joules(), 1);
}

TEST(EnergyMeter, AScaleThatIsNoFigureOfJoulesIsLeftOut) {
  for (const char* scale : {"inf", "nan", "-1", "1e999", "0", "Joules"}) {
    const Tree tree("perf");
    tree.set("/sys/bus/event_source/devices/power/events/energy-pkg.scale", scale);
    FakePerf perf;
    const Meter meter(tree.root(), perf.counters());
    EXPECT_EQ(perf.opened.size(), 2u) << scale;
  }
}

TEST(EnergyMeter, WhatMayNotBeReadIsSaidAndIsNoZero) {
  const Tree tree("refused");
  Meter meter(tree.root(), no_perf());
  const Measured measured = meter.read();
  EXPECT_FALSE(measured.available);
  EXPECT_TRUE(measured.domains.empty());
  EXPECT_NE(measured.why_not.find("intel-rapl:0/energy_uj may not be read"), std::string::npos) << measured.why_not;
}

TEST(EnergyMeter, PerfThatRefusesIsSaid) {
  const Tree tree("perf");
  const Measured measured = Meter(tree.root(), no_perf()).read();
  EXPECT_FALSE(measured.available);
  EXPECT_NE(measured.why_not.find("energy-pkg may not be opened"), std::string::npos) << measured.why_not;
  EXPECT_NE(measured.why_not.find("perf_event_paranoid"), std::string::npos) << measured.why_not;
}

TEST(EnergyMeter, NothingThereIsNotAvailable) {
  const Tree tree("nothing");
  const Measured measured = Meter(tree.root(), no_perf()).read();
  EXPECT_FALSE(measured.available);
  EXPECT_FALSE(measured.why_not.empty());
}

TEST(EnergyMeter, ACounterThatVanishesIsNotAvailable) {
  const Tree tree("laptop");
  Meter meter(tree.root(), no_perf());
  for (const char* path : {"intel-rapl:0/energy_uj", "intel-rapl:0/intel-rapl:0:0/energy_uj", "intel-rapl:1/energy_uj"})
    tree.remove(std::string("/sys/class/powercap/") + path);
  EXPECT_FALSE(meter.read().available);
}

TEST(EnergyModel, EachTermCountsAsTheFormulaHasIt) {
  const Rates rates{
      .uncore_w = 10, .idle_w = 1, .active_w = 5, .cache_nj = 1, .memory_nj = 10, .remote_nj = 4, .switch_uj = 20};
  Activity activity;
  activity.seconds = 2;
  activity.packages = 2;
  activity.cores = 4;
  EXPECT_DOUBLE_EQ(modelled_joules(rates, activity), 2 * 10 * 2 + 4 * 2 * 1);
  activity.busy_core_seconds = 3;
  EXPECT_DOUBLE_EQ(modelled_joules(rates, activity), 40 + 5 * 1 + 3 * 5);
  activity.cache_lines = activity.memory_lines = activity.remote_lines = 1e9;
  activity.switches = 1e6;
  EXPECT_DOUBLE_EQ(modelled_joules(rates, activity), 60 + 1 + 10 + 4 + 20);
  activity.busy_core_seconds = 100;  // more than there are cores for: they cannot be busier than always
  EXPECT_DOUBLE_EQ(modelled_joules(rates, activity), 40 + 8 * 5 + 35);
}

}  // namespace
}  // namespace hearth::energy
