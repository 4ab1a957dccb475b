// Migrations that one thread asks for and its team carries out, on a pretended machine of eight nodes: who waits takes batches.
// In most tests the thread that offers moves nothing itself, so that they end only if others do.
#include "runtime/bubbles/move_together.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "memory/manager.h"
#include "memory/owners.h"
#include "runtime/task/wait.h"
#include "runtime/team/barrier.h"
#include "runtime_teams.h"
#include "topology/current.h"

namespace hearth::rt {
namespace {

using memory::kPage;
using placement::ByteRange;

const bool pretending = topology::pretend(HEARTH_SOURCE_DIR "/models/opteron-6172x4.toml");
constexpr std::uint64_t kBase = std::uint64_t{0x3456} << 32;
constexpr std::uint64_t kPages = 64 * 512;

ByteRange pages(std::uint64_t first, std::uint64_t count) {
  return {kBase + first * kPage, kBase + (first + count) * kPage};
}
std::uint64_t bytes_at(ByteRange range, int location) {
  placement::Shares shares(8);
  memory::where_is(range, shares);
  return shares.at[location];
}

// As the hook does, but for the offering thread's own part.
void wait_for_others(Team* team, memory::Migration& migration) {
  ASSERT_TRUE(team->migration.make(migration));
  team->tasked.store(1, std::memory_order_relaxed);
  team->events.notify_all();
  team->go_events.notify_all();
  while (!migration.done()) std::this_thread::yield();
  team->migration.end();
}

TEST(MoveTogether, MembersAtABarrierTakeBatches) {
  ASSERT_TRUE(pretending);
  for (int to = 1; to <= 3; ++to) {
    run_region(4, [to](Thread* self) {
      if (self->tid == 2) {
        memory::Migration migration;
        ASSERT_TRUE(migration.add(pages(0, kPages), to));
        wait_for_others(self->team, migration);
      }
      barrier(self);
    });
    EXPECT_EQ(bytes_at(pages(0, kPages), to), kPages * kPage);
  }
}

TEST(MoveTogether, AMemberInATaskwaitTakesBatches) {
  std::atomic<bool> waits{false};
  run_region(2, [&waits](Thread* self) {
    if (self->tid == 0) {
      spawn_child(self, [] {
        memory::Migration migration;
        ASSERT_TRUE(migration.add(pages(0, kPages), 4));
        wait_for_others(Thread::current()->team, migration);
      });
      while (!waits.load(std::memory_order_acquire)) std::this_thread::yield();  // the other has begun the task
      taskwait(self);
    } else {
      // What it finds first is the task: then the only one that waits for tasks is the primary thread.
      while (self->member->team->members[0]->deque.looks_empty()) std::this_thread::yield();
      waits.store(true, std::memory_order_release);
      help_team(self, true);
    }
  });
  EXPECT_EQ(bytes_at(pages(0, kPages), 4), kPages * kPage);
}

TEST(MoveTogether, WorkersBetweenTwoRegionsTakeBatches) {
  run_region(3, [](Thread*) {});
  Thread* self = Thread::current();
  ASSERT_NE(self->member->hot_child, nullptr);
  memory::Migration migration;
  ASSERT_TRUE(migration.add(pages(0, kPages), 5));
  wait_for_others(self->member->hot_child, migration);
  EXPECT_EQ(bytes_at(pages(0, kPages), 5), kPages * kPage);
  run_region(3, [](Thread*) {});
}

TEST(MoveTogether, CallsOfTheProgramAreCarriedOutByTheTeam) {
  for (int round = 0; round < 40; ++round) {
    run_region(4, [round](Thread* self) {
      if (self->tid == round % 4) {
        EXPECT_EQ(memory::manager_migrate(pages(0, kPages), round % 8), 0);
      }
    });
    EXPECT_EQ(bytes_at(pages(0, kPages), round % 8), kPages * kPage);
  }
}

TEST(MoveTogether, AllMembersMayCallAtOnce) {
  for (int round = 0; round < 40; ++round) {
    std::atomic<int> moved{0};
    run_region(4, [round, &moved](Thread* self) {
      const auto part = static_cast<std::uint64_t>(self->tid) * (kPages / 4);
      EXPECT_EQ(memory::manager_migrate(pages(part, kPages / 4), (round + self->tid) % 8), 0);
      barrier(self);
      EXPECT_EQ(bytes_at(pages(part, kPages / 4), (round + self->tid) % 8), kPages / 4 * kPage);
      barrier(self);
      // The same for all: at least one of them moves it, and for the others it is there.
      if (memory::manager_migrate(pages(0, kPages), (round + 5) % 8) == 0) ++moved;
    });
    EXPECT_GE(moved.load(), 1);
    EXPECT_EQ(bytes_at(pages(0, kPages), (round + 5) % 8), kPages * kPage);
  }
}

TEST(MoveTogether, ThreadsOutsideOfTeamsMoveByThemselves) {
  std::thread([] { EXPECT_EQ(memory::manager_migrate(pages(0, kPages), 7), 0); }).join();
  EXPECT_EQ(bytes_at(pages(0, kPages), 7), kPages * kPage);
}

}  // namespace
}  // namespace hearth::rt
