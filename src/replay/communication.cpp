// See communication.h.
#include "replay/communication.h"

#include <algorithm>
#include <cstdlib>
#include <map>

#include <fmt/format.h>

#include "replay/recorded.h"

namespace hearth::replay {
namespace {

/// A thread begins or ceases to touch bytes at an address.
struct Event {
  std::uint64_t address;
  std::uint32_t thread;
  std::int32_t touches, writes;
};

/// Rows count one by one up to so many of them, beyond as what they span.
constexpr std::uint64_t kMostRows = 4096;
constexpr std::size_t kMostThreads = 10'000;

class Collecting {
 public:
  Collecting(RecordingFile& file, Recorded recorded) : file_(file), recorded_(std::move(recorded)) {}

  Communication run() {
    number_threads();
    tasks();
    if (!out_.ok()) return std::move(out_);
    events();
    sweep();
    if (recorded_.touched.empty())
      out_.remarks = "No task has a footprint, so nothing is known of what threads exchange.";
    else if (out_.pairs.empty())
      out_.remarks = "No two threads touch the same bytes.";
    return std::move(out_);
  }

 private:
  /// By the recording's thread, its number in most of its implicit tasks: the recorder counts threads as they begin.
  void number_threads() {
    std::map<std::int64_t, std::map<std::int64_t, std::int64_t>> votes;
    const std::string sql = fmt::format(
        "SELECT thread, step, count(*) FROM task WHERE process = {} AND kind IN ('implicit', 'initial') "
        "AND thread IS NOT NULL GROUP BY 1, 2",
        recorded_.process);
    file_.query(sql.c_str(), [&](const Row& row) {
      const std::string step = row.text(1);
      if (step.size() > 1 && step.size() < 8) votes[row.integer(0)][std::atoll(step.c_str() + 1)] += row.integer(2);
    });
    for (const auto& [thread, counts] : votes) {
      const auto most = std::max_element(counts.begin(), counts.end(),
                                         [](const auto& a, const auto& b) { return a.second < b.second; });
      number_[thread] = std::clamp<std::int64_t>(most->first, 0, static_cast<std::int64_t>(kMostThreads) - 1);
    }
  }

  void tasks() {
    thread_of_.assign(recorded_.tasks.size(), UINT32_MAX);
    const std::string sql = fmt::format(
        "SELECT id, thread, work_ns FROM task WHERE process = {} AND thread IS NOT NULL", recorded_.process);
    file_.query(sql.c_str(), [&](const Row& row) {
      const auto number = number_.find(row.integer(1));
      if (!recorded_.known(row.integer(0)) || number == number_.end()) return;
      const auto thread = static_cast<std::uint32_t>(number->second);
      thread_of_[static_cast<std::size_t>(row.integer(0))] = thread;
      if (thread >= out_.busy_us.size()) out_.busy_us.resize(thread + 1, 0);
      out_.busy_us[thread] += static_cast<double>(std::max<std::int64_t>(row.integer_or(2, 0), 0)) / 1000;
    });
    if (file_.wrong().empty() && out_.busy_us.empty()) out_.error = "it has no threads that ran tasks";
    if (!file_.wrong().empty()) out_.error = file_.wrong();
  }

  void events() {
    for (const Touched& touched : recorded_.touched) {
      const std::uint32_t thread = thread_of_[static_cast<std::size_t>(touched.task)];
      if (thread == UINT32_MAX) continue;
      const bool by_rows = touched.rows <= kMostRows;
      for (std::uint64_t row = 0; row < (by_rows ? touched.rows : 1); ++row) {
        const std::uint64_t begin = touched.begin + row * touched.pitch;
        const std::uint64_t end = by_rows ? begin + touched.length : touched.end();
        events_.push_back({begin, thread, 1, touched.written ? 1 : 0});
        events_.push_back({end, thread, -1, touched.written ? -1 : 0});
      }
    }
    std::sort(events_.begin(), events_.end(), [](const Event& a, const Event& b) { return a.address < b.address; });
  }

  void sweep() {
    struct Now {
      std::int32_t touches = 0, writes = 0;
    };
    std::map<std::uint32_t, Now> here;  // threads that touch the bytes before the next event
    std::map<std::pair<std::uint32_t, std::uint32_t>, double> sums;
    for (std::size_t i = 0; i < events_.size(); ++i) {
      const Event& event = events_[i];
      Now& now = here[event.thread];
      now.touches += event.touches;
      now.writes += event.writes;
      if (now.touches == 0) here.erase(event.thread);
      const std::uint64_t length = i + 1 < events_.size() ? events_[i + 1].address - event.address : 0;
      if (length == 0 || here.size() < 2) continue;
      for (auto a = here.begin(); a != here.end(); ++a)
        for (auto b = std::next(a); b != here.end(); ++b)
          if (a->second.writes + b->second.writes > 0)
            sums[{a->first, b->first}] += static_cast<double>(length) * std::min(a->second.touches, b->second.touches);
    }
    for (const auto& [pair, bytes] : sums) out_.pairs.push_back({pair.first, pair.second, bytes});
  }

  RecordingFile& file_;
  const Recorded recorded_;
  Communication out_;
  std::map<std::int64_t, std::int64_t> number_;  // by the recording's thread
  std::vector<std::uint32_t> thread_of_;         // by task; UINT32_MAX: nobody's
  std::vector<Event> events_;
};

}  // namespace

Communication load_communication(const std::string& path) {
  Communication none;
  RecordingFile file;
  none.error = file.open(path);
  if (!none.ok()) return none;
  Recorded recorded;
  none.error = read_recorded(file, recorded);
  if (none.ok()) {
    Communication made = Collecting(file, std::move(recorded)).run();
    if (made.ok() || made.error.starts_with(path)) return made;
    none.error = made.error;
  }
  if (!none.error.starts_with(path)) none.error = path + ": " + none.error;
  return none;
}

}  // namespace hearth::replay
