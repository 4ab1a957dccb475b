// See timeline.h.
#include "report/timeline.h"

#include <algorithm>

#include "report/packed.h"
#include "report/pieces.h"

namespace hearth::report {
namespace {

std::string packed(std::initializer_list<const Column*> columns) {
  std::string all;
  for (const Column* const column : columns) {
    Column length;
    length.put(column->bytes().size());
    all += length.bytes() + column->bytes();
  }
  return base64(deflated(all));
}

std::string thread_block(const Run& run, const Figures& figures, std::int32_t thread, std::int64_t step,
                         std::uint64_t& pieces) {
  Column gaps, lengths, tasks, waits;
  std::int64_t at = 0, task = 0;  // in steps since the run's begin
  for_each_piece(run, thread, [&](const Piece& piece) {
    // Ends are rounded alike, so that what adjoins goes on adjoining.
    const std::int64_t begin = std::max((piece.begin - figures.begin) / step, at),
                       end = std::max((piece.end - figures.begin) / step, begin);
    gaps.put(static_cast<std::uint64_t>(begin - at));
    lengths.put(static_cast<std::uint64_t>(end - begin));
    const bool waiting = piece.waits != kNone;
    const std::int64_t difference = piece.task - task;
    tasks.put((static_cast<std::uint64_t>(difference) << 1 ^ static_cast<std::uint64_t>(difference >> 63)) << 1 |
              (waiting ? 1 : 0));
    if (waiting) waits.put(static_cast<std::uint64_t>(piece.waits));
    at = end;
    task = piece.task;
    ++pieces;
  });
  return packed({&gaps, &lengths, &tasks, &waits});
}

struct PlaceColumns {
  Column *distances, *remotes, *locations, *chosen, *whys;
};

/// Each column has all tasks, or is empty.
void put_place(const Places& places, std::size_t id, const PlaceColumns& to) {
  constexpr double kShares = 200, kTenths = 10;
  if (!places.bytes.empty()) {
    const TaskBytes& bytes = places.bytes[id];
    const auto known = static_cast<double>(bytes.all - bytes.unknown);
    // Of a task most of whose data may be anywhere no mean is told.
    to.distances->put(2 * bytes.unknown <= bytes.all && known > 0 ? static_cast<std::uint64_t>(bytes.weighted / known * kTenths + 0.5) : 0);
    to.remotes->put(
        known > 0 ? static_cast<std::uint64_t>(static_cast<double>(bytes.remote) / known * kShares + 0.5) + 1 : 0);
  }
  if (!places.ran_on.empty()) to.locations->put(static_cast<std::uint64_t>(places.ran_on[id] + 1));
  if (!places.decisions.empty()) {
    const Decision& decision = places.decisions[id];
    to.chosen->put(decision.made ? static_cast<std::uint64_t>(std::max(decision.chosen, -1) + 2) : 0);
    to.whys->put(decision.made ? static_cast<std::uint64_t>(decision.why) : 0);
  }
}

std::string task_block(const Run& run, std::int64_t step, bool delays) {
  Column constructs, parents, waited, declared, distances, remotes, locations, chosen, whys, misses;
  for (std::size_t id = 0; id < run.tasks.size(); ++id) {
    const Task& task = run.tasks[id];
    constructs.put(static_cast<std::uint64_t>(task.construct));
    parents.put_signed(task.parent == kNone ? 0 : static_cast<std::int64_t>(id) - task.parent);
    const bool known = delays && task.begin >= 0 && run.ready[id] >= 0;
    if (delays)
      waited.put(known ? static_cast<std::uint64_t>(std::max<std::int64_t>(task.begin - run.ready[id], 0) / step + 1)
                       : 0);
    if (delays) declared.put(run.declared.empty() ? 0 : static_cast<std::uint64_t>(run.declared[id]));
    put_place(run.places, id, {&distances, &remotes, &locations, &chosen, &whys});
    if (run.counters)
      misses.put(task.cycles > 0 && task.cache_misses >= 0
                     ? static_cast<std::uint64_t>(static_cast<double>(task.cache_misses) * 1e6 /
                                                  static_cast<double>(task.cycles)) +
                           1
                     : 0);
  }
  return packed({&constructs, &parents, &waited, &declared, &distances, &remotes, &locations, &chosen, &whys, &misses});
}

std::string overview_block(const Run& run, const Figures& figures) {
  Column out;
  const double part = static_cast<double>(std::max<std::int64_t>(figures.length(), 1)) / kOverview;
  std::vector<double> by_construct(run.constructs.size());
  for (const ThreadFigures& thread : figures.threads) {
    std::size_t bin = 0;
    std::vector<std::int32_t> seen;
    const auto close = [&] {
      double all = 0, most = 0;
      std::int32_t longest = kNone;
      for (const std::int32_t c : seen) {
        double& time = by_construct[static_cast<std::size_t>(c)];
        all += time;
        if (time > most) most = time, longest = c;
        time = 0;
      }
      seen.clear();
      out.put(static_cast<std::uint64_t>(longest + 1));
      out.put(static_cast<std::uint64_t>(std::clamp(all / part * 255, 0.0, 255.0)));
      ++bin;
    };
    for_each_piece(run, thread.thread, [&](const Piece& piece) {
      if (piece.waits != kNone) return;
      auto from = static_cast<double>(piece.begin - figures.begin);
      const auto to = static_cast<double>(piece.end - figures.begin);
      const std::int32_t construct = run.tasks[static_cast<std::size_t>(piece.task)].construct;
      while (from < to && bin < kOverview) {
        const double border = static_cast<double>(bin + 1) * part;
        if (from >= border) {
          close();
          continue;
        }
        if (by_construct[static_cast<std::size_t>(construct)] == 0) seen.push_back(construct);
        by_construct[static_cast<std::size_t>(construct)] += std::min(to, border) - from;
        from = border;
      }
    });
    while (bin < kOverview) close();
  }
  return packed({&out});
}

Timeline made(const Run& run, const Figures& figures, std::int64_t step, bool delays) {
  Timeline out;
  out.step = step;
  out.tells_delays = delays;
  for (const ThreadFigures& thread : figures.threads)
    out.threads.push_back(thread_block(run, figures, thread.thread, step, out.pieces));
  out.tasks = task_block(run, step, delays);
  out.overview = overview_block(run, figures);
  return out;
}

}  // namespace

std::size_t Timeline::size() const {
  std::size_t bytes = tasks.size() + overview.size();
  for (const std::string& thread : threads) bytes += thread.size();
  return bytes;
}

Timeline timeline_of(const Run& run, const Figures& figures, std::size_t most) {
  struct Way {
    std::int64_t step;
    bool delays;
  };
  constexpr Way kWays[] = {{1, true}, {100, true}, {100, false}, {1000, false}};
  Timeline best;
  for (const Way& way : kWays) {
    best = made(run, figures, way.step, way.delays);
    if (best.size() <= most) break;
  }
  return best;
}

}  // namespace hearth::report
