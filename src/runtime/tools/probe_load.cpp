#include "runtime/tools/probe_load.h"

#include <atomic>
#include <csignal>
#include <type_traits>

#include <ucontext.h>

#include "base/clock.h"
#include "runtime/tools/crash.h"

// The load has to be at a place that the handler knows.
#if defined(__x86_64__)
#define HEARTH_LOAD "movq (%rdi), %rax\n"
#define HEARTH_ZERO "xorl %eax, %eax\n"
#elif defined(__aarch64__)
#define HEARTH_LOAD "ldr x0, [x0]\n"
#define HEARTH_ZERO "mov x0, #0\n"
#endif

__asm__(
    ".pushsection .text\n"
    ".hidden hearth_probe_load\n"
    ".globl hearth_probe_load\n"
    ".type hearth_probe_load, %function\n"
    ".hidden hearth_probe_failed\n"
    ".globl hearth_probe_failed\n"
    ".p2align 4\n"
    "hearth_probe_load:\n"
    ".cfi_startproc\n" HEARTH_LOAD
    "ret\n"
    "hearth_probe_failed:\n" HEARTH_ZERO
    "ret\n"
    ".cfi_endproc\n"
    ".size hearth_probe_load, . - hearth_probe_load\n"
    ".popsection\n");

extern "C" {
[[gnu::visibility("hidden")]] std::uint64_t hearth_probe_load(std::uint64_t address);
[[gnu::visibility("hidden")]] extern const char hearth_probe_failed[];
}

namespace hearth::rt {
namespace {

constexpr std::uint64_t kBelieveNs = 1'000'000;

std::atomic<bool> ours{false};
std::atomic<std::uint64_t> look_again{0};

}  // namespace

bool catches_faults() {
  const std::uint64_t now = counter_ns();
  if (now >= look_again.load(std::memory_order_relaxed)) {
    ours.store(handles_crashes(SIGSEGV) && handles_crashes(SIGBUS), std::memory_order_relaxed);
    look_again.store(now + kBelieveNs, std::memory_order_relaxed);
  }
  return ours.load(std::memory_order_relaxed);
}

std::uint64_t probe_load(std::uint64_t address) { return hearth_probe_load(address); }

bool end_probe_load(void* context) {
  auto& machine = static_cast<ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  auto& at = machine.gregs[REG_RIP];
#elif defined(__aarch64__)
  auto& at = machine.pc;
#endif
  using Address = std::remove_reference_t<decltype(at)>;
  if (at != static_cast<Address>(reinterpret_cast<std::uintptr_t>(&hearth_probe_load))) return false;
  at = static_cast<Address>(reinterpret_cast<std::uintptr_t>(hearth_probe_failed));
  return true;
}

}  // namespace hearth::rt
