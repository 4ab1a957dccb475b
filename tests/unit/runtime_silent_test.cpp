// Tasks without clauses on a pretended machine of eight nodes: which of them get a footprint, of what, and when.
#include "runtime/locality/silent.h"

#include <cstdlib>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "base/clock.h"
#include "memory/owners.h"
#include "runtime/locality/footprint.h"
#include "runtime/locality/team_locality.h"
#include "runtime/task/run.h"
#include "runtime_teams.h"

namespace hearth::rt {
namespace {

// Where memory is near for all, a sign is taken for what it says.
const int pretending = setenv("HEARTH_MACHINE", HEARTH_SOURCE_DIR "/models/opteron-6172x4.toml", 1);
const Thread* const main_thread = Thread::current();  // before memory asks which machine this is

struct Arguments {
  char* block;
  std::uint64_t number;
};

// What tasks of a construct do: nothing, for about 10 us. Each construct is a function of its own.
template <int kConstruct>
void body(void* data) {
  const std::uint64_t begun = counter_ns();
  while (counter_ns() < begun + 10'000) continue;
  static_cast<Arguments*>(data)->number += kConstruct;
}

struct Counts {
  int made = 0, with_footprint = 0, by_arguments = 0, by_runs = 0, right = 0;
};

// As a compiler's code makes a task: its arguments stand behind the descriptor.
template <int kConstruct>
Task* new_silent_task(Thread* self, const Arguments& arguments) {
  Task* task = new_task(self, sizeof arguments, kTaskTied);
  task->function = body<kConstruct>;
  task->data = task->payload();
  std::memcpy(task->data, &arguments, sizeof arguments);
  return task;
}

// Rounds of tasks, one for each of the arguments; counted is the last round.
template <int kConstruct, class ArgumentsOf>
Counts rounds(int count, int tasks, ArgumentsOf arguments_of) {
  Counts counts;
  run_region(4, [&](Thread* self) {
    if (self->tid != 0) return;
    for (int round = 0; round < count; ++round) {
      counts = {};
      for (int i = 0; i < tasks; ++i) {
        const Arguments arguments = arguments_of(round, i);
        Task* task = new_silent_task<kConstruct>(self, arguments);
        if (process.infers) silent::consider(self, task);
        ++counts.made;
        counts.with_footprint += task->is(kTaskFootprint);
        if (task->is(kTaskFootprint)) {
          const Footprint& footprint = *task->footprint;
          counts.by_arguments += footprint.sign == policy::Sign::arguments;
          counts.by_runs += footprint.sign == policy::Sign::runs;
          placement::Need need(8);
          resolve(*task->footprint, need);
          const auto home = arguments.block != nullptr
                                ? memory::owner_table.owner(reinterpret_cast<std::uintptr_t>(arguments.block))
                                : placement::Location{0};
          counts.right += need.read.at[home] != 0 && need.read.at[home] == need.read.known();
        }
        adopt(self, task);
        run_task(self, task);
      }
    }
  });
  return counts;
}

constexpr std::size_t kBlock = 64 * 1024;
constexpr int kBlocks = 64;

struct Array {
  Array()
      : begin(static_cast<char*>(memory::managed_allocate(
            {.what = {.kind = placement::Kind::blocked}, .size = kBlocks * kBlock}))) {}
  ~Array() { memory::managed_release(begin); }
  char* begin;
};

TEST(Silent, TasksWhoseArgumentsPointToMemoryAreForetoldByTheThirdRound) {
  const Array array;
  const auto blocks = [&](int round, int i) {
    return Arguments{array.begin + static_cast<std::size_t>((i * 37 + round) % kBlocks) * kBlock, 0};
  };
  const Counts counts = rounds<1>(3, kBlocks, blocks);
  EXPECT_EQ(counts.by_arguments, counts.made);
  EXPECT_EQ(counts.right, counts.made) << "all of a block is in one place here";
}

TEST(Silent, TasksInOnePlaceAreLeftAlone) {
  char* const one = static_cast<char*>(std::malloc(kBlocks * kBlock));
  std::memset(one, 1, kBlocks * kBlock);
  memory::page_map.assume(placement::ByteRange::of(one, kBlocks * kBlock), 3);
  const Counts counts =
      rounds<2>(4, kBlocks, [&](int, int i) { return Arguments{one + static_cast<std::size_t>(i) * kBlock, 0}; });
  EXPECT_EQ(counts.with_footprint, 0);
  std::free(one);
}

TEST(Silent, TasksOfWhichNothingRepeatsAreLeftAlone) {
  std::uint64_t next = 0;
  const Counts counts = rounds<3>(20, kBlocks, [&](int, int) { return Arguments{nullptr, ++next}; });
  EXPECT_EQ(counts.with_footprint, 0);
}

// How many watched tasks are expected where one with the same arguments has run.
template <int kConstruct>
int expected_where_another_ran(int kinds) {
  int expected = 0;
  run_region(4, [&](Thread* self) {
    if (self->tid != 0) return;
    for (int i = 0; i < 40; ++i) {
      Task* task = new_silent_task<kConstruct>(self, {nullptr, static_cast<std::uint64_t>(i % kinds)});
      silent::consider(self, task);
      expected += task->is(kTaskWatched) && task->footprint->ran != placement::kUnknown;
      adopt(self, task);
      run_task(self, task);
    }
  });
  return expected;
}

TEST(Silent, WhereTheLastOneRanTellsNothingOfTasksThatAreAllTheSame) {
  EXPECT_GT(expected_where_another_ran<5>(4), 0);
  EXPECT_EQ(expected_where_another_ran<6>(1), 0);
}

TEST(Silent, AllOfItCanBeSwitchedOff) {
  const Array array;
  process.infers = false;
  const Counts counts =
      rounds<4>(4, kBlocks, [&](int, int i) { return Arguments{array.begin + static_cast<std::size_t>(i) * kBlock, 0}; });
  process.infers = true;
  EXPECT_EQ(counts.with_footprint, 0);
}

TEST(Silent, ArgumentsThatAreNoMemoryOfTheTaskAreNotRead) {
  run_region(4, [](Thread* self) {
    if (self->tid != 0) return;
    for (int i = 0; i < 100; ++i) {
      Task* task = new_task(self, 0, kTaskTied);
      task->function = [](void*) {};
      task->data = reinterpret_cast<void*>(std::uintptr_t{0x10});  // reading there would crash
      silent::look(self, task);
      adopt(self, task);
      run_task(self, task);
    }
  });
}

}  // namespace
}  // namespace hearth::rt
