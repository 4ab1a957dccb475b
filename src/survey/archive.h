// Small tar.gz archives held in memory: what `hearth topo --gather` writes and --replay and the tests read.
//
// Plain ustar, regular files only. Reading trusts nothing: it bounds entries, names and sizes, and refuses
// absolute names and
// "..", since a replay file comes from somebody else. All functions throw std::runtime_error with a message
// for people. No global state.
#pragma once

#include <string>
#include <vector>

namespace hearth::survey {

struct ArchiveFile {
  std::string name;  // relative: "sys/devices/system/cpu/online"
  std::string content;
};

void write_archive(const std::string& path, const std::vector<ArchiveFile>& files);
std::vector<ArchiveFile> read_archive(const std::string& path);

/// A fresh folder under $TMPDIR with the files in it, removed with this object.
class UnpackedArchive {
 public:
  explicit UnpackedArchive(const std::vector<ArchiveFile>& files);
  ~UnpackedArchive();
  UnpackedArchive(const UnpackedArchive&) = delete;
  UnpackedArchive& operator=(const UnpackedArchive&) = delete;

  const std::string& folder() const { return folder_; }

 private:
  std::string folder_;
};

}  // namespace hearth::survey
