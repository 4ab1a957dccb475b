#include "base/file.h"

#include <cerrno>

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace hearth {

// With 64 bits the structure is the kernel's.
bool file_status(int file, struct stat& about) { return syscall(SYS_fstat, file, &about) == 0; }
bool file_status(const char* path, struct stat& about) { return syscall(SYS_newfstatat, AT_FDCWD, path, &about, 0) == 0; }

bool write_fully(int file, const char* text, std::size_t length) {
  while (length != 0) {
    const ssize_t now = ::write(file, text, length);
    if (now < 0 && errno == EINTR) continue;
    if (now < 0) return false;
    text += now;
    length -= static_cast<std::size_t>(now);
  }
  return true;
}

}  // namespace hearth
