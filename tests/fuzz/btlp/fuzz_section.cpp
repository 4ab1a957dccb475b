// Fuzzes the section of bitcode (pass/bitcode_section.h): what is read back is what was written, and damage is told.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "../require.h"
#include "btlp/pass/bitcode_section.h"

namespace {

using namespace hearth::btlp;

void check(std::string_view section) {
  std::vector<std::string_view> found;
  const char* problem = split_section(section, found);
  REQUIRE(problem == nullptr || *problem != 0);
  std::size_t bytes = 0;
  for (const std::string_view each : found) {
    REQUIRE(each.data() >= section.data() + sizeof(BitcodeRecord) && each.end() <= section.end());
    bytes += sizeof(BitcodeRecord) + each.size();
  }
  REQUIRE(bytes <= section.size());
}

/// Two records of the input's halves; then one byte of it is another one.
void write_and_read(std::string_view data) {
  const std::string_view halves[] = {data.substr(0, data.size() / 2), data.substr(data.size() / 2)};
  std::string section;
  for (const std::string_view half : halves) {
    const BitcodeRecord head = record_of(half);
    section.append(reinterpret_cast<const char*>(&head), sizeof(head));
    section.append(half);
    section.resize((section.size() + 7) / 8 * 8);
  }
  std::vector<std::string_view> found;
  REQUIRE(split_section(section, found) == nullptr);
  REQUIRE(found.size() == 2 && found[0] == halves[0] && found[1] == halves[1]);
  if (data.size() < 4) return;
  std::size_t at = 0;
  std::memcpy(&at, data.data(), 4);
  const std::size_t first = sizeof(BitcodeRecord) + halves[0].size();
  section[at % first] = static_cast<char>(section[at % first] ^ (data[3] | 1));
  found.clear();
  REQUIRE(split_section(section, found) != nullptr && found.empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check(text);
  write_and_read(text);
  return 0;
}
