// A small text file that several processes change: each takes what stands in it, and puts a new file in its place.
//
// Whoever holds one of these for a file has its lock (flock), and is alone with it. Readers take no lock: they find the old
// file or the new one, never half of one, since a new one comes by rename(2). One thread at a time; no descriptor stays open
// longer than the object lives.
#pragma once

#include <cstddef>

#include <string>
#include <string_view>

#include <limits.h>

namespace hearth {

/// The whole file. False, with errno: it cannot be read, is no plain file (EINVAL), or has more than `most` bytes (EFBIG).
bool read_plain_file(const char* path, std::size_t most, std::string& text);

class MergedFile {
 public:
  MergedFile() = default;
  ~MergedFile();
  MergedFile(const MergedFile&) = delete;
  MergedFile& operator=(const MergedFile&) = delete;

  /// Makes the file if there is none, waits for its lock, at most so many ms, and reads it. False, with errno as
  /// read_plain_file(); EWOULDBLOCK: others kept the lock for too long.
  bool open(const char* path, std::size_t most, int wait_ms);
  const std::string& text() const { return text_; }
  /// False, with errno: the old one is still there.
  bool replace(std::string_view text);
  /// The file goes. False, with errno.
  bool remove();

 private:
  bool lock(int wait_ms) const;
  bool is_current() const;
  void close();

  int file_ = -1;
  char path_[PATH_MAX] = {};  // links resolved
  std::string text_;
};

}  // namespace hearth
