// See installation.h. The folder of the library beside the command depends on how Hearth was configured (Debian's
// lib/x86_64-linux-gnu, Fedora's lib64); the usual ones are tried too, since a prefix may have been packed and moved.
#include "cli/installation.h"

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>
#include <unistd.h>

#include "base/object_path.h"

namespace hearth::cli {
namespace {

constexpr const char* kFromBin[] = {HEARTH_LIBRARY_FROM_BIN, "../lib/hearth", HEARTH_LIBRARY_BY_ARCHITECTURE,
                                    "../lib64/hearth", "../lib"};
constexpr const char* kEndsAPath = ":; \t\n$";

std::string folder_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

void find(const std::string& folder, const char* name, std::string& path) {
  const std::string there = folder + "/" + name;
  if (path.empty() && access(there.c_str(), R_OK) == 0) path = there;
}

}  // namespace

Installation find_installation() {
  Installation found;
  char self[PATH_MAX];
  if (!object_path(self, sizeof(self))) return found;
  for (const char* from_bin : kFromBin) {
    // "/prefix/bin" and "../lib" are one path, not two: nobody should read "bin/../lib" in a message.
    std::string folder = folder_of(self);
    std::string rest = from_bin;
    for (; rest.compare(0, 3, "../") == 0; rest.erase(0, 3)) folder = folder_of(folder);
    folder += "/" + rest;
    find(folder, "libhearth.so", found.library);
    find(folder, "libhearth-audit.so", found.audit);
    find(folder, "libhearth-malloc.so", found.malloc);
    find(folder, "libhearth-record.so", found.record);
  }
  return found;
}

std::string searched_folders() {
  std::string text;
  char self[PATH_MAX];
  if (!object_path(self, sizeof(self))) return "nowhere: neither /proc nor the kernel says where this program lies";
  for (const char* from_bin : kFromBin) {
    if (text.find(from_bin) == std::string::npos) text += (text.empty() ? "" : ", ") + std::string(from_bin);
  }
  return "in " + text + " from " + folder_of(self);
}

bool ListedNames::give(Installation& installation, std::string& problem) {
  std::string* const listed[] = {&installation.library, &installation.audit, &installation.malloc,
                                 &installation.record};
  bool needed = false;
  for (const std::string* path : listed)
    needed = needed || path->find_first_of(kEndsAPath) != std::string::npos;
  if (!needed) return true;
  const char* temporary = std::getenv("TMPDIR");
  if (temporary == nullptr || *temporary == '\0' || std::strpbrk(temporary, kEndsAPath) != nullptr)
    temporary = "/tmp";
  folder_ = fmt::format("{}/hearth-XXXXXX", temporary);
  if (mkdtemp(folder_.data()) == nullptr) {
    problem = fmt::format("{}: {}", folder_, std::strerror(errno));
    folder_.clear();
    return false;
  }
  for (std::string* path : listed) {
    if (path->empty()) continue;
    // To the folder, since the audit library looks for its stand-ins beside libhearth.so.
    const std::string link = fmt::format("{}/{}", folder_, links_);
    if (symlink(folder_of(*path).c_str(), link.c_str()) != 0) {
      problem = fmt::format("{}: {}", link, std::strerror(errno));
      return false;
    }
    ++links_;
    *path = link + path->substr(path->rfind('/'));
  }
  return true;
}

void ListedNames::remove() {
  if (folder_.empty()) return;
  while (links_ > 0) unlink(fmt::format("{}/{}", folder_, --links_).c_str());
  rmdir(folder_.c_str());
  folder_.clear();
}

ListedNames::~ListedNames() { remove(); }

}  // namespace hearth::cli
