// Fuzzes the readers of energy counters: a tree of files below /sys whose contents are any text, read twice.
#include <cerrno>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <sys/stat.h>
#include <unistd.h>

#include "../require.h"
#include "energy/meter.h"

namespace {

using namespace hearth;

constexpr const char* kFolders[] = {"/sys",
                                    "/sys/class",
                                    "/sys/class/powercap",
                                    "/sys/class/powercap/intel-rapl:0",
                                    "/sys/class/powercap/intel-rapl:0:0",
                                    "/sys/class/powercap/intel-rapl:1",
                                    "/sys/class/hwmon",
                                    "/sys/class/hwmon/hwmon0",
                                    "/sys/bus",
                                    "/sys/bus/event_source",
                                    "/sys/bus/event_source/devices",
                                    "/sys/bus/event_source/devices/power",
                                    "/sys/bus/event_source/devices/power/events"};
constexpr const char* kFiles[] = {"/sys/class/powercap/intel-rapl:0/name",
                                  "/sys/class/powercap/intel-rapl:0/energy_uj",
                                  "/sys/class/powercap/intel-rapl:0/max_energy_range_uj",
                                  "/sys/class/powercap/intel-rapl:0:0/name",
                                  "/sys/class/powercap/intel-rapl:0:0/energy_uj",
                                  "/sys/class/powercap/intel-rapl:1/name",
                                  "/sys/class/powercap/intel-rapl:1/energy_uj",
                                  "/sys/class/hwmon/hwmon0/name",
                                  "/sys/class/hwmon/hwmon0/energy1_input",
                                  "/sys/class/hwmon/hwmon0/energy1_label",
                                  "/sys/bus/event_source/devices/power/type",
                                  "/sys/bus/event_source/devices/power/cpumask",
                                  "/sys/bus/event_source/devices/power/events/energy-pkg",
                                  "/sys/bus/event_source/devices/power/events/energy-pkg.scale",
                                  "/sys/bus/event_source/devices/power/events/energy-pkg.unit"};
constexpr std::size_t kCount = sizeof(kFiles) / sizeof(kFiles[0]);

const std::string& folder() {
  static const std::string& made = *new std::string([] {  // outlives the handler of exit()
    const char* base = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    std::string name = std::string(base) + "/fuzz-meter-XXXXXX";
    REQUIRE(mkdtemp(name.data()) != nullptr);
    for (const char* each : kFolders) mkdir((name + each).c_str(), 0700);
    std::atexit([] {
      for (const char* each : kFiles) unlink((folder() + each).c_str());
      for (std::size_t n = sizeof(kFolders) / sizeof(kFolders[0]); n-- > 0;) rmdir((folder() + kFolders[n]).c_str());
      rmdir(folder().c_str());
    });
    return name;
  }());
  return made;
}

/// File n has line n of the input; one that begins with '-' is not there. With "again" the tree of a later moment.
void lay_out(const std::vector<std::string>& lines, std::size_t from) {
  for (std::size_t n = 0; n < kCount; ++n) {
    const std::string path = folder() + kFiles[n];
    const std::string& text = lines[(from + n) % lines.size()];
    if (!text.empty() && text[0] == '-') {
      unlink(path.c_str());
      continue;
    }
    std::FILE* file = std::fopen(path.c_str(), "w");
    REQUIRE(file != nullptr);
    std::fwrite(text.data(), 1, text.size(), file);
    std::fclose(file);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<std::string> lines(1);
  for (std::size_t n = 0; n < size; ++n) {
    if (data[n] == '\n')
      lines.emplace_back();
    else
      lines.back() += static_cast<char>(data[n]);
  }
  std::uint64_t count = size;
  energy::PerfCounters perf;
  perf.open = [](std::uint32_t, std::uint64_t, int) { return 7; };
  perf.read = [&](int, std::uint64_t& value) {
    value = count = count * 6364136223846793005u + 1;
    return true;
  };
  perf.close = [](int) {};
  lay_out(lines, 0);
  energy::Meter meter(topology::SystemRoot(folder()), perf);
  meter.sample();
  lay_out(lines, lines.size() > kCount ? kCount : 0);
  meter.sample();
  const energy::Measured measured = meter.read();
  REQUIRE(measured.available || !measured.why_not.empty());
  REQUIRE(measured.why_not.find('\n') == std::string::npos);
  REQUIRE(!measured.available || !measured.source.empty());
  for (const energy::Domain& domain : measured.domains) REQUIRE(std::isfinite(domain.joules) && domain.joules >= 0);
  REQUIRE(measured.joules() >= 0);
  return 0;
}
