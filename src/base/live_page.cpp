// See live_page.h.
#include "base/live_page.h"

#include <algorithm>
#include <cstring>

namespace hearth {
namespace {

// No page that was ever written, or will be, has more.
constexpr std::uint32_t kMostLines = 1 << 20, kMostLineBytes = 64 * 1024, kMostHeaderBytes = 64 * 1024;
constexpr std::size_t kFirstLineBytes = 2 * kCacheLine;  // of layout 1

/// Ends the text, and keeps letters of terminals' command sequences out.
template <std::size_t N>
void clean(char (&text)[N]) {
  text[N - 1] = '\0';
  for (char& c : text)
    if (c != '\0' && (c < ' ' || c > '~')) c = '?';
}

}  // namespace

LiveProblem read_live_header(const void* bytes, std::size_t size, LiveHeader& out) {
  if (size < sizeof out) return LiveProblem::cut_off;
  std::memcpy(&out, bytes, sizeof out);
  if (out.magic != kLiveMagic) return LiveProblem::not_ready;
  if (out.layout < out.oldest_reader || out.oldest_reader == 0 || out.oldest_reader > kLiveLayout)
    return LiveProblem::other_layout;
  const bool possible = out.header_bytes >= sizeof out && out.header_bytes <= kMostHeaderBytes &&
                        out.line_bytes >= kFirstLineBytes && out.line_bytes <= kMostLineBytes && out.lines <= kMostLines;
  if (!possible) return LiveProblem::nonsense;
  clean(out.version);
  clean(out.policy);
  return LiveProblem::none;
}

LiveThread read_live_line(const void* bytes, std::size_t size) {
  char line[sizeof(LiveLine)] = {};
  std::memcpy(line, bytes, std::min(size, sizeof line));
  const auto field = [&line]<class T>(T, std::size_t offset) {
    T value;
    std::memcpy(&value, line + offset, sizeof value);
    return value;
  };
  using Wide = std::uint64_t;
  return {.tasks_run = field(Wide(), offsetof(LiveLine, tasks_run)),
          .tasks_home = field(Wide(), offsetof(LiveLine, tasks_home)),
          .tasks_away = field(Wide(), offsetof(LiveLine, tasks_away)),
          .stolen = field(Wide(), offsetof(LiveLine, stolen)),
          .dealt = field(Wide(), offsetof(LiveLine, dealt)),
          .regions = field(Wide(), offsetof(LiveLine, regions)),
          .kernel_id = field(std::int32_t(), offsetof(LiveLine, kernel_id)),
          .location = field(std::int32_t(), offsetof(LiveLine, location)),
          .regions_open = field(std::uint32_t(), offsetof(LiveLine, regions_open)),
          .team_size = field(std::uint32_t(), offsetof(LiveLine, team_size))};
}

}  // namespace hearth
