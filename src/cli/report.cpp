// See report.h. What is told is report/'s; here it is read and written.
#include "cli/report.h"

#include <algorithm>
#include <cstdlib>

#include "cli/commands.h"
#include "cli/output.h"
#include "report/data.h"

namespace hearth::cli {
namespace {

/// Of the terminal, by COLUMNS; wide lines are hard to read.
std::size_t text_width() {
  constexpr std::size_t kNarrow = 40, kWide = 100, kUsual = 80;
  const char* const columns = std::getenv("COLUMNS");
  const unsigned long asked = columns == nullptr ? 0 : std::strtoul(columns, nullptr, 10);
  return asked == 0 ? kUsual : std::clamp<std::size_t>(asked, kNarrow, kWide);
}

}  // namespace

int report_main(const ReportRequest& request) {
  report::Subject subject;
  if (const std::string wrong = report::read_subject(request.file, subject); !wrong.empty()) {
    say("{}.", wrong);
    return kExitUsage;
  }
  if (request.json) put_text(stdout, report::data_json(subject) + '\n');
  if (request.text) put_text(stdout, report::text_of(subject.screen, text_width()));
  return 0;
}

}  // namespace hearth::cli
