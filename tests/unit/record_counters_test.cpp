// The recorder's counters in a program that closes descriptors which it does not know.
//
// A machine without hardware counters has software ones, which are files of the same kind: perf_event_open() is answered
// with those.
#include "record/counters.h"

#include <cerrno>
#include <cstdarg>
#include <cstdlib>
#include <cstring>

#include <dlfcn.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <gtest/gtest.h>

extern "C" long syscall(long number, ...) noexcept {
  static auto* const next = reinterpret_cast<long (*)(long, ...)>(dlsym(RTLD_NEXT, "syscall"));
  long a[6];
  va_list list;
  va_start(list, number);
  for (long& argument : a) argument = va_arg(list, long);
  va_end(list);
  if (number == SYS_perf_event_open) {
    perf_event_attr what = *reinterpret_cast<const perf_event_attr*>(a[0]);
    what.type = PERF_TYPE_SOFTWARE;
    what.config = PERF_COUNT_SW_TASK_CLOCK;
    return next(number, &what, a[1], a[2], a[3], a[4]);
  }
  return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

namespace hearth::record {
namespace {

constexpr int kFirst = 3, kMost = 64;

class CountersTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (int file = kFirst; file < kMost; ++file) was_open_[file] = fcntl(file, F_GETFD) >= 0;
    if (!counters_.open())
      GTEST_SKIP() << "perf_event_open is refused, also for software events: " << std::strerror(errno);
  }
  void TearDown() override { counters_.close(); }

  bool is_of_counters(int file) const { return !was_open_[file] && fcntl(file, F_GETFD) >= 0; }

  Counters counters_;
  bool was_open_[kMost] = {};
};

TEST_F(CountersTest, CountTheThreadsWork) {
  std::uint64_t before[kCounters], after[kCounters];
  counters_.read(before);
  for (int i = 0; i < 10'000'000; ++i) asm volatile("");
  counters_.read(after);
  for (int i = 0; i < kCounters; ++i) EXPECT_GT(after[i], before[i]);
}

TEST_F(CountersTest, AFileThatTheProgramOpenedOnTheirNumbersIsLeftAlone) {
  char path[] = "/tmp/hearth_counters_XXXXXX";
  const int own = mkstemp(path);
  ASSERT_GE(own, 0);
  unlink(path);
  ASSERT_EQ(write(own, "the program's bytes, and enough of them", 39), 39);
  ASSERT_EQ(lseek(own, 0, SEEK_SET), 0);

  int taken = 0;
  bool ours[kMost] = {};
  for (int file = kFirst; file < kMost; ++file) {
    if (file == own || !is_of_counters(file)) continue;
    ASSERT_EQ(dup2(own, file), file);
    ours[file] = true;
    ++taken;
  }
  ASSERT_EQ(taken, kCounters);

  std::uint64_t values[kCounters] = {1, 1, 1};
  counters_.read(values);
  for (std::uint64_t value : values) EXPECT_EQ(value, 0u);
  EXPECT_EQ(lseek(own, 0, SEEK_CUR), 0) << "the program's file was read";
  counters_.close();
  for (int file = kFirst; file < kMost; ++file) {
    if (!ours[file]) continue;
    EXPECT_GE(fcntl(file, F_GETFD), 0) << "the program's descriptor " << file << " was closed";
    close(file);
  }
  close(own);
}

}  // namespace
}  // namespace hearth::record
