// See first_screen.h.
#include "report/first_screen.h"

#include <algorithm>
#include <ctime>
#include <string_view>

#include <fmt/format.h>

#include "report/costs.h"
#include "report/words.h"

namespace hearth::report {
namespace {

/// In UTC: the same page on every machine.
std::string date_text(std::int64_t unix_ns) {
  const auto seconds = static_cast<std::time_t>(unix_ns / 1'000'000'000);
  std::tm when{};
  char text[32] = "";
  if (unix_ns <= 0 || gmtime_r(&seconds, &when) == nullptr) return {};
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M UTC", &when);
  return text;
}

std::string facts_of(const Run& run, const Figures& figures) {
  std::string text = run.runtime;
  const std::string host = run.processes.empty() ? "" : run.processes.front().host;
  constexpr std::string_view kUnnamed = "(none)";  // what Linux calls a host that nobody has named
  if (!host.empty() && host != kUnnamed) text += fmt::format("{}on {}", text.empty() ? "" : " ", host);
  if (run.places.pretended)
    text += fmt::format(", pretending to be {} ({})", run.places.machine, counted(run.places.locations, "location"));
  if (run.nodes > 0)
    text += fmt::format(", {} with {}", counted(run.nodes, "memory node"),
                        counted(static_cast<std::int64_t>(std::count_if(run.node_of_cpu.begin(), run.node_of_cpu.end(),
                                                                        [](std::int32_t n) { return n != kNone; })),
                                "CPU"));
  text += fmt::format(", {}, {}, {}", counted(static_cast<std::int64_t>(figures.threads.size()), "thread"),
                      counted(figures.explicit_tasks, "task"), counted(run.regions, "parallel region"));
  if (run.processes.size() > 1) text += fmt::format(", {} processes", run.processes.size());
  if (const std::string date = date_text(run.recorded_ns); !date.empty()) text += ", " + date;
  return text;
}

Answer length_answer(const Run& run, const Figures& figures) {
  std::string sentence = "From the first task that was recorded to the end of the last.";
  if (run.processes.empty() || !run.processes.front().complete)
    sentence += " The program did not end by itself: this is what was recorded of it.";
  return {"How long?", time_text(figures.length()), sentence};
}

Answer parallel_answer(const Figures& figures) {
  const auto threads = static_cast<std::int64_t>(figures.threads.size());
  return {"How parallel?", fmt::format("{} of {}", decimal(figures.average_parallelism()), threads),
          fmt::format("So many of the {} were at work on the average.", counted(threads, "thread"))};
}

Answer time_answer(const Figures& figures) {
  const auto share = [&](std::int64_t part) { return share_text(figures.share(part)); };
  return {
      "Where did the threads' time go?", fmt::format("{} work", share(figures.time.work)),
      fmt::format(
          "{} went into the runtime, which created tasks; {} into waiting, while they ran nothing; for {} of it threads "
          "were outside of parallel regions.",
          share(figures.time.creating), share(figures.time.waiting), share(figures.time.outside))};
}

Answer memory_answer(const Locality& locality) {
  if (!locality.known) {
    if (locality.locations == 1)
      return {"How much memory was remote?", "0 %", "This machine has one memory node, so none of it is remote."};
    return {"How much memory was remote?", "not known", fmt::format("It cannot be told: {}.", locality.why_unknown)};
  }
  return {
      "How much memory was remote?", share_text(locality.remote_share()),
      fmt::format(
          "Of the {} that tasks declare to touch and whose place is known, so much was not at the location where the "
          "task ran.",
          bytes_text(static_cast<std::int64_t>(locality.all - locality.unknown)))};
}

std::vector<std::string> lacks_of(const Run& run, const Figures& figures) {
  std::vector<std::string> lacks;
  if (!run.lacks.empty()) lacks.push_back(run.lacks);
  if (figures.explicit_tasks > 0 && run.declared.empty() && run.lacks.empty())
    lacks.push_back("No task declares what it touches (depend, affinity, or a call), so nothing is known of its data.");
  if (run.schema < 2)
    lacks.push_back("The recording is of schema 1, which has no allocations. Record the program anew to see them.");
  if (run.schema < 3) lacks.push_back("The recording is of an old schema, which has no moves of threads and pages.");
  if (!run.places.told)
    lacks.push_back(fmt::format(
        "The recording is of schema {}; where data lay, and what the policy decided, is in schema 4 and later.",
        run.schema));
  if (!run.counters)
    lacks.push_back("No hardware counters were read (hearth record --counters), so stalls are not known.");
  if (run.first_touch.starts_with("not recorded"))
    lacks.push_back(fmt::format("Who touched memory first was {}.", run.first_touch));
  for (const std::string& problem : run.problems) lacks.push_back(problem + ".");
  return lacks;
}

/// Why there is nothing to change.
std::string no_change(const Figures& figures) {
  constexpr std::int64_t kShort = 50'000'000;  // ns: threads take milliseconds to start, and more where CPUs are busy
  constexpr double kMuch = 0.3;
  const double idle = figures.share(figures.time.waiting + figures.time.outside);
  if (figures.length() < kShort && idle > kMuch)
    return fmt::format("The run is short, {}: much of it is the start of threads. Record a longer one to see what the program costs.",
                       time_text(figures.length()));
  if (idle > kMuch) return "The recording names no cause for the waiting above that a clause or a call would change.";
  return "Nothing stands out: no single cost is worth a change by what this recording tells.";
}

/// Words on lines of at most `width` letters, each line behind `indent` blanks; the first one's are the caller's.
std::string wrapped(std::string_view text, std::size_t indent, std::size_t width) {
  std::string out;
  std::size_t column = indent;
  while (!text.empty()) {
    const std::size_t blank = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, blank);
    const auto letters = static_cast<std::size_t>(
        std::count_if(word.begin(), word.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
    if (column != indent && column + 1 + letters > width) {
      out += '\n' + std::string(indent, ' ');
      column = indent;
    } else if (column != indent) {
      out += ' ';
      ++column;
    }
    out += word;
    column += letters;
    text.remove_prefix(std::min(blank + 1, text.size()));
  }
  return out;
}

}  // namespace

FirstScreen first_screen(const Run& run, const Figures& figures, const Locality& locality, const Advice& advice) {
  FirstScreen screen;
  screen.title = run.command.empty() ? run.file : run.command;
  screen.facts = facts_of(run, figures);
  if (!run.problems.empty())
    screen.warning = fmt::format("Parts of this recording are missing or wrong ({}, told at the end): all figures are of the rest.",
                                 counted(static_cast<std::int64_t>(run.problems.size()), "problem"));
  screen.answers = {length_answer(run, figures), parallel_answer(figures), time_answer(figures),
                    memory_answer(locality)};
  screen.costs = costs_of(run, figures, locality);
  screen.changes = changes_of(run, figures, locality, advice);
  if (screen.changes.empty()) screen.no_change = no_change(figures);
  screen.lacks = lacks_of(run, figures);
  return screen;
}

std::string text_of(const FirstScreen& screen, std::size_t width) {
  constexpr std::size_t kFigureColumn = 33, kSentenceColumn = 4, kShareColumn = 9;
  std::string text = wrapped(harmless(screen.title), 0, width) + '\n' + wrapped(harmless(screen.facts), 0, width) + '\n';
  if (!screen.warning.empty()) text += wrapped(screen.warning, 0, width) + '\n';
  text += '\n';
  for (const Answer& answer : screen.answers) {
    text += fmt::format("{:<{}}{}\n", answer.question, kFigureColumn, harmless(answer.figure));
    text += std::string(kSentenceColumn, ' ') + wrapped(harmless(answer.sentence), kSentenceColumn, width) + '\n';
  }
  text += "\nWhat costs most, in shares of the threads' time\n";
  if (screen.costs.empty()) text += "    Nothing was recorded that took time.\n";
  for (const Cost& cost : screen.costs) {
    text += fmt::format("{:>{}}  ", share_text(cost.share), kShareColumn - 2) +
            wrapped(harmless(cost.what), kShareColumn, width) + '\n';
    text += std::string(kShareColumn, ' ') + wrapped(harmless(cost.detail), kShareColumn, width) + '\n';
  }
  text += "\nWhat to change\n";
  if (screen.changes.empty())
    text += "    " + wrapped(screen.no_change, kSentenceColumn, width) + '\n';
  for (const Change& change : screen.changes) {
    const std::string where = change.where.empty() ? "" : harmless(change.where) + ": ";
    text += "  - " + wrapped(where + harmless(change.what), kSentenceColumn, width) + '\n';
    text += std::string(kSentenceColumn, ' ') +
            wrapped("Use: " + harmless(change.how) + ". " + harmless(change.gain), kSentenceColumn, width) + '\n';
  }
  if (!screen.lacks.empty()) text += "\nWhat this recording does not tell\n";
  for (const std::string& lack : screen.lacks) text += "  - " + wrapped(harmless(lack), kSentenceColumn, width) + '\n';
  return text;
}

}  // namespace hearth::report
