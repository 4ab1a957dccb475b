// The inbox of a location: first in, first out, whoever may not run a task steps over it; and what it counts.
#include "runtime/locality/inbox.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "policy/tuning.h"
#include "runtime/state/task.h"

namespace hearth::rt {
namespace {

constexpr auto kAny = [](const Task*) { return true; };

std::unique_ptr<Task[]> make_tasks(std::size_t count) { return std::unique_ptr<Task[]>(new Task[count]); }

TEST(Inbox, GivesTheOldestFirst) {
  constexpr std::size_t kCount = 1000;  // the ring grows on the way
  Inbox inbox;
  const auto tasks = make_tasks(kCount);
  for (std::size_t i = 0; i < kCount; ++i) ASSERT_TRUE(inbox.put(&tasks[i], true));
  EXPECT_EQ(inbox.size(), kCount);
  for (std::size_t i = 0; i < kCount; ++i) EXPECT_EQ(inbox.take(kAny), &tasks[i]);
  EXPECT_EQ(inbox.take(kAny), nullptr);
  EXPECT_EQ(inbox.size(), 0u);
}

TEST(Inbox, WhoeverMayNotRunATaskStepsOverItAndTheOrderStays) {
  Inbox inbox;
  const auto tasks = make_tasks(6);
  for (std::size_t i = 0; i < 6; ++i) ASSERT_TRUE(inbox.put(&tasks[i], true));
  EXPECT_EQ(inbox.take([&](const Task* task) { return task == &tasks[3]; }), &tasks[3]);
  EXPECT_EQ(inbox.take([](const Task*) { return false; }), nullptr);
  EXPECT_EQ(inbox.size(), 5u);
  for (const std::size_t i : {0u, 1u, 2u, 4u, 5u}) EXPECT_EQ(inbox.take(kAny), &tasks[i]);
}

TEST(Inbox, GrowsWhileItsOldestEntryStandsInTheMiddle) {
  Inbox inbox;
  const auto tasks = make_tasks(1000);
  std::size_t put = 0, taken = 0;
  for (; put < 200; ++put) ASSERT_TRUE(inbox.put(&tasks[put], true));
  for (; taken < 150; ++taken) ASSERT_EQ(inbox.take(kAny), &tasks[taken]);
  for (; put < 1000; ++put) ASSERT_TRUE(inbox.put(&tasks[put], true));
  for (; taken < 1000; ++taken) ASSERT_EQ(inbox.take(kAny), &tasks[taken]);
}

TEST(Inbox, RefusesMoreTasksThanItsMost) {
  Inbox inbox;
  Task task;
  for (std::uint32_t i = 0; i < tuning::kInboxRoom; ++i) ASSERT_TRUE(inbox.put(&task, true));
  EXPECT_FALSE(inbox.put(&task, true));
  EXPECT_EQ(inbox.size(), tuning::kInboxRoom);
  EXPECT_EQ(inbox.take(kAny), &task);
  EXPECT_TRUE(inbox.put(&task, true));
}

TEST(Inbox, CountsWhatIsDealtReleasedAndTakenByOthers) {
  Inbox inbox;
  const auto tasks = make_tasks(4);
  for (std::size_t i = 0; i < 3; ++i) inbox.put(&tasks[i], true);
  EXPECT_FALSE(inbox.share().released);
  inbox.put(&tasks[3], false);
  EXPECT_EQ(inbox.created(), 3u);
  EXPECT_TRUE(inbox.share().released);
  EXPECT_EQ(inbox.share().dealt, 3);
  inbox.begin_dealing(false);
  EXPECT_EQ(inbox.share().dealt, 0);
  EXPECT_EQ(inbox.share().before, 3);
  EXPECT_EQ(inbox.created(), 3u) << "ever, not in this dealing";
  while (inbox.take(kAny) != nullptr) {
  }
}

TEST(Inbox, ThreadsThatPutAndTakeLoseNothing) {
  constexpr std::size_t kThreads = 4, kEach = 8000;
  Inbox inbox;
  const auto tasks = make_tasks(kThreads * kEach);
  std::atomic<std::size_t> taken{0};
  const auto take_one = [&] {
    Task* task = inbox.take(kAny);
    if (task == nullptr) return false;
    EXPECT_EQ(task->data, nullptr) << "taken twice";
    task->data = task;
    taken.fetch_add(1, std::memory_order_relaxed);
    return true;
  };
  std::vector<std::thread> crowd;
  for (std::size_t t = 0; t < kThreads; ++t)
    crowd.emplace_back([&, t] {
      for (std::size_t i = 0; i < kEach; ++i) {
        while (!inbox.put(&tasks[t * kEach + i], i % 2 == 0)) take_one();
        if (i % 3 != 0) take_one();
      }
    });
  for (auto& thread : crowd) thread.join();
  while (take_one()) {
  }
  EXPECT_EQ(taken.load(), kThreads * kEach);
}

}  // namespace
}  // namespace hearth::rt
