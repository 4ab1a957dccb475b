// See times.h.
#include "record/times.h"

#include <algorithm>
#include <ctime>

#include "base/clock.h"
#include "base/cpu.h"

namespace hearth::record {
namespace {

// ompt_sync_region_t: the barriers that end a region.
constexpr std::uint32_t kBarrierImplicit = 2, kBarrierImplicitParallel = 9;

/// How long a tick is on this machine.
double measure_rate() {
  const auto now = [] {
    timespec t{};
    clock_gettime(CLOCK_MONOTONIC, &t);
    return ClockPair{
        ticks(), static_cast<std::uint64_t>(t.tv_sec) * 1000000000u + static_cast<std::uint64_t>(t.tv_nsec)};
  };
  const ClockPair first = now();
  ClockPair last = first;
  while (last.nanoseconds - first.nanoseconds < 20000000) last = now();
  return static_cast<double>(last.nanoseconds - first.nanoseconds) /
         static_cast<double>(last.ticks - first.ticks);
}

}  // namespace

Clock calibrate(const std::vector<ClockPair>& pairs, const std::string& name,
                std::vector<Problem>& problems) {
  constexpr std::uint64_t kShort = 5000000;  // the two clocks are read some 100 ns apart
  Clock clock;
  if (pairs.empty()) return clock;
  const auto by_ticks = [](const ClockPair& a, const ClockPair& b) { return a.ticks < b.ticks; };
  const auto [first, last] = std::minmax_element(pairs.begin(), pairs.end(), by_ticks);
  clock.ticks = first->ticks;
  clock.nanoseconds = first->nanoseconds;
  if (last->nanoseconds > first->nanoseconds + kShort) {
    clock.rate = static_cast<double>(last->nanoseconds - first->nanoseconds) /
                 static_cast<double>(last->ticks - first->ticks);
    if (clock.rate > 0.01 && clock.rate < 100) return clock;
    problems.push_back(
        {name, "the clock's readings contradict each other; its rate is taken from this machine"});
  }
  static const double rate_here = measure_rate();
  clock.rate = rate_here;
  return clock;
}

Marks mark(const Recording& r) {
  return {r.threads.size(), r.tasks.size(), r.regions.size(), r.spans.size(),
          r.waits.size(),   r.loops.size(), r.chunks.size(),  r.allocations.size(),
          r.moves.size(),   r.homes.size(), r.touches.size(), r.decisions.size()};
}

void convert_times(Recording& out, const Marks& from, const Clock& clock) {
  const auto length = [&](Nanoseconds& t) {
    t = static_cast<Nanoseconds>(static_cast<double>(t) * clock.rate + 0.5);
  };
  const auto point = [&](Nanoseconds& t) {
    if (t == kNever) return;
    const double since = static_cast<double>(t - static_cast<Nanoseconds>(clock.ticks)) * clock.rate;
    t = static_cast<Nanoseconds>(clock.nanoseconds) + static_cast<Nanoseconds>(since);
  };
  const auto both = [&](auto& all, std::size_t first) {
    for (std::size_t i = first; i < all.size(); ++i) {
      point(all[i].begin);
      point(all[i].end);
    }
  };
  both(out.threads, from.threads);
  both(out.tasks, from.tasks);
  both(out.regions, from.regions);
  both(out.spans, from.spans);
  both(out.waits, from.waits);
  both(out.loops, from.loops);
  both(out.chunks, from.chunks);
  for (std::size_t i = from.waits; i < out.waits.size(); ++i) length(out.waits[i].idle);
  for (std::size_t i = from.allocations; i < out.allocations.size(); ++i) {
    point(out.allocations[i].when);
    point(out.allocations[i].freed);
  }
  const auto when = [&](auto& all, std::size_t first) {
    for (std::size_t i = first; i < all.size(); ++i) point(all[i].when);
  };
  when(out.moves, from.moves);
  when(out.homes, from.homes);
  when(out.touches, from.touches);
  when(out.decisions, from.decisions);
  for (std::size_t i = from.tasks; i < out.tasks.size(); ++i) {
    Task& task = out.tasks[i];
    point(task.created);
    if (task.creation != kNever) length(task.creation);
    length(task.work);
    length(task.waited);
    length(task.creating);
  }
}

void cut_at_regions_end(Recording& out, const Marks& from) {
  const auto end_of = [&](Index index) {
    const Task& task = out.tasks[index];
    if (task.kind != Task::Kind::implicit || task.region == kNone || task.nth == 0) return INT64_MAX;
    const Nanoseconds end = out.regions[task.region].end;
    return end == kNever ? INT64_MAX : end;
  };
  for (std::size_t i = from.waits; i < out.waits.size(); ++i) {
    Wait& wait = out.waits[i];
    if (wait.on != Wait::On::region ||
        (wait.kind != kBarrierImplicitParallel && wait.kind != kBarrierImplicit))
      continue;
    const Nanoseconds end = end_of(wait.task);
    if (wait.end <= end) continue;
    const Nanoseconds cut = std::min(wait.idle, wait.end - std::max(end, wait.begin));
    wait.end = std::max(end, wait.begin);
    wait.idle -= cut;
    Task& task = out.tasks[wait.task];
    task.waited -= std::min(cut, task.waited);
  }
  for (std::size_t i = from.spans; i < out.spans.size(); ++i) {
    Span& span = out.spans[i];
    span.end = std::max(span.begin, std::min(span.end, end_of(span.task)));
  }
  for (std::size_t i = from.tasks; i < out.tasks.size(); ++i) {
    Task& task = out.tasks[i];
    if (task.end != kNever)
      task.end = std::max(task.begin, std::min(task.end, end_of(static_cast<Index>(i))));
  }
}

}  // namespace hearth::record
