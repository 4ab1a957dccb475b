// Dependences among siblings: what each kind waits for, a table that grows and forgets, predecessors that have
// finished already.
#include "runtime/task/depend.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <mutex>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/task/wait.h"
#include "runtime_teams.h"

namespace hearth::rt {
namespace {

Dependence on(const void* address, DependKind kind) { return {address, 8, kind, false}; }
constexpr Dependence kAllMemory = {nullptr, 0, DependKind::out, true};

void spawn_after(Thread* self, std::initializer_list<Dependence> list, std::function<void()> body) {
  Task* task = make_child(self, std::move(body));
  task->flags |= kTaskNamesDepend;
  adopt(self, task);
  spawn_with_dependences(self, task, list.begin(), list.size());
}

// One creator in a team of `threads`; it waits for its tasks.
void create_in(int threads, const std::function<void(Thread*)>& create) {
  run_region(threads, [&create](Thread* self) {
    if (self->tid != 0) return;
    create(self);
    taskwait(self);
  });
}

// In which order tasks ran, one letter for each.
class Order {
 public:
  std::function<void()> says(char letter) {
    return [this, letter] {
      const std::lock_guard guard(mutex_);
      text_ += letter;
    };
  }
  std::size_t place_of(char letter) const { return text_.find(letter); }
  const std::string& text() const { return text_; }

 private:
  std::mutex mutex_;
  std::string text_;
};

class Depend : public testing::TestWithParam<int> {};

TEST_P(Depend, WritersAndReadersOfOneAddressComeInOrder) {
  for (int round = 0; round < 200; ++round) {
    int x = 0;
    Order order;
    create_in(GetParam(), [&](Thread* self) {
      spawn_after(self, {on(&x, DependKind::out)}, order.says('w'));
      for (const char reader : {'a', 'b', 'c'}) spawn_after(self, {on(&x, DependKind::in)}, order.says(reader));
      spawn_after(self, {on(&x, DependKind::inout)}, order.says('W'));
    });
    ASSERT_EQ(order.text().size(), 5u);
    EXPECT_EQ(order.place_of('w'), 0u) << order.text();
    EXPECT_EQ(order.place_of('W'), 4u) << order.text();
  }
}

TEST_P(Depend, ASetOfInoutsetTasksIsOneStepAndDiffersFromReaders) {
  for (int round = 0; round < 200; ++round) {
    int x = 0;
    Order order;
    create_in(GetParam(), [&](Thread* self) {
      for (const char letter : {'a', 'b'}) spawn_after(self, {on(&x, DependKind::inoutset)}, order.says(letter));
      for (const char letter : {'c', 'd'}) spawn_after(self, {on(&x, DependKind::in)}, order.says(letter));
      spawn_after(self, {on(&x, DependKind::mutexinoutset)}, order.says('e'));
    });
    ASSERT_EQ(order.text().size(), 5u);
    for (const char first : {'a', 'b'})
      for (const char second : {'c', 'd'}) EXPECT_LT(order.place_of(first), order.place_of(second)) << order.text();
    EXPECT_EQ(order.place_of('e'), 4u) << order.text();
  }
}

TEST_P(Depend, AllMemoryComesAfterEverythingBeforeAndBeforeEverythingAfter) {
  for (int round = 0; round < 200; ++round) {
    int x = 0, y = 0, z = 0;
    Order order;
    create_in(GetParam(), [&](Thread* self) {
      spawn_after(self, {on(&x, DependKind::out)}, order.says('a'));
      spawn_after(self, {on(&y, DependKind::out)}, order.says('b'));
      spawn_after(self, {kAllMemory}, order.says('M'));
      spawn_after(self, {on(&x, DependKind::in)}, order.says('c'));
      spawn_after(self, {on(&z, DependKind::in)}, order.says('d'));  // an address that nobody has named before
    });
    ASSERT_EQ(order.text().size(), 5u);
    EXPECT_EQ(order.place_of('M'), 2u) << order.text();
  }
}

TEST_P(Depend, ATaskThatNamesAnAddressTwiceDoesNotWaitForItself) {
  int x = 0, ran = 0;
  create_in(GetParam(), [&](Thread* self) {
    spawn_after(self, {on(&x, DependKind::in), on(&x, DependKind::out), on(&x, DependKind::in)}, [&ran] { ++ran; });
    spawn_after(self, {on(&x, DependKind::inout)}, [&ran] { ++ran; });
  });
  EXPECT_EQ(ran, 2);
}

// More links than a node has of its own, and a set that needs an array.
TEST_P(Depend, OneTaskHasManySuccessorsAndManyPredecessors) {
  constexpr int kMany = 300;
  int x = 0;
  std::vector<int> cells(kMany);
  std::atomic<int> ran{0}, early{0};
  create_in(GetParam(), [&](Thread* self) {
    spawn_after(self, {on(&x, DependKind::out)}, [&x] { x = 1; });
    for (int i = 0; i < kMany; ++i)
      spawn_after(self, {on(&x, DependKind::in), on(&cells[static_cast<std::size_t>(i)], DependKind::out)}, [&] {
        if (x != 1) early.fetch_add(1);
        ran.fetch_add(1);
      });
    spawn_after(self, {on(&x, DependKind::out)}, [&] {
      if (ran.load() != kMany) early.fetch_add(1);
      x = 2;
    });
  });
  EXPECT_EQ(ran.load(), kMany);
  EXPECT_EQ(early.load(), 0);
  EXPECT_EQ(x, 2);
}

TEST_P(Depend, ATaskOfManyDependencesWaitsForAllOfThem) {
  constexpr std::size_t kMany = 100;
  std::vector<int> cells(kMany);
  std::atomic<int> sum{0};
  int seen = -1;
  create_in(GetParam(), [&](Thread* self) {
    std::vector<Dependence> all;
    for (int& cell : cells) {
      spawn_after(self, {on(&cell, DependKind::out)}, [&sum] { sum.fetch_add(1); });
      all.push_back(on(&cell, DependKind::in));
    }
    Task* task = make_child(self, [&] { seen = sum.load(); });
    adopt(self, task);
    spawn_with_dependences(self, task, all.data(), all.size());
  });
  EXPECT_EQ(seen, static_cast<int>(kMany));
}

// The table grows while entries are alive, and drops those whose tasks have finished.
TEST_P(Depend, EverNewAddressesAndOldOnesAgain) {
  constexpr std::size_t kMany = 3000;
  std::vector<int> cells(kMany);
  std::atomic<int> wrong{0};
  create_in(GetParam(), [&](Thread* self) {
    for (int step = 0; step < 3; ++step)
      for (std::size_t i = 0; i < kMany; ++i)
        spawn_after(self, {on(&cells[i], DependKind::inout)}, [&cells, &wrong, i, step] {
          if (cells[i]++ != step) wrong.fetch_add(1);
        });
  });
  EXPECT_EQ(wrong.load(), 0);
  for (const int cell : cells) EXPECT_EQ(cell, 3);
}

TEST_P(Depend, PredecessorsThatHaveFinishedHoldNobodyUp) {
  int x = 0;
  std::vector<int> seen;
  create_in(GetParam(), [&](Thread* self) {
    for (int i = 0; i < 500; ++i) {
      spawn_after(self, {on(&x, DependKind::inout)}, [&seen, i] { seen.push_back(i); });
      if (i % 3 == 0) taskwait(self);
    }
  });
  ASSERT_EQ(seen.size(), 500u);
  for (int i = 0; i < 500; ++i) EXPECT_EQ(seen[static_cast<std::size_t>(i)], i);
}

TEST_P(Depend, AWaitWithDependencesWaitsForThoseTasksOnly) {
  int x = 0, y = 0;
  bool right = false;
  create_in(GetParam(), [&](Thread* self) {
    for (int i = 0; i < 50; ++i) spawn_after(self, {on(&x, DependKind::inout)}, [&x] { ++x; });
    spawn_after(self, {on(&y, DependKind::out)}, [&y] { y = 1; });
    const Dependence list[] = {on(&x, DependKind::in)};
    wait_for_dependences(self, list, 1);
    right = x == 50;
  });
  EXPECT_TRUE(right);
  EXPECT_EQ(y, 1);
}

// Each task has a table of its own for its children; descendants of a grid finish on any thread.
TEST_P(Depend, NestedTablesAreIndependent) {
  std::atomic<int> wrong{0};
  create_in(GetParam(), [&](Thread* self) {
    for (int t = 0; t < 8; ++t)
      spawn_child(self, [&wrong] {
        Thread* inner = Thread::current();
        int x = 0;
        for (int i = 0; i < 100; ++i)
          spawn_after(inner, {on(&x, DependKind::inout)}, [&x, &wrong, i] {
            if (x++ != i) wrong.fetch_add(1);
          });
        taskwait(inner);
      });
  });
  EXPECT_EQ(wrong.load(), 0);
}

INSTANTIATE_TEST_SUITE_P(Threads, Depend, testing::Values(1, 2, 4));

}  // namespace
}  // namespace hearth::rt
