#include "base/kept_file.h"

#include <cerrno>
#include <cstdio>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/file.h"

namespace hearth {
namespace {

// Descriptors from here on: far from what the program's next open() gets, in a table that is not made larger
// than most limits allow anyhow.
int first_high_descriptor() {
  constexpr rlim_t kUsualLimit = 1024;
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur > kUsualLimit) limit.rlim_cur = kUsualLimit;
  return static_cast<int>(limit.rlim_cur / 4 * 3);
}

}  // namespace

bool KeptFile::open(const char* path, int flags, mode_t mode, bool exclusive) {
  exclusive_ = exclusive;
  const int file = ::open(path, flags | O_CLOEXEC, mode);
  if (file < 0 || !keep(file)) return false;
  char link[32];
  std::snprintf(link, sizeof link, "/proc/self/fd/%d", file_);
  const ssize_t length = readlink(link, path_, sizeof path_ - 1);
  if (length > 0 && path_[0] == '/')
    path_[length] = '\0';
  else
    std::snprintf(path_, sizeof path_, "%s", path);
  return true;
}

bool KeptFile::keep(int file) {
  struct stat about{};
  const bool good = (!exclusive_ || flock(file, LOCK_EX | LOCK_NB) == 0) && file_status(file, about);
  if (!good) {
    const int error = errno;
    ::close(file);
    errno = error;
    return false;
  }
  const int high = fcntl(file, F_DUPFD_CLOEXEC, first_high_descriptor());
  if (high >= 0) ::close(file);
  file_ = high >= 0 ? high : file;
  device_ = about.st_dev;
  inode_ = about.st_ino;
  return true;
}

bool KeptFile::is_ours() const {
  struct stat about{};
  return file_status(file_, about) && about.st_dev == device_ && about.st_ino == inode_;
}

bool KeptFile::open_anew() {
  const dev_t device = device_;
  const ino_t inode = inode_;
  file_ = -1;
  const int file = ::open(path_, O_WRONLY | O_APPEND | O_CLOEXEC);
  if (file >= 0 && keep(file)) {
    if (device_ == device && inode_ == inode) return true;
    ::close(file_);
    file_ = -1;
  }
  errno = ESTALE;
  return false;
}

bool KeptFile::write(const char* text, std::size_t length) {
  if (file_ < 0) {
    errno = EBADF;
    return false;
  }
  if (!is_ours() && !open_anew()) return false;
  return write_fully(file_, text, length);
}

void KeptFile::close() {
  if (file_ >= 0 && is_ours()) ::close(file_);
  file_ = -1;
}

}  // namespace hearth
