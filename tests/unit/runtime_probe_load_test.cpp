// Loads that may fault end with 0, and heap memory that another thread gives back meanwhile is read without a crash.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <thread>

#include <malloc.h>
#include <sys/mman.h>

#include "runtime/locality/probe_word.h"
#include "runtime/state/thread.h"
#include "runtime/tools/crash.h"
#include "runtime/tools/probe_load.h"

namespace hearth::rt {
namespace {

class ProbeLoad : public testing::Test {
 protected:
  void SetUp() override {
    install_crash_handlers();
    if (!handles_crashes(SIGSEGV)) GTEST_SKIP() << "a sanitizer has the handlers";
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    ASSERT_TRUE(catches_faults());
  }
};

TEST_F(ProbeLoad, GivesTheWordOrZero) {
  const std::uint64_t word = 0x1234567890abcdef;
  EXPECT_EQ(probe_load(reinterpret_cast<std::uintptr_t>(&word)), word);
  void* const nothing = mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(nothing, MAP_FAILED);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(probe_load(reinterpret_cast<std::uintptr_t>(nothing)), 0u);
  munmap(nothing, 4096);
}

TEST_F(ProbeLoad, IsNotForProgramsWithAHandlerOfTheirOwn) {
  struct sigaction own = {}, before = {};
  own.sa_handler = [](int) { _exit(1); };
  ASSERT_EQ(sigaction(SIGSEGV, &own, &before), 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  EXPECT_FALSE(catches_faults());
  ASSERT_EQ(sigaction(SIGSEGV, &before, nullptr), 0);
}

TEST_F(ProbeLoad, TheHeapMayBecomeShorterMeanwhile) {
  ASSERT_EQ(mallopt(M_MMAP_THRESHOLD, 1 << 30), 1);
  ASSERT_EQ(mallopt(M_TRIM_THRESHOLD, 0), 1);
  std::atomic<std::uint64_t> named{0};
  std::atomic<bool> over{false};
  std::thread reader([&] {
    Thread* self = Thread::current();
    while (!over.load(std::memory_order_relaxed))
      if (const std::uint64_t address = named.load(std::memory_order_relaxed)) program_word(self, address);
  });
  for (int i = 0; i < 1000; ++i) {
    constexpr std::size_t kBytes = 4 << 20;
    auto* const block = static_cast<char*>(std::malloc(kBytes));
    named.store((reinterpret_cast<std::uintptr_t>(block) + kBytes / 2) / 8 * 8, std::memory_order_relaxed);
    for (std::size_t at = 0; at < kBytes; at += 4096) __atomic_store_n(block + at, 1, __ATOMIC_RELAXED);
    std::free(block);
  }
  over.store(true, std::memory_order_relaxed);
  reader.join();
}

}  // namespace
}  // namespace hearth::rt
