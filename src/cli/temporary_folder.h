// A folder in TMPDIR that goes away with its object.
#pragma once

#include <string>

namespace hearth::cli {

class TemporaryFolder {
 public:
  TemporaryFolder() = default;
  ~TemporaryFolder() { remove(); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  /// `what` is part of its name. False, and said: it cannot be made.
  bool create(const std::string& what);
  void remove();
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace hearth::cli
