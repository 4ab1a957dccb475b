// A file of ours that stays open in somebody else's process, and is written to its end.
//
// A program may close descriptors that it does not know, as closefrom(3) does, and get their numbers for files
// of its own. So the descriptor has a high number, and each write looks first whether it still is that file
// (device and inode); if not, the file is opened anew by its path. The caller serializes all calls.
#pragma once

#include <cstddef>

#include <limits.h>
#include <sys/types.h>

namespace hearth {

class KeptFile {
 public:
  constexpr KeptFile() = default;

  /// Open and, with `exclusive`, lock (flock). False, with errno; EWOULDBLOCK: another process has the lock.
  bool open(const char* path, int flags, mode_t mode, bool exclusive);
  /// Keep an open file, which then is this one's to close. False, with errno: it is closed.
  bool keep(int file);
  /// The whole text. False, with errno; ESTALE: the program has closed the file, and it cannot be opened anew.
  bool write(const char* text, std::size_t length);
  /// For what else is to be done with it right after open(); -1: not open.
  int descriptor() const { return file_; }
  /// Nothing is done to a descriptor that is not ours any more.
  void close();

 private:
  bool is_ours() const;
  bool open_anew();

  int file_ = -1;
  bool exclusive_ = false;
  dev_t device_ = 0;
  ino_t inode_ = 0;
  char path_[PATH_MAX] = {};  // absolute, if the system tells it
};

}  // namespace hearth
