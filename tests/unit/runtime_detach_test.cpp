// Detachable tasks: body and event end in any order, by any thread, and the task ends once.
#include "runtime/task/detach.h"

#include <atomic>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/task/depend.h"
#include "runtime/task/wait.h"
#include "runtime_teams.h"

namespace hearth::rt {
namespace {

Task* make_detachable(Thread* self, std::function<void()> body) {
  return make_child(self, std::move(body), kTaskTied | kTaskDetachable);
}

class Detach : public testing::TestWithParam<int> {};

TEST_P(Detach, ATaskIsOverWhenItsBodyAndItsEventAre) {
  run_region(GetParam(), [](Thread* self) {
    if (self->tid != 0) return;
    for (int round = 0; round < 100; ++round) {
      bool ran = false;
      Task* task = make_detachable(self, [&ran] { ran = true; });
      std::thread outside([task, round] {
        if (round % 2 == 0) std::this_thread::yield();
        fulfill_event(Thread::current(), task);
      });
      spawn(self, task);
      taskwait(self);
      EXPECT_TRUE(ran);
      outside.join();
    }
  });
}

TEST_P(Detach, TheBodyItselfMayFulfillTheEvent) {
  run_region(GetParam(), [](Thread* self) {
    if (self->tid != 0) return;
    std::atomic<int> ran{0};
    for (int i = 0; i < 100; ++i) {
      auto* slot = new std::atomic<Task*>{nullptr};
      Task* task = make_detachable(self, [slot, &ran] {
        fulfill_event(Thread::current(), slot->load());
        ran.fetch_add(1);
        delete slot;
      });
      slot->store(task);
      spawn(self, task);
    }
    taskwait(self);
    EXPECT_EQ(ran.load(), 100);
  });
}

TEST_P(Detach, SuccessorsWaitForTheEventNotForTheBody) {
  run_region(GetParam(), [](Thread* self) {
    if (self->tid != 0) return;
    for (int round = 0; round < 50; ++round) {
      int x = 0;
      std::atomic<bool> body_over{false}, fulfilled{false}, early{false};
      const Dependence list[] = {{&x, 4, DependKind::inout, false}};
      Task* first = make_detachable(self, [&body_over] { body_over.store(true); });
      std::thread outside([&, first] {
        while (!body_over.load()) std::this_thread::yield();
        fulfilled.store(true);
        fulfill_event(Thread::current(), first);
      });
      adopt(self, first);
      spawn_with_dependences(self, first, list, 1);
      Task* second = make_child(self, [&] { early.store(!fulfilled.load()); });
      adopt(self, second);
      spawn_with_dependences(self, second, list, 1);
      taskwait(self);
      outside.join();
      EXPECT_FALSE(early.load());
    }
  });
}

TEST(DetachOutside, AnEventOfNoTaskIsNobodysBusiness) {
  fulfill_event(Thread::current(), nullptr);
  wait_for_outside_fulfillers();
}

INSTANTIATE_TEST_SUITE_P(Threads, Detach, testing::Values(1, 2, 4));

}  // namespace
}  // namespace hearth::rt
