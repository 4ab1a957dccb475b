// A recording as one SQLite file: docs/reference/recording.md describes its tables and views.
#pragma once

#include <string>
#include <vector>

#include "record/recording.h"

namespace hearth::record {

/// Of the tables; docs/reference/recording.md tells what changed.
inline constexpr const char* kSchemaNumber = "4";

/// What the debugging information says of a place in the code; empty: nothing.
struct CodeName {
  std::string function, file;
  int line = 0;
};

/// Writes a new file, beside `path` first and in its place when it is complete. `names` of the recording's
/// codes. Empty, or why not.
std::string write_database(const Recording& recording, const std::vector<CodeName>& names,
                           const std::vector<std::pair<std::string, std::string>>& meta, const std::string& path,
                           const ProgressOf& progress);

}  // namespace hearth::record
