// See meter.h.
#include "energy/meter.h"

#include <utility>

namespace hearth::energy {

bool Counter::sample() {
  std::uint64_t now = 0;
  if (!value(now)) return false;
  if (begun_) {
    // A smaller value than before: it went past its range once, or it has none and was set back (then nothing is
    // known).
    if (now >= last_)
      domain_.joules += static_cast<double>(now - last_) * joules_per_count_;
    else if (range_ >= last_)
      domain_.joules += (static_cast<double>(range_ - last_) + static_cast<double>(now) + 1) * joules_per_count_;
  }
  begun_ = true;
  last_ = now;
  return true;
}

double Measured::joules() const {
  double sum[5] = {};
  bool has[5] = {};
  for (const Domain& domain : domains) {
    sum[static_cast<int>(domain.part)] += domain.joules;
    has[static_cast<int>(domain.part)] = true;
  }
  const auto of = [&](Part part) { return sum[static_cast<int>(part)]; };
  if (has[static_cast<int>(Part::package)]) return of(Part::package) + of(Part::memory);
  if (has[static_cast<int>(Part::core)]) return of(Part::core) + of(Part::memory);
  if (has[static_cast<int>(Part::platform)]) return of(Part::platform);
  return of(Part::memory) + of(Part::other);
}

Meter::Meter(const topology::SystemRoot& root, const PerfCounters& perf) {
  const auto ask = [&](const char* source, const auto& find) {
    if (!counters_.empty()) return;
    std::string why;
    find(why);
    if (!why.empty()) why_not_ += (why_not_.empty() ? "" : "; ") + why;
    std::erase_if(counters_, [](const std::unique_ptr<Counter>& counter) { return !counter->sample(); });
    if (!counters_.empty()) source_ = source;
  };
  ask("powercap", [&](std::string& why) { find_powercap(root, counters_, why); });
  ask("perf", [&](std::string& why) { find_perf(root, perf, counters_, why); });
  ask("hwmon", [&](std::string& why) { find_hwmon(root, counters_, why); });
  if (why_not_.empty()) why_not_ = "this machine has no powercap, no perf event for energy and no hwmon that counts it";
}

void Meter::sample() {
  std::erase_if(counters_, [](const std::unique_ptr<Counter>& counter) { return !counter->sample(); });
}

Measured Meter::read() {
  Measured measured;
  const bool had = available();
  sample();
  measured.available = available();
  if (!measured.available) {
    measured.why_not = had ? "the counters could not be read any more" : why_not_;
    return measured;
  }
  measured.source = source_;
  for (const auto& counter : counters_) measured.domains.push_back(counter->domain());
  return measured;
}

}  // namespace hearth::energy
