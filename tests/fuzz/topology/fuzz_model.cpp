// Fuzzes the model reader: any text either gives a machine without contradictions, or one line that names the
// file.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "topology/model.h"
#include "topology/places.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hearth::topology;
  const LoadedMachine loaded = parse_model({reinterpret_cast<const char*>(data), size}, "fuzz.toml");
  if (!loaded.ok()) {
    if (loaded.error.rfind("fuzz.toml:", 0) == 0) return 0;
    std::fprintf(stderr, "an error that does not name its file: %s\n", loaded.error.c_str());
    std::abort();
  }
  if (const std::string wrong = loaded.machine.inconsistency(); !wrong.empty()) {
    std::fprintf(stderr, "%s\n", wrong.c_str());
    std::abort();
  }
  if (places_of(PlaceUnit::cores, loaded.machine).places.empty()) std::abort();
  return 0;
}
