#include "base/merged_file.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/file.h"

namespace hearth {
namespace {

bool fail(int error) {
  errno = error;
  return false;
}

void close_keeping_errno(int file) {
  const int error = errno;
  ::close(file);
  errno = error;
}

bool read_all(int file, std::size_t most, std::string& text) {
  text.clear();
  struct stat about{};
  if (!file_status(file, about)) return false;
  if (!S_ISREG(about.st_mode)) return fail(EINVAL);
  char buffer[4096];
  for (;;) {
    const ssize_t got = ::read(file, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return got == 0;
    if (text.size() + static_cast<std::size_t>(got) > most) return fail(EFBIG);
    text.append(buffer, static_cast<std::size_t>(got));
  }
}

// A pipe would otherwise wait for somebody at its other end.
constexpr int kCarefully = O_CLOEXEC | O_NONBLOCK | O_NOCTTY;

}  // namespace

bool read_plain_file(const char* path, std::size_t most, std::string& text) {
  text.clear();
  const int file = ::open(path, O_RDONLY | kCarefully);
  if (file < 0) return false;
  const bool good = read_all(file, most, text);
  close_keeping_errno(file);
  if (!good) text.clear();
  return good;
}

MergedFile::~MergedFile() { close(); }

void MergedFile::close() {
  if (file_ >= 0) close_keeping_errno(file_);
  file_ = -1;
}

bool MergedFile::lock(int wait_ms) const {
  constexpr timespec kPause{0, 2'000'000};
  for (int waited = 0;; waited += 2) {
    if (flock(file_, LOCK_EX | LOCK_NB) == 0) return true;
    if ((errno != EWOULDBLOCK && errno != EINTR) || waited >= wait_ms) return false;
    nanosleep(&kPause, nullptr);
  }
}

// Nobody has put another file in its place between open() and the lock.
bool MergedFile::is_current() const {
  struct stat ours{}, there{};
  return file_status(file_, ours) && file_status(path_, there) && ours.st_dev == there.st_dev && ours.st_ino == there.st_ino;
}

bool MergedFile::open(const char* path, std::size_t most, int wait_ms) {
  constexpr int kMostAttempts = 1000;
  for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
    close();
    file_ = ::open(path, O_RDWR | O_CREAT | kCarefully, 0600);
    if (file_ < 0) return false;
    if (realpath(path, path_) == nullptr) continue;  // taken away by somebody who forgets it
    if (!lock(wait_ms)) return false;
    if (is_current()) return read_all(file_, most, text_);
  }
  return fail(EWOULDBLOCK);
}

bool MergedFile::remove() { return unlink(path_) == 0; }

bool MergedFile::replace(std::string_view text) {
  char fresh[PATH_MAX + 8];
  std::snprintf(fresh, sizeof fresh, "%s.new", path_);
  struct stat about{};
  if (!file_status(file_, about)) return false;
  // Whoever ends here half way leaves one file, which the next one overwrites.
  const int file = ::open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, about.st_mode & 0777);
  if (file < 0) return false;
  const bool written = write_fully(file, text.data(), text.size());
  close_keeping_errno(file);
  if (written && rename(fresh, path_) == 0) return true;
  const int error = errno;
  unlink(fresh);
  return fail(error);
}

}  // namespace hearth
