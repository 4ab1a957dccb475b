// The processor's counter, and what its ticks are in nanoseconds.
#include "base/clock.h"

#include <gtest/gtest.h>

namespace hearth {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

TEST(ClockRate, ConvertsAtTheMeasuredRateBothWays) {
  for (const std::uint64_t hertz :
       {std::uint64_t{24'000'000}, kSecond, std::uint64_t{2'500'000'000}, std::uint64_t{5'200'000'000}}) {
    const ClockRate rate = ClockRate::of(hertz / 1000, kSecond / 1000);
    for (const std::uint64_t ns : {std::uint64_t{1'000}, std::uint64_t{50'000}, kSecond, 86'400 * kSecond}) {
      const double ticks = static_cast<double>(ns) * static_cast<double>(hertz) / kSecond;
      EXPECT_NEAR(static_cast<double>(rate.to_ticks(ns)), ticks, ticks * 1e-6 + 1) << hertz;
      EXPECT_NEAR(static_cast<double>(rate.to_ns(rate.to_ticks(ns))), static_cast<double>(ns),
                  static_cast<double>(ns) * 1e-6 + static_cast<double>(kSecond / hertz) + 1)
          << hertz;
    }
  }
}

TEST(ClockRate, ATickIsANanosecondUntilItIsMeasured) {
  constexpr ClockRate rate;
  EXPECT_EQ(rate.to_ns(12'345), 12'345u);
  EXPECT_EQ(rate.to_ticks(12'345), 12'345u);
}

TEST(ClockRate, IsMeasuredAgainstTheSystemsClock) {
  set_clock_rate(read_clocks());
  const ClockReading begin = read_clocks();
  ClockReading end = begin;
  while (end.ns - begin.ns < 20'000'000) end = read_clocks();
  const auto passed = static_cast<double>(end.ns - begin.ns);
  EXPECT_NEAR(static_cast<double>(to_ns(end.ticks - begin.ticks)), passed, passed / 20);
  clock_rate = {};
}

TEST(ClockRate, OfAClockThatStandsStillIsLeftAlone) {
  set_clock_rate({.ticks = UINT64_MAX, .ns = 0});
  EXPECT_EQ(to_ns(7), 7u);
}

}  // namespace
}  // namespace hearth
