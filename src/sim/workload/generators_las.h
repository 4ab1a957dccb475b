// What the generators of bench/las share: how they write down what a task touches. Used while a workload is built, by one
// thread.
//
// Passes follow from the kernels' loops: an array that a loop nest walks through once for each row of another has as many passes
// as that has rows; a row that the innermost loops come back to stays in the first cache.
#pragma once

#include <string>

#include "sim/workload/generators.h"

namespace hearth::sim::las {

using Mode = placement::Access;

inline constexpr std::uint64_t kWord = 4;    // float, or int where the paper has integers
inline constexpr std::uint64_t kPoint = 12;  // of space: three words
inline constexpr double kMostOps = 64;

inline std::string numbered(const char* list, std::uint64_t at) { return list + ('[' + std::to_string(at) + ']'); }

/// Contiguous bytes, walked through from end to end.
inline Access piece(RegionIndex region, std::uint64_t offset, std::uint64_t length, Mode mode, double passes = 1) {
  Access access;
  access.region = region;
  access.offset = offset;
  access.length = length;
  access.pitch = length;
  access.mode = mode;
  access.passes = static_cast<float>(passes);
  return access;
}

inline Access undeclared(Access access) {
  access.declared = false;
  return access;
}

/// One access that a depend clause names.
inline void use(Builder& builder, const Access& access) {
  builder.depend(access.region, access.offset, access.mode);
  builder.access(access);
}

// Those on square matrices in square blocks (generators_las_blocks.cpp).
extern const Generator kMatmulGenerator, kJacobiGenerator, kSparseLuGenerator;

}  // namespace hearth::sim::las
