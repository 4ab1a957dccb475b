// See statistics.h.
#include "trial/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace hearth::trial {
namespace {

// How many figures to leave out on each side, so that the chance that the median is outside stays below 5 %: P(X <= k) for X
// binomial with one half.
std::size_t left_out(std::size_t count) {
  double probability = std::pow(0.5, static_cast<double>(count)), sum = 0;
  std::size_t out = 0;
  for (std::size_t k = 0; k <= count; ++k) {
    sum += probability;
    if (2 * sum > 0.05) break;
    out = k;
    probability *= static_cast<double>(count - k) / static_cast<double>(k + 1);
  }
  return out;
}

}  // namespace

Spread spread_of(const std::vector<double>& series) {
  std::vector<double> sorted;
  std::copy_if(series.begin(), series.end(), std::back_inserter(sorted), [](double one) { return std::isfinite(one); });
  Spread out;
  out.count = sorted.size();
  if (sorted.empty()) return out;
  std::sort(sorted.begin(), sorted.end());
  const std::size_t half = sorted.size() / 2;
  out.median = sorted.size() % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
  const std::size_t out_each = left_out(sorted.size());
  out.low = sorted[out_each];
  out.high = sorted[sorted.size() - 1 - out_each];
  return out;
}

Spread ratio_of(const std::vector<double>& ours, const std::vector<double>& theirs) {
  std::vector<double> ratios;
  for (std::size_t r = 0; r < std::min(ours.size(), theirs.size()); ++r)
    ratios.push_back(theirs[r] > 0 ? ours[r] / theirs[r] : std::numeric_limits<double>::quiet_NaN());
  return spread_of(ratios);
}

Claim claim_of(const Spread& ratio) {
  if (ratio.count < kFewest) return Claim::none;
  return ratio.high < 1 ? Claim::less : ratio.low > 1 ? Claim::more : Claim::none;
}

Claim claim_of(const Spread& a, const Spread& b) {
  if (a.count < kFewest || b.count < kFewest) return Claim::none;
  return a.high < b.low ? Claim::less : a.low > b.high ? Claim::more : Claim::none;
}

}  // namespace hearth::trial
