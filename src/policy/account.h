// What dealing has brought for the tasks of one construct, so that a policy that weighs load stops what does not pay.
//
// Two judgements. Asking pays while what it is foretold to save is several times what it costs. And the forecast is
// believed while tasks that ran elsewhere really took longer than tasks at home, by a part of what was foretold; to see
// that, some run where they would not. The runtime and the simulator keep one account for each task construct.
//
// Any thread, at any time: all numbers are hints, relaxed, and of two that write at once one may be lost. Once much is
// known only some of the tasks write, since all threads share the line.
#pragma once

#include <atomic>
#include <cstdint>

#include <algorithm>

#include "base/cacheline.h"
#include "policy/experience.h"
#include "policy/tuning.h"

namespace hearth::policy {

/// Whether a policy that weighs load is asked where a task should run.
enum class Asking : std::uint8_t {
  no,    // it does not want to be
  left,  // its construct's account has the answer: where it is
  yes,
};

class alignas(kCacheLine) Account {
 public:
  /// Whether to ask where the next task should run. `turn` counts the questions of one thread up.
  Asking asks(std::uint32_t turn) const {
    const bool pays = get(asked_) < tuning::kAskedAtFirst || get(saved_) >= tuning::kSavedInDeals * tuning::kDealNs ||
                      turn % tuning::kAsksRarely == 0;
    return pays ? Asking::yes : Asking::left;
  }
  /// Whether tasks that ran elsewhere have taken longer, or nobody knows yet.
  bool believes() const {
    return known() < tuning::kKnownTimes || took_longer(get(near_), get(far_), get(foretold_));
  }
  /// Whether the task that is asked about goes where it would not, for its time. One that takes longer for that
  /// matters little where each worker runs many.
  bool tries(std::uint32_t workers) {
    const std::uint32_t asked = get(asked_), tried = get(tried_);
    // What earlier runs have doubted is looked into at once; a wrong doubt costs these few tasks and no more.
    const bool early = tried < tuning::kKnownTimes &&
                       (asked >= tuning::kTriesAfter * workers || doubted_.load(std::memory_order_relaxed));
    if ((asked + 1) % (early ? tuning::kTriesAtFirst : tuning::kTriesLater) != 0) return false;
    tried_.store(tried + 1, std::memory_order_relaxed);
    return true;
  }
  /// It was asked about, which saves so much; 0: it is not dealt.
  void decided(std::uint64_t saved) { add(asked_, saved_, saved, tuning::kSavedFollows); }
  /// A task has ended of which it was `foretold` what it loses elsewhere.
  void ended(bool at_home, std::uint64_t time, std::uint64_t foretold, std::uint32_t turn) {
    if (known() >= tuning::kKnownWell && turn % tuning::kNotesRarely != 0) return;
    follow(foretold_, foretold, get(nears_) + get(fars_) + 1, tuning::kTimesFollow);
    if (at_home)
      add(nears_, near_, time, tuning::kTimesFollow);
    else
      add(fars_, far_, time, tuning::kTimesFollow);
  }

  /// What was seen of it so far, by this process.
  Experience seen() const {
    return {.asked = get(asked_), .saved = get(saved_), .home = get(nears_), .home_time = get(near_),
            .far = get(fars_), .far_time = get(far_), .foretold = get(foretold_)};
  }
  /// What earlier runs have seen. It decides what is tried first, and nothing else.
  void begin_with(const Experience& earlier) { doubted_.store(is_doubted(earlier), std::memory_order_relaxed); }

 private:
  using Count = std::atomic<std::uint32_t>;
  using Mean = std::atomic<std::uint64_t>;  // ns

  template <class Number>
  static Number get(const std::atomic<Number>& number) {
    return number.load(std::memory_order_relaxed);
  }
  /// A mean of all values until there are `most`, and then one that follows by that part.
  static void follow(Mean& mean, std::uint64_t value, std::uint32_t count, std::uint32_t most) {
    const auto part = static_cast<std::int64_t>(std::clamp(count, 1u, most));  // counts come round to 0
    const auto old = static_cast<std::int64_t>(get(mean));
    const std::int64_t next = old + (static_cast<std::int64_t>(value) - old) / part;
    mean.store(static_cast<std::uint64_t>(next), std::memory_order_relaxed);
  }
  static void add(Count& count, Mean& mean, std::uint64_t value, std::uint32_t most) {
    const std::uint32_t now = get(count) + 1;
    count.store(now, std::memory_order_relaxed);
    follow(mean, value, now, most);
  }
  std::uint32_t known() const { return std::min(get(nears_), get(fars_)); }

  Count asked_{0}, tried_{0}, nears_{0}, fars_{0};
  Mean saved_{0}, near_{0}, far_{0}, foretold_{0};
  std::atomic<bool> doubted_{false};  // by earlier runs
};

}  // namespace hearth::policy
