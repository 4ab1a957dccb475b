// See making.h.
#include "report/making.h"

#include <algorithm>
#include <map>
#include <utility>

namespace hearth::report {
namespace {

constexpr std::int64_t kMany = 16;  // fewer tasks of one parent do not tell how long it makes them

/// While one task makes others.
struct Window {
  std::int64_t begin = 0, end = 0, tasks = 0;
};

std::vector<Window> windows_of(const Run& run) {
  std::vector<Window> windows(run.tasks.size());
  for (const Task& task : run.tasks) {
    if (task.parent == kNone || task.created < 0) continue;
    Window& window = windows[static_cast<std::size_t>(task.parent)];
    if (window.tasks++ == 0) window.begin = window.end = task.created;
    window.begin = std::min(window.begin, task.created);
    window.end = std::max(window.end, task.created);
  }
  return windows;
}

/// Times when anybody makes tasks, in order and without overlap, and how much of a wait lies in them.
class Busy {
 public:
  explicit Busy(std::vector<std::pair<std::int64_t, std::int64_t>> windows) {
    std::sort(windows.begin(), windows.end());
    for (const auto& window : windows) {
      if (times_.empty() || window.first > times_.back().second)
        times_.push_back(window);
      else
        times_.back().second = std::max(times_.back().second, window.second);
    }
  }

  std::int64_t idle_within(const Wait& wait) const {
    if (wait.end <= wait.begin) return 0;
    std::int64_t within = 0;
    auto time = std::partition_point(times_.begin(), times_.end(),
                                     [&](const auto& t) { return t.second <= wait.begin; });
    for (; time != times_.end() && time->first < wait.end; ++time)
      within += std::min(time->second, wait.end) - std::max(time->first, wait.begin);
    return static_cast<std::int64_t>(static_cast<double>(wait.idle) * static_cast<double>(within) /
                                     static_cast<double>(wait.end - wait.begin));
  }

 private:
  std::vector<std::pair<std::int64_t, std::int64_t>> times_;
};

}  // namespace

std::vector<Making> making_of(const Run& run) {
  std::vector<Making> made(run.constructs.size());
  const std::vector<Window> windows = windows_of(run);
  std::vector<std::map<std::int32_t, std::int64_t>> makers(made.size());  // tasks by the thread that made them
  std::vector<std::vector<std::pair<std::int64_t, std::int64_t>>> times(made.size());
  std::vector<double> time(made.size());
  std::vector<std::int32_t> last(made.size(), kNone);  // whose window was added last
  for (const Task& task : run.tasks) {
    if (task.parent == kNone || task.created < 0) continue;
    const Window& window = windows[static_cast<std::size_t>(task.parent)];
    if (window.tasks < kMany) continue;
    const Task& maker = run.tasks[static_cast<std::size_t>(task.parent)];
    const auto construct = static_cast<std::size_t>(task.construct);
    time[construct] += static_cast<double>(std::min(window.end - window.begin, maker.work + maker.create)) /
                       static_cast<double>(window.tasks);
    ++made[construct].tasks;
    ++makers[construct][maker.thread];
    if (std::exchange(last[construct], task.parent) != task.parent)
      times[construct].emplace_back(window.begin, window.end);
  }
  for (std::size_t i = 0; i < made.size(); ++i) {
    if (made[i].tasks == 0) continue;
    made[i].time = static_cast<std::int64_t>(time[i]);
    const auto most = std::max_element(makers[i].begin(), makers[i].end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    made[i].by_one_thread = static_cast<double>(most->second) / static_cast<double>(made[i].tasks);
    const Busy busy(std::move(times[i]));
    for (const Wait& wait : run.waits)
      if (wait.thread != most->first) made[i].waited += busy.idle_within(wait);
  }
  return made;
}

}  // namespace hearth::report
