// A machine that `hearth topo --gather` has recorded: an archive, or a folder with proc/ and sys/ in it.
#pragma once

#include <memory>
#include <string>

#include "survey/archive.h"
#include "topology/machine.h"
#include "topology/system_root.h"

namespace hearth::cli {

class RecordedMachine {
 public:
  /// Throws std::runtime_error, with the path, when it holds no machine or one that contradicts itself.
  explicit RecordedMachine(const std::string& path);

  const topology::Machine& machine() const { return machine_; }
  /// Its files; as long as this lives.
  const topology::SystemRoot& root() const { return root_; }

 private:
  std::unique_ptr<survey::UnpackedArchive> unpacked_;  // null: it was a folder
  topology::SystemRoot root_;
  topology::Machine machine_;
};

}  // namespace hearth::cli
