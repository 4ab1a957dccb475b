// Any bytes as an environment: nothing crashes, and what comes out is within the promised ranges.
//
// The input is cut at newlines into at most 32 values; each is given to the option that its first byte picks.
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "runtime/settings/settings.h"

using namespace hearth;

#define MUST(condition) \
  if (!(condition)) __builtin_trap()

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<std::string> entries;
  std::string line;
  for (std::size_t i = 0; i <= size && entries.size() < 32; ++i) {
    const char c = i < size ? static_cast<char>(data[i]) : '\n';
    if (c != '\n' && c != '\0') {
      line += c;
      continue;
    }
    if (!line.empty()) {
      const auto id = static_cast<std::size_t>(static_cast<unsigned char>(line[0])) % kOptionCount;
      entries.push_back(std::string(option(option_at(id)).name) + "=" + line.substr(1));
    }
    line.clear();
  }
  std::vector<const char*> environment;
  for (const std::string& entry : entries) environment.push_back(entry.c_str());
  environment.push_back(nullptr);

  OptionReader given;
  given.read(environment.data(), false);
  const auto storage = std::make_unique<char[]>(rt::kSettingsStorage);
  const rt::Settings s = rt::parse_settings(given, storage.get(), rt::kSettingsStorage);

  MUST(s.num_threads_count >= 0 && s.num_threads_count <= rt::kMaxNestingList);
  for (int i = 0; i < s.num_threads_count; ++i) MUST(s.num_threads[i] >= 1);
  MUST(s.proc_bind_count >= 0 && s.proc_bind_count <= rt::kMaxNestingList);
  for (int i = 0; i < s.proc_bind_count; ++i)
    MUST(s.proc_bind[i] >= rt::ProcBind::off && s.proc_bind[i] <= rt::ProcBind::spread);
  MUST(s.schedule.chunk >= 0);
  MUST(s.schedule.kind == 101 || (s.schedule.kind >= 1 && s.schedule.kind <= 4));
  MUST(s.blocktime_us >= -1 && s.spin_count >= -1);
  MUST(s.thread_limit >= 0 && s.max_task_priority >= 0 && s.default_device >= 0 && s.max_active_levels >= -1);
  MUST(!s.affinity_format.empty());
  char text[256];
  for (std::size_t i = 0; i < kOptionCount; ++i)
    MUST(rt::setting_text(s, option_at(i), text, sizeof(text)) < sizeof(text));
  return 0;
}
