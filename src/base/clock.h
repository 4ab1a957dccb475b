// One clock for guesses of how long things take: the processor's counter, and what its ticks are in nanoseconds.
//
// Reading it takes some 10 ns, less than half of what clock_gettime() takes. All constants of time are nanoseconds
// (policy/tuning.h); no code knows how long a tick is. The rate is set once, by start-up, before a second thread of the
// runtime exists, and constant afterwards: it is read without synchronisation.
//
// The rate is measured and not asked for with CPUID: leaf 0x15 is missing on AMD and in most virtual machines, where
// each CPUID also leaves the guest. Start-up takes longer than a good measurement needs (it reads files), so that costs
// two readings of both clocks and hardly ever a wait.
#pragma once

#include <cstdint>
#include <ctime>

namespace hearth {

/// Of the processor's counter, which runs at the same rate on all cores and in idle times.
inline std::uint64_t ticks() {
#if defined(__x86_64__) || defined(__i386__)
  return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
  std::uint64_t t;
  __asm__ volatile("mrs %0, cntvct_el0" : "=r"(t));
  return t;
#else
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(t.tv_nsec);
#endif
}

/// How long a tick is, as fixed-point numbers with 32 bits behind the point. Until it is measured: a nanosecond.
struct ClockRate {
  std::uint64_t ns_per_tick = std::uint64_t{1} << 32;
  std::uint64_t ticks_per_ns = std::uint64_t{1} << 32;

  /// `ticks` took `ns`; neither is 0.
  static ClockRate of(std::uint64_t ticks, std::uint64_t ns);

  constexpr std::uint64_t to_ns(std::uint64_t ticks) const { return scale(ticks, ns_per_tick); }
  constexpr std::uint64_t to_ticks(std::uint64_t ns) const { return scale(ns, ticks_per_ns); }

 private:
  __extension__ using Wide = unsigned __int128;
  static constexpr std::uint64_t scale(std::uint64_t n, std::uint64_t factor) {
    return static_cast<std::uint64_t>(static_cast<Wide>(n) * factor >> 32);
  }
};
extern constinit ClockRate clock_rate;

inline std::uint64_t to_ns(std::uint64_t ticks) { return clock_rate.to_ns(ticks); }
inline std::uint64_t to_ticks(std::uint64_t ns) { return clock_rate.to_ticks(ns); }
/// Now, in nanoseconds since some moment in the past.
inline std::uint64_t counter_ns() { return to_ns(ticks()); }

/// A reading of both clocks at once.
struct ClockReading {
  std::uint64_t ticks;
  std::uint64_t ns;  // CLOCK_MONOTONIC
};
ClockReading read_clocks();
/// Sets `clock_rate` from `begin` and now. Waits until they are 100 us apart, which makes the error less than 1 in 500.
void set_clock_rate(const ClockReading& begin);

}  // namespace hearth
