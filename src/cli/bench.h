// `hearth bench` and `hearth demo`: the benchmarks on every OpenMP runtime of this machine.
#pragma once

#include <string>
#include <vector>

namespace hearth::cli {

struct BenchRequest {
  bool quick = false, list = false, tiny = false;
  std::vector<std::string> only;      // sets; empty: all
  int rounds = 0;                     // at most; 0: as many as fit
  double minutes = 0;                 // 0: 10, or 2 with quick
  int threads = 0;                    // 0: as a program gets that says nothing
  std::string output;                 // a folder, or the files' name without what follows the dot
  std::string json, page;             // each on its own
  std::vector<std::string> runtimes;  // NAME=PATH
  std::vector<std::string> compare;   // two files
  std::string check;                  // a file
};
int bench_main(const BenchRequest& request);

/// The task benchmarks on every runtime, two short rounds, as a table; nothing is written.
int demo_main();

}  // namespace hearth::cli
