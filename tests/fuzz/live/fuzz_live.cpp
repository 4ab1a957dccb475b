// Fuzzes the reader of live counters (base/live_page.h): whatever a page says, the header has possible sizes and ended texts
// when it is taken, and lines of any length are read.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "../require.h"
#include "base/live_page.h"

using namespace hearth;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  LiveHeader header{};
  const LiveProblem problem = read_live_header(data, size, header);
  if (size < sizeof header) REQUIRE(problem == LiveProblem::cut_off);
  if (problem == LiveProblem::none) {
    REQUIRE(header.magic == kLiveMagic && header.oldest_reader <= kLiveLayout);
    REQUIRE(header.header_bytes >= sizeof header && header.header_bytes <= 64 * 1024);
    REQUIRE(header.line_bytes >= 128 && header.line_bytes <= 64 * 1024);
    REQUIRE(live_lines_used(header) <= header.lines && header.lines <= 1 << 20);
    REQUIRE(std::memchr(header.version, 0, sizeof header.version) != nullptr);
    REQUIRE(std::memchr(header.policy, 0, sizeof header.policy) != nullptr);
  }
  for (std::size_t length = 0; length <= std::min<std::size_t>(size, 256); length += 61) read_live_line(data, length);
  return 0;
}
