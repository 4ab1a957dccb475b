// Medians and their intervals. Pure.
//
// A series has a figure for each round, NaN where the round gave none. Ratios are formed inside a round, where both sides saw
// the same machine. The interval of a median is that of order statistics (binomial, 95 %); below six figures it is all of them,
// least to greatest, which holds the median in fewer cases (94 % with five), and below kFewest nothing is claimed.
#pragma once

#include <cstddef>
#include <vector>

namespace hearth::trial {

struct Spread {
  std::size_t count = 0;  // figures
  double median = 0;
  double low = 0, high = 0;  // its interval
};

inline constexpr std::size_t kFewest = 5;

/// Of the figures that are there. count 0: there was none.
Spread spread_of(const std::vector<double>& series);
/// Of ours[r] / theirs[r].
Spread ratio_of(const std::vector<double>& ours, const std::vector<double>& theirs);

/// What may be said of a ratio.
enum class Claim { none, less, more };
/// `less`: all of the interval is below 1.
Claim claim_of(const Spread& ratio);
/// Of two medians that were measured apart: `less` if all of a's interval lies below b's. Overlapping intervals claim nothing.
Claim claim_of(const Spread& a, const Spread& b);

}  // namespace hearth::trial
