// See figures.h.
#include "report/figures.h"

#include <algorithm>
#include <limits>
#include <map>

#include "report/pieces.h"

namespace hearth::report {
namespace {

constexpr std::size_t kBins = 600;  // of the curves over time: as many as a page shows side by side

bool is_explicit(const Run& run, const Task& task) {
  const std::string& kind = run.constructs[static_cast<std::size_t>(task.construct)].kind;
  return kind != "initial" && kind != "implicit";
}

void find_ends(const Run& run, Figures& out) {
  out.begin = std::numeric_limits<std::int64_t>::max();
  for (const Thread& thread : run.threads) {
    for (const Span& span : thread.spans) {
      out.begin = std::min(out.begin, span.begin);
      out.end = std::max(out.end, span.end);
    }
  }
  if (out.begin > out.end) out.begin = out.end = 0;
}

/// A task's time is spent on the threads of its spans; one that changes threads spends it in their proportion.
void add_threads(const Run& run, Figures& out) {
  for (std::size_t i = 0; i < run.threads.size(); ++i) {
    const Thread& thread = run.threads[i];
    if (thread.spans.empty()) continue;
    ThreadFigures figures;
    figures.thread = static_cast<std::int32_t>(i);
    std::map<std::int32_t, std::int64_t> on_node;
    std::int64_t in_spans = 0;
    for (const Span& span : thread.spans) {
      in_spans += span.end - span.begin;
      on_node[run.node_of(span.cpu)] += span.end - span.begin;
    }
    figures.node = std::max_element(on_node.begin(), on_node.end(), [](const auto& a, const auto& b) {
                     return a.second < b.second;
                   })->first;
    figures.time.outside = std::max<std::int64_t>(out.length() - in_spans, 0);
    out.threads.push_back(figures);
  }
}

void add_tasks(const Run& run, Figures& out) {
  std::vector<std::int64_t> index(run.threads.size(), -1);
  for (std::size_t i = 0; i < out.threads.size(); ++i)
    index[static_cast<std::size_t>(out.threads[i].thread)] = static_cast<std::int64_t>(i);
  out.constructs.resize(run.constructs.size());
  for (std::size_t i = 0; i < out.constructs.size(); ++i) {
    out.constructs[i].construct = static_cast<std::int32_t>(i);
    out.constructs[i].least = std::numeric_limits<std::int64_t>::max();
  }
  for (std::size_t id = 0; id < run.tasks.size(); ++id) {
    const Task& task = run.tasks[id];
    if (run.constructs.empty()) break;
    const bool explicit_task = is_explicit(run, task);
    out.explicit_tasks += explicit_task;
    ConstructFigures& construct = out.constructs[static_cast<std::size_t>(task.construct)];
    ++construct.tasks;
    construct.work += task.work;
    construct.least = std::min(construct.least, task.work);
    construct.most = std::max(construct.most, task.work);
    construct.wait += task.wait;
    construct.create += task.create;
    construct.creation += explicit_task ? task.creation : 0;
    if (explicit_task && task.begin >= 0 && run.ready[id] >= 0) {
      ++construct.delays;
      construct.delay += std::max<std::int64_t>(task.begin - run.ready[id], 0);
    }
    if (!run.declared.empty()) construct.declared += run.declared[id];
    out.time.work += task.work;
    out.time.creating += task.create;
    out.time.waiting += task.wait;
    if (explicit_task && task.thread != kNone && index[static_cast<std::size_t>(task.thread)] >= 0)
      ++out.threads[static_cast<std::size_t>(index[static_cast<std::size_t>(task.thread)])].tasks;
  }
  out.time.outside = std::max<std::int64_t>(out.thread_time() - out.time.work - out.time.creating - out.time.waiting,
                                            0);
}

/// How long each thread was in each construct, and in each class of time.
void add_by_thread(const Run& run, Figures& out) {
  std::vector<std::int64_t> in_construct(run.constructs.size());
  std::vector<std::int64_t> most(run.constructs.size()), sum(run.constructs.size());
  for (ThreadFigures& thread : out.threads) {
    std::fill(in_construct.begin(), in_construct.end(), 0);
    for_each_piece(run, thread.thread, [&](const Piece& piece) {
      const std::int64_t length = piece.end - piece.begin;
      if (piece.waits != kNone) {
        thread.time.waiting += length;
        return;
      }
      in_construct[static_cast<std::size_t>(run.tasks[static_cast<std::size_t>(piece.task)].construct)] += length;
      thread.time.work += length;
    });
    for (std::size_t c = 0; c < in_construct.size(); ++c) {
      out.constructs[c].threads += in_construct[c] > 0;
      most[c] = std::max(most[c], in_construct[c]);
      sum[c] += in_construct[c];
    }
  }
  for (std::size_t c = 0; c < out.constructs.size(); ++c) {
    if (sum[c] > 0)
      out.constructs[c].imbalance = static_cast<double>(most[c]) * static_cast<double>(out.threads.size()) /
                                    static_cast<double>(sum[c]);
  }
}

/// Creating is inside the pieces of work: it is taken from the thread that the creating task began on.
void move_creating(const Run& run, Figures& out) {
  std::vector<ThreadFigures*> by_thread(run.threads.size());
  for (ThreadFigures& thread : out.threads) by_thread[static_cast<std::size_t>(thread.thread)] = &thread;
  for (const Task& task : run.tasks) {
    if (task.create == 0 || task.thread == kNone) continue;
    ThreadFigures* const thread = by_thread[static_cast<std::size_t>(task.thread)];
    if (thread == nullptr) continue;
    const std::int64_t part = std::min(task.create, thread->time.work);
    thread->time.work -= part;
    thread->time.creating += part;
  }
}

void add_waits(const Run& run, Figures& out) {
  out.waits.resize(run.wait_places.size());
  for (std::size_t i = 0; i < out.waits.size(); ++i) out.waits[i].place = static_cast<std::int32_t>(i);
  for (const Wait& wait : run.waits) {
    WaitFigures& figures = out.waits[static_cast<std::size_t>(wait.place)];
    ++figures.waits;
    figures.time += wait.end - wait.begin;
    figures.idle += wait.idle;
    figures.longest = std::max(figures.longest, wait.idle);
  }
  std::stable_sort(out.waits.begin(), out.waits.end(),
                   [](const WaitFigures& a, const WaitFigures& b) { return a.idle > b.idle; });
}

void add_loops(const Run& run, Figures& out) {
  for (std::size_t i = 0; i < run.loops.size();) {
    LoopFigures loop{run.loops[i].kind, run.loops[i].name, 0, 0, 0, 1};
    std::int64_t most = 0, threads = 0;
    for (; i < run.loops.size() && run.loops[i].kind == loop.kind && run.loops[i].name == loop.name; ++i) {
      loop.times += run.loops[i].times;
      loop.iterations += run.loops[i].iterations;
      loop.time += run.loops[i].time;
      most = std::max(most, run.loops[i].time);
      ++threads;
    }
    if (loop.time > 0)
      loop.imbalance = static_cast<double>(most) * static_cast<double>(threads) / static_cast<double>(loop.time);
    out.loops.push_back(std::move(loop));
  }
  std::stable_sort(out.loops.begin(), out.loops.end(),
                   [](const LoopFigures& a, const LoopFigures& b) { return a.time > b.time; });
}

/// Adds an interval to bins of equal length, each by the part of the bin that it covers.
class Curve {
 public:
  Curve(std::int64_t begin, std::int64_t end) : begin_(begin), width_(static_cast<double>(end - begin) / kBins) {}

  void add(std::int64_t from, std::int64_t to) {
    if (width_ <= 0 || to <= from) return;
    const double first = std::clamp(static_cast<double>(from - begin_) / width_, 0.0, static_cast<double>(kBins));
    const double last = std::clamp(static_cast<double>(to - begin_) / width_, 0.0, static_cast<double>(kBins));
    const auto a = std::min(static_cast<std::size_t>(first), kBins - 1),
               b = std::min(static_cast<std::size_t>(last), kBins - 1);
    if (a == b) {
      part_[a] += last - first;
      return;
    }
    part_[a] += static_cast<double>(a + 1) - first;
    part_[b] += last - static_cast<double>(b);
    full_[a + 1] += 1;
    full_[b] -= 1;
  }

  std::vector<double> values() const {
    std::vector<double> values(kBins);
    double depth = 0;
    for (std::size_t i = 0; i < kBins; ++i) values[i] = std::max((depth += full_[i]) + part_[i], 0.0);
    return values;
  }

 private:
  std::int64_t begin_;
  double width_;
  std::vector<double> part_ = std::vector<double>(kBins + 1), full_ = std::vector<double>(kBins + 1);
};

void add_parallelism(const Run& run, Figures& out) {
  if (out.length() <= 0) return;
  Curve running(out.begin, out.end), available(out.begin, out.end);
  for (const ThreadFigures& thread : out.threads)
    for_each_piece(run, thread.thread, [&](const Piece& piece) {
      if (piece.waits == kNone) running.add(piece.begin, piece.end);
    });
  out.parallelism.running = running.values();
  if (out.explicit_tasks == 0) return;
  for (std::size_t id = 0; id < run.tasks.size(); ++id)
    if (is_explicit(run, run.tasks[id]) && run.ready[id] >= 0)
      available.add(run.ready[id], run.tasks[id].end >= 0 ? run.tasks[id].end : out.end);
  out.parallelism.available = available.values();
}

}  // namespace

Figures figures_of(const Run& run) {
  Figures out;
  find_ends(run, out);
  add_threads(run, out);
  add_tasks(run, out);
  add_by_thread(run, out);
  move_creating(run, out);
  add_waits(run, out);
  add_loops(run, out);
  add_parallelism(run, out);
  out.idle_ready = idle_ready_of(run);
  const std::vector<Making> made = making_of(run);
  for (std::size_t i = 0; i < made.size(); ++i) out.constructs[i].making = made[i];
  std::erase_if(out.constructs, [](const ConstructFigures& c) { return c.tasks == 0; });
  std::stable_sort(out.constructs.begin(), out.constructs.end(),
                   [](const ConstructFigures& a, const ConstructFigures& b) { return a.work > b.work; });
  return out;
}

}  // namespace hearth::report
