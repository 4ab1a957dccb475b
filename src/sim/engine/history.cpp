// See history.h.
#include "sim/engine/history.h"

#include <algorithm>

namespace hearth::sim {

void History::start(std::size_t count, std::size_t workers) {
  tasks.assign(count + workers - 1, {});
  open_.assign(workers, {});
  for (std::size_t worker = 1; worker < workers; ++worker) {
    const auto task = static_cast<TaskIndex>(count + worker - 1);
    begin(static_cast<std::uint32_t>(worker), seats[worker], task, 0);
    wait(static_cast<std::uint32_t>(worker), Wait::region, 0);
  }
}

void History::created(std::uint32_t worker, TaskIndex task, Time now, Time creation) {
  const TaskIndex parent = open_[worker].back().task;
  TaskTimes& times = tasks[task];
  times.created = now;
  times.creation = creation;
  times.creator = worker;
  times.parent = parent;
  tasks[parent].creating += creation;
}

void History::begin(std::uint32_t worker, placement::Location location, TaskIndex task, Time now) {
  std::vector<Open>& open = open_[worker];
  if (!open.empty()) {
    close_span(worker, location, now);
    end_idle(open.back(), now);
  }
  TaskTimes& times = tasks[task];
  times.begin = now;
  times.worker = worker;
  times.location = location;
  Open next;
  next.task = task;
  next.resumed = now;
  open.push_back(next);
}

void History::end(std::uint32_t worker, placement::Location location, Time now) {
  std::vector<Open>& open = open_[worker];
  close_span(worker, location, now);
  tasks[open.back().task].end = std::max(now, open.back().resumed);
  open.pop_back();
  if (open.empty()) return;
  open.back().resumed = open.back().idle_from = now;
}

void History::wait(std::uint32_t worker, Wait what, Time now) {
  Open& open = open_[worker].back();
  if (open.waits) return;
  open.waits = true;
  open.what = what;
  open.wait_begin = open.idle_from = now;
  open.idle = 0;
}

void History::go_on(std::uint32_t worker, Time now) {
  Open& open = open_[worker].back();
  if (!open.waits) return;
  end_idle(open, now);
  open.waits = false;
  waits.push_back({open.task, worker, open.what, open.wait_begin, std::max(now, open.wait_begin), open.idle});
  tasks[open.task].waited += open.idle;
}

void History::need(TaskIndex task, const placement::Need& need) {
  for (placement::Location home = 0; home < need.read.locations; ++home)
    if (need.read.at[home] != 0 || need.written.at[home] != 0)
      bytes.push_back({task, home, need.read.at[home], need.written.at[home]});
  if (need.read.unknown != 0 || need.written.unknown != 0)
    bytes.push_back({task, placement::kUnknown, need.read.unknown, need.written.unknown});
}

void History::finish(Time now) {
  for (std::uint32_t worker = 0; worker < open_.size(); ++worker) {
    while (!open_[worker].empty()) {
      go_on(worker, now);
      end(worker, tasks[open_[worker].back().task].location, now);
    }
  }
}

// A task that begins with a delay has not run before it.
void History::close_span(std::uint32_t worker, placement::Location location, Time now) {
  const Open& open = open_[worker].back();
  if (now <= open.resumed) return;
  spans.push_back({open.task, worker, location, open.resumed, now});
  tasks[open.task].ran += now - open.resumed;
}

void History::end_idle(Open& open, Time now) {
  if (open.waits) open.idle += now - std::min(open.idle_from, now);
}

}  // namespace hearth::sim
