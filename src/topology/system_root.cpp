// Reads below a system root. See system_root.h; open/read/close only, so it may run before main() and in a
// preloaded library.
#include "topology/system_root.h"

#include <cerrno>
#include <climits>
#include <cstring>

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/parse.h"
#include "topology/text.h"

namespace hearth::topology {
namespace {

constexpr std::size_t kLargestFile = std::size_t{16} << 20;

ssize_t read_some(int file, char* buffer, std::size_t size) {
  for (;;) {
    const ssize_t got = ::read(file, buffer, size);
    if (got >= 0 || errno != EINTR) return got;
  }
}

}  // namespace

SystemRoot::SystemRoot(std::string prefix) : prefix_(std::move(prefix)) {
  while (!prefix_.empty() && prefix_.back() == '/') prefix_.pop_back();
}

int SystemRoot::open(const char* path, int flags) const {
  if (prefix_.empty()) return ::open(path, flags | O_CLOEXEC);
  char full[PATH_MAX];
  const std::size_t length = std::strlen(path);
  if (prefix_.size() + length >= sizeof full) return -1;
  std::memcpy(full, prefix_.data(), prefix_.size());
  std::memcpy(full + prefix_.size(), path, length + 1);
  return ::open(full, flags | O_CLOEXEC);
}

bool SystemRoot::read(const char* path, std::string& out) const {
  out.clear();
  const int file = open(path, O_RDONLY);
  if (file < 0) return false;
  char buffer[4096];
  ssize_t got = 0;
  while ((got = read_some(file, buffer, sizeof buffer)) > 0 && out.size() < kLargestFile) {
    out.append(buffer, static_cast<std::size_t>(got));
  }
  ::close(file);
  if (got < 0) out.clear();
  return got >= 0;
}

bool SystemRoot::read_line(const char* path, std::string& out) const {
  if (!read(path, out)) return false;
  const std::size_t end = out.find('\n');
  if (end != std::string::npos) out.resize(end);
  out = std::string(trim(out));
  return true;
}

bool SystemRoot::read_number(const char* path, std::int64_t& out) const {
  const int file = open(path, O_RDONLY);
  if (file < 0) return false;
  char buffer[64];
  const ssize_t got = read_some(file, buffer, sizeof buffer);
  ::close(file);
  if (got <= 0) return false;
  Scanner scan(std::string_view(buffer, static_cast<std::size_t>(got)));
  scan.skip_space();
  const bool negative = scan.take('-');
  std::int64_t value = 0;
  if (!scan.number(value, INT64_MAX)) return false;
  out = negative ? -value : value;
  return true;
}

bool SystemRoot::read_list(const char* path, CpuMask& out) const {
  std::string text;
  return read(path, text) && CpuMask::parse_list(text, out);
}

bool SystemRoot::exists(const char* path) const {
  const int file = open(path, O_PATH);
  if (file < 0) return false;
  ::close(file);
  return true;
}

CpuMask SystemRoot::numbered_entries(const char* folder, std::string_view stem) const {
  CpuMask found;
  const int file = open(folder, O_RDONLY | O_DIRECTORY);
  if (file < 0) return found;
  DIR* entries = ::fdopendir(file);
  if (entries == nullptr) {
    ::close(file);
    return found;
  }
  while (const dirent* entry = ::readdir(entries)) {
    const std::string_view name = entry->d_name;
    if (name.substr(0, stem.size()) != stem) continue;
    Scanner scan(name.substr(stem.size()));
    unsigned number = 0;
    if (scan.number(number, CpuMask::kMaxCpu) && scan.at_end()) found.set(number);
  }
  ::closedir(entries);
  return found;
}

}  // namespace hearth::topology
