// Loops that give iterations back to where they ran, on a pretended machine of eight nodes with six cores.
// Threads are spread over the cores: of eight, each has a node. Tests that need a certain thread to run an
// iteration hold the others, by counting what has been run, never by time.
#include "runtime/task/taskgroup.h"
#include "runtime/loop/loop_affinity.h"

#include <sched.h>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <vector>

#include "runtime/team/barrier.h"
#include "runtime/team/fork.h"
#include "runtime/task/create.h"
#include "runtime/state/region.h"
#include "runtime/loop/taskloop_range.h"
#include "runtime/loop/workshare.h"

namespace hearth::rt {
namespace {

const int pretending = setenv("HEARTH_MACHINE", HEARTH_SOURCE_DIR "/models/opteron-6172x4.toml", 1) +
                       setenv("OMP_PLACES", "cores", 1) + setenv("OMP_PROC_BIND", "spread", 1);
constexpr int kNodes = 8;

void run_region(int threads, const std::function<void(Thread*)>& body) {
  Region region;
  region.function = reinterpret_cast<void*>(static_cast<void (*)(void*)>(
      [](void* data) { (*static_cast<const std::function<void(Thread*)>*>(data))(Thread::current()); }));
  region.data = const_cast<std::function<void(Thread*)>*>(&body);
  region.num_threads = threads;
  parallel(Thread::current(), region);
}

LoopMemory& memory() { return *Thread::current()->member->hot_child->workshares->memory; }

const void* site_of(int number) {
  return reinterpret_cast<const void*>(0x1000 + 16 * static_cast<std::uintptr_t>(number));
}

LoopPlan plan_of(ScheduleKind kind, std::uint64_t chunk, int site, bool monotonic = false) {
  LoopPlan plan;
  plan.kind = kind;
  plan.chunk = chunk;
  plan.monotonic = monotonic;
  plan.site = site_of(site);
  return plan;
}

// Loops of different sites go over different values, unless a test says otherwise: else they would inherit
// homes. The same when the tests are repeated.
int repetition = 0;
class Repetitions : public testing::EmptyTestEventListener {
 public:
  Repetitions() { testing::UnitTest::GetInstance()->listeners().Append(this); }
  void OnTestIterationStart(const testing::UnitTest&, int) override { ++repetition; }
};
[[maybe_unused]] const Repetitions* const repetitions = new Repetitions;
std::uint64_t base_of(int site) {
  return static_cast<std::uint64_t>(site) << 32 | static_cast<std::uint64_t>(repetition) << 16;
}

void begin(Thread* self, std::uint64_t trip, const LoopPlan& plan, std::uint64_t base = 0,
           std::uint64_t step = 1) {
  self->member->loop.base = base;
  self->member->loop.step = step;
  begin_loop(self, trip, plan);
}

void wait_for(const std::function<bool()>& condition) {
  while (!condition()) sched_yield();
}

// The latest loop at this site.
RememberedLoop* memory_of(int site) {
  std::uint32_t latest = LoopMemory::kLoops;
  for (std::uint32_t i = 0; i < LoopMemory::kLoops; ++i)
    if (memory().loops[i].site == site_of(site) &&
        (latest == LoopMemory::kLoops || memory().used[i] > memory().used[latest]))
      latest = i;
  return latest == LoopMemory::kLoops ? nullptr : &memory().loops[latest];
}

// What one instance of a loop did.
struct Record {
  std::uint64_t trip;
  LoopPlan plan;
  std::uint64_t base = 0;
  std::atomic<std::uint64_t> iterations{0}, sum{0}, too_large{0}, too_small{0}, crooked{0}, last{0};

  void run(Thread* self) {
    begin(self, trip, plan, base);
    std::uint64_t first = 0, count = 0, my_iterations = 0, my_sum = 0;
    bool ran_last = false;
    const std::uint64_t chunk = plan.chunk == 0 ? 1 : plan.chunk;
    while (next_chunk(self, first, count)) {
      my_iterations += count;
      for (std::uint64_t at = first; at < first + count; at += chunk) my_sum += at / chunk;
      if (plan.kind == ScheduleKind::dynamic && count > chunk) ++too_large;
      if (count < chunk && first + count != trip) ++too_small;
      if (first % chunk != 0) ++crooked;
      ran_last = first + count == trip;
    }
    iterations += my_iterations;
    sum += my_sum;
    if (ran_last) ++last;
    end_loop(self);
  }
  void expect_right() const {
    const std::uint64_t chunk = plan.chunk == 0 ? 1 : plan.chunk;
    const std::uint64_t chunks = trip / chunk + (trip % chunk != 0);
    EXPECT_EQ(iterations, trip);
    EXPECT_EQ(sum, chunks * (chunks - 1) / 2);
    EXPECT_EQ(too_large, 0u);
    EXPECT_EQ(too_small, 0u);
    EXPECT_EQ(crooked, 0u) << "chunks begin at multiples of the chunk size";
    EXPECT_EQ(last, trip == 0 ? 0u : 1u) << "the last chunk is its thread's last one";
  }
};

class RememberedLoops : public testing::TestWithParam<int> {};

TEST_P(RememberedLoops, RunEachIterationOnceWhateverTheirSize) {
  struct Size {
    std::uint64_t trip, chunk;
  };
  for (const ScheduleKind kind : {ScheduleKind::dynamic, ScheduleKind::guided}) {
    for (const Size size : {Size{0, 0},
                            {1, 0},
                            {1, 7},
                            {2, 1},
                            {7, 1},
                            {8, 3},
                            {255, 1},
                            {256, 1},
                            {257, 1},
                            {258, 1},
                            {1000, 3},
                            {100'000, 1},
                            {3'000'000, 2}}) {
      for (int instance = 0; instance < (size.trip < 1000 ? 5 : 2); ++instance) {
        Record record{size.trip, plan_of(kind, size.chunk, 1)};
        run_region(GetParam(), [&](Thread* self) { record.run(self); });
        record.expect_right();
      }
    }
  }
}

// More loops than are remembered, members at different ones, and the same loop again at once.
TEST_P(RememberedLoops, ThatFollowEachOtherWithoutABarrierRunOnce) {
  constexpr int kLoops = 100;
  std::vector<Record> records(kLoops * 2);
  for (int i = 0; i < kLoops * 2; ++i) {
    const int site = i / 2 % 3 == 0 ? 1 : i / 2;
    records[static_cast<std::size_t>(i)].trip = static_cast<std::uint64_t>(i % 7 == 3 ? 1 : 5 * i);
    records[static_cast<std::size_t>(i)].plan =
        i % 5 == 4 ? plan_of(ScheduleKind::dynamic, 1, site, i % 10 == 4)
                   : plan_of(i % 2 == 0 ? ScheduleKind::dynamic : ScheduleKind::guided,
                             static_cast<std::uint64_t>(i % 3), site);
    if (i % 5 == 4 && i % 3 == 0)
      records[static_cast<std::size_t>(i)].plan.site = nullptr;  // one that is not remembered
  }
  run_region(GetParam(), [&](Thread* self) {
    for (Record& record : records) record.run(self);
  });
  for (const Record& record : records) record.expect_right();
}

TEST_P(RememberedLoops, HandOutMoreChunksThanARangeHasUnits) {
  constexpr std::uint64_t kChunk = std::uint64_t{1} << 18, kChunks = std::uint64_t{3} << 20;
  Record dynamic{kChunk * kChunks - 5, plan_of(ScheduleKind::dynamic, kChunk, 1)};
  run_region(GetParam(), [&](Thread* self) { dynamic.run(self); });
  dynamic.expect_right();
  std::atomic<std::uint64_t> iterations{0};
  run_region(GetParam(), [&](Thread* self) {
    begin(self, ~std::uint64_t{0} - 12, plan_of(ScheduleKind::guided, 1000, 2));
    for (std::uint64_t first = 0, count = 0; next_chunk(self, first, count);) iterations += count;
    end_loop(self);
  });
  EXPECT_EQ(iterations, ~std::uint64_t{0} - 12);
}

// While a member is held in its first chunk, the others run everything else; but for the part that it has
// just claimed, should the others be through before it has put the rest of that where they can steal it.
TEST_P(RememberedLoops, WaitForNobodyWhoIsBusy) {
  constexpr std::uint64_t kTrip = 4000, kPart = 16;
  for (const ScheduleKind kind : {ScheduleKind::dynamic, ScheduleKind::guided}) {
    for (int instance = 0; instance < 5; ++instance) {
      std::atomic<std::uint64_t> iterations{0}, afterwards{0};
      std::atomic<int> gone{0};
      run_region(GetParam(), [&](Thread* self) {
        begin(self, kTrip, plan_of(kind, 1, 3));
        const bool is_held = self->tid == GetParam() - 1;
        std::uint64_t first = 0, count = 0;
        for (bool began = false; next_chunk(self, first, count); began = true) {
          iterations += count;
          if (is_held && began) afterwards += count;
          if (is_held && !began) wait_for([&] { return gone == GetParam() - 1; });
        }
        ++gone;
        end_loop(self);
      });
      EXPECT_EQ(iterations, kTrip);
      if (GetParam() > 1) {
        EXPECT_LE(afterwards, kPart);
      }
    }
  }
}

TEST_P(RememberedLoops, CanBeLeftInTheMiddle) {
  for (int instance = 0; instance < 20; ++instance) {
    std::atomic<std::uint64_t> iterations{0};
    run_region(GetParam(), [&](Thread* self) {
      // As after `cancel for`: a barrier follows.
      begin(self, 1000, plan_of(ScheduleKind::dynamic, 1, 4));
      std::uint64_t first = 0, count = 0;
      for (int i = 0; i < 3; ++i) next_chunk(self, first, count);
      if (instance % 2 == 0) end_loop(self);
      barrier(self);
      // The next one finds it so.
      begin(self, 1000, plan_of(ScheduleKind::dynamic, 1, 4));
      while (next_chunk(self, first, count)) iterations += count;
      end_loop(self);
    });
    EXPECT_EQ(iterations, 1000u);
  }
}

INSTANTIATE_TEST_SUITE_P(Threads, RememberedLoops, testing::Values(1, 2, 3, 8, 13));

TEST(LoopPlans, ThatPromiseAnOrderAreNotRemembered) {
  for (const ScheduleKind kind : {ScheduleKind::dynamic, ScheduleKind::guided}) {
    std::atomic<int> fallen{0}, remembered{0};
    run_region(4, [&](Thread* self) {
      for (int form = 0; form < 3; ++form) {
        LoopPlan plan = plan_of(kind, 1, 5, form == 0);
        plan.ordered = form == 1;
        plan.doacross = form == 2;
        begin(self, 10'000, plan);
        if (self->member->loop.kind == LoopKind::remembered) ++remembered;
        std::uint64_t first = 0, count = 0, before = 0;
        while (plan.ordered ? next_ordered_chunk(self, first, count) : next_chunk(self, first, count)) {
          if (first < before) ++fallen;
          before = first;
        }
        end_loop(self);
        barrier(self);
      }
    });
    EXPECT_EQ(fallen, 0);
    EXPECT_EQ(remembered, 0);
  }
}

// Eight members in step: nobody begins a part before everybody has run as many as it has. All have eight
// parts, so nobody steals; the last iteration stands in no part and is run by anybody.
constexpr std::uint64_t kStepTrip = 65;
using Who = std::array<int, kStepTrip>;

struct Steps {
  std::array<std::atomic<int>, kNodes> done{};
  std::atomic<int> all{0};

  void one(int tid) {
    const int mine = ++done[static_cast<std::size_t>(tid)];
    if (++all >= static_cast<int>(kStepTrip) - 1) return;
    wait_for([&] {
      if (all >= static_cast<int>(kStepTrip) - 1) return true;
      for (const std::atomic<int>& each : done)
        if (each < mine) return false;
      return true;
    });
  }
};

Who run_in_step(const LoopPlan& plan, std::uint64_t base = 0, std::uint64_t step = 1) {
  Who who{};
  Steps steps;
  run_region(kNodes, [&](Thread* self) {
    begin(self, kStepTrip, plan, base, step);
    std::uint64_t first = 0, count = 0;
    while (next_chunk(self, first, count)) {
      for (std::uint64_t i = first; i < first + count; ++i) who[i] = self->tid;
      if (first + count != kStepTrip) steps.one(self->tid);
    }
    end_loop(self);
  });
  return who;
}

TEST(Parts, AreFirstRunWhereAStaticLoopRunsThem) {
  const Who who = run_in_step(plan_of(ScheduleKind::dynamic, 1, 10), base_of(10));
  for (std::uint64_t i = 0; i + 1 < kStepTrip; ++i) EXPECT_EQ(who[i], static_cast<int>(i / 8)) << i;
}

TEST(Parts, AreGivenBackToTheirHome) {
  const LoopPlan plan = plan_of(ScheduleKind::dynamic, 1, 11);
  run_in_step(plan, base_of(11));
  RememberedLoop* past = memory_of(11);
  ASSERT_NE(past, nullptr);
  for (std::uint32_t i = 0; i < 64; ++i) {
    EXPECT_EQ(past->homes[i], i / 8 + 1);
    past->homes[i] = static_cast<std::uint8_t>(i * 5 % 8 + 1);
  }
  for (int instance = 0; instance < 3; ++instance) {
    const Who who = run_in_step(plan, base_of(11));
    for (std::uint32_t i = 0; i < 64; ++i) EXPECT_EQ(who[i], static_cast<int>(i * 5 % 8)) << i;
  }
  // Another loop over the same values begins with what this one knows.
  const Who other = run_in_step(plan_of(ScheduleKind::dynamic, 1, 12), base_of(11));
  for (std::uint32_t i = 0; i < 64; ++i) EXPECT_EQ(other[i], static_cast<int>(i * 5 % 8)) << i;
}

TEST(Parts, KeepTheirHomesWhenTheTeamIsSmallerForAWhile) {
  const LoopPlan plan = plan_of(ScheduleKind::dynamic, 1, 13);
  run_in_step(plan, base_of(13));
  for (std::uint32_t i = 0; i < 64; ++i) memory_of(13)->homes[i] = static_cast<std::uint8_t>(i * 3 % 8 + 1);
  for (int instance = 0; instance < 4; ++instance) {
    Record record{kStepTrip, plan, base_of(13)};
    run_region(3, [&](Thread* self) { record.run(self); });
    record.expect_right();
  }
  const Who who = run_in_step(plan, base_of(13));
  for (std::uint32_t i = 0; i < 64; ++i) EXPECT_EQ(who[i], static_cast<int>(i * 3 % 8)) << i;
}

TEST(Parts, GoWithTheirValuesWhenALoopsBoundsChange) {
  for (const std::uint64_t step : {std::uint64_t{1}, std::uint64_t{3}, ~std::uint64_t{1}}) {  // 1, 3, -2
    const LoopPlan plan = plan_of(ScheduleKind::dynamic, 1, 20 + static_cast<int>(step & 7));
    const std::uint64_t base = base_of(20);
    run_in_step(plan, base, step);
    RememberedLoop* past = memory_of(20 + static_cast<int>(step & 7));
    ASSERT_NE(past, nullptr);
    for (std::uint32_t i = 0; i < 64; ++i)
      past->homes[i] = static_cast<std::uint8_t>(i < 8 ? 8 : i * 5 % 7 + 1);
    // Eight iterations later: the eight parts of node 7 are gone, and as many are new, in the static block of
    // member 7.
    const Who who = run_in_step(plan, base + 8 * step, step);
    for (std::uint32_t i = 0; i < 56; ++i)
      EXPECT_EQ(who[i], static_cast<int>((i + 8) * 5 % 7)) << i << " step " << step;
    for (std::uint32_t i = 56; i < 64; ++i) EXPECT_EQ(who[i], 7) << i << " step " << step;
  }
}

// All parts of member 7 are stolen while it is held in its first chunk.
void run_while_one_is_held(const LoopPlan& plan) {
  std::atomic<std::uint64_t> by_others{0};
  run_region(kNodes, [&](Thread* self) {
    begin(self, kStepTrip, plan, base_of(30));
    if (self->tid != 7) wait_for([&] { return by_others != 0; });
    std::uint64_t first = 0, count = 0;
    while (next_chunk(self, first, count)) {
      by_others += count;
      if (self->tid == 7) wait_for([&] { return by_others == kStepTrip; });
    }
    end_loop(self);
  });
}

TEST(Parts, MoveWhenTheyWereRunElsewhereThreeTimesInARow) {
  const LoopPlan plan = plan_of(ScheduleKind::dynamic, 1, 30);
  run_in_step(plan, base_of(30));
  const auto homes_at_7 = [] {
    int count = 0;
    for (std::uint32_t i = 56; i < 64; ++i) count += memory_of(30)->homes[i] == 8;
    return count;
  };
  EXPECT_EQ(homes_at_7(), 8);
  run_while_one_is_held(plan);
  run_while_one_is_held(plan);
  EXPECT_EQ(homes_at_7(), 8) << "twice may be chance";
  run_in_step(plan, base_of(30));  // at home
  run_while_one_is_held(plan);
  run_while_one_is_held(plan);
  EXPECT_EQ(homes_at_7(), 8) << "not in a row";
  run_while_one_is_held(plan);
  EXPECT_EQ(homes_at_7(), 1);
  run_while_one_is_held(plan);  // the last part is at home, and enough
  EXPECT_EQ(homes_at_7(), 1);
}

// Three members at nodes 0, 2 and 5; from node 2 the first is at distance 16, the other one at 22.
TEST(Parts, AreTakenFromTheNearestLocationFirst) {
  for (const ScheduleKind kind : {ScheduleKind::dynamic, ScheduleKind::guided}) {
    for (const bool far_first : {false, true}) {
      const int site = 40 + 2 * static_cast<int>(kind) + far_first;
      const LoopPlan plan = plan_of(kind, 1, site);
      RememberedLoop* past = nullptr;
      std::vector<int> order;
      std::atomic<int> holding{0};
      std::atomic<bool> done{false};
      const auto once = [&] {
        run_region(3, [&](Thread* self) {
          begin(self, 49, plan, base_of(site));
          std::uint64_t first = 0, count = 0;
          if (self->tid == 1) wait_for([&] { return holding == 2; });
          for (bool began = false; next_chunk(self, first, count); began = true) {
            if (self->tid != 1 && !began) {
              ++holding;
              wait_for([&] { return done.load(); });
            } else if (past != nullptr && self->tid == 1 && first + count != 49) {
              order.push_back(past->homes[first]);
            }
          }
          done = true;
          end_loop(self);
        });
        holding = 0;
        done = false;
      };
      once();
      past = memory_of(site);
      ASSERT_NE(past, nullptr);
      for (std::uint32_t i = 0; i < 48; ++i) past->homes[i] = (i < 24) == far_first ? 5 + 1 : 0 + 1;
      once();
      ASSERT_FALSE(order.empty());
      EXPECT_EQ(order.front(), 0 + 1);
      EXPECT_EQ(order.back(), 5 + 1);
      for (std::size_t i = 1; i < order.size(); ++i) EXPECT_GE(order[i], order[i - 1]) << "near before far";
    }
  }
}

// One member at each node, all in step but for the sizes: chunks shrink by halves down to the smallest.
TEST(GuidedLoops, HandOutChunksThatShrink) {
  constexpr std::uint64_t kTrip = 1 << 16, kSmallest = 16;
  std::array<std::vector<std::uint64_t>, kNodes> sizes;
  std::atomic<int> begun{0};
  run_region(kNodes, [&](Thread* self) {
    begin(self, kTrip, plan_of(ScheduleKind::guided, kSmallest, 60), base_of(60));
    std::uint64_t first = 0, count = 0;
    while (next_chunk(self, first, count)) {
      if (first + count != kTrip) sizes[static_cast<std::size_t>(self->tid)].push_back(count);
      if (sizes[static_cast<std::size_t>(self->tid)].size() == 1 && ++begun != kNodes)
        wait_for([&] { return begun >= kNodes; });
    }
    end_loop(self);
  });
  for (const std::vector<std::uint64_t>& mine : sizes) {
    ASSERT_FALSE(mine.empty());
    EXPECT_EQ(mine.front(), kTrip / kNodes / 2) << "half of a thread's share";
    for (const std::uint64_t size : mine) {
      EXPECT_LE(size, mine.front());
      EXPECT_GE(size, kSmallest);
      EXPECT_EQ(size % kSmallest, 0u);
    }
  }
}

TEST(StaticLoops, GiveEachThreadTheSameIterationsAtTheSamePlaceAgain) {
  // The team shrinks and grows in between.
  struct Share {
    std::uint64_t first = 0, count = 0;
    int place = -1, location = -1;
    bool operator==(const Share&) const = default;
  };
  const auto shares = [](int threads, std::uint64_t chunk) {
    std::vector<Share> all(static_cast<std::size_t>(threads));
    run_region(threads, [&](Thread* self) {
      Share& mine = all[static_cast<std::size_t>(self->tid)];
      LoopPlan plan;
      plan.chunk = chunk;
      begin(self, 1003, plan);
      next_chunk(self, mine.first, mine.count);
      end_loop(self);
      mine.place = self->member->place;
      mine.location = self->member->location;
    });
    return all;
  };
  for (const std::uint64_t chunk : {std::uint64_t{0}, std::uint64_t{4}}) {
    const std::vector<Share> of_eight = shares(8, chunk), of_three = shares(3, chunk);
    for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(of_eight[i].location, static_cast<int>(i));
    for (int round = 0; round < 3; ++round) {
      EXPECT_EQ(shares(8, chunk), of_eight);
      EXPECT_EQ(shares(3, chunk), of_three);
      shares(5, chunk);
    }
  }
}

// --- taskloop

TEST(TaskloopParts, MoveWhenTheyRanElsewhereThreeTimesInARow) {
  run_region(kNodes, [](Thread*) {});
  RememberedTaskloop past;
  const Team* team = Thread::current()->member->hot_child;
  for (std::uint64_t i = 0; i < 64; ++i) EXPECT_EQ(past.home_of(team, 64, i), static_cast<Location>(i / 8));
  const auto runs_at = [&](std::initializer_list<Location> places) {
    for (const Location where : places) past.runs(team, 64, 0, where);
    return past.home_of(team, 64, 0);
  };
  EXPECT_EQ(runs_at({1, 2, 0, 3, 4}), 0);
  EXPECT_EQ(runs_at({-1, 5}), 5);
  EXPECT_EQ(runs_at({6, 6, 5, 6, 6}), 5);
  EXPECT_EQ(runs_at({6}), 6);
  EXPECT_EQ(past.home_of(team, 64, 1), 0);
}

struct CountingLoop {
  std::function<void(std::uint64_t)>* one;
  TaskloopPlan plan;
  std::uint64_t base;  // the values that the loop goes over
  std::uint64_t current = 0;

  const void* body() const { return reinterpret_cast<const void*>(&run_one); }
  TaskloopName name() const { return {body(), base, 1, plan.tasks, plan.each}; }
  static void run_one(void* data) {
    auto* loop = static_cast<CountingLoop*>(data);
    (*loop->one)(loop->current);
  }
  Task* leaf(Thread* self) {
    Task* task = new_task(self, 0, kTaskTied);
    task->function = &run_one;
    task->data = this;
    return task;
  }
  void prepare(Task*, std::uint64_t number) { current = number; }
  struct Stolen;
  Task* defer(Thread* self, const TaskRange& range);
};
struct CountingLoop::Stolen {
  CountingLoop loop;
  TaskRange range;
};
Task* CountingLoop::defer(Thread* self, const TaskRange& range) {
  Task* task = new_task(self, sizeof(Stolen), kTaskTied);
  task->data = new (task->payload()) Stolen{*this, range};
  task->function = [](void* data) {
    auto* stolen = static_cast<Stolen*>(data);
    run_stolen_range(stolen->loop, stolen->range);
  };
  return task;
}

// Thread 0 meets the construct; the others come to help when all ranges are dealt, which is when the first
// task runs.
void run_taskloop_of(std::uint64_t tasks, std::uint64_t base, std::function<void(std::uint64_t)> one) {
  std::atomic<bool> dealt{false};
  std::atomic<int> here{
      0};  // one that has not entered the region yet could take a range and give it back to nowhere
  std::function<void(std::uint64_t)> told = [&](std::uint64_t task) {
    dealt = true;
    one(task);
  };
  run_region(kNodes, [&](Thread* self) {
    ++here;
    wait_for([&] { return here == kNodes; });
    if (self->tid == 0) {
      CountingLoop loop{&told, plan_taskloop(tasks, TaskloopPlan::Clause::num_tasks, tasks, false, kNodes),
                        base};
      self->member->leaf_cost_of(
          loop.body()) = {};  // a loop that seems cheap would be begun by this thread alone
      TaskloopPast past;
      taskgroup_begin(self);
      run_taskloop(self, loop, tasks, true, past);
      taskgroup_end(self);
    } else {
      wait_for([&] { return dealt.load(); });
    }
    barrier(self);
  });
}

RememberedTaskloop* taskloop_memory() {
  RememberedTaskloop* latest = nullptr;
  for (RememberedTaskloop& one : memory().taskloops)
    if (one.key != 0 && (latest == nullptr || one.used > latest->used)) latest = &one;
  return latest;
}

TEST(Taskloops, RunTheirTasksWhereTheseRanBefore) {
  const std::uint64_t base = base_of(70);
  for (int instance = 0; instance < 6; ++instance) {
    Steps steps;
    std::array<int, 64> who{};
    run_taskloop_of(64, base, [&](std::uint64_t task) {
      who[task] = Thread::current()->tid;
      steps.one(Thread::current()->tid);
    });
    RememberedTaskloop* past = taskloop_memory();
    ASSERT_NE(past, nullptr);
    for (std::uint32_t i = 0; i < 64; ++i) {
      const int expected = static_cast<int>(instance < 3 ? i / 8 : i * 3 % 8);
      EXPECT_EQ(who[i], expected) << i << " in instance " << instance;
      EXPECT_EQ(past->homes[i], expected + 1);
      if (instance == 2) past->homes[i] = static_cast<std::uint8_t>(i * 3 % 8 + 1);
    }
    past->ticks = 0;
  }
}

TEST(Taskloops, RunEachTaskOnce) {
  for (const std::uint64_t tasks :
       {std::uint64_t{1}, std::uint64_t{7}, std::uint64_t{255}, std::uint64_t{257}, std::uint64_t{5000}}) {
    for (int instance = 0; instance < 5; ++instance) {
      std::vector<std::atomic<int>> times(tasks);
      run_taskloop_of(tasks, 0, [&](std::uint64_t task) {
        ++times[task];
        if (task % 16 == 0) sched_yield();
      });
      for (std::uint64_t i = 0; i < tasks; ++i) EXPECT_EQ(times[i], 1) << i;
    }
  }
}

}  // namespace
}  // namespace hearth::rt
