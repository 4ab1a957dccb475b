// See sweep.h.
#include "sim/study/sweep.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "sim/workload/draw.h"

namespace hearth::sim {
namespace {

/// The runs, handed out one by one. All members but `sweep_.results`, of which each run has its own element,
/// are constant or atomic or belong to `mutex_`.
class Runs {
 public:
  Runs(const SweepRequest& request, Sweep& sweep) : request_(request), sweep_(sweep) {}

  std::size_t count() const { return request_.ways.size() * request_.draws; }

  void work() {
    for (;;) {
      const std::size_t run = next_.fetch_add(1, std::memory_order_relaxed);
      if (run >= count() || ended_.load(std::memory_order_relaxed)) break;
      simulate_one(run % request_.ways.size(), run / request_.ways.size());
    }
    const std::lock_guard lock(mutex_);
    ++idle_;
    changed_.notify_one();
  }

  /// Until `threads` have nothing more to do.
  void wait(unsigned threads) {
    using namespace std::chrono_literals;
    std::unique_lock lock(mutex_);
    while (!changed_.wait_for(lock, 100ms, [&] { return idle_ == threads; })) {
      lock.unlock();
      if (request_.progress && !request_.progress(done())) ended_.store(true, std::memory_order_relaxed);
      lock.lock();
    }
  }
  bool was_ended() const { return ended_.load(std::memory_order_relaxed); }

 private:
  double done() const {
    const double all = static_cast<double>(count()) * static_cast<double>(request_.workload->tasks.size());
    return static_cast<double>(tasks_.load(std::memory_order_relaxed)) / all;
  }

  void simulate_one(std::size_t way, std::size_t draw) {
    RunOptions options = request_.ways[way];
    options.seed = request_.first_seed + draw;
    std::uint64_t told = 0;
    const auto tell = [&](std::uint64_t tasks) {
      tasks_.fetch_add(tasks - told, std::memory_order_relaxed);
      told = tasks;
      return !ended_.load(std::memory_order_relaxed);
    };
    options.progress = tell;
    const Parameters parameters =
        request_.nominal ? *request_.parameters : request_.parameters->drawn(sweep_.units[draw]);
    sweep_.results[way][draw] = simulate(*request_.workload, *request_.machine, parameters, options);
    tell(request_.workload->tasks.size());
  }

  const SweepRequest& request_;
  Sweep& sweep_;
  std::atomic<std::size_t> next_{0};
  std::atomic<std::uint64_t> tasks_{0};  // that have ended, of all runs
  std::atomic<bool> ended_{false};
  std::mutex mutex_;
  std::condition_variable changed_;
  unsigned idle_ = 0;  // threads that have nothing more to do
};

}  // namespace

Sweep sweep(const SweepRequest& request) {
  Sweep made;
  made.units = latin_hypercube(request.nominal ? 0 : request.parameters->ranges().size(), request.draws,
                               request.first_seed);
  made.results.assign(request.ways.size(), std::vector<Result>(request.draws));
  Runs runs(request, made);
  const auto threads =
      static_cast<unsigned>(std::min<std::size_t>(std::max(request.threads, 1u), runs.count()));
  std::vector<std::thread> team;
  for (unsigned i = 0; i < threads; ++i) team.emplace_back([&runs] { runs.work(); });
  runs.wait(threads);
  for (std::thread& thread : team) thread.join();
  made.complete = !runs.was_ended();
  return made;
}

std::vector<std::vector<double>> latin_hypercube(std::size_t dimensions, std::size_t draws,
                                                 std::uint64_t seed) {
  Draw draw(seed);
  std::vector<std::vector<double>> points(draws, std::vector<double>(dimensions));
  std::vector<std::size_t> part(draws);
  for (std::size_t d = 0; d < dimensions; ++d) {
    for (std::size_t i = 0; i < draws; ++i) {
      const std::size_t other = draw.below(i + 1);
      part[i] = part[other];
      part[other] = i;
    }
    for (std::size_t i = 0; i < draws; ++i)
      points[i][d] = (static_cast<double>(part[i]) + draw.unit()) / static_cast<double>(draws);
  }
  return points;
}

Band band_of(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  const auto quantile = [&](double part) {
    const double at = part * static_cast<double>(values.size() - 1);
    const auto below = static_cast<std::size_t>(at);
    const std::size_t above = std::min(below + 1, values.size() - 1);
    return values[below] + (values[above] - values[below]) * (at - static_cast<double>(below));
  };
  return {quantile(0.05), quantile(0.5), quantile(0.95)};
}

}  // namespace hearth::sim
