// `hearth run --verify`: what Hearth served of a program, and what another runtime did.
//
// Each process below appends a line of JSON to a temporary file as it ends (runtime/tools/foreign_runtimes.h has the
// format); here they are summed up.
#pragma once

#include <string>

#include "cli/program.h"

namespace hearth::cli {

class ServedReport {
 public:
  ServedReport() = default;
  ~ServedReport();
  ServedReport(const ServedReport&) = delete;
  ServedReport& operator=(const ServedReport&) = delete;

  /// Before the program starts. False, and said, when the temporary file cannot be made.
  bool begin();
  /// After its end. `json_file`: empty for none. `off`: HEARTH=off. False: not all was served by Hearth.
  bool tell(const Program& program, const std::string& json_file, bool off) const;
  /// Removes the temporary file.
  void remove();

 private:
  std::string path_;
};

}  // namespace hearth::cli
