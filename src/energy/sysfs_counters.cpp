// Counters that are files: powercap's zones, and hwmon's energy inputs. Both count microjoules.
//
// powercap: /sys/class/powercap/intel-rapl:N is a package (or `psys`, the platform), intel-rapl:N:M a part of it:
// core, uncore, dram. AMD processors have the same names. `intel-rapl-mmio` counts what `intel-rapl` counts, and is
// left out. hwmon: /sys/class/hwmon/hwmonN/energyM_input with energyM_label; AMD's driver has Esocket0 and Ecore000.
#include <string>

#include "energy/meter.h"
#include "topology/text.h"

namespace hearth::energy {
namespace {

using topology::SystemRoot;

constexpr double kJoulesPerMicrojoule = 1e-6;

class FileCounter : public Counter {
 public:
  FileCounter(Domain domain, const SystemRoot& root, std::string path, std::uint64_t range)
      : Counter(std::move(domain), kJoulesPerMicrojoule, range), root_(root), path_(std::move(path)) {}

 protected:
  bool value(std::uint64_t& out) override {
    std::int64_t number = 0;
    if (!root_.read_number(path_.c_str(), number) || number < 0) return false;
    out = static_cast<std::uint64_t>(number);
    return true;
  }

 private:
  SystemRoot root_;
  std::string path_;
};

Part part_of(const std::string& name) {
  if (name.starts_with("package")) return Part::package;
  if (name == "dram") return Part::memory;
  if (name == "psys") return Part::platform;
  return name == "core" ? Part::core : Part::other;
}

void add_zone(const SystemRoot& root, const std::string& folder, const std::string& above, Counters& counters,
              std::string& why_not) {
  std::string name;
  if (!root.read_line((folder + "/name").c_str(), name)) return;
  const std::string path = folder + "/energy_uj";
  std::int64_t number = 0, range = 0;
  if (!root.read_number(path.c_str(), number)) {
    if (why_not.empty() && root.exists(path.c_str()))
      why_not = path + " may not be read by this user (since Linux 5.10 by root alone): chmod o+r it, or run as root";
    return;
  }
  root.read_number((folder + "/max_energy_range_uj").c_str(), range);
  Domain domain;
  domain.name = above.empty() ? name : name + " (" + above + ")";
  domain.part = part_of(name);
  counters.push_back(
      std::make_unique<FileCounter>(std::move(domain), root, path, range > 0 ? static_cast<std::uint64_t>(range) : 0));
}

}  // namespace

void find_powercap(const SystemRoot& root, Counters& counters, std::string& why_not) {
  constexpr const char* kFolder = "/sys/class/powercap";
  root.numbered_entries(kFolder, "intel-rapl:").for_each([&](unsigned zone) {
    const std::string folder = topology::format("%s/intel-rapl:%u", kFolder, zone);
    add_zone(root, folder, "", counters, why_not);
    std::string name;
    root.read_line((folder + "/name").c_str(), name);
    const std::string stem = topology::format("intel-rapl:%u:", zone);
    // On most machines links beside the package, on all of them folders inside it.
    const std::string within = root.numbered_entries(folder.c_str(), stem).empty() ? kFolder : folder;
    root.numbered_entries(within.c_str(), stem).for_each([&](unsigned part) {
      add_zone(root, topology::format("%s/%s%u", within.c_str(), stem.c_str(), part), name, counters, why_not);
    });
  });
}

void find_hwmon(const SystemRoot& root, Counters& counters, std::string& why_not) {
  constexpr const char* kFolder = "/sys/class/hwmon";
  root.numbered_entries(kFolder, "hwmon").for_each([&](unsigned device) {
    const std::string folder = topology::format("%s/hwmon%u", kFolder, device);
    std::string driver;
    root.read_line((folder + "/name").c_str(), driver);
    constexpr unsigned kMostInputs = 4096;
    for (unsigned input = 1; input < kMostInputs; ++input) {
      const std::string path = topology::format("%s/energy%u_input", folder.c_str(), input);
      std::int64_t number = 0;
      if (!root.exists(path.c_str())) break;
      if (!root.read_number(path.c_str(), number)) {
        if (why_not.empty()) why_not = path + " may not be read by this user";
        continue;
      }
      std::string label;
      root.read_line(topology::format("%s/energy%u_label", folder.c_str(), input).c_str(), label);
      Domain domain;
      domain.name = label.empty() ? topology::format("%s %u", driver.c_str(), input) : label;
      domain.part = label.starts_with("Esocket") ? Part::package
                    : label.starts_with("Ecore") ? Part::core
                                                 : Part::other;
      counters.push_back(std::make_unique<FileCounter>(std::move(domain), root, path, 0));
    }
  });
}

}  // namespace hearth::energy
