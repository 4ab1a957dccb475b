// Which OpenMP runtimes this machine has. One thread.
#pragma once

#include <string>
#include <vector>

namespace hearth::trial {

struct Runtime {
  std::string name;    // "libgomp", "libomp-19", "hearth locality", ...
  std::string kind;    // hearth, libgomp, libomp or libiomp5
  std::string file;    // real path; never part of a result
  std::string build;   // the beginning of its build id, or "none"
  std::string policy;  // of Hearth; empty: as it comes
  bool serves_clang() const { return kind != "libgomp"; }
};

/// By the contents of the file. An empty kind: it is no OpenMP runtime that is known here.
Runtime look_at(const std::string& file);

/// libgomp, libomp and libiomp5 in these folders and in what ldconfig lists; each file once, Hearth's stand-ins left out.
std::vector<Runtime> find_rivals(const std::vector<std::string>& folders);
std::vector<std::string> usual_folders();

struct Named {
  Runtime runtime;
  std::string problem;  // empty: found
};
/// NAME=PATH; PATH is a library, or a folder below which there is one, as a wheel's.
Named named_runtime(const std::string& text);

/// A folder of links under all names by which programs ask for their runtime. False: it cannot be made.
bool link_names(const Runtime& runtime, const std::string& folder);

}  // namespace hearth::trial
