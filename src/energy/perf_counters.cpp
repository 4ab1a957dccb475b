// Counters of perf: the PMU `power` (energy-pkg, energy-ram, energy-cores, energy-psys, by package) and `power_core`
// (energy-core, by core: AMD). What to open is in sysfs: the PMU's type and CPUs, each event's number and its scale
// in joules.
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "energy/meter.h"
#include "topology/cpu_mask.h"
#include "topology/text.h"

namespace hearth::energy {
namespace {

using topology::SystemRoot;

class PerfCounter : public Counter {
 public:
  PerfCounter(Domain domain, double scale, PerfCounters perf, int handle)
      : Counter(std::move(domain), scale, 0), perf_(std::move(perf)), handle_(handle) {}
  ~PerfCounter() override { perf_.close(handle_); }

 protected:
  bool value(std::uint64_t& out) override { return perf_.read(handle_, out); }

 private:
  PerfCounters perf_;
  int handle_;
};

constexpr double kMostPerCount = 1;  // joules; real ones are 2^-32 to 2^-16

struct Event {
  const char* name;
  Part part;
};
constexpr Event kOfPackages[] = {{"energy-pkg", Part::package},
                                 {"energy-ram", Part::memory},
                                 {"energy-cores", Part::other},  // inside the package
                                 {"energy-psys", Part::platform}};
constexpr Event kOfCores[] = {{"energy-core", Part::core}};

/// "event=0x02"
bool config_of(const std::string& text, std::uint64_t& config) {
  constexpr std::string_view kKey = "event=";
  if (!text.starts_with(kKey)) return false;
  char* end = nullptr;
  errno = 0;
  config = std::strtoull(text.c_str() + kKey.size(), &end, 0);
  return errno == 0 && end != text.c_str() + kKey.size();
}

template <std::size_t N>
void find_pmu(const SystemRoot& root, const char* pmu, const Event (&events)[N], const PerfCounters& perf,
              Counters& counters, std::string& why_not) {
  const std::string folder = topology::format("/sys/bus/event_source/devices/%s", pmu);
  std::int64_t type = 0;
  topology::CpuMask cpus;
  if (!root.read_number((folder + "/type").c_str(), type) || !root.read_list((folder + "/cpumask").c_str(), cpus))
    return;
  for (const Event& event : events) {
    const std::string path = folder + "/events/" + event.name;
    std::string text, scale;
    std::uint64_t config = 0;
    if (!root.read_line(path.c_str(), text) || !config_of(text, config)) continue;
    if (!root.read_line((path + ".scale").c_str(), scale)) continue;
    const double joules = std::strtod(scale.c_str(), nullptr);
    if (!(joules > 0 && joules < kMostPerCount)) continue;  // "inf" is a number to strtod()
    cpus.for_each([&](unsigned cpu) {
      const int handle = perf.open(static_cast<std::uint32_t>(type), config, static_cast<int>(cpu));
      if (handle < 0) {
        if (why_not.empty())
          why_not = topology::format("perf's %s may not be opened (%s): kernel.perf_event_paranoid must be 0 or less",
                                     event.name, std::strerror(errno));
        return;
      }
      Domain domain;
      domain.name = topology::format("%s (cpu %u)", event.name, cpu);
      domain.part = event.part;
      counters.push_back(std::make_unique<PerfCounter>(std::move(domain), joules, perf, handle));
    });
  }
}

}  // namespace

PerfCounters PerfCounters::system() {
  PerfCounters perf;
  perf.open = [](std::uint32_t type, std::uint64_t config, int cpu) {
    perf_event_attr attributes{};
    attributes.size = sizeof attributes;
    attributes.type = type;
    attributes.config = config;
    return static_cast<int>(syscall(SYS_perf_event_open, &attributes, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC));
  };
  perf.read = [](int handle, std::uint64_t& value) { return ::read(handle, &value, sizeof value) == sizeof value; };
  perf.close = [](int handle) { ::close(handle); };
  return perf;
}

void find_perf(const SystemRoot& root, const PerfCounters& perf, Counters& counters, std::string& why_not) {
  find_pmu(root, "power", kOfPackages, perf, counters, why_not);
  find_pmu(root, "power_core", kOfCores, perf, counters, why_not);
}

}  // namespace hearth::energy
