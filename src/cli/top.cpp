// See top.h. Finding programs and reading their counters is live_programs.h's, what is shown live_rates.h's.
#include "cli/top.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>

#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/live_programs.h"
#include "cli/live_rates.h"
#include "cli/output.h"

namespace hearth::cli {
namespace {

using Clock = std::chrono::steady_clock;

/// The terminal as a screen that is drawn anew; as it was when this object ends, however that comes.
class Screen {
 public:
  Screen() {
    if (!is_there()) return;
    put_text(stdout, "\033[?1049h\033[?25l");  // another screen, no cursor
    if (tcgetattr(STDIN_FILENO, &before_) != 0) return;
    termios keys = before_;
    keys.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);  // Ctrl-C stays a signal
    listens_ = tcsetattr(STDIN_FILENO, TCSANOW, &keys) == 0;
  }
  ~Screen() {
    if (!is_there()) return;
    if (listens_) tcsetattr(STDIN_FILENO, TCSANOW, &before_);
    put_text(stdout, "\033[?25h\033[?1049l");
    std::fflush(stdout);
  }
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  static bool is_there() { return isatty(STDOUT_FILENO) == 1 && isatty(STDIN_FILENO) == 1; }
  void draw(const LiveRates& rates) const {
    winsize size{};
    const bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 && size.ws_col > 0;
    std::string text = "\033[H";
    for (const char c : table_of(rates, known ? size.ws_row - 1u : 0, known ? size.ws_col : 0)) {
      if (c == '\n') text += "\033[K";
      text += c;
    }
    put_text(stdout, text + "\033[J\033[7mq: quit\033[0m");
    std::fflush(stdout);
  }

 private:
  termios before_{};
  bool listens_ = false;
};

/// Until then, or until somebody wants the end: true.
bool wait_until(Clock::time_point end, bool keys) {
  while (interrupted() == 0) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
    if (left <= 0) return false;
    pollfd input{STDIN_FILENO, POLLIN, 0};
    const int ready = poll(&input, keys ? 1 : 0, static_cast<int>(std::min<long>(left + 1, 60'000)));
    if (ready <= 0) continue;  // the time is over, or a signal or a new size of the window has come
    char key = 0;
    const ssize_t got = read(STDIN_FILENO, &key, 1);
    if (got == 1 && (key == 'q' || key == 'Q')) return true;
    if (got <= 0 && errno != EINTR) keys = false;
  }
  return true;
}

int list(const std::vector<LiveProgram>& programs, bool json) {
  if (json) {
    for (const LiveProgram& program : programs) put(stdout, "{}\n", program.pid);
    return 0;
  }
  put(stdout, "{:>9}  program\n", "process");
  for (const LiveProgram& program : programs) put(stdout, "{:>9}  {}\n", program.pid, program.name);
  return 0;
}

/// The program that is meant. False, and `status`: all is said.
bool choose(const TopRequest& request, LiveProgram& out, int& status) {
  const std::string& word = request.program;
  long pid = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), pid);
  if (!word.empty() && error == std::errc() && end == word.data() + word.size()) {
    const std::string wrong = pid <= 0 ? "there is no such process" : find_live_program(static_cast<pid_t>(pid), out);
    if (!wrong.empty()) say("top: process {}: {}.", word, wrong);
    status = kExitFailed;
    return wrong.empty();
  }
  std::vector<LiveProgram> programs = live_programs();
  if (!word.empty()) std::erase_if(programs, [&](const LiveProgram& program) { return program.name != word; });
  if (programs.size() == 1) {
    out = programs.front();
    return true;
  }
  if (!programs.empty() && word.empty()) {
    status = list(programs, request.json);
    return false;
  }
  status = kExitFailed;
  if (!programs.empty()) {
    std::string numbers;
    for (const LiveProgram& program : programs) numbers += fmt::format("{}{}", numbers.empty() ? "" : ", ", program.pid);
    say("top: \"{}\" is the name of {} programs; name one by its number: {}", word, programs.size(), numbers);
  } else if (word.empty()) {
    say("top: Hearth serves no program of this user just now. A program shows up once it has started OpenMP.");
  } else {
    say("top: \"{}\": Hearth serves no program of this name just now; hearth top lists those that it serves.", word);
  }
  return false;
}

/// Until the program ends, or somebody wants no more. Empty, or why there is no more to see.
std::string watch(const TopRequest& request, const LiveProgram& program, const Screen* screen) {
  LiveSnapshot before, now;
  std::string wrong = look_at(program, before);
  const auto interval = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(request.interval));
  for (auto next = Clock::now() + interval; wrong.empty(); next += interval) {
    if (wait_until(next, screen != nullptr)) return {};
    wrong = look_at(program, now);
    if (wrong.empty() && now.header.since != before.header.since) wrong = "another program has taken its place";
    if (!wrong.empty()) break;
    const LiveRates rates = rates_of(program, before, now);
    if (screen != nullptr)
      screen->draw(rates);
    else
      put_text(stdout, request.json ? json_of(rates) : table_of(rates, 0, 0) + (request.once ? "" : "\n"));
    std::fflush(stdout);
    if (request.once || std::ferror(stdout) != 0) return {};
    std::swap(before, now);
  }
  return wrong;
}

}  // namespace

int top_main(const TopRequest& request) {
  LiveProgram program;
  int status = 0;
  if (!choose(request, program, status)) return status;
  const InterruptWatch watching;
  std::string wrong;
  if (request.once || request.json || !Screen::is_there()) {
    wrong = watch(request, program, nullptr);
    if (interrupted() != 0) end_interrupted();
  } else {
    const Screen screen;
    wrong = watch(request, program, &screen);
  }
  if (!wrong.empty()) say("top: process {}: {}.", program.pid, wrong);
  return wrong.empty() || !request.once ? 0 : kExitFailed;
}

}  // namespace hearth::cli
