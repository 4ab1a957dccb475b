// Task descriptors: size classes, lists that only their owner touches, and the way home of those that other
// threads free.
#include "runtime/state/slab.h"

#include <atomic>
#include <cstdint>
#include <set>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/state/task.h"
#include "runtime/state/thread.h"

namespace hearth::rt {
namespace {

// Runs `body` on a thread of the program that the runtime knows, and ends it.
template <class Body>
void on_another_thread(Body body) {
  std::thread([&body] { body(Thread::current()); }).join();
}

TEST(Slab, ADescriptorHasRoomForItsPayloadAndNoMoreThanItsClassGives) {
  Thread* self = Thread::current();
  for (int size_class = 0; size_class < Slab::kClasses; ++size_class) {
    const std::size_t most = Slab::payload_of(size_class);
    for (const std::size_t payload : {most, size_class == 0 ? std::size_t{0} : Slab::payload_of(size_class - 1) + 1}) {
      Task* task = allocate_task(self, payload);
      EXPECT_EQ(task->size_class, size_class) << payload;
      EXPECT_EQ(payload_bytes(*task), most);
      EXPECT_EQ(task->home, self);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(task) % kCacheLine, 0u);
      free_task(self, task);
    }
  }
}

TEST(Slab, APayloadBeyondAllClassesGetsMemoryOfItsOwn) {
  Thread* self = Thread::current();
  Task* task = allocate_task(self, Slab::payload_of(Slab::kClasses - 1) + 1);
  EXPECT_EQ(payload_bytes(*task), 0u);
  EXPECT_EQ(task->home, nullptr);
  free_task(self, task);
}

TEST(Slab, WhatItsOwnerFreesIsTheNextThatItGets) {
  Thread* self = Thread::current();
  Task* first = allocate_task(self, 10);
  Task* second = allocate_task(self, 10);
  EXPECT_NE(first, second);
  free_task(self, first);
  free_task(self, second);
  EXPECT_EQ(allocate_task(self, 10), second);
  EXPECT_EQ(allocate_task(self, 10), first);
  free_task(self, first);
  free_task(self, second);
}

TEST(Slab, DescriptorsInUseAreAllDifferent) {
  Thread* self = Thread::current();
  std::set<Task*> in_use;
  for (int i = 0; i < 5000; ++i)
    EXPECT_TRUE(in_use.insert(allocate_task(self, static_cast<std::size_t>(i % 2000))).second);
  for (Task* task : in_use) free_task(self, task);
}

TEST(Slab, AnotherThreadSendsDescriptorsHomeInBatches) {
  Thread* self = Thread::current();
  std::vector<Task*> tasks;
  for (int i = 0; i < Slab::kBatch + 1; ++i) tasks.push_back(allocate_task(self, 0));
  ASSERT_EQ(self->slab.returned.load(), nullptr);
  on_another_thread([&](Thread* other) {
    for (int i = 0; i < Slab::kBatch; ++i) free_task(other, tasks[static_cast<std::size_t>(i)]);
    EXPECT_EQ(other->slab.away_count, Slab::kBatch);
    EXPECT_EQ(other->slab.away_home, self);
    EXPECT_EQ(self->slab.returned.load(), nullptr) << "the batch is on its way when there is one more";
    free_task(other, tasks.back());
    EXPECT_EQ(other->slab.away_count, 1);
    EXPECT_NE(self->slab.returned.load(), nullptr);
    flush_away(other);
    EXPECT_EQ(other->slab.away_count, 0);
  });
  // All of them, as soon as the own list is empty.
  std::set<Task*> missing(tasks.begin(), tasks.end());
  std::vector<Task*> taken;
  while (!missing.empty() && taken.size() < 5000) {
    taken.push_back(allocate_task(self, 0));
    missing.erase(taken.back());
  }
  EXPECT_TRUE(missing.empty());
  for (Task* task : taken) free_task(self, task);
}

TEST(Slab, ABatchHasOneHome) {
  Thread* self = Thread::current();
  Task* mine = allocate_task(self, 0);
  on_another_thread([&](Thread* other) {
    Task* theirs = allocate_task(other, 0);
    on_another_thread([&](Thread* third) {
      free_task(third, mine);
      free_task(third, theirs);
      EXPECT_EQ(third->slab.away_home, other);
      EXPECT_EQ(third->slab.away_count, 1);
      EXPECT_NE(self->slab.returned.load(), nullptr) << "the one of another home has left";
    });
    EXPECT_EQ(other->slab.returned.load(), theirs) << "a thread that ends sends what it has";
  });
}

TEST(Slab, ThreadsFreeEachOthersDescriptorsWhileTheyAreMade) {
  constexpr int kThreads = 4, kRounds = 20000, kBoxes = 64;
  std::atomic<Task*> boxes[kBoxes] = {};
  std::vector<std::thread> crowd;
  for (int t = 0; t < kThreads; ++t)
    crowd.emplace_back([&, t] {
      Thread* self = Thread::current();
      for (int i = 0; i < kRounds; ++i) {
        Task* task = allocate_task(self, static_cast<std::size_t>(i % 900));
        task->data = task;
        Task* old = boxes[(i * 7 + t * 13) % kBoxes].exchange(task, std::memory_order_acq_rel);
        if (old == nullptr) continue;
        EXPECT_EQ(old->data, old);
        free_task(self, old);
      }
    });
  for (auto& thread : crowd) thread.join();
  for (auto& box : boxes)
    if (Task* task = box.load()) free_task(Thread::current(), task);
  flush_away(Thread::current());
}

TEST(SlabDeathTest, ASecondFreeFails) {
  Thread* self = Thread::current();
  Task* task = allocate_task(self, 0);
  free_task(self, task);
  EXPECT_DEATH(free_task(self, task), "the descriptor 0x[0-9a-f]+ is freed twice");
}

TEST(SlabDeathTest, AnotherThreadsSlabIsNotForUse) {
  Thread* self = Thread::current();
  EXPECT_DEATH(on_another_thread([self](Thread*) { allocate_task(self, 0); }), "the slab belongs to thread 0");
}

}  // namespace
}  // namespace hearth::rt
