// See history.h.
#include "btlp/recorder/history.h"

#include <algorithm>

namespace hearth::btlp::recorder {
namespace {

constexpr std::size_t kMostTouches = 256;  // threads in one history

std::uint32_t at(const List<std::uint32_t>& clocks, std::uint32_t thread) {
  return thread < clocks.size() ? clocks[thread] : 0;
}

void raise(List<std::uint32_t>& clocks, std::uint32_t thread, std::uint32_t clock) {
  if (thread >= clocks.size()) clocks.resize(thread + 1, 0);
  clocks[thread] = std::max(clocks[thread], clock);
}

}  // namespace

std::uint32_t History::add_thread(std::int32_t creator) {
  const auto number = static_cast<std::uint32_t>(threads_.size());
  Thread thread;
  thread.creator = creator;
  if (creator >= 0) {
    Thread& above = threads_[static_cast<std::size_t>(creator)];
    thread.seen = above.seen;
    raise(thread.seen, static_cast<std::uint32_t>(creator), above.clock++);
    thread.birth = thread.seen;
  }
  threads_.push_back(thread);
  return number;
}

void History::joined(std::uint32_t by, std::uint32_t ended) {
  Thread& waiter = threads_[by];
  const Thread& gone = threads_[ended];
  for (std::uint32_t n = 0; n < gone.seen.size(); ++n) raise(waiter.seen, n, gone.seen[n]);
  raise(waiter.seen, ended, gone.clock);
  ++waiter.clock;
}

bool History::creates(std::uint32_t above, std::uint32_t below) const {
  for (std::int32_t each = threads_[below].creator; each >= 0; each = threads_[static_cast<std::size_t>(each)].creator)
    if (static_cast<std::uint32_t>(each) == above) return true;
  return false;
}

History::Order History::order(std::uint32_t earlier, std::uint32_t clock, std::uint32_t now) const {
  if (clock > at(threads_[now].seen, earlier)) return Order::concurrent;
  if (clock <= at(threads_[now].birth, earlier) && creates(earlier, now)) return Order::handed;
  return Order::joined;
}

std::uint32_t History::store(const List<Touch>& touches, std::uint32_t last_writer) {
  std::uint64_t hash = last_writer;
  for (const Touch& touch : touches)
    for (const std::uint32_t word : {touch.thread, touch.read, touch.write})
      hash = (hash ^ word) * 0x9E3779B97F4A7C15U + (hash >> 31U);
  List<std::uint32_t>& alike = states_of_hash_[hash];
  for (const std::uint32_t known : alike) {
    const State& state = states_[known];
    if (state.count != touches.size() || state.last_writer != last_writer) continue;
    const bool equal = std::equal(
        touches.begin(), touches.end(), touches_.begin() + state.first,
        [](const Touch& a, const Touch& b) { return a.thread == b.thread && a.read == b.read && a.write == b.write; });
    if (equal) return known;
  }
  State state;
  state.first = static_cast<std::uint32_t>(touches_.size());
  state.count = static_cast<std::uint32_t>(touches.size());
  state.last_writer = last_writer;
  touches_.insert(touches_.end(), touches.begin(), touches.end());
  states_.push_back(state);
  alike.push_back(static_cast<std::uint32_t>(states_.size() - 1));
  return alike.back();
}

History::Step History::step(std::uint32_t history, std::uint32_t thread, bool write) {
  const std::uint32_t clock = threads_[thread].clock;
  const Key key{history, thread, clock, write ? 1U : 0U};
  if (const auto known = steps_.find(key); known != steps_.end()) return known->second;
  const State state = states_[history];
  Step step;
  step.first = static_cast<std::uint32_t>(conflicts_.size());
  List<Touch> after;
  bool here = false;
  for (std::uint32_t n = 0; n < state.count; ++n) {
    Touch touch = touches_[state.first + n];
    if (touch.thread == thread) {
      here = true;
      (write ? touch.write : touch.read) = clock;
      after.push_back(touch);
      continue;
    }
    after.push_back(touch);
    const bool last = state.last_writer == touch.thread;
    std::uint32_t what = 0;
    if (!write && touch.write != 0) {
      const Order order = this->order(touch.thread, touch.write, thread);
      // Behind a join only results flow: what the ended thread left there.
      if (order == Order::concurrent || (order == Order::joined && last)) what |= Conflict::reads_theirs;
      if (what != 0 && last) what |= Conflict::flow;
    }
    if (write && touch.read != 0 && order(touch.thread, touch.read, thread) == Order::concurrent)
      what |= Conflict::writes_where_read;
    if (write && touch.write != 0 && order(touch.thread, touch.write, thread) == Order::concurrent)
      what |= Conflict::writes_where_written;
    if (what != 0) conflicts_.push_back({touch.thread, what});
  }
  if (!here) {
    if (after.size() >= kMostTouches) {
      after.erase(after.begin());
      ++forgotten_;
    }
    after.push_back({thread, write ? 0 : clock, write ? clock : 0});
    std::sort(after.begin(), after.end(), [](const Touch& a, const Touch& b) { return a.thread < b.thread; });
  }
  step.next = store(after, write ? thread : state.last_writer);
  step.count = static_cast<std::uint32_t>(conflicts_.size()) - step.first;
  steps_.emplace(key, step);
  return step;
}

}  // namespace hearth::btlp::recorder
