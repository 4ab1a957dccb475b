// The queues and the clock of the simulator's workers.
#include "sim/engine/queues.h"

#include <algorithm>
#include <deque>
#include <vector>

#include <gtest/gtest.h>

namespace hearth::sim {
namespace {

TEST(Ring, HoldsWhatAListHolds) {
  Ring<int> ring;
  std::deque<int> list;
  Random random(1);
  for (int i = 0; i < 20'000; ++i) {
    const std::size_t what = random.below(list.size() < 40 ? 5 : 8);
    if (list.empty() || what < 4) {
      ring.push_back(i);
      list.push_back(i);
    } else if (what == 4) {
      EXPECT_EQ(ring.pop_back(), list.back());
      list.pop_back();
    } else {
      const std::size_t at = random.below(list.size());
      EXPECT_EQ(ring.take(at), list[at]);
      list.erase(list.begin() + static_cast<std::ptrdiff_t>(at));
    }
    ASSERT_EQ(ring.size(), list.size());
    for (std::size_t k = 0; k < list.size(); ++k) ASSERT_EQ(ring.at(k), list[k]);
  }
}

class TimersOf : public testing::TestWithParam<std::size_t> {};

TEST_P(TimersOf, TheEarliestComesFirstAndOfEqualsTheFirst) {
  const std::size_t count = GetParam();
  Timers timers(count);
  EXPECT_EQ(timers.first(), kNever);
  std::vector<Time> when(count, kNever);
  Random random(count);
  for (int i = 0; i < 5'000; ++i) {
    const std::size_t worker = random.below(count);
    when[worker] = random.below(4) == 0 ? kNever : random.below(20);
    timers.set(worker, when[worker]);
    const auto first = std::min_element(when.begin(), when.end());
    ASSERT_EQ(timers.first(), *first);
    if (*first != kNever) {
      ASSERT_EQ(timers.first_worker(), static_cast<std::size_t>(first - when.begin()));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Workers, TimersOf, testing::Values(1u, 2u, 3u, 48u, 63u, 64u, 65u));

}  // namespace
}  // namespace hearth::sim
