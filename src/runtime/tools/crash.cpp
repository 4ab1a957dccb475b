#include "runtime/tools/crash.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <ucontext.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/log.h"
#include "runtime/state/thread.h"
#include "runtime/tools/probe_load.h"

namespace hearth::rt {
namespace {

constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
constexpr std::size_t kStack = 32 * 1024;  // the frames of the widest vector registers, and our one line

bool installed = false;

const char* name_of(int signal) {
  switch (signal) {
    case SIGSEGV: return "SIGSEGV";
    case SIGBUS: return "SIGBUS";
    case SIGFPE: return "SIGFPE";
    case SIGILL: return "SIGILL";
    default: return "SIGABRT";
  }
}

std::uintptr_t stack_pointer(const void* context) {
#if defined(__x86_64__)
  return static_cast<std::uintptr_t>(static_cast<const ucontext_t*>(context)->uc_mcontext.gregs[REG_RSP]);
#elif defined(__aarch64__)
  return static_cast<const ucontext_t*>(context)->uc_mcontext.sp;
#endif
}

// Whether a thread with that stack pointer ran into the page below its stack: memory near the stack pointer can
// be used as long as there is a stack. A frame that is larger than kReach may be missed.
bool stack_is_full(const siginfo_t* info, const void* context) {
  constexpr std::uintptr_t kReach = std::uintptr_t{128} << 10;
  const auto at = reinterpret_cast<std::uintptr_t>(info->si_addr);
  const std::uintptr_t pointer = stack_pointer(context);
  return info->si_code > 0 && at + kReach > pointer && at < pointer + kReach;
}

void tell_full_stack() {
  constexpr char kLine[] =
      "hearth: the stack of a thread that the runtime has started is full; OMP_STACKSIZE makes the stacks larger "
      "(`hearth env` shows their size; OMP_STACKSIZE=64M, for one).\n";
  write_stderr(kLine, sizeof kLine - 1);
}

// Runs on the crashing thread: calls nothing that is not async-signal-safe.
void on_crash(int signal, siginfo_t* info, void* context) {
  if (info->si_code > 0 && end_probe_load(context)) return;
  const Thread* self = Thread::current_or_null();
  if (self != nullptr && !self->is_root && signal == SIGSEGV && stack_is_full(info, context)) tell_full_stack();
  if (self != nullptr && self->team != nullptr && self->team != self->root_team) {
    char line[256] = "hearth: the program crashed inside a parallel region (";
    std::strcat(line, name_of(signal));
    std::strcat(line,
                "). To see whether Hearth matters, run it with HEARTH=off under `hearth run`, or remove Hearth from LD_LIBRARY_PATH.\n");
    write_stderr(line, std::strlen(line));
  }
  struct sigaction by_default = {};
  by_default.sa_handler = SIG_DFL;
  sigaction(signal, &by_default, nullptr);
  // A fault happens again when the handler returns. A signal that somebody sent, as abort() does, has to be
  // sent again; it is blocked until the return.
  if (info->si_code <= 0) raise(signal);
}

// What a failed assertion says of its thread.
std::size_t describe(char* text, std::size_t room) {
  const Thread* self = Thread::current_or_null();
  const Team* team = self == nullptr ? nullptr : self->team;
  const int wanted = self == nullptr ? std::snprintf(text, room, " (unknown to the runtime)")
                     : team == nullptr
                         ? std::snprintf(text, room, " (gtid %d, in no team)", self->gtid)
                         : std::snprintf(text, room, " (gtid %d, member %d of %d, level %d, region %u)", self->gtid,
                                         self->tid, std::int32_t{team->size}, team->level, team->epoch());
  if (wanted < 0) return 0;
  return static_cast<std::size_t>(wanted) < room ? static_cast<std::size_t>(wanted) : room - 1;
}

}  // namespace

void install_crash_handlers() {
  if constexpr (HEARTH_ASSERT_LEVEL > 0) describe_threads_with(describe);
  for (const int signal : kSignals) {
    struct sigaction now = {};
    if (sigaction(signal, nullptr, &now) != 0 || (now.sa_flags & SA_SIGINFO) != 0 ||
        now.sa_handler != SIG_DFL)
      continue;
    struct sigaction ours = {};
    ours.sa_sigaction = on_crash;
    ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&ours.sa_mask);
    if (sigaction(signal, &ours, nullptr) == 0) installed = true;
  }
}

bool handles_crashes(int signal) {
  struct sigaction now = {};
  return sigaction(signal, nullptr, &now) == 0 && (now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == on_crash;
}

void* make_signal_stack() {
  stack_t now = {};
  if (!installed || sigaltstack(nullptr, &now) != 0 || (now.ss_flags & SS_DISABLE) == 0) return nullptr;
  stack_t ours = {};
  ours.ss_size = kStack;
  ours.ss_sp = std::malloc(kStack);
  if (ours.ss_sp == nullptr) return nullptr;
  if (sigaltstack(&ours, nullptr) == 0) return ours.ss_sp;
  std::free(ours.ss_sp);
  return nullptr;
}

void drop_signal_stack(void* stack) {
  if (stack == nullptr) return;
  stack_t none = {};
  none.ss_flags = SS_DISABLE;
  stack_t last = {};
  if (sigaltstack(&none, &last) == 0 && last.ss_sp != stack && (last.ss_flags & SS_DISABLE) == 0)
    sigaltstack(&last, nullptr);  // the program has set another one meanwhile
  std::free(stack);
}

}  // namespace hearth::rt
