// `hearth run`: start a program so that its loader gives it Hearth for its OpenMP runtime, and report what
// came of it.
//
// Two processes: this one waits, passes signals on and ends as the program ended; the child becomes the
// program. With
// --verify every process below appends a line of JSON to a file that this one sums up (runtime/tools/foreign_runtimes.h has
// the format).
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <set>

#include <fcntl.h>
#include <fmt/format.h>
#include <gnu/libc-version.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include "base/parse.h"
#include "cli/commands.h"
#include "cli/installation.h"
#include "cli/program.h"

namespace hearth::cli {
namespace {

template <typename... Args>
void say(fmt::format_string<Args...> format, Args&&... args) {
  fmt::print(stderr, "hearth: {}\n", fmt::format(format, std::forward<Args>(args)...));
}

/// Put `entry` first in a colon-separated variable, once.
void prepend(const char* variable, const std::string& entry) {
  const char* before = std::getenv(variable);
  std::string value = entry;
  if (before != nullptr && *before != '\0') {
    ListReader list(before, ':');
    std::string_view item;
    while (list.next(item)) {
      if (!item.empty() && item != entry) value.append(":").append(item);
    }
  }
  setenv(variable, value.c_str(), 1);
}

bool audit_is_cheap() {
  int major = 0;
  int minor = 0;
  return std::sscanf(gnu_get_libc_version(), "%d.%d", &major, &minor) == 2 &&
         (major > 2 || (major == 2 && minor >= 35));
}

bool switched_off() {
  const char* value = std::getenv("HEARTH");
  if (value == nullptr) return false;
  const auto on = parse_boolean(value);
  return on && !on.value;
}

/// Does anybody want malloc's blocks distributed? A bad value counts as yes: the library complains of it.
bool distributes() {
  const char* value = std::getenv("HEARTH_DISTRIBUTE");
  return value != nullptr && !same_word(trim(value), "standard");
}

/// Make the loader of everything that is executed from now on choose Hearth.
void redirect(const Installation& installation) {
  if (distributes()) prepend("LD_PRELOAD", installation.malloc);
  setenv("HEARTH_AUDIT_TARGET", installation.library.c_str(), 1);
  if (audit_is_cheap()) {
    prepend("LD_AUDIT", installation.audit);
    return;
  }
  say("glibc {} makes every call through an audited PLT slow, so Hearth is preloaded instead; copies of "
      "OpenMP runtimes that "
      "the program brings stay mapped beside it.",
      gnu_get_libc_version());
  prepend("LD_PRELOAD", installation.library);
}

// ---- signals

volatile pid_t the_child = 0;

/// A signal that a person or a batch system sent to us alone goes on to the program. One that came from the
/// terminal went to the whole foreground group, so the program has it already.
void pass_on(int number, siginfo_t* info, void*) {
  const int saved = errno;
  if (info->si_code <= 0 && the_child > 0) kill(the_child, number);
  errno = saved;
}

constexpr int kPassedOn[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGWINCH, SIGXCPU};

void pass_signals_on() {
  struct sigaction action{};
  action.sa_sigaction = pass_on;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  for (const int number : kPassedOn) {
    struct sigaction before{};
    sigaction(number, nullptr, &before);
    if (before.sa_handler != SIG_IGN) sigaction(number, &action, nullptr);  // nohup stays nohup
  }
}

// ---- verification

struct Served {
  std::uint64_t processes = 0;
  std::uint64_t regions = 0;
  std::uint64_t tasks = 0;
  std::set<std::string> foreign;
  std::set<std::string> mapped;
};

Served read_report(const std::string& path) {
  Served served;
  std::ifstream lines(path);
  std::string line;
  while (std::getline(lines, line)) {
    const auto item = nlohmann::json::parse(line, nullptr, false);
    if (!item.is_object()) {
      say("a process left a line that cannot be read in the verification file: {}", line);
      continue;
    }
    ++served.processes;
    served.regions += item.value("regions", std::uint64_t{0});
    served.tasks += item.value("tasks", std::uint64_t{0});
    for (const auto& path_of : item.value("foreign", std::vector<std::string>()))
      served.foreign.insert(path_of);
    for (const auto& path_of : item.value("mapped", std::vector<std::string>()))
      served.mapped.insert(path_of);
  }
  return served;
}

bool report_served(const Served& served, const Program& program, const std::string& json_file, bool off) {
  say("{} parallel region{} and {} task{} served by Hearth in {} process{}.", served.regions,
      served.regions == 1 ? "" : "s", served.tasks, served.tasks == 1 ? "" : "s", served.processes,
      served.processes == 1 ? "" : "es");
  bool good = true;
  if (off) {
    say("HEARTH=off: the program kept the runtime it came with.");
    good = false;
  } else if (served.processes == 0) {
    const std::string reason = explain(program);
    say("verification failed: Hearth was not loaded. {}",
        !reason.empty()
            ? reason
            : "Either no process loaded an OpenMP runtime, or none ended through exit() (an aborted program "
              "leaves no report).");
    good = false;
  }
  for (const std::string& path : served.foreign) {
    say("verification failed: another OpenMP runtime served the program: {}", path);
    good = false;
  }
  for (const std::string& path : served.mapped) say("mapped but not used: {}", path);
  if (!json_file.empty()) {
    nlohmann::ordered_json out;
    out["regions"] = served.regions;
    out["tasks"] = served.tasks;
    out["foreign"] = served.foreign;
    out["mapped"] = served.mapped;
    out["processes"] = served.processes;
    out["ok"] = good;
    std::ofstream file(json_file);
    file << out.dump(2) << "\n";
    file.close();
    if (!file) {
      say("{}: cannot be written: {}", json_file, std::strerror(errno));
      good = false;
    }
  }
  return good;
}

/// A file in TMPDIR that goes away with this object.
class TemporaryFile {
 public:
  bool create() {
    const char* folder = std::getenv("TMPDIR");
    path_ = fmt::format("{}/hearth-verify-XXXXXX", folder != nullptr && *folder != '\0' ? folder : "/tmp");
    const int fd = mkostemp(path_.data(), O_CLOEXEC);
    if (fd < 0) {
      say("{}: {}", path_, std::strerror(errno));
      path_.clear();
      return false;
    }
    ::close(fd);
    return true;
  }
  ~TemporaryFile() {
    if (!path_.empty()) unlink(path_.c_str());
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// ---- the program

[[noreturn]] void become(const std::vector<std::string>& command, pid_t parent) {
  // If this process is killed outright nobody is left to end the program with it.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(kExitNotExecutable);
  std::vector<char*> arguments;
  arguments.reserve(command.size() + 1);
  for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  const int error = errno;
  say("{}: {}", command[0], std::strerror(error));
  _exit(error == ENOENT ? kExitNotFound : kExitNotExecutable);
}

/// End as the program ended, so that whoever started us sees no difference.
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

bool is_crash(int number) {
  return number == SIGSEGV || number == SIGBUS || number == SIGILL || number == SIGFPE || number == SIGABRT;
}

}  // namespace

int run_main(const RunRequest& request, const std::function<void()>& afterwards) {
  const Program program = inspect_program(request.command.front());
  if (!program.can_start()) {
    say("{}", explain(program));
    return program.problem == Program::Problem::not_found ? kExitNotFound : kExitNotExecutable;
  }

  if (!request.distribute.empty()) setenv("HEARTH_DISTRIBUTE", request.distribute.c_str(), 1);
  if (!request.policy.empty()) setenv("HEARTH_POLICY", request.policy.c_str(), 1);
  if (!request.threads.empty()) setenv("OMP_NUM_THREADS", request.threads.c_str(), 1);

  const bool off = switched_off();
  ListedNames names;  // for as long as the program runs
  if (!off) {
    Installation installation = find_installation();
    const char* const missing = installation.library.empty()                   ? "libhearth.so"
                                : installation.audit.empty()                   ? "libhearth-audit.so"
                                : distributes() && installation.malloc.empty() ? "libhearth-malloc.so"
                                                                               : nullptr;
    if (missing != nullptr) {
      say("{} is missing from this installation (looked {}).", missing, searched_folders());
      return kExitNotExecutable;
    }
    const std::string reason = explain(program);
    if (!reason.empty()) say("{} Running it as it is.", reason);
    if (distributes() && !program.own_allocator.empty()) {
      say("{} has an allocator of its own linked into itself (it defines {}). What that one gives out is not "
          "distributed, and lies where its first touch puts it.",
          program.path, program.own_allocator);
    }
    std::string problem;
    if (!names.give(installation, problem)) {
      say("{} is where the loader cannot find it, since the path has a colon, a blank or a '$', and a link to "
          "it cannot be made: {}",
          installation.library, problem);
      return kExitNotExecutable;
    }
    redirect(installation);
  }

  TemporaryFile report;
  if (request.verify) {
    if (!report.create()) return kExitNotExecutable;
    setenv("HEARTH_VERIFY_FILE", report.path().c_str(), 1);
  }

  // Blocked until the child is known, so that no signal falls between fork() and the handler's knowledge of
  // whom to tell.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, &before);
  const pid_t self = getpid();
  const pid_t child = fork();
  if (child < 0) {
    say("cannot start a process: {}", std::strerror(errno));
    return kExitNotExecutable;
  }
  if (child == 0) {
    sigprocmask(SIG_SETMASK, &before, nullptr);
    become(request.command, self);
  }
  the_child = child;
  pass_signals_on();
  sigprocmask(SIG_SETMASK, &before, nullptr);

  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  the_child = 0;

  bool good = true;
  if (request.verify) good = report_served(read_report(report.path()), program, request.verify_file, off);
  if (afterwards) afterwards();
  if (WIFSIGNALED(status) && is_crash(WTERMSIG(status)) && !off) {
    say("{} was ended by signal {} ({}). To see whether Hearth has a part in it, run it on its own OpenMP "
        "runtime: "
        "HEARTH=off hearth run -- {}",
        request.command[0], WTERMSIG(status), strsignal(WTERMSIG(status)), fmt::join(request.command, " "));
  }
  if (request.verify) unlink(report.path().c_str());  // end_like() may not return
  names.remove();
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && !good) return kExitVerify;
  return end_like(status);
}

}  // namespace hearth::cli
