// A budget of threads that several processes share: nobody has what another one has, whoever ends how and when.
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/thread_budget.h"

namespace hearth {
namespace {

constexpr std::int64_t kStart = 1'000'000'000;

std::uint64_t dead_owner = 0;
bool lives(std::uint64_t owner) { return owner != 0 && owner != dead_owner; }

class Budget : public testing::Test {
 protected:
  void SetUp() override { dead_owner = 0; }
  void join(ThreadBudget& who, std::uint32_t pid, std::uint32_t size = 4) {
    ASSERT_TRUE(who.join(page.get(), size, budget_owner(pid, 7), lives));
  }
  std::uint32_t region(ThreadBudget& who, std::uint32_t want, std::int64_t now) {
    const std::uint32_t got = who.take(want, now);
    who.give(got, now);
    return got;
  }
  std::unique_ptr<BudgetPage> page = std::make_unique<BudgetPage>();
  ThreadBudget a, b, c;
};

TEST_F(Budget, AProcessAloneGetsAll) {
  join(a, 1);
  EXPECT_EQ(a.take(8, kStart), 4u);
  EXPECT_EQ(a.take(8, kStart), 0u) << "a region inside";
  a.give(0, kStart);
  a.give(4, kStart);
  EXPECT_EQ(region(a, 3, kStart), 3u);
  EXPECT_EQ(a.held(), 4u) << "it keeps them while nobody wants them";
}

TEST_F(Budget, WhatARegionHasIsNeverTaken) {
  join(a, 1);
  join(b, 2);
  EXPECT_EQ(a.take(4, kStart), 4u);
  for (std::int64_t later = kStart; later < 100 * kStart; later += kStart) EXPECT_EQ(region(b, 4, later), 0u);
  EXPECT_EQ(a.in_use(), 4u);
}

TEST_F(Budget, WhoIsWantedGivesBackAtTheEndOfItsRegion) {
  join(a, 1);
  join(b, 2);
  EXPECT_EQ(a.take(4, kStart), 4u);
  EXPECT_EQ(b.take(4, kStart), 0u);
  a.give(4, kStart + 1);
  EXPECT_EQ(a.held(), 2u);
  b.give(0, kStart + 2);
  EXPECT_EQ(b.take(4, kStart + 3), 2u);
  EXPECT_EQ(a.take(4, kStart + 4), 2u) << "equal parts while both have regions";
}

TEST_F(Budget, WhatIsLeftOverGoesToTheFirst) {
  join(a, 1);
  join(b, 2);
  join(c, 3);
  EXPECT_EQ(a.take(4, kStart), 4u);
  b.take(4, kStart);
  c.take(4, kStart);
  a.give(4, kStart + 1);
  EXPECT_EQ(a.held(), 2u);
  b.give(0, kStart + 1);
  c.give(0, kStart + 1);
  EXPECT_EQ(b.take(4, kStart + 1), 1u);
  EXPECT_EQ(c.take(4, kStart + 1), 1u);
}

TEST_F(Budget, WhoHasHadNoRegionForAWhileLosesWhatItKept) {
  join(a, 1);
  join(b, 2);
  EXPECT_EQ(region(a, 4, kStart), 4u);
  const std::int64_t soon = kStart + ThreadBudget::kKeep / 2, late = kStart + 10 * ThreadBudget::kLook;
  EXPECT_EQ(region(b, 4, soon), 0u);
  EXPECT_EQ(b.take(4, late), 4u);
  EXPECT_EQ(a.take(4, late), 0u) << "it had four, and they are gone";
  a.give(0, late);
  b.give(4, late);
  EXPECT_EQ(a.take(4, late), 2u);
}

TEST_F(Budget, TheDeadLoseAll) {
  join(a, 1);
  join(b, 2);
  EXPECT_EQ(a.take(4, kStart), 4u);
  dead_owner = budget_owner(1, 7);
  EXPECT_EQ(b.take(4, kStart), 4u);
  EXPECT_EQ(page->slots[0].owner.load(), 0u);
}

TEST_F(Budget, WhoLeavesGivesAllBack) {
  join(a, 1);
  join(b, 2);
  a.take(4, kStart);
  a.leave();
  EXPECT_FALSE(a.joined());
  EXPECT_EQ(b.take(4, kStart), 4u);
  EXPECT_EQ(page->slots[0].owner.load(), 0u);
}

TEST_F(Budget, AnotherProgramInTheSameProcessBeginsAnew) {
  join(a, 1);
  a.take(4, kStart);
  a.forget();  // exec
  join(b, 1);
  EXPECT_EQ(page->slots_used.load(), 1u);
  EXPECT_EQ(b.take(4, kStart), 4u);
}

TEST_F(Budget, EachCountsOnItsOwnNumber) {
  join(a, 1, 2);
  join(b, 2, 6);
  EXPECT_EQ(b.take(6, kStart), 6u);
  EXPECT_EQ(a.take(2, kStart), 0u);
  b.give(6, kStart);
  EXPECT_LE(b.held(), 3u);
}

TEST_F(Budget, TheDeadMakeRoomForMoreProcesses) {
  std::vector<ThreadBudget> all(kBudgetSlots);
  for (std::uint32_t i = 0; i < kBudgetSlots; ++i) ASSERT_TRUE(all[i].join(page.get(), 4, budget_owner(i + 1, 7), lives));
  EXPECT_FALSE(a.join(page.get(), 4, budget_owner(5000, 7), lives));
  EXPECT_FALSE(a.joined());
  dead_owner = budget_owner(77, 7);
  EXPECT_TRUE(a.join(page.get(), 4, budget_owner(5000, 7), lives));
}

TEST_F(Budget, AnotherKindOfPageIsRefused) {
  page->magic = 12345;
  EXPECT_FALSE(a.join(page.get(), 4, budget_owner(1, 7), lives));
}

TEST_F(Budget, WhateverIsInThePageNobodyGetsMoreThanThereIs) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 50; ++round) {
    auto* words = reinterpret_cast<std::uint64_t*>(page.get());
    for (std::size_t i = 0; i < sizeof(BudgetPage) / 8; ++i) words[i] = random();
    page->magic = kBudgetMagic;
    if (!a.join(page.get(), 4, budget_owner(1, 7), lives)) page->slots[3].owner = 0;
    if (!a.joined() && !a.join(page.get(), 4, budget_owner(1, 7), lives)) continue;
    for (int i = 0; i < 20; ++i) EXPECT_LE(region(a, 9, static_cast<std::int64_t>(random() >> 1)), 4u);
  }
}

// Many at once. What all have in use is counted beside the budget.
TEST_F(Budget, ThreadsThatTakeAndGiveNeverHaveMoreThanThereIs) {
  constexpr std::uint32_t kSize = 6;
  std::atomic<std::uint32_t> used{0}, most{0};
  std::atomic<std::int64_t> clock{kStart};
  std::vector<std::thread> threads;
  for (std::uint32_t pid = 1; pid <= 6; ++pid)
    threads.emplace_back([&, pid] {
      ThreadBudget mine;
      std::mt19937 random(pid);
      for (int i = 0; i < 4000; ++i) {
        if (!mine.joined()) {
          ASSERT_TRUE(mine.join(page.get(), kSize, budget_owner(pid, 7), lives));
        }
        // Now and then much time has passed since this one's last region.
        const std::int64_t now = clock.fetch_add(random() % 8 == 0 ? ThreadBudget::kKeep : 1000);
        const std::uint32_t got = mine.take(1 + random() % 8, now);
        const std::uint32_t sum = used.fetch_add(got) + got;
        std::uint32_t before = most.load();
        while (before < sum && !most.compare_exchange_weak(before, sum)) {
        }
        if (random() % 4 == 0) std::this_thread::yield();
        used.fetch_sub(got);
        mine.give(got, now);
        if (random() % 64 == 0) mine.leave();
      }
      mine.leave();
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(most.load(), kSize);
  join(a, 99, kSize);
  EXPECT_EQ(a.take(kSize, clock), kSize) << "all came back";
}

std::int64_t monotonic() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

struct Family {
  BudgetPage page;
  std::atomic<std::uint32_t> in_use[8];
};

[[noreturn]] void take_and_give_for_ever(Family* shared, int number, std::uint32_t size) {
  ThreadBudget mine;
  std::mt19937 random(static_cast<unsigned>(getpid()));
  for (;;) {
    if (!mine.joined() &&
        !mine.join(&shared->page, size, budget_owner_now(static_cast<std::uint32_t>(getpid())), budget_owner_lives))
      _exit(1);
    const std::uint32_t got = mine.take(1 + random() % 8, monotonic());
    shared->in_use[number] = got;
    for (unsigned i = random() % 2000; i > 0; --i) __asm__ volatile("");
    shared->in_use[number] = 0;
    mine.give(got, monotonic());
    if (random() % 256 == 0) mine.leave();
  }
}

TEST(BudgetOfProcesses, KilledAtAnyTimeTheyTakeNothingAway) {
  constexpr std::uint32_t kSize = 5;
  constexpr int kProcesses = 5;
  void* memory = mmap(nullptr, sizeof(Family), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto* shared = new (memory) Family;
  pid_t pids[kProcesses];
  const auto begin = [&](int i) {
    shared->in_use[i] = 0;
    pids[i] = fork();
    ASSERT_GE(pids[i], 0);
    if (pids[i] == 0) take_and_give_for_ever(shared, i, kSize);
  };
  const auto end = [&](int i) {
    int status = 0;
    kill(pids[i], SIGKILL);
    waitpid(pids[i], &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status)) << "it has ended by itself";
  };
  for (int i = 0; i < kProcesses; ++i) begin(i);
  std::mt19937 random(3);
  for (int round = 0; round < 150; ++round) {
    usleep(random() % 2000);
    for (const pid_t pid : pids) kill(pid, SIGSTOP);
    for (const pid_t pid : pids) waitpid(pid, nullptr, WUNTRACED);
    std::uint32_t sum = 0;
    for (int i = 0; i < kProcesses; ++i) sum += shared->in_use[i];
    EXPECT_LE(sum, kSize);
    const int victim = static_cast<int>(random() % kProcesses);
    end(victim);
    begin(victim);
    for (const pid_t pid : pids) kill(pid, SIGCONT);
  }
  for (int i = 0; i < kProcesses; ++i) end(i);
  ThreadBudget last;
  ASSERT_TRUE(last.join(&shared->page, kSize, budget_owner_now(static_cast<std::uint32_t>(getpid())), budget_owner_lives));
  EXPECT_EQ(last.take(kSize, monotonic()), kSize);
  munmap(memory, sizeof(Family));
}

TEST(BudgetOwners, AProcessIsKnownByItsNumberAndItsStart) {
  const std::uint64_t mine = budget_owner_now(static_cast<std::uint32_t>(getpid()));
  EXPECT_GT(mine, kBudgetNobody);
  EXPECT_TRUE(budget_owner_lives(mine));
  EXPECT_FALSE(budget_owner_lives(mine - 1)) << "another start";
  const pid_t child = fork();
  if (child == 0) pause();
  const std::uint64_t other = budget_owner_now(static_cast<std::uint32_t>(child));
  EXPECT_TRUE(budget_owner_lives(other));
  kill(child, SIGKILL);
  siginfo_t info;
  waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT);
  EXPECT_FALSE(budget_owner_lives(other)) << "it waits for its parent only";
  waitpid(child, nullptr, 0);
  EXPECT_FALSE(budget_owner_lives(other));
}

class BudgetFile : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/hearth-budget-test-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    folder = name;
    path = folder + "/page";
  }
  void TearDown() override { std::filesystem::remove_all(folder); }
  void expect_refused(const std::string& said) {
    const char* why = "";
    EXPECT_EQ(map_budget_page(path.c_str(), why), nullptr);
    EXPECT_EQ(why, said);
  }
  std::string folder, path;
};

TEST_F(BudgetFile, IsSharedAndForItsOwnerOnly) {
  const char* why = "";
  BudgetPage* one = map_budget_page(path.c_str(), why);
  BudgetPage* two = map_budget_page(path.c_str(), why);
  ASSERT_TRUE(one != nullptr && two != nullptr) << why;
  one->tokens[4095] = 5;
  EXPECT_EQ(two->tokens[4095].load(), 5u);
  struct stat about;
  ASSERT_EQ(stat(path.c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777, 0600u);
  unmap_budget_page(one);
  unmap_budget_page(two);
}

TEST_F(BudgetFile, OtherThingsAreRefused) {
  std::filesystem::create_directory(path);
  expect_refused("cannot be opened");
  std::filesystem::remove(path);
  std::filesystem::create_symlink("/dev/null", path);
  expect_refused("cannot be opened");
  std::filesystem::remove(path);
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  expect_refused("is not a file");
  std::filesystem::remove(path);
  std::ofstream(path) << "a letter";
  ASSERT_EQ(chmod(path.c_str(), 0600), 0);
  expect_refused("is not a budget of threads");
  ASSERT_EQ(chmod(path.c_str(), 0640), 0);
  expect_refused("may be read or written by others");
  path = folder + "/none/page";
  expect_refused("cannot be opened");
}

}  // namespace
}  // namespace hearth
