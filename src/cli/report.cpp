// See report.h. What is told is report/'s; here it is read and written.
#include "cli/report.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "cli/commands.h"
#include "cli/output.h"
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

}  // namespace

int report_main(const ReportRequest& request) {
  const bool page_alone = request.output.empty() && !request.text && !request.json;
  const std::string output = page_alone ? std::filesystem::path(request.file).replace_extension(".html").string() : request.output;
  if (would_destroy(output, request.file)) return kExitUsage;
  report::Subject subject;
  if (const std::string wrong = report::read_subject(request.file, subject); !wrong.empty()) {
    say("{}.", wrong);
    return kExitUsage;
  }
  if (!output.empty()) {
    const std::string page = report::page_of(subject);
    if (!write_file(output, page)) return kExitFailed;
    if (output != "-") say("{}: {}; open it in a browser.", output, report::bytes_text(static_cast<std::int64_t>(page.size())));
  }
  if (request.json) put_text(stdout, report::data_json(subject) + '\n');
  if (request.text) put_text(stdout, report::text_of(subject.screen, text_width()));
  return 0;
}

}  // namespace hearth::cli
