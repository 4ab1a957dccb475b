// See child.h.
//
// Two processes wait beside the program: this one, and a witness. A signal may come to this process alone (kill PID, a
// batch system), and is passed on; or to its whole process group (the terminal, kill -PGID, timeout), and then the
// program has it already. Signals do not say which. The witness is in the same group, blocks all signals and does
// nothing: what is pending there went to everybody.
//
// Single-threaded: signals are blocked and fetched with sigwaitinfo(), so there are no handlers.
#include "cli/child.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/output.h"

namespace hearth::cli {
namespace {

constexpr int kPassedOn[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGWINCH, SIGXCPU};

/// If this process is killed outright nobody is left to end its child with it.
void die_with(pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(kExitNotExecutable);
}

class Witness {
 public:
  Witness() { start(); }
  ~Witness() { end(process_); }
  Witness(const Witness&) = delete;
  Witness& operator=(const Witness&) = delete;

  /// Did the signal go to it, too? Forgets what it has seen.
  bool has_seen(int number) {
    bool seen = is_pending(number);
    if (!seen) {
      // Batch systems signal the processes of a job one after the other.
      const timespec moment{0, 10'000'000};
      nanosleep(&moment, nullptr);
      seen = is_pending(number);
    }
    if (seen) {
      const pid_t old = process_;
      start();  // first, so that the next signal has somebody to see it
      end(old);
    }
    return seen;
  }

 private:
  void start() {
    const pid_t self = getpid();
    process_ = fork();
    if (process_ != 0) return;
    die_with(self);
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, nullptr);
    // Whoever reads our output must see it end. Kernels before 5.9 have no close_range().
    if (syscall(SYS_close_range, 0u, ~0u, 0u) != 0)
      for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) close(fd);
    for (;;) pause();
  }
  static void end(pid_t process) {
    if (process <= 0) return;
    kill(process, SIGKILL);
    while (waitpid(process, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  bool is_pending(int number) const {
    if (process_ <= 0) return false;
    std::ifstream status("/proc/" + std::to_string(process_) + "/status");
    constexpr std::string_view kPending = "ShdPnd:";
    for (std::string line; std::getline(status, line);)
      if (line.starts_with(kPending))
        return (std::strtoull(line.c_str() + kPending.size(), nullptr, 16) >> (number - 1) & 1) != 0;
    return false;
  }

  pid_t process_ = -1;
};

[[noreturn]] void become(const std::vector<std::string>& command, pid_t parent) {
  die_with(parent);
  std::vector<char*> arguments;
  arguments.reserve(command.size() + 1);
  for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  const int error = errno;
  say("{}: {}", command[0], std::strerror(error));
  _exit(error == ENOENT ? kExitNotFound : kExitNotExecutable);
}

/// What this process fetches while the program runs. Signals that are ignored stay so: nohup stays nohup.
sigset_t awaited() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGCHLD);
  for (const int number : kPassedOn) {
    struct sigaction now {};
    sigaction(number, nullptr, &now);
    if (now.sa_handler != SIG_IGN) sigaddset(&set, number);
  }
  return set;
}

int wait_for(pid_t child, const sigset_t& set, Witness& witness) {
  for (;;) {
    int status = 0;
    const pid_t ended = waitpid(child, &status, WNOHANG);
    if (ended == child) return status;
    siginfo_t info{};
    const int number = sigwaitinfo(&set, &info);
    if (number <= 0 || number == SIGCHLD) continue;
    const bool all_have_it = witness.has_seen(number);
    // The kernel's own (above 0) come from the terminal and go to the whole group.
    if (info.si_code <= 0 && !all_have_it) kill(child, number);
  }
}

}  // namespace

int run_child(const std::vector<std::string>& command) {
  // Blocked before fork(), so that no signal falls between it and our knowing whom to tell. SIGCHLD must not be
  // ignored, or nobody learns how the program ended; the program gets what we were given.
  struct sigaction plain {};
  struct sigaction before_child {};
  plain.sa_handler = SIG_DFL;
  sigaction(SIGCHLD, &plain, &before_child);
  const sigset_t set = awaited();
  sigset_t before;
  sigprocmask(SIG_BLOCK, &set, &before);
  Witness witness;
  const pid_t self = getpid();
  const pid_t child = fork();
  if (child == 0) {
    sigaction(SIGCHLD, &before_child, nullptr);
    sigprocmask(SIG_SETMASK, &before, nullptr);
    become(command, self);
  }
  int status = -1;
  if (child < 0)
    say("cannot start a process: {}", std::strerror(errno));
  else
    status = wait_for(child, set, witness);
  // What came as the program ended was for it, not for us.
  const timespec none{};
  siginfo_t info{};
  while (sigtimedwait(&set, &info, &none) > 0) {
  }
  sigprocmask(SIG_SETMASK, &before, nullptr);
  return status;
}

int end_like(int status) {
  if (!WIFSIGNALED(status)) return WEXITSTATUS(status);
  const int number = WTERMSIG(status);
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);  // the program's core is the one of interest
  std::fflush(nullptr);
  std::signal(number, SIG_DFL);
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, number);
  sigprocmask(SIG_UNBLOCK, &only, nullptr);
  raise(number);
  return 128 + number;
}

}  // namespace hearth::cli
