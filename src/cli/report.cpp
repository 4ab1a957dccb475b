// See report.h. What is told is report/'s; here it is read and written.
#include "cli/report.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/sim_report.h"
#include "cli/sim_run.h"
#include "report/advice.h"
#include "report/compare.h"
#include "report/page.h"
#include "report/words.h"

namespace hearth::cli {
namespace {

/// Of the terminal, by COLUMNS; wide lines are hard to read.
std::size_t text_width() {
  constexpr std::size_t kNarrow = 40, kWide = 100, kUsual = 80;
  const char* const columns = std::getenv("COLUMNS");
  const unsigned long asked = columns == nullptr ? 0 : std::strtoul(columns, nullptr, 10);
  return asked == 0 ? kUsual : std::clamp<std::size_t>(asked, kNarrow, kWide);
}

/// Searches the distribution of each allocation on a model, and how much of the time the run then takes there. False, and
/// said: it cannot, or was interrupted.
bool simulate_advice(const ReportRequest& request, report::Advice& advice) {
  SimRequest ask;
  ask.program = request.file;
  ask.machine = request.machine;
  ask.advise = true;
  try {
    Study study = plan(ask);
    const InterruptWatch watch;
    if (!search_advice(study, plan_search(ask, study))) return say("report: interrupted; nothing is written"), false;
    compare_advice(study);
    const sim::Sweep sweep = simulate_all(ask, study);
    if (!sweep.complete) return say("report: interrupted; nothing is written"), false;
    // Against the same policy with memory where the operating system puts it.
    const sim::Band band = sim::band_of(figures_of(sweep.results.back(), sweep.results[1]).ratio);
    advice = report::advice_of_search(
        study.workload, study.advice,
        fmt::format(
            "Simulated on {}: with all advice on allocations the run takes {:.2f} ({:.2f} to {:.2f}) of its time without.",
            study.model.machine.name, band.median, band.low, band.high));
  } catch (const UsageError& error) {
    say("report: {}", error.text);
    return false;
  }
  return true;
}

}  // namespace

bool may_write_page(const std::string& path) {
  constexpr std::size_t kHead = 4096;
  std::error_code error;
  if (path.empty() || path == "-" || !std::filesystem::is_regular_file(path, error)) return true;
  std::string head(kHead, '\0');
  std::ifstream in(path, std::ios::binary);
  in.read(head.data(), static_cast<std::streamsize>(kHead));
  if (head.find(report::kPageMark) != std::string::npos || std::filesystem::file_size(path, error) == 0) return true;
  say("{}: exists and is no report; it is left alone. Choose another file with -o.", path);
  return false;
}

int report_main(const ReportRequest& request) {
  const bool page_alone = request.output.empty() && !request.text && !request.json;
  const std::string output = page_alone ? std::filesystem::path(request.file).replace_extension(".html").string()
                                        : request.output;
  if (would_destroy(output, request.file) || (!request.other.empty() && would_destroy(output, request.other)) ||
      !may_write_page(output))
    return kExitUsage;
  report::Advice advice;
  if (!request.machine.empty() && !simulate_advice(request, advice)) {
    if (interrupted() != 0) end_interrupted();
    return kExitUsage;
  }
  report::Subject subject;
  if (const std::string wrong = report::read_subject(request.file, subject,
                                                     request.machine.empty() ? nullptr : &advice);
      !wrong.empty()) {
    say("{}.", wrong);
    return kExitUsage;
  }
  report::Subject other;
  if (!request.other.empty()) {
    const report::Advice none;
    if (const std::string wrong = report::read_subject(request.other, other, &none); !wrong.empty()) {
      say("{}.", wrong);
      return kExitUsage;
    }
  }
  const report::Subject* const second = request.other.empty() ? nullptr : &other;
  if (!output.empty()) {
    const std::string page = report::page_of(subject, second);
    if (!write_file(output, page)) return kExitFailed;
    if (output != "-")
      say("{}: {}; open it in a browser.", output, report::bytes_text(static_cast<std::int64_t>(page.size())));
  }
  if (request.json) put_text(stdout, report::data_json(subject, nullptr, second) + '\n');
  if (request.text && second != nullptr)
    put_text(stdout, report::comparison_text(subject, other, report::compare(subject, other)) + '\n');
  if (request.text) put_text(stdout, report::text_of(subject.screen, text_width()));
  return 0;
}

}  // namespace hearth::cli
