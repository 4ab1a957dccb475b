// `hearth run --explain`: what became of the tasks of a program.
//
// Each process below writes a text of its own into a temporary folder as it ends (runtime/tools/explain.h). Here they get
// names from the source for places in the code, and are put one behind the other.
#pragma once

#include <string>

#include "cli/temporary_folder.h"

namespace hearth::cli {

class ExplainReport {
 public:
  /// Before the program starts. False, and said, when the temporary folder cannot be made.
  bool begin();
  /// After its end, with the status of waitpid(). `file`: empty for standard error. `off`: HEARTH=off. False, and said: the
  /// file cannot be written.
  bool tell(const std::string& file, int status, bool off) const;
  /// Removes the temporary folder.
  void remove() { folder_.remove(); }

 private:
  TemporaryFolder folder_;
};

}  // namespace hearth::cli
