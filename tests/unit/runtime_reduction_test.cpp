// Reductions of worksharing constructs (alone, by lock, by tree) and of tasks, in both ABIs' forms.
#include "runtime/loop/reduction.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/task/task_reduction.h"
#include "runtime/task/taskgroup.h"
#include "runtime/task/wait.h"
#include "runtime/team/barrier.h"
#include "runtime_teams.h"

namespace hearth::rt {
namespace {

void add_longs(void* mine, void* theirs) { *static_cast<long*>(mine) += *static_cast<long*>(theirs); }

class Reduction : public testing::TestWithParam<int> {};

TEST_P(Reduction, EveryMembersDataIsCombinedOnce) {
  const int threads = GetParam();
  long total = 0;
  Lock lock;
  run_region(threads, [&](Thread* self) {
    for (int round = 0; round < 20; ++round) {
      long mine = self->tid + 1;
      if (reduce_begin(self, &mine, add_longs, lock, false) == ReduceStep::combine) {
        total += mine;
        reduce_end(self, lock);
      }
      barrier(self);
    }
  });
  EXPECT_EQ(total, 20L * threads * (threads + 1) / 2);
  EXPECT_FALSE(lock.is_locked());
}

TEST_P(Reduction, AProgramThatCanUpdateAtomicallyIsToldTo) {
  std::atomic<int> told{0};
  Lock lock;
  run_region(GetParam(), [&](Thread* self) {
    long mine = 0;
    const ReduceStep step = reduce_begin(self, &mine, add_longs, lock, true);
    told.fetch_add(step == (self->team->size == 1 ? ReduceStep::combine : ReduceStep::update_atomically));
    if (step == ReduceStep::combine) reduce_end(self, lock);
  });
  EXPECT_EQ(told.load(), GetParam());
}

// Up to kFlat by lock; beyond by a tree of one level, of several, and with groups that are not full.
INSTANTIATE_TEST_SUITE_P(Threads, Reduction, testing::Values(1, 2, 8, 9, 13, 17, 33));

TEST(TaskReduction, CopiesOfTheThreadsAreCombinedWhenTheGroupEnds) {
  for (const int threads : {1, 2, 4}) {
    long total = 100;
    run_region(threads, [&total](Thread* self) {
      if (self->tid != 0) return;
      taskgroup_begin(self);
      const ReductionItem item = {&total, nullptr, sizeof(long), nullptr, nullptr, add_longs};
      Taskgroup* group = register_reductions(self, &item, 1);
      for (int i = 1; i <= 200; ++i)
        spawn_child(self,
                    [&total, group, i] { *static_cast<long*>(private_copy(Thread::current(), group, &total)) += i; });
      taskgroup_end(self);
      EXPECT_EQ(total, 100 + 200 * 201 / 2);
    });
  }
}

TEST(TaskReduction, AnAddressOfACopyFindsTheCallersOwnCopy) {
  long total = 0;
  run_region(1, [&total](Thread* self) {
    taskgroup_begin(self);
    const ReductionItem item = {&total, nullptr, sizeof(long), nullptr, nullptr, add_longs};
    register_reductions(self, &item, 1);
    void* copy = private_copy(self, nullptr, &total);
    EXPECT_NE(copy, &total);
    EXPECT_EQ(private_copy(self, nullptr, copy), copy);
    *static_cast<long*>(copy) = 5;
    taskgroup_end(self);
  });
  EXPECT_EQ(total, 5);
}

TEST(TaskReduction, MembersThatShareAConstructReduceOnce) {
  constexpr int kThreads = 4;
  long total = 0;
  run_region(kThreads, [&total](Thread* self) {
    for (int round = 0; round < 10; ++round) {
      const ReductionItem item = {&total, nullptr, sizeof(long), nullptr, nullptr, add_longs};
      Taskgroup* group = begin_shared_reductions(self, true, &item, 1);
      for (int i = 0; i < 10; ++i)
        spawn_child(self,
                    [&total, group] { *static_cast<long*>(private_copy(Thread::current(), group, &total)) += 1; });
      end_shared_reductions(self, true);
      barrier(self);
    }
  });
  EXPECT_EQ(total, 10L * kThreads * 10);
}

// libgomp's array: count, bytes a thread, alignment; then three words a variable.
TEST(TaskReduction, GccsProgramsFindTheirThreadsPart) {
  for (const int threads : {1, 3}) {
    long original = 0;
    run_region(threads, [&original](Thread* self) {
      if (self->tid != 0) return;
      std::uintptr_t data[10] = {1, 64, 64, 0, 0, 0, 0, reinterpret_cast<std::uintptr_t>(&original), 0, 0};
      taskgroup_begin(self);
      register_gomp_reductions(self, data);
      for (int i = 0; i < 100; ++i)
        spawn_child(self, [&original] {
          void* mine = &original;
          remap_gomp_reductions(Thread::current(), 1, 0, &mine);
          *static_cast<long*>(mine) += 1;
        });
      taskwait(self);
      const std::uintptr_t memory = data[2];
      for (int t = 0; t < self->team->size; ++t)
        original += *reinterpret_cast<long*>(memory + static_cast<std::uintptr_t>(t) * 64);
      taskgroup_end(self);
      unregister_gomp_reductions(data);
    });
    EXPECT_EQ(original, 100);
  }
}

TEST(TaskReductionDeathTest, AVariableThatNobodyReducesIsNamed) {
  long other = 0;
  EXPECT_DEATH(run_region(1, [&other](Thread* self) { private_copy(self, nullptr, &other); }),
               "in_reduction: no task_reduction around this task names the variable at 0x");
}

}  // namespace
}  // namespace hearth::rt
