// See rank.h.
#include "cli/rank.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include <unistd.h>

namespace hearth::cli {
namespace {

struct Launcher {
  const char* rank;
  const char* size;  // null: it tells none
};
constexpr Launcher kLaunchers[] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                   {"PMIX_RANK", nullptr},
                                   {"PMI_RANK", "PMI_SIZE"},
                                   {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"}};

bool is_number(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

std::string job_rank() {
  for (const auto& [rank, size] : kLaunchers) {
    const char* const value = std::getenv(rank);
    if (value == nullptr || !is_number(value)) continue;
    const char* const processes = size == nullptr ? nullptr : std::getenv(size);
    if (processes != nullptr && std::string_view(processes) == "1") return {};
    return value;
  }
  return {};
}

std::string file_of_this_rank(const std::string& name) {
  const std::string rank = job_rank();
  std::string out;
  bool told_apart = false;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char next = name[i] == '%' && i + 1 < name.size() ? name[i + 1] : '\0';
    if (next == 'r' || next == 'p') {
      out += next == 'p' ? std::to_string(getpid()) : rank.empty() ? "0" : rank;
      told_apart = true;
    } else {
      out += name[i];
    }
    if (next == 'r' || next == 'p' || next == '%') ++i;
  }
  if (rank.empty() || told_apart || name.empty()) return out;
  const std::size_t slash = out.rfind('/');
  const std::size_t first = slash == std::string::npos ? 0 : slash + 1;
  const std::size_t dot = out.rfind('.');
  // A dot that begins a name begins no ending.
  const std::size_t at = dot == std::string::npos || dot <= first ? out.size() : dot;
  return out.substr(0, at) + "." + rank + out.substr(at);
}

}  // namespace hearth::cli
