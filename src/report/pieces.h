// A thread's time in pieces: it works at a task, or the task waits and there is nothing else to run. What is between the
// pieces belongs to no task. Pure.
#pragma once

#include <algorithm>

#include "report/run.h"

namespace hearth::report {

struct Piece {
  std::int64_t begin = 0, end = 0;
  std::int32_t task = 0;
  std::int32_t waits = kNone;  // the place, of Run::wait_places; kNone: it works
  std::int32_t cpu = kNone;
};

/// In the order of time. Calls `each` for every piece that is not empty.
template <class Each>
void for_each_piece(const Run& run, std::int32_t thread, Each each) {
  for (const Span& span : run.threads[static_cast<std::size_t>(thread)].spans) {
    Piece piece{span.begin, span.end, span.task, kNone, span.cpu};
    const auto until = [&](std::int64_t to, std::int32_t waits) {
      if (to <= piece.begin) return;
      piece.end = to;
      piece.waits = waits;
      each(piece);
      piece.begin = to;
    };
    // What of it its task waited: it ran nothing else then, since that would be a span of its own.
    auto wait = std::partition_point(run.waits.begin(), run.waits.end(), [&](const Wait& w) {
      return w.task < span.task || (w.task == span.task && w.end <= span.begin);
    });
    for (; wait != run.waits.end() && wait->task == span.task && wait->begin < span.end; ++wait) {
      until(std::min(wait->begin, span.end), kNone);
      until(std::min(wait->end, span.end), wait->place);
    }
    until(span.end, kNone);
  }
}

}  // namespace hearth::report
