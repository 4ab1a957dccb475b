// links: hearth_runtime
// What it costs to deal a task to the location of its data, beyond queueing it where it was made: on a
// modelled machine of eight locations, where a worker waits at each, one thread makes a task, queues it and
// takes it out again. `stealing` uses its own deque; `dealing` states as many ranges, of 128 KiB each, as the
// argument says, works out how many bytes lie where, lets the policy choose, and uses that location's inbox.
// The difference is the price.
#include <cstdlib>

#include <benchmark/benchmark.h>

#include "memory/managed.h"
#include "runtime/task/create.h"
#include "runtime/task/finish.h"
#include "runtime/locality/team_locality.h"
#include "runtime/locality/dealing.h"

namespace {

using namespace hearth;
using namespace hearth::rt;
using placement::Kind;

const int pretending = setenv("HEARTH_MACHINE", HEARTH_SOURCE_DIR "/models/opteron-6172x4.toml", 1);

constexpr std::uint64_t kRange = 128 << 10;
constexpr std::uint64_t kBytes = std::uint64_t{1} << 30;

void stealing(benchmark::State& state) {
  Thread* self = Thread::current();
  for (auto _ : state) {
    Task* task = new_task(self, 0, 0);
    self->member->deque.push(task);
    task = self->member->deque.pop_if([](Task*) { return true; });
    benchmark::DoNotOptimize(task);
    recycle(self, task);
  }
}

int block_cyclic(std::size_t block, std::size_t, int locations, void*) {
  return static_cast<int>(block / 3 % static_cast<std::size_t>(locations));
}

void dealing(benchmark::State& state, Kind kind) {
  Thread* self = Thread::current();
  TeamLocality& all = *self->team->locality;
  for (Location i = 0; i < all.locations; ++i) all.count_worker(i, 1);
  self->member->location.store(3, std::memory_order_relaxed);
  // Of whole blocks many, or each range would be the same location's.
  const std::uint64_t size = kind == Kind::coarse ? kRange : kBytes;
  constexpr int kBlocks = 256;
  std::uint64_t begins[kBlocks];
  for (int i = 0; i < kBlocks; ++i) {
    const auto make = [&] {
      return reinterpret_cast<std::uintptr_t>(memory::managed_allocate(
          {.what = {.kind = kind, .owner = block_cyclic, .block_bytes = 65536}, .size = size}));
    };
    const std::uint64_t first = i == 0 || kind == Kind::coarse ? make() : begins[0];
    begins[i] = kind == Kind::coarse ? first : first + static_cast<std::uint64_t>(i) * 37 % 8192 * kRange;
  }
  const auto ranges = state.range(0);
  unsigned next = 0;
  for (auto _ : state) {
    for (std::int64_t r = 0; r < ranges; ++r) {
      FootprintRange range;
      range.begin = begins[next++ % kBlocks];
      range.length = kRange;
      range.access = r == 0 ? placement::Access::read_write : placement::Access::read;
      announce(self, range);
    }
    Task* task = new_task(self, 0, 0);
    const placement::Location where = deal(self, task, true);
    Inbox& inbox = all.inboxes[where < 0 ? 0 : where];
    inbox.put(task, true);
    task = inbox.take([](Task*) { return true; });
    benchmark::DoNotOptimize(task);
    recycle(self, task);
  }
  for (int i = 0; i < (kind == Kind::coarse ? kBlocks : 1); ++i)
    memory::managed_release(reinterpret_cast<void*>(begins[i]));
}

BENCHMARK(stealing);
BENCHMARK_CAPTURE(dealing, coarse, Kind::coarse)->Arg(1)->Arg(4);
BENCHMARK_CAPTURE(dealing, fine, Kind::fine)->Arg(1)->Arg(4);
BENCHMARK_CAPTURE(dealing, blocked, Kind::blocked)->Arg(1)->Arg(4);
BENCHMARK_CAPTURE(dealing, custom, Kind::custom)->Arg(1)->Arg(4);

}  // namespace
