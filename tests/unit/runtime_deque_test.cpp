// The deque: last in first out for its owner, first in first out for thieves, each task once.
#include "runtime/state/deque.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include <sys/resource.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "runtime/state/task.h"

namespace hearth::rt {
namespace {

constexpr auto kAny = [](const Task*) { return true; };
constexpr auto kNone = [](const Task*) { return false; };

class Tasks {
 public:
  explicit Tasks(std::size_t count) : tasks_(new Task[count]), taken_(new std::atomic<int>[count]()), count_(count) {}
  Task* at(std::size_t i) { return &tasks_[i]; }
  std::size_t number(const Task* task) const { return static_cast<std::size_t>(task - tasks_.get()); }
  void take(const Task* task) { taken_[number(task)].fetch_add(1, std::memory_order_relaxed); }
  void expect_each_taken_once() const {
    for (std::size_t i = 0; i < count_; ++i) ASSERT_EQ(taken_[i].load(), 1) << "task " << i;
  }

 private:
  std::unique_ptr<Task[]> tasks_;
  std::unique_ptr<std::atomic<int>[]> taken_;
  std::size_t count_;
};

Task* steal(Deque& deque) {
  bool lost = false;
  return deque.steal_if(kAny, lost);
}

TEST(Deque, AnEmptyOneGivesNothingToAnybody) {
  Deque deque;
  EXPECT_EQ(deque.pop_if(kAny), nullptr);
  EXPECT_EQ(steal(deque), nullptr);
  EXPECT_TRUE(deque.looks_empty());
  EXPECT_EQ(deque.looks_long(), 0u);
  EXPECT_EQ(deque.depth(1), 0);
}

TEST(Deque, TheOwnerTakesTheNewestAndAThiefTheOldest) {
  Deque deque;
  Tasks tasks(4);
  for (std::size_t i = 0; i < 4; ++i) ASSERT_TRUE(deque.push(tasks.at(i)));
  EXPECT_EQ(deque.looks_long(), 4u);
  EXPECT_EQ(steal(deque), tasks.at(0));
  EXPECT_EQ(deque.pop_if(kAny), tasks.at(3));
  EXPECT_EQ(steal(deque), tasks.at(1));
  EXPECT_EQ(deque.pop_if(kAny), tasks.at(2));
  EXPECT_EQ(deque.pop_if(kAny), nullptr);
  EXPECT_TRUE(deque.looks_empty());
}

TEST(Deque, WhatIsRefusedStaysWhereItIs) {
  Deque deque;
  Tasks tasks(2);
  ASSERT_TRUE(deque.push(tasks.at(0)));
  ASSERT_TRUE(deque.push(tasks.at(1)));
  EXPECT_EQ(deque.pop_if(kNone), nullptr);
  bool lost = false;
  EXPECT_EQ(deque.steal_if(kNone, lost), nullptr);
  EXPECT_FALSE(lost);
  EXPECT_EQ(deque.looks_long(), 2u);
  const auto only_first = [&tasks](const Task* task) { return task == tasks.at(0); };
  EXPECT_EQ(deque.pop_if(only_first), nullptr) << "the owner looks at the newest alone";
  EXPECT_EQ(deque.steal_if(only_first, lost), tasks.at(0));
  EXPECT_EQ(deque.pop_if(kAny), tasks.at(1));
}

TEST(Deque, GrowsAndKeepsTheOrder) {
  constexpr std::size_t kCount = 5000;  // several rings
  Deque deque;
  Tasks tasks(kCount);
  for (std::size_t i = 0; i < kCount; ++i) ASSERT_TRUE(deque.push(tasks.at(i)));
  EXPECT_EQ(deque.looks_long(), kCount);
  for (std::size_t i = 0; i < kCount / 2; ++i) ASSERT_EQ(steal(deque), tasks.at(i));
  for (std::size_t i = kCount; i > kCount / 2; --i) ASSERT_EQ(deque.pop_if(kAny), tasks.at(i - 1));
  EXPECT_EQ(deque.pop_if(kAny), nullptr);
}

TEST(Deque, GoesRoundItsRingWithoutGrowing) {
  Deque deque;
  Tasks tasks(100);
  for (int round = 0; round < 1000; ++round) {
    for (std::size_t i = 0; i < 100; ++i) ASSERT_TRUE(deque.push(tasks.at(i)));
    for (std::size_t i = 0; i < 50; ++i) ASSERT_EQ(steal(deque), tasks.at(i));
    for (std::size_t i = 100; i > 50; --i) ASSERT_EQ(deque.pop_if(kAny), tasks.at(i - 1));
  }
  EXPECT_EQ(deque.depth(1), 0);
}

TEST(Deque, DepthIsNeverTooLowAndExactWhenItLooksHigh) {
  Deque deque;
  Tasks tasks(10);
  for (std::size_t i = 0; i < 10; ++i) ASSERT_TRUE(deque.push(tasks.at(i)));
  for (int i = 0; i < 4; ++i) ASSERT_NE(steal(deque), nullptr);
  EXPECT_EQ(deque.depth(100), 10) << "not interesting: the thieves' line is not read";
  EXPECT_EQ(deque.depth(10), 6);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
[[noreturn]] void push_until_memory_is_refused() {
  Deque deque;
  Task task;
  rlimit none;
  none.rlim_cur = none.rlim_max = 1;
  setrlimit(RLIMIT_AS, &none);
  std::uint32_t pushed = 0, popped = 0;
  while (pushed < 100'000'000 && deque.push(&task)) ++pushed;
  while (deque.pop_if(kAny) == &task) ++popped;
  _exit(pushed < 100'000'000 && popped == pushed ? 0 : 1);
}
TEST(DequeDeathTest, ATaskThatNoMemoryIsLeftForIsRefusedAndAllOthersStay) {
  EXPECT_EXIT(push_until_memory_is_refused(), testing::ExitedWithCode(0), "");
}
#endif

// The owner pushes in bursts and pops some; thieves take what they can.
TEST(Deque, OwnerAndThievesTakeEachTaskOnce) {
  constexpr std::size_t kCount = 200'000;
  constexpr int kThieves = 3;
  Deque deque;
  Tasks tasks(kCount);
  std::atomic<bool> over{false};
  std::vector<std::thread> thieves;
  for (int t = 0; t < kThieves; ++t)
    thieves.emplace_back([&] {
      for (;;) {
        const bool last = over.load(std::memory_order_acquire);
        if (const Task* task = steal(deque))
          tasks.take(task);
        else if (last)
          return;
      }
    });
  for (std::size_t i = 0; i < kCount;) {
    const std::size_t burst = i % 700 + 1;
    for (std::size_t k = 0; k < burst && i < kCount; ++k) ASSERT_TRUE(deque.push(tasks.at(i++)));
    for (std::size_t k = 0; k < burst / 2; ++k)
      if (const Task* task = deque.pop_if(kAny)) tasks.take(task);
  }
  while (const Task* task = deque.pop_if(kAny)) tasks.take(task);
  over.store(true, std::memory_order_release);
  for (auto& thief : thieves) thief.join();
  tasks.expect_each_taken_once();
}

// One task at a time: each time owner and thieves race for the last entry.
TEST(Deque, TheLastTaskIsTakenByOne) {
  constexpr std::size_t kCount = 100'000;
  Deque deque;
  Tasks tasks(kCount);
  std::atomic<bool> over{false};
  std::thread thief([&] {
    while (!over.load(std::memory_order_acquire))
      if (const Task* task = steal(deque)) tasks.take(task);
  });
  for (std::size_t i = 0; i < kCount; ++i) {
    ASSERT_TRUE(deque.push(tasks.at(i)));
    if (const Task* task = deque.pop_if(kAny)) tasks.take(task);
  }
  over.store(true, std::memory_order_release);
  thief.join();
  while (const Task* task = deque.pop_if(kAny)) tasks.take(task);
  tasks.expect_each_taken_once();
}

}  // namespace
}  // namespace hearth::rt
