// What belongs to this installation, found from where the command lies, and names for it that the loader can
// read. One thread.
#pragma once

#include <string>

namespace hearth::cli {

/// Paths; empty: not there.
struct Installation {
  std::string library;  // libhearth.so
  std::string audit;    // libhearth-audit.so
  std::string malloc;   // libhearth-malloc.so
  std::string record;   // libhearth-record.so
};
Installation find_installation();

/// For messages: the folders in which find_installation() looks.
std::string searched_folders();

/// LD_AUDIT, LD_PRELOAD and OMP_TOOL_LIBRARIES are lists: colons and blanks end a path, and the loader expands
/// '$'. An installation in a folder whose name has one of these is reached through links in the temporary
/// folder, which go away with this object.
class ListedNames {
 public:
  ListedNames() = default;
  ~ListedNames();
  ListedNames(const ListedNames&) = delete;
  ListedNames& operator=(const ListedNames&) = delete;

  /// Gives all of it such names. False, with the reason in `problem`: it cannot.
  bool give(Installation& installation, std::string& problem);
  void remove();

 private:
  std::string folder_;
  int links_ = 0;  // "0", "1", ... in the folder
};

}  // namespace hearth::cli
