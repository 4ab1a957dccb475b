// Fuzzes the reader of what was learned (policy/learned.h): any bytes are read or refused with a place; what was read is
// written and read again as it was; and a run joins its own to it.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "../require.h"
#include "policy/learned.h"

using namespace hearth::policy;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  LearnedText read = read_learned(text);
  if (!read.ok()) {
    REQUIRE(read.entries.empty() && read.line >= 1 && read.column >= 1 && read.legal != nullptr);
    return 0;
  }
  REQUIRE(is_learned_file(text));
  const std::string written = write_learned(read.entries);
  REQUIRE(written.size() <= kMostLearnedBytes);
  const LearnedText again = read_learned(written);
  REQUIRE(again.ok() && again.entries.size() == read.entries.size());
  for (std::size_t i = 0; i < read.entries.size(); ++i) {
    const Learned &one = read.entries[i], &other = again.entries[i];
    REQUIRE(one.same_place(other) && one.seen.asked == other.seen.asked && one.seen.foretold == other.seen.foretold);
  }
  if (read.entries.empty()) return 0;
  const Learned newer = read.entries.front();
  add_learned(read.entries, newer);
  REQUIRE(find_learned(read.entries, newer) == &read.entries.back());
  REQUIRE(read_learned(write_learned(read.entries)).ok());
  return 0;
}
