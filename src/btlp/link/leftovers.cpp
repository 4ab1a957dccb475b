#include "btlp/link/leftovers.h"

#include <csignal>
#include <cstring>

#include <sys/stat.h>
#include <unistd.h>

namespace hearth::btlp {
namespace {

constexpr std::size_t kMostFiles = 4, kLongest = 4096;
char files[kMostFiles][kLongest];
char folder[kLongest];
volatile std::sig_atomic_t count = 0;

bool copy(char* to, const std::string& from) {
  if (from.size() >= kLongest) return false;
  std::memcpy(to, from.c_str(), from.size() + 1);
  return true;
}

extern "C" void clear_up(int number) {
  static const char kClear[] = "\r\033[K";
  if (isatty(STDERR_FILENO) == 1) (void)!write(STDERR_FILENO, kClear, sizeof(kClear) - 1);
  for (std::size_t n = 0; n < static_cast<std::size_t>(count); ++n) {
    struct stat what{};
    if (lstat(files[n], &what) == 0 && S_ISREG(what.st_mode)) unlink(files[n]);
  }
  if (folder[0] != '\0') rmdir(folder);
  std::signal(number, SIG_DFL);
  raise(number);
}

}  // namespace

void clear_up_when_interrupted() {
  for (const int number : {SIGINT, SIGTERM, SIGHUP})
    if (std::signal(number, clear_up) == SIG_IGN) std::signal(number, SIG_IGN);
}

void add_leftover(const std::string& file) {
  const auto next = static_cast<std::size_t>(count);
  if (next < kMostFiles && copy(files[next], file)) count = count + 1;
}

void keep_leftovers() { count = 0; }

void set_left_folder(const std::string& path) {
  if (!copy(folder, path)) folder[0] = '\0';
}

}  // namespace hearth::btlp
