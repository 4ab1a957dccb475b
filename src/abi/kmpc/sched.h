// clang's schedule numbers, decoded. The numbers are the ABI.
#pragma once

#include <cstdint>

namespace hearth::abi {

enum KmpSchedule : std::int32_t {
  kStaticChunked = 33,
  kStatic = 34,
  kDynamicChunked = 35,
  kGuidedChunked = 36,
  kRuntime = 37,
  kAuto = 38,
  kTrapezoidal = 39,
  kStaticGreedy = 40,
  kStaticBalanced = 41,
  kGuidedIterative = 42,
  kGuidedAnalytical = 43,
  kStaticSteal = 44,
  kStaticBalancedChunked = 45,  // schedule(simd: static)
  kGuidedSimd = 46,
  kRuntimeSimd = 47,
  kDistributeChunked = 91,
  kDistribute = 92,
};

struct DecodedSchedule {
  std::int32_t kind;
  bool ordered = false;
  bool monotonic = false, nonmonotonic = false;

  static DecodedSchedule of(std::int32_t given) {
    constexpr std::uint32_t kMonotonic = 1u << 29, kNonmonotonic = 1u << 30;
    const auto bits = static_cast<std::uint32_t>(given);
    DecodedSchedule out{static_cast<std::int32_t>(bits & ~(kMonotonic | kNonmonotonic))};
    out.monotonic = (bits & kMonotonic) != 0;
    out.nonmonotonic = (bits & kNonmonotonic) != 0;
    // The kinds stand at 33, their ordered forms 32 further, and both again, 128 further, for loops whose
    // iterations are not merged.
    constexpr std::int32_t kNoMerge = 160, kShift = 128, kOrdered = 64, kOrderedEnd = 73, kOrderedShift = 32;
    if (out.kind >= kNoMerge) out.kind -= kShift;
    if (out.kind > kOrdered && out.kind < kOrderedEnd) {
      out.kind -= kOrderedShift;
      out.ordered = true;
    }
    return out;
  }
};

}  // namespace hearth::abi
