// Measuring the rate of the processor's counter. Called by the one thread that starts a library up.
#include "base/clock.h"

namespace hearth {
namespace {

constexpr std::uint64_t kLeastApartNs = 100'000;
constexpr int kReadings = 8;

std::uint64_t monotonic_ns() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(t.tv_nsec);
}

}  // namespace

constinit ClockRate clock_rate;

ClockRate ClockRate::of(std::uint64_t ticks, std::uint64_t ns) {
  const auto quotient = [](std::uint64_t a, std::uint64_t b) {
    return static_cast<std::uint64_t>((static_cast<Wide>(a) << 32) / b);
  };
  return {quotient(ns, ticks), quotient(ticks, ns)};
}

// Of several readings the one around which the fewest ticks passed: a thread that loses its CPU in between would be off
// by milliseconds.
ClockReading read_clocks() {
  ClockReading best{0, 0};
  std::uint64_t least = UINT64_MAX;
  for (int i = 0; i < kReadings; ++i) {
    const std::uint64_t before = ticks();
    const std::uint64_t ns = monotonic_ns();
    const std::uint64_t passed = ticks() - before;
    if (passed >= least) continue;
    least = passed;
    best = {before + passed / 2, ns};
  }
  return best;
}

void set_clock_rate(const ClockReading& begin) {
  ClockReading end = read_clocks();
  while (end.ns - begin.ns < kLeastApartNs) end = read_clocks();
  if (end.ticks > begin.ticks) clock_rate = ClockRate::of(end.ticks - begin.ticks, end.ns - begin.ns);
}

}  // namespace hearth
