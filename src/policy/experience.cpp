#include "policy/experience.h"

#include <algorithm>

namespace hearth::policy {
namespace {

// A mean of so many values at most counts; sums of these fit by far.
constexpr std::uint64_t kMostCounted = 1'000'000, kMostMean = 1'000'000'000'000;

}  // namespace

std::uint64_t joined_mean(std::uint64_t older, std::uint64_t olders, std::uint64_t newer, std::uint64_t newers) {
  const std::uint64_t weight = std::min(olders, tuning::kOldTasks), other = std::min(newers, kMostCounted);
  if (weight + other == 0) return 0;
  return (std::min(older, kMostMean) * weight + std::min(newer, kMostMean) * other) / (weight + other);
}

std::uint64_t joined_count(std::uint64_t older, std::uint64_t newer) {
  return std::min(older, kMostCounted) + std::min(newer, kMostCounted);
}

Experience joined(const Experience& older, const Experience& newer) {
  return {.asked = joined_count(older.asked, newer.asked),
          .saved = joined_mean(older.saved, older.asked, newer.saved, newer.asked),
          .home = joined_count(older.home, newer.home),
          .home_time = joined_mean(older.home_time, older.home, newer.home_time, newer.home),
          .far = joined_count(older.far, newer.far),
          .far_time = joined_mean(older.far_time, older.far, newer.far_time, newer.far),
          .foretold = joined_mean(older.foretold, older.home + older.far, newer.foretold, newer.home + newer.far)};
}

}  // namespace hearth::policy
