// See page.h.
#include "report/page.h"

#include <fmt/format.h>

#include "report/page_parts.h"  // made from page/ by embed.py
#include "report/timeline.h"

namespace hearth::report {
namespace {

constexpr std::size_t kMostTimeline = std::size_t{13} << 20;  // of a file that is to stay below 15 MB
constexpr std::size_t kTextWidth = 80;

std::string escaped(const std::string& text) {
  std::string out;
  for (const char letter : text) {
    switch (letter) {
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '&': out += "&amp;"; break;
      case '"': out += "&quot;"; break;
      default: out += static_cast<unsigned char>(letter) < 0x20 && letter != '\n' ? ' ' : letter;
    }
  }
  return out;
}

void put_block(std::string& page, const std::string& id, const std::string& type, const std::string& text) {
  page += fmt::format("<script id=\"{}\" type=\"{}\">", id, type);
  page += text;
  page += "</script>\n";
}

}  // namespace

std::string page_of(const Subject& subject, const Subject* other) {
  constexpr const char* kPacked = "application/octet-stream";
  const Timeline timeline = timeline_of(subject.run, subject.figures, kMostTimeline);
  const std::string title = escaped(subject.screen.title);
  std::string page = kPage[0];
  page += title;
  page += kPage[1];
  page += title;
  page += kPage[2];
  page += escaped(text_of(subject.screen, kTextWidth));
  page += kPage[3];
  put_block(page, "report-data", "application/json", data_json(subject, &timeline, other));
  put_block(page, "overview", kPacked, timeline.overview);
  put_block(page, "tasks", kPacked, timeline.tasks);
  for (std::size_t i = 0; i < timeline.threads.size(); ++i)
    put_block(page, fmt::format("thread-{}", i), kPacked, timeline.threads[i]);
  page += kPage[4];
  return page;
}

}  // namespace hearth::report
