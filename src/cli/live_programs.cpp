// See live_programs.h.
#include "cli/live_programs.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

namespace hearth::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t kMostLines = 1 << 16;  // of one page that are looked at

/// A file that is closed again.
class OpenFile {
 public:
  explicit OpenFile(const std::string& path) : file_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)) {}
  ~OpenFile() {
    if (file_ >= 0) close(file_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  bool is_open() const { return file_ >= 0; }
  /// How many bytes there were from `offset` on.
  std::size_t read(void* to, std::size_t bytes, std::size_t offset) const {
    std::size_t done = 0;
    while (done < bytes) {
      const ssize_t got = pread(file_, static_cast<char*>(to) + done, bytes - done, static_cast<off_t>(offset + done));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) break;
      done += static_cast<std::size_t>(got);
    }
    return done;
  }

 private:
  int file_;
};

bool to_number(std::string_view text, long& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size();
}

std::string first_line(const std::string& path) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  return line;
}

/// As the process itself sees its pid: the last of its numbers in nested namespaces.
long own_pid(const std::string& folder) {
  std::ifstream in(folder + "/status");
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with("NSpid:")) continue;
    const std::size_t last = line.find_last_of(" \t");
    long pid = 0;
    return last != std::string::npos && to_number(std::string_view(line).substr(last + 1), pid) ? pid : -1;
  }
  return -1;
}

bool is_page(const fs::path& path) {
  std::error_code unreadable;
  return fs::read_symlink(path, unreadable).string() == fmt::format("/memfd:{} (deleted)", kLiveName);
}

/// The page among the process's open files; empty: there is none. `denied`: nobody may look.
std::string page_of(const std::string& folder, bool& denied) {
  std::error_code error;
  fs::directory_iterator files(folder + "/fd", error);
  denied = error == std::errc::permission_denied || error == std::errc::operation_not_permitted;
  for (; !error && files != fs::directory_iterator(); files.increment(error))
    if (is_page(files->path())) return files->path().string();
  return {};
}

std::string read_header(const OpenFile& file, LiveHeader& out) {
  LiveHeader bytes{};
  switch (read_live_header(&bytes, file.read(&bytes, sizeof bytes, 0), out)) {
    case LiveProblem::none: return {};
    case LiveProblem::not_ready: return "its runtime is just starting";
    case LiveProblem::other_layout:
      return fmt::format("its library counts in another way (layout {}; this hearth knows {}): use the command that came with it",
                         out.layout, kLiveLayout);
    case LiveProblem::cut_off:
    case LiveProblem::nonsense: break;
  }
  return "its page of counters makes no sense";
}

/// Seconds of processor time that a thread has used; -1: not known.
double cpu_seconds(const std::string& folder, int kernel_id) {
  const std::string line = first_line(fmt::format("{}/task/{}/stat", folder, kernel_id));
  const std::size_t end_of_name = line.rfind(')');  // a name may hold anything
  if (end_of_name == std::string::npos) return -1;
  // Behind the name: state is field 3, utime and stime are 14 and 15.
  constexpr int kUtime = 14 - 3;
  double sum = 0;
  std::string_view rest = std::string_view(line).substr(end_of_name + 1);
  for (int field = -1; !rest.empty();) {
    const std::size_t blank = std::min(rest.find(' '), rest.size());
    long value = 0;
    if (blank != 0 && ++field >= kUtime && to_number(rest.substr(0, blank), value)) sum += static_cast<double>(value);
    if (field == kUtime + 1) return sum / static_cast<double>(sysconf(_SC_CLK_TCK));
    rest.remove_prefix(std::min(blank + 1, rest.size()));
  }
  return -1;
}

std::string folder_of(const std::string& proc, pid_t pid) { return fmt::format("{}/{}", proc, pid); }

}  // namespace

std::vector<LiveProgram> live_programs(const std::string& proc) {
  std::vector<LiveProgram> found;
  std::error_code error;
  for (fs::directory_iterator entry(proc, error); !error && entry != fs::directory_iterator(); entry.increment(error)) {
    long pid = 0;
    LiveProgram program;
    if (to_number(entry->path().filename().string(), pid) && find_live_program(static_cast<pid_t>(pid), program, proc).empty())
      found.push_back(std::move(program));
  }
  std::sort(found.begin(), found.end(), [](const LiveProgram& a, const LiveProgram& b) { return a.pid < b.pid; });
  return found;
}

std::string find_live_program(pid_t pid, LiveProgram& out, const std::string& proc) {
  const std::string folder = folder_of(proc, pid);
  std::error_code error;
  if (!fs::is_directory(folder, error)) return "there is no such process, or none that this user may see";
  out.pid = pid;
  out.name = first_line(folder + "/comm");
  bool denied = false;
  out.page = page_of(folder, denied);
  if (denied) return "it is another user's process: only that user, or root, may look";
  if (out.page.empty())
    return "it is not served by Hearth, has not reached OpenMP yet, was told not to count (HEARTH_LIVE=false), or has closed "
           "all files that it did not open itself, as daemons do";
  const OpenFile file(out.page);
  if (!file.is_open()) return fmt::format("its page of counters cannot be opened: {}", std::strerror(errno));
  LiveHeader header{};
  if (std::string wrong = read_header(file, header); !wrong.empty()) return wrong;
  if (const long own = own_pid(folder); own > 0 && own != header.pid)
    return fmt::format("it is a copy of process {} by clone(), and counts there", header.pid);
  return {};
}

std::string look_at(const LiveProgram& program, LiveSnapshot& out, const std::string& proc) {
  const std::string folder = folder_of(proc, program.pid);
  out = {};
  const OpenFile file(program.page);
  if (!file.is_open() || !is_page(program.page)) return "the program has ended";
  if (std::string wrong = read_header(file, out.header); !wrong.empty()) return wrong;
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  out.when_ns = static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(now.tv_nsec);
  const std::uint32_t lines = std::min(live_lines_used(out.header), kMostLines);
  for (std::uint32_t i = 0; i < lines; ++i) {
    char bytes[sizeof(LiveLine)];
    const std::size_t wanted = std::min<std::size_t>(out.header.line_bytes, sizeof bytes);
    if (file.read(bytes, wanted, out.header.header_bytes + std::size_t{i} * out.header.line_bytes) < wanted) break;
    const LiveThread counts = read_live_line(bytes, wanted);
    out.rows.push_back(
        {static_cast<int>(i), counts, counts.kernel_id > 0 ? cpu_seconds(folder, counts.kernel_id) : -1.0});
  }
  return {};
}

}  // namespace hearth::cli
