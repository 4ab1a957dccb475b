// `hearth run`: start a program so that its loader gives it Hearth for its OpenMP runtime, and report what came of it.
#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>
#include <gnu/libc-version.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/parse.h"
#include "cli/child.h"
#include "cli/commands.h"
#include "cli/energy_report.h"
#include "cli/explain_report.h"
#include "cli/installation.h"
#include "cli/map.h"
#include "cli/output.h"
#include "cli/program.h"
#include "cli/rank.h"
#include "cli/spelling.h"
#include "cli/verify.h"

namespace hearth::cli {
namespace {

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

/// Behind the recorder, which notes what the program asks for and passes it on; before all else.
void preload_malloc(const std::string& malloc) {
  const char* const before = std::getenv("LD_PRELOAD");
  const std::string all = before == nullptr ? "" : before;
  if (std::getenv("HEARTH_RECORD") == nullptr || all.empty()) return prepend("LD_PRELOAD", malloc);
  const std::size_t end = std::min(all.find(':'), all.size());
  setenv("LD_PRELOAD", (all.substr(0, end) + ":" + malloc + all.substr(end)).c_str(), 1);
}

/// Make the loader of everything that is executed from now on choose Hearth, and its malloc where that is wanted.
void redirect(const Installation& installation, bool with_malloc) {
  if (with_malloc) preload_malloc(installation.malloc);
  setenv("HEARTH_AUDIT_TARGET", installation.library.c_str(), 1);
  if (audit_is_cheap()) {
    prepend("LD_AUDIT", installation.audit);
    return;
  }
  say("With glibc {} an audit library slows down all calls into libraries, so Hearth is preloaded instead. The "
      "program's own OpenMP runtime stays mapped beside it.",
      gnu_get_libc_version());
  prepend("LD_PRELOAD", installation.library);
}

bool is_crash(int number) {
  return number == SIGSEGV || number == SIGBUS || number == SIGILL || number == SIGFPE || number == SIGABRT;
}

/// Says what --distribute cannot do for this program. False: the program's malloc has to be left alone.
bool may_take_malloc(const Program& program) {
  if (!program.sanitizer.empty()) {
    say("{} is built with a sanitizer (it uses {}), whose malloc must be the first in the process. It is kept, and its "
        "memory is not distributed: each page lies where it is touched first. Build without -fsanitize to distribute.",
        program.path, program.sanitizer);
    return false;
  }
  if (!program.own_allocator.empty()) {
    say("{} contains its own allocator (it defines {}). Memory from that allocator is not distributed: each page lies "
        "where it is touched first.",
        program.path, program.own_allocator);
  }
  return true;
}

/// Has the loader choose Hearth for the program. False, and said, when this installation is not complete.
bool prepare(const Program& program, ListedNames& names) {
  Installation installation = find_installation();
  const char* const missing = installation.library.empty()                   ? "libhearth.so"
                              : installation.audit.empty()                   ? "libhearth-audit.so"
                              : distributes() && installation.malloc.empty() ? "libhearth-malloc.so"
                                                                             : nullptr;
  if (missing != nullptr) {
    say("{} is missing from this installation (looked {}).", missing, searched_folders());
    return false;
  }
  const std::string reason = explain(program);
  if (!reason.empty()) say("{} Running it as it is.", reason);
  const bool wanted = distributes();
  const bool with_malloc = wanted && may_take_malloc(program);
  if (wanted && !with_malloc) unsetenv("HEARTH_DISTRIBUTE");  // or the runtime would miss the malloc library
  if (std::string problem; !names.give(installation, problem)) {
    say("{} is where the loader cannot find it: the path has a colon, a blank or a '$', and a link to it cannot be made "
        "({}).",
        installation.library, problem);
    return false;
  }
  redirect(installation, with_malloc);
  return true;
}

/// OMP_PLACES from a recording. False, and said: it cannot be used.
bool set_places(const RunRequest& request) {
  if (request.places_from.empty()) return true;
  std::string places;
  if (!places_from(request.places_from, request.mapper, places)) return false;
  if (places.empty()) return true;
  setenv("OMP_PLACES", places.c_str(), 1);
  setenv("OMP_PROC_BIND", "close", 1);  // thread i on place i
  return true;
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
  if (request.learn)
    setenv("HEARTH_LEARN", request.learned_file.empty() ? "on" : std::filesystem::absolute(request.learned_file).c_str(), 1);
  if (!request.threads.empty()) setenv("OMP_NUM_THREADS", request.threads.c_str(), 1);

  if (!set_places(request)) return kExitUsage;
  EnergyReport energy(request.energy_model);
  if (request.energy && !energy.begin()) return kExitUsage;

  hint_at_variables();
  const bool off = switched_off();
  ListedNames names;  // for as long as the program runs
  if (!off && !prepare(program, names)) return kExitNotExecutable;
  ServedReport report;
  if (request.verify && !report.begin()) return kExitNotExecutable;
  ExplainReport explanation;
  if (request.explain && !explanation.begin()) return kExitNotExecutable;

  const int status = run_child(request.command);
  if (status < 0) return kExitNotExecutable;

  if (request.energy) energy.tell();
  bool good = true;
  if (request.verify) good = report.tell(program, file_of_this_rank(request.verify_file), off);
  const bool told = !request.explain || explanation.tell(file_of_this_rank(request.explain_file), status, off);
  explanation.remove();  // end_like() may not return
  if (afterwards) afterwards();
  if (WIFSIGNALED(status) && is_crash(WTERMSIG(status)) && !off) {
    say("{} was ended by signal {} ({}). To see whether Hearth is the cause, run it on its own OpenMP runtime: "
        "HEARTH=off hearth run -- {}",
        request.command[0], WTERMSIG(status), strsignal(WTERMSIG(status)), fmt::join(request.command, " "));
  }
  report.remove();
  names.remove();
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && !(good && told)) return good ? kExitFailed : kExitVerify;
  return end_like(status);
}

}  // namespace hearth::cli
