// Lines for a person; see log.h for the contract.
#include "base/log.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include <unistd.h>

namespace hearth {
namespace {

constexpr char kPrefix[] = "hearth: ";

constinit std::atomic<bool> warnings_on{true};

void write_line(const char* format, std::va_list args) {
  const int saved = errno;
  char line[kLogLine];
  std::size_t used = sizeof(kPrefix) - 1;
  __builtin_memcpy(line, kPrefix, used);
  const std::size_t room = sizeof(line) - used - 1;  // one byte stays for the newline
  const int wanted = std::vsnprintf(line + used, room, format, args);
  if (wanted > 0)
    used += static_cast<std::size_t>(wanted) < room ? static_cast<std::size_t>(wanted) : room - 1;
  if (line[used - 1] != '\n') line[used++] = '\n';
  write_stderr(line, used);
  errno = saved;
}

}  // namespace

void write_stderr(const char* text, std::size_t length) {
  const int saved = errno;
  while (length > 0) {
    const ssize_t written = ::write(STDERR_FILENO, text, length);
    if (written < 0) {
      if (errno == EINTR) continue;
      break;  // nobody can be told that telling failed
    }
    text += written;
    length -= static_cast<std::size_t>(written);
  }
  errno = saved;
}

void warn(const char* format, ...) {
  if (!warnings_on.load(std::memory_order_relaxed)) return;
  std::va_list args;
  va_start(args, format);
  write_line(format, args);
  va_end(args);
}

void fatal(const char* format, ...) {
  std::va_list args;
  va_start(args, format);
  write_line(format, args);
  va_end(args);
  std::abort();
}

void set_warnings(bool on) { warnings_on.store(on, std::memory_order_relaxed); }

}  // namespace hearth
