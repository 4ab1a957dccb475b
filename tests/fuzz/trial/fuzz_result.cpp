// Fuzzes the reader of hearth bench's results: any bytes are read, or refused with a place; what was read is written as a
// result that is read again, compared with itself without a claim, and made into a page without markup of its own.
#include <cstddef>
#include <cstdint>
#include <string>

#include "../require.h"
#include "trial/page.h"
#include "trial/result.h"
#include "trial/text.h"
#include "trial/value.h"

using namespace hearth::trial;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const ReadValue value = read_value(text);
  if (value.ok()) {
    REQUIRE(read_value(value.value.dump()).ok());
  } else {
    REQUIRE(value.problem.starts_with("line "));
  }
  const ReadResult read = read_result(text);
  if (!read.problem.empty()) {
    REQUIRE(read.problem.starts_with("line ") && read.problem.find("; legal: ") != std::string::npos);
    return 0;
  }
  const std::string written = json_of(read.result);
  REQUIRE(read_result(written).problem.empty());
  REQUIRE(compare_text(read.result, read.result).find("takes less time") == std::string::npos);
  REQUIRE(page_of(read.result).find("<script") == std::string::npos);
  REQUIRE(!summary_text(read.result).empty() || read.result.rows.empty());
  return 0;
}
