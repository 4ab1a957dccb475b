// Process-wide machine and allowance; see current.h for the publication protocol.
//
// Orders: what is published is stored with release, whole, by the thread that has made it, and read with acquire by all
// others. The same for what pretend() and choose_locations() leave for make_machine().
#include "topology/current.h"

#include <algorithm>
#include <atomic>
#include <climits>
#include <cstdlib>
#include <memory>

#include <dirent.h>

#include "base/log.h"
#include "base/object_path.h"
#include "topology/hwloc_source.h"
#include "topology/model.h"
#include "topology/sysfs.h"
#include "topology/text.h"

namespace hearth::topology {
namespace {

constinit std::atomic<const Allowance*> current_allowance{nullptr};
constinit std::atomic<const Machine*> current_machine{nullptr};
constinit std::atomic<const std::string*> pretended{nullptr};
constinit std::atomic<std::size_t> most_llcs{0};  // 0: the locations are nodes

template <class T, class Make>
const T& published(std::atomic<const T*>& slot, Make&& make) {
  if (const T* there = slot.load(std::memory_order_acquire)) return *there;
  auto mine = std::make_unique<const T>(make());
  const T* expected = nullptr;
  if (slot.compare_exchange_strong(expected, mine.get(), std::memory_order_release, std::memory_order_acquire)) {
    return *mine.release();
  }
  return *expected;
}

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

// The machine model of a real one, when HEARTH_MACHINE has not been given or cannot be used.
Machine real_machine() { return read_sysfs(SystemRoot(), allowance()); }

Machine described_machine() {
  const std::string* description = pretended.load(std::memory_order_acquire);
  if (description == nullptr || description->empty()) return real_machine();
  LoadedMachine loaded = load_machine(*description, model_folders());
  if (loaded.ok()) return std::move(loaded.machine);
  HEARTH_WARN_ONCE("HEARTH_MACHINE=\"%s\": %s; using the real machine.", description->c_str(), loaded.error.c_str());
  return real_machine();
}

Machine make_machine() {
  Machine made = described_machine();
  const std::size_t most = most_llcs.load(std::memory_order_acquire);  // pairs with choose_locations()
  if (most == 0) return made;
  made.use_locations(LocationKind::llc);
  if (made.locations.size() <= most) return made;
  HEARTH_WARN_ONCE(
      "HEARTH_LOCATION=llc: this machine has %zu last-level caches; at most %zu can be locations. Using NUMA nodes.",
      made.locations.size(), most);
  made.use_locations(LocationKind::node);
  return made;
}

}  // namespace

const Allowance& allowance() {
  return published(current_allowance, [] { return read_allowance(SystemRoot(), current_affinity()); });
}

const Machine& machine() { return published(current_machine, make_machine); }

bool pretend(std::string_view description) {
  if (current_machine.load(std::memory_order_acquire) != nullptr) return false;
  // An earlier description stays allocated: another thread may be reading it.
  pretended.store(new std::string(description), std::memory_order_release);  // pairs with make_machine()
  return true;
}

void choose_locations(LocationKind kind, std::size_t most) {
  most_llcs.store(kind == LocationKind::llc ? most : 0, std::memory_order_release);
}

LoadedMachine load_machine(std::string_view description, const std::vector<std::string>& folders) {
  const std::string text(description);
  if (text.empty())
    return LoadedMachine::failure("no machine; legal: a model (.toml), an hwloc XML file, an hwloc synthetic string");
  if (ends_with(text, ".toml")) return load_model(text);
  if (ends_with(text, ".xml")) return load_hwloc_xml(text);
  if (text.find(':') != std::string::npos || text.find(' ') != std::string::npos) return load_hwloc_synthetic(text);
  if (const std::string path = model_path(text, folders); !path.empty()) return load_model(path);
  const std::string names = model_names(folders);
  return LoadedMachine::failure(
      format("no such machine; legal: a model file (.toml), an hwloc XML file (.xml), an hwloc synthetic string%s%s",
             names.empty() ? "" : ", or the name of a model: ", names.c_str()));
}

// .../lib/hearth/libhearth.so, .../lib/x86_64-linux-gnu/hearth/libhearth.so and .../bin/hearth all lie below one prefix.
std::vector<std::string> model_folders() {
  std::vector<std::string> folders;
  char self[PATH_MAX];
  if (!object_path(self, sizeof(self))) return folders;
  std::string folder = self;
  for (int up = 0; up < 4; ++up) {
    const std::size_t slash = folder.rfind('/');
    if (slash == std::string::npos) break;
    folder.resize(slash);
    folders.push_back(folder + "/share/hearth/models");
  }
  return folders;
}

std::vector<std::string> models_in(const std::vector<std::string>& folders) {
  std::vector<std::string> names;
  for (const std::string& folder : folders) {
    DIR* entries = opendir(folder.c_str());
    if (entries == nullptr) continue;
    while (const dirent* entry = readdir(entries)) {
      const std::string_view name = entry->d_name;
      if (ends_with(name, ".toml")) names.emplace_back(name.substr(0, name.size() - 5));
    }
    closedir(entries);
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

std::string model_path(const std::string& name, const std::vector<std::string>& folders) {
  if (name.empty() || name.find('/') != std::string::npos) return {};
  const SystemRoot files;
  for (const std::string& folder : folders) {
    std::string path = format("%s/%s.toml", folder.c_str(), name.c_str());
    if (files.exists(path.c_str())) return path;
  }
  return {};
}

std::string model_names(const std::vector<std::string>& folders) {
  std::string list;
  for (const std::string& name : models_in(folders)) list += (list.empty() ? "" : ", ") + name;
  return list;
}

}  // namespace hearth::topology
