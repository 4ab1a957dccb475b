#include "cli/recorded_machine.h"

#include <filesystem>
#include <stdexcept>

#include <fmt/format.h>

#include "topology/allowance.h"
#include "topology/sysfs.h"

namespace hearth::cli {

RecordedMachine::RecordedMachine(const std::string& path) {
  if (!std::filesystem::is_directory(path))
    unpacked_ = std::make_unique<survey::UnpackedArchive>(survey::read_archive(path));
  root_ = topology::SystemRoot(unpacked_ != nullptr ? unpacked_->folder() : path);
  if (!root_.exists("/sys/devices/system/cpu") && !root_.exists("/proc/self/status")) {
    throw std::runtime_error(fmt::format("{}: holds no recorded machine; `hearth topo --gather` writes one", path));
  }
  machine_ = topology::read_sysfs(root_, topology::read_allowance(root_, topology::recorded_affinity(root_)));
  machine_.origin = path;
  machine_.pretended = true;
  if (const std::string wrong = machine_.inconsistency(); !wrong.empty())
    throw std::runtime_error(fmt::format("{}: the recording contradicts itself: {}", path, wrong));
}

}  // namespace hearth::cli
