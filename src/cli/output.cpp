// See output.h.
#include "cli/output.h"

#include <cerrno>
#include <cstring>
#include <iterator>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/commands.h"

namespace hearth::cli {

void guard_standard_streams() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    if (fcntl(fd, F_GETFD) >= 0) continue;
    // The lowest free number, which is this one; close-on-exec keeps it from programs.
    if (open("/dev/null", O_RDWR | O_CLOEXEC) != fd) return;
  }
}

int close_output(int status) {
  const bool failed_before = std::ferror(stdout) != 0;
  const bool flushed = std::fflush(stdout) == 0;
  if (flushed && !failed_before) return status;
  say("standard output cannot be written{}{}", flushed ? "" : ": ", flushed ? "" : std::strerror(errno));
  return status == 0 ? kExitFailed : status;
}

void put_text(std::FILE* to, std::string_view text) { (void)std::fwrite(text.data(), 1, text.size(), to); }

void say_formatted(fmt::string_view format, fmt::format_args arguments) {
  // One write, so that lines of several processes do not mix.
  put_text(stderr, "hearth: " + fmt::vformat(format, arguments) + "\n");
}

std::string counted(std::size_t count, std::string_view what, std::string_view plural) {
  if (count == 1) return fmt::format("1 {}", what);
  return plural.empty() ? fmt::format("{} {}s", count, what) : fmt::format("{} {}", count, plural);
}

bool write_file(const std::string& path, std::string_view text) {
  if (path == "-") return put_text(stdout, text), true;  // close_output() looks whether it was written
  std::FILE* const file = std::fopen(path.c_str(), "w");
  int error = file == nullptr ? errno : 0;
  if (file != nullptr && std::fwrite(text.data(), 1, text.size(), file) != text.size()) error = errno;
  if (file != nullptr && std::fclose(file) != 0 && error == 0) error = errno;
  if (error != 0) say("{}: cannot be written: {}", path, std::strerror(error));
  return error == 0;
}

bool would_destroy(const std::string& output, const std::string& input) {
  struct stat out {};
  struct stat in {};
  if (output.empty() || output == "-" || stat(output.c_str(), &out) != 0 || stat(input.c_str(), &in) != 0)
    return false;
  if (!S_ISREG(in.st_mode) || out.st_dev != in.st_dev || out.st_ino != in.st_ino) return false;
  say("{}: is the input {}; writing there would destroy it. Name another file.", output, input);
  return true;
}

}  // namespace hearth::cli
