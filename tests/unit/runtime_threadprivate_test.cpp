// Threadprivate variables of clang's old form: a copy for each thread but the first, made once.
#include "runtime/state/threadprivate.h"

#include <atomic>
#include <cstddef>
#include <set>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/team/barrier.h"
#include "runtime_teams.h"

namespace hearth::rt {
namespace {

TEST(Threadprivate, TheFirstThreadHasTheVariableItselfAndOthersTheirCopies) {
  static long variable = 42;
  ASSERT_EQ(Thread::current()->gtid, 0);
  std::vector<void*> copies(4);
  run_region(4, [&copies](Thread* self) {
    auto* mine = static_cast<long*>(threadprivate_copy(self, &variable, sizeof(variable)));
    EXPECT_EQ(*mine, 42);
    barrier(self);
    *mine = self->tid;
    barrier(self);
    EXPECT_EQ(threadprivate_copy(self, &variable, sizeof(variable)), mine);
    EXPECT_EQ(*mine, self->tid);
    copies[static_cast<std::size_t>(self->tid)] = mine;
  });
  EXPECT_EQ(copies[0], &variable);
  EXPECT_EQ(std::set<void*>(copies.begin(), copies.end()).size(), 4u);
}

TEST(Threadprivate, MoreVariablesThanTheFirstTableHasPlacesFor) {
  static int variables[500];
  for (int i = 0; i < 500; ++i) variables[i] = i;
  std::thread([] {
    Thread* self = Thread::current();
    std::vector<int*> copies;
    for (int& variable : variables)
      copies.push_back(static_cast<int*>(threadprivate_copy(self, &variable, sizeof(variable))));
    for (int i = 0; i < 500; ++i) {
      EXPECT_EQ(*copies[static_cast<std::size_t>(i)], i);
      EXPECT_EQ(threadprivate_copy(self, &variables[i], sizeof(int)), copies[static_cast<std::size_t>(i)]);
    }
  }).join();
}

std::atomic<int> alive{0};

TEST(Threadprivate, CopiesAreConstructedAndEndWithTheirThread) {
  static int object = 0;
  ThreadprivateMakers makers;
  makers.construct = reinterpret_cast<void*>(static_cast<void* (*)(void*)>([](void* copy) {
    alive.fetch_add(1);
    *static_cast<int*>(copy) = 7;
    return copy;
  }));
  makers.destroy = reinterpret_cast<void*>(static_cast<void (*)(void*)>([](void*) { alive.fetch_sub(1); }));
  register_threadprivate(&object, makers);
  Thread::current();  // the first thread of the process is this one
  std::thread([] {
    EXPECT_EQ(*static_cast<int*>(threadprivate_copy(Thread::current(), &object, sizeof(object))), 7);
    EXPECT_EQ(alive.load(), 1);
  }).join();
  EXPECT_EQ(alive.load(), 0);
}

}  // namespace
}  // namespace hearth::rt
