// See process.h.
#include "trial/process.h"

#include <cerrno>
#include <chrono>
#include <csignal>

#include <algorithm>
#include <string_view>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace hearth::trial {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t kMostOutput = std::size_t{1} << 20;  // of each stream; the rest is read and dropped
constexpr int kTickMs = 50;

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (const std::string& text : texts) out.push_back(const_cast<char*>(text.c_str()));
  out.push_back(nullptr);
  return out;
}

[[noreturn]] void become(const std::vector<char*>& arguments, const std::vector<char*>& environment, int out, int err,
                         pid_t parent) {
  setsid();  // a group of its own, which no Ctrl-C of the terminal reaches
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) std::signal(number, SIG_DFL);
  const int nothing = open("/dev/null", O_RDONLY);
  dup2(nothing, STDIN_FILENO);
  dup2(out, STDOUT_FILENO);
  dup2(err, STDERR_FILENO);
  execve(arguments[0], arguments.data(), environment.data());
  _exit(127);
}

// False: the other end is closed.
bool take(int from, std::string& to) {
  char piece[4096];
  const ssize_t got = read(from, piece, sizeof piece);
  if (got <= 0) return got < 0 && (errno == EINTR || errno == EAGAIN);
  to.append(piece, std::min(static_cast<std::size_t>(got), kMostOutput - std::min(kMostOutput, to.size())));
  return true;
}

class Pipes {
 public:
  ~Pipes() {
    for (int* end : {&out_[0], &out_[1], &err_[0], &err_[1]}) shut(*end);
  }
  bool open_all() { return pipe2(out_, O_CLOEXEC) == 0 && pipe2(err_, O_CLOEXEC) == 0; }
  int out() const { return out_[1]; }
  int err() const { return err_[1]; }
  void only_read() {
    shut(out_[1]);
    shut(err_[1]);
  }
  /// Waits a tick for text.
  void pump(Ended& ended) {
    pollfd ends[] = {{out_[0], POLLIN, 0}, {err_[0], POLLIN, 0}};
    if (poll(ends, 2, kTickMs) <= 0) return;
    if (ends[0].revents != 0 && !take(out_[0], ended.output)) shut(out_[0]);
    if (ends[1].revents != 0 && !take(err_[0], ended.errors)) shut(err_[0]);
  }
  bool open() const { return out_[0] >= 0 || err_[0] >= 0; }

 private:
  static void shut(int& end) {
    if (end >= 0) close(end);
    end = -1;
  }
  int out_[2] = {-1, -1}, err_[2] = {-1, -1};
};

}  // namespace

Ended run_process(const std::vector<std::string>& command, const std::vector<std::string>& environment, double limit_s,
                  const std::function<bool()>& stop) {
  Ended ended;
  Pipes pipes;
  const std::vector<char*> arguments = pointers(command), variables = pointers(environment);
  const auto begin = Clock::now();
  const pid_t self = getpid();
  const pid_t child = pipes.open_all() ? fork() : -1;
  if (child == 0) become(arguments, variables, pipes.out(), pipes.err(), self);
  if (child < 0) {
    ended.status = errno;
    return ended;
  }
  pipes.only_read();
  int status = 0;
  bool killed = false;
  const auto spent = [&] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
  for (;;) {
    if (pipes.open()) pipes.pump(ended);
    // Without waiting while there is text to come: a child of the program may keep the pipe open.
    if (waitpid(child, &status, WNOHANG) == child) break;
    if (!pipes.open()) usleep(1000);
    if (killed || (!stop() && spent() < limit_s)) continue;
    ended.how = stop() ? Ended::How::stopped : Ended::How::by_time;
    killed = true;
    kill(-child, SIGKILL);
    kill(child, SIGKILL);  // before setsid() it has no group
  }
  ended.seconds = spent();
  kill(-child, SIGKILL);  // what it has left behind
  while (pipes.open() && !killed) {
    const std::size_t before = ended.output.size() + ended.errors.size();
    pipes.pump(ended);
    if (ended.output.size() + ended.errors.size() == before) break;
  }
  if (killed) return ended;
  ended.how = WIFSIGNALED(status) ? Ended::How::by_signal : Ended::How::normally;
  ended.status = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
  return ended;
}

std::vector<std::string> plain_environment(const std::vector<std::pair<std::string, std::string>>& more) {
  static constexpr std::string_view kSpoken[] = {"OMP_", "GOMP_", "KMP_", "LIBOMP_", "HEARTH", "LD_"};
  std::vector<std::string> out;
  for (char** one = environ; *one != nullptr; ++one) {
    const std::string_view text = *one;
    if (std::none_of(std::begin(kSpoken), std::end(kSpoken),
                     [&](std::string_view start) { return text.starts_with(start); }))
      out.emplace_back(text);
  }
  for (const auto& [name, value] : more) out.push_back(name + "=" + value);
  return out;
}

}  // namespace hearth::trial
