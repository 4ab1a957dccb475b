// Closed pages on this machine itself: who opens them, whose faults are passed on, and what forks, freed and moved memory
// and other handlers do to them. That pages move is tests/numa's business: here they have one node.
#include "memory/touch_trap.h"

#include <gtest/gtest.h>

#include <atomic>
#include <csetjmp>
#include <csignal>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "memory/areas.h"

namespace hearth::memory {
namespace {

using placement::ByteRange;

// Each test in a process of its own, since handlers are the process's. What it returns is its exit status.
int in_child(const std::function<int()>& body) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    _exit(body());
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

struct Memory {
  explicit Memory(std::size_t size) : bytes(size) {
    at = static_cast<char*>(mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    for (std::size_t i = 0; i < size; i += kPage) at[i] = static_cast<char>(i / kPage);
  }
  ByteRange range() const { return ByteRange::of(at, bytes); }
  bool close() const {
    const char* why = nullptr;
    return close_until_touched(range(), why);
  }
  bool is_whole() const {
    for (std::size_t i = 0; i < bytes; i += kPage)
      if (at[i] != static_cast<char>(i / kPage)) return false;
    return true;
  }
  char* at;
  std::size_t bytes;
};

void touch(volatile char* at) { *at = *at; }

TEST(TouchTrap, TheFirstTouchOpensAUnitAndTheRestStaysClosed) {
  EXPECT_EQ(in_child([] {
    const Memory memory(16 * kSmallTrapUnit);
    if (!memory.close()) return 1;
    const std::uint32_t units = trap_counts().marked;  // one more where the memory begins inside a unit
    if (units < 16 || units > 17) return 2;
    touch(memory.at + 3 * kSmallTrapUnit);
    if (trap_counts().marked != units - 1 || trap_counts().faults != 1) return 3;
    if (!memory.is_whole()) return 4;
    return trap_counts().marked == 0 && trap_counts().faults == units && trap_counts().passed_on == 0 ? 0 : 5;
  }), 0);
}

TEST(TouchTrap, LargeMemoryHasLargeUnits) {
  EXPECT_EQ(in_child([] {
    const Memory memory(8 * kTrapUnit);
    if (!memory.close()) return 1;
    const std::uint32_t units = trap_counts().marked;
    return units >= 8 && units <= 9 && memory.is_whole() && trap_counts().faults == units ? 0 : 2;
  }), 0);
}

TEST(TouchTrap, ATeamFaultsOnTheSameUnits) {
  EXPECT_EQ(in_child([] {
    for (int round = 0; round < 20; ++round) {
      const Memory memory(4 * kTrapUnit);
      if (!memory.close()) return 1;
      std::atomic<int> wrong{0};
      std::vector<std::thread> team;
      for (int i = 0; i < 8; ++i) team.emplace_back([&] { wrong += !memory.is_whole(); });
      for (std::thread& one : team) one.join();
      if (wrong != 0 || trap_counts().marked != 0 || trap_counts().passed_on != 0) return 2;
      munmap(memory.at, memory.bytes);
    }
    return 0;
  }), 0);
}

TEST(TouchTrap, WhatNobodyTouchesIsOpenedByTheRuntimeAndBeforeAFork) {
  EXPECT_EQ(in_child([] {
    const Memory memory(4 * kTrapUnit), other(kTrapUnit);
    if (!memory.close() || !other.close()) return 1;
    open_marks(other.range());
    if (write(-1, other.at, 1) != -1 || errno != EBADF) return 2;
    int ends[2];
    if (pipe(ends) != 0) return 3;
    if (write(ends[1], memory.at, 1) != -1 || errno != EFAULT) return 4;  // what the page says of system calls
    const pid_t child = fork();
    if (child == 0) _exit(write(ends[1], memory.at, 1) == 1 && trap_counts().faults == 0 ? 0 : 1);
    int status = -1;
    waitpid(child, &status, 0);
    if (status != 0 || write(ends[1], memory.at, 1) != 1) return 5;
    if (!memory.close()) return 6;
    open_marks();
    return memory.is_whole() && trap_counts().faults == 0 && trap_counts().marked == 0 ? 0 : 7;
  }), 0);
}

char* volatile nowhere = reinterpret_cast<char*>(64);
sigjmp_buf back;
std::atomic<int> handled{0};
char* faulted;
int flags_seen;

void jump_back(int, siginfo_t* info, void*) {
  ++handled;
  faulted = static_cast<char*>(info->si_addr);
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  flags_seen = sigismember(&mask, SIGUSR1) + 2 * sigismember(&mask, SIGSEGV) + 4 * sigismember(&mask, SIGUSR2);
  siglongjmp(back, 1);
}
void plain_back(int) {
  ++handled;
  siglongjmp(back, 1);
}

void install(void (*handler)(int, siginfo_t*, void*), int flags) {
  struct sigaction action = {};
  action.sa_sigaction = handler;
  action.sa_flags = flags;
  sigaddset(&action.sa_mask, SIGUSR1);
  sigaction(SIGSEGV, &action, nullptr);
}

TEST(TouchTrap, TheProgramsHandlerGetsItsOwnFaultsWithItsOwnMask) {
  EXPECT_EQ(in_child([] {
    install(jump_back, SA_SIGINFO);
    const Memory memory(kTrapUnit), guard(kPage);
    mprotect(guard.at, kPage, PROT_NONE);
    if (!memory.close()) return 1;
    for (int i = 0; i < 5; ++i)  // the same frame each time
      if (sigsetjmp(back, 1) == 0) guard.at[7] = 1;
    if (handled != 5 || faulted != guard.at + 7 || flags_seen != 3) return 2;
    if (sigsetjmp(back, 1) == 0) *nowhere = 1;
    return handled == 6 && memory.is_whole() && handled == 6 ? 0 : 3;
  }), 0);
  EXPECT_EQ(in_child([] {
    struct sigaction action = {};
    action.sa_handler = plain_back;
    action.sa_flags = SA_NODEFER;
    sigaction(SIGSEGV, &action, nullptr);
    const Memory memory(kTrapUnit);
    if (!memory.close()) return 1;
    if (sigsetjmp(back, 1) == 0) *nowhere = 1;
    return handled == 1 && memory.is_whole() ? 0 : 2;
  }), 0);
}

TEST(TouchTrap, WithoutAHandlerAFaultKillsAsEver) {
  EXPECT_EQ(in_child([] {
    signal(SIGSEGV, SIG_DFL);
    const Memory memory(kTrapUnit);
    if (!memory.close()) return 1;
    *nowhere = 1;
    return 2;
  }), -SIGSEGV);
  EXPECT_EQ(in_child([] {
    signal(SIGSEGV, SIG_DFL);
    const Memory memory(kTrapUnit);
    if (!memory.close()) return 1;
    raise(SIGSEGV);
    return 2;
  }), -SIGSEGV);
}

struct sigaction covered;
void cover(int signal, siginfo_t* info, void* context) {
  ++handled;
  covered.sa_sigaction(signal, info, context);
}

TEST(TouchTrap, NothingIsClosedBehindALaterHandler) {
  EXPECT_EQ(in_child([] {
    const Memory memory(kTrapUnit), other(kTrapUnit);
    if (!memory.close()) return 1;
    sigaction(SIGSEGV, nullptr, &covered);
    install(cover, SA_SIGINFO);
    if (!memory.is_whole() || handled == 0) return 2;  // it passes on what is not its own
    if (other.close()) return 3;
    signal(SIGSEGV, SIG_DFL);  // it goes again
    return other.close() && other.is_whole() ? 0 : 4;
  }), 0);
}

TEST(TouchTrap, WhatCannotBeDoneSafelyIsNotDone) {
  EXPECT_EQ(in_child([] {
    const Memory memory(kTrapUnit);
    mprotect(memory.at, memory.bytes, PROT_READ);
    if (memory.close()) return 1;
    mprotect(memory.at, memory.bytes, PROT_READ | PROT_WRITE);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGSEGV);
    pthread_sigmask(SIG_BLOCK, &set, nullptr);
    if (memory.close()) return 2;
    pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
    char here;
    const char* why = nullptr;
    if (close_until_touched(whole_pages({reinterpret_cast<std::uint64_t>(&here) - 4 * kPage,
                                         reinterpret_cast<std::uint64_t>(&here) + 4 * kPage}), why))
      return 3;
    return memory.close() && memory.is_whole() ? 0 : 4;
  }), 0);
}

TEST(TouchTrap, MemoryThatGoesAwayUnderAMarkDoesNoHarm) {
  EXPECT_EQ(in_child([] {
    const Memory memory(4 * kTrapUnit);
    if (!memory.close()) return 1;
    // A hole in a unit, and other rights where another one was.
    munmap(memory.at + kTrapUnit + 16 * kPage, 4 * kPage);
    char* const fixed = memory.at + 3 * kTrapUnit - kTrapUnit / 2;
    if (mmap(fixed, kTrapUnit, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != fixed) return 2;
    touch(memory.at + kTrapUnit);
    if (memory.at[kTrapUnit + 30 * kPage] != static_cast<char>(kTrapUnit / kPage + 30)) return 3;
    open_marks();
    install(jump_back, SA_SIGINFO);
    if (fixed[5] != 0) return 4;
    // Still not to be written, wherever units begin.
    const std::uint64_t begin = (reinterpret_cast<std::uint64_t>(fixed) + kTrapUnit - 1) / kTrapUnit * kTrapUnit;
    if (begin < reinterpret_cast<std::uint64_t>(fixed) + kTrapUnit) {
      struct sigaction now = {};
      sigaction(SIGSEGV, nullptr, &now);
      if (sigsetjmp(back, 1) == 0) *reinterpret_cast<volatile char*>(begin) = 1;
      if (handled != 1) return 5;
    }
    return trap_counts().marked == 0 ? 0 : 6;
  }), 0);
}

TEST(TouchTrap, ClosedMemoryThatIsMovedIsOpenedWhereItIs) {
  EXPECT_EQ(in_child([] {
    Memory memory(kSmallTrapUnit * 4);
    if (!memory.close()) return 1;
    char* room = static_cast<char*>(mmap(nullptr, memory.bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    void* moved = mremap(memory.at, memory.bytes, memory.bytes, MREMAP_MAYMOVE | MREMAP_FIXED, room);
    if (moved == MAP_FAILED) return errno == EFAULT ? 0 : 2;  // it was several mappings
    memory.at = static_cast<char*>(moved);
    return memory.is_whole() ? 0 : 3;
  }), 0);
}

TEST(TouchTrap, ClosedMemoryThatIsMovedIsOpenedThoughOtherMemoryHasCome) {
  EXPECT_EQ(in_child([] {
    Memory memory(kSmallTrapUnit * 4);
    if (!memory.close()) return 1;
    char* room = static_cast<char*>(mmap(nullptr, memory.bytes + 2 * kPage, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    void* moved = mremap(memory.at, memory.bytes, memory.bytes, MREMAP_MAYMOVE | MREMAP_FIXED, room + kPage);
    if (moved == MAP_FAILED) return errno == EFAULT ? 0 : 2;  // it was several mappings
    constexpr int kThere = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE;
    if (mmap(memory.at, memory.bytes, PROT_READ | PROT_WRITE, kThere, -1, 0) != memory.at) return 4;
    memory.at = static_cast<char*>(moved);
    return memory.is_whole() ? 0 : 3;
  }), 0);
}

TEST(TouchTrap, AHundredThousandMarksLeaveMappingsForTheProgram) {
  EXPECT_EQ(in_child([] {
    constexpr std::size_t kMany = 100'000;
    const Memory memory(kMany * 2 * kPage);
    std::uint32_t refused = 0;
    for (std::size_t i = 0; i < kMany; ++i) {
      const std::uint64_t begin = memory.range().begin + 2 * i * kPage;
      const char* why = nullptr;
      refused += !close_until_touched({begin, begin + kPage}, why);
    }
    if (refused != kMany - kMostMarks || trap_counts().marked != kMostMarks) return 1;
    if (!memory.is_whole() || trap_counts().marked != 0) return 2;
    const char* why = nullptr;
    if (!close_until_touched(memory.range(), why)) return 3;
    open_marks();
    return trap_counts().marked == 0 && memory.is_whole() ? 0 : 4;
  }), 0);
}

}  // namespace
}  // namespace hearth::memory
