// The team's shared queue: by priority, then by age; whoever takes may refuse.
#include "runtime/task/shared_queue.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/state/task.h"

namespace hearth::rt {
namespace {

struct Queue : SharedQueue {
  ~Queue() {
    std::free(heap);
    std::free(age);
  }
  Task* take() {
    return take_from_shared_queue(*this, [](const Task*) { return true; });
  }
};

std::vector<std::unique_ptr<Task>> make_tasks(std::size_t count) {
  std::vector<std::unique_ptr<Task>> tasks;
  for (std::size_t i = 0; i < count; ++i) tasks.push_back(std::make_unique<Task>());
  return tasks;
}

TEST(SharedQueue, AnEmptyQueueGivesNothing) {
  Queue queue;
  EXPECT_EQ(queue.take(), nullptr);
}

TEST(SharedQueue, TasksOfOnePriorityComeInTheOrderOfTheirArrival) {
  Queue queue;
  const auto tasks = make_tasks(1000);  // the heap grows on the way
  for (const auto& task : tasks) push_to_shared_queue(queue, task.get());
  EXPECT_EQ(queue.size.load(), 1000u);
  for (const auto& task : tasks) EXPECT_EQ(queue.take(), task.get());
  EXPECT_EQ(queue.size.load(), 0u);
}

TEST(SharedQueue, APriorityGoesBeforeAge) {
  Queue queue;
  const auto tasks = make_tasks(500);
  std::mt19937 random(1);
  std::vector<Task*> expected;
  for (const auto& task : tasks) {
    task->priority = static_cast<std::uint16_t>(random() % 5);
    expected.push_back(task.get());
    push_to_shared_queue(queue, task.get());
  }
  std::stable_sort(expected.begin(), expected.end(),
                   [](const Task* a, const Task* b) { return a->priority > b->priority; });
  for (Task* task : expected) EXPECT_EQ(queue.take(), task);
}

TEST(SharedQueue, WhatIsRefusedStaysAndTheBestOfTheOthersIsTaken) {
  Queue queue;
  const auto tasks = make_tasks(100);
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    tasks[i]->priority = static_cast<std::uint16_t>(i % 7);
    tasks[i]->depth.store(static_cast<std::uint32_t>(i));
    push_to_shared_queue(queue, tasks[i].get());
  }
  const auto odd = [](const Task* task) { return task->depth.load() % 2 == 1; };
  std::uint32_t before = UINT32_MAX;
  for (int i = 0; i < 50; ++i) {
    Task* task = take_from_shared_queue(queue, odd);
    ASSERT_NE(task, nullptr);
    EXPECT_TRUE(odd(task));
    EXPECT_LE(task->priority, before);
    before = task->priority;
  }
  EXPECT_EQ(take_from_shared_queue(queue, odd), nullptr);
  EXPECT_EQ(queue.size.load(), 50u);
}

TEST(SharedQueue, ThreadsThatPutAndTakeLoseNothing) {
  constexpr std::size_t kThreads = 4, kEach = 5000;
  Queue queue;
  const auto tasks = make_tasks(kThreads * kEach);
  std::atomic<std::size_t> taken{0};
  std::vector<std::thread> crowd;
  for (std::size_t t = 0; t < kThreads; ++t)
    crowd.emplace_back([&, t] {
      for (std::size_t i = 0; i < kEach; ++i) {
        Task* task = tasks[t * kEach + i].get();
        task->priority = static_cast<std::uint16_t>(i % 3);
        push_to_shared_queue(queue, task);
        if (i % 2 == 0) continue;
        if (Task* other = queue.take()) {
          other->data = other;
          taken.fetch_add(1);
        }
      }
    });
  for (auto& thread : crowd) thread.join();
  while (Task* task = queue.take()) {
    EXPECT_EQ(task->data, nullptr) << "taken twice";
    task->data = task;
    taken.fetch_add(1);
  }
  EXPECT_EQ(taken.load(), tasks.size());
}

TEST(SharedQueueDeathTest, AnEntryIsRemovedUnderTheLockOnly) {
  Queue queue;
  Task task;
  push_to_shared_queue(queue, &task);
  EXPECT_DEATH(remove_from_shared_queue(queue, 0), "without the lock");
}

}  // namespace
}  // namespace hearth::rt
