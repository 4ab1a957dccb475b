#include "cli/temporary_folder.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>

#include "cli/output.h"

namespace hearth::cli {

bool TemporaryFolder::create(const std::string& what) {
  const char* folder = std::getenv("TMPDIR");
  std::error_code ignored;  // absolute, since programs change their folder
  path_ = fmt::format("{}/hearth-{}-XXXXXX",
                      std::filesystem::absolute(folder != nullptr && *folder != '\0' ? folder : "/tmp", ignored).string(), what);
  if (mkdtemp(path_.data()) != nullptr) return true;
  say("{}: {}", path_, std::strerror(errno));
  path_.clear();
  return false;
}

void TemporaryFolder::remove() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  path_.clear();
}

}  // namespace hearth::cli
