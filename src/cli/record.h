// `hearth record` and `hearth export`.
#pragma once

#include <string>

#include "cli/commands.h"

namespace hearth::cli {

struct RecordRequest {
  RunRequest run;
  std::string file;     // empty: the program's name and .db
  std::string recover;  // a folder to read instead of a program to run
  bool counters = false;
  bool stock = false;  // the runtime that the program came with
  std::string page;    // a report is written there as well; empty: none
};
int record_main(const RecordRequest& request);

struct ExportRequest {
  std::string file;
  std::string perfetto;  // the JSON file, or empty
  std::string paraver;   // the .prv file, or empty
};
int export_main(const ExportRequest& request);

}  // namespace hearth::cli
