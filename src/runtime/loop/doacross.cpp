#include "runtime/loop/doacross.h"

#include <cinttypes>
#include <cstdlib>
#include <new>

#include "base/assert.h"
#include "base/log.h"
#include "runtime/loop/workshare.h"
#include "runtime/sync/shared_writes.h"
#include "runtime/sync/wait.h"
#include "runtime/tools/events.h"

namespace hearth::rt {
namespace {

using Word = std::atomic<std::uint64_t>;

constexpr std::uint64_t kWordsPerLine = kCacheLine / sizeof(Word);
constexpr std::uint64_t kSpacedRows =
    8192;  // up to this many rows each gets a line of its own: half a megabyte
constexpr std::uint64_t kBits = 64;

// The zeroed words of the construct, made by whichever member comes first.
Word* shared_words(WorkShare* share, std::uint64_t count) {
  void* seen = share->flags.load(std::memory_order_acquire);  // pairs with the release below
  if (seen == nullptr) {
    void* mine = std::calloc(count, sizeof(Word));
    if (mine == nullptr)
      fatal("out of memory: no room for the %llu words of a doacross loop",
            static_cast<unsigned long long>(count));
    count_shared_write();
    // Release: others see the zeroes. Acquire: so do we, if somebody else was first.
    if (share->flags.compare_exchange_strong(seen, mine, std::memory_order_acq_rel,
                                             std::memory_order_acquire))
      seen = mine;
    else
      std::free(mine);
  }
  return static_cast<Word*>(seen);
}

Word* words_of(const LoopState& loop) {
  return static_cast<Word*>(
      loop.doacross->flags.load(std::memory_order_relaxed));  // seen by rows_ or points_begin()
}

std::uint64_t* new_shape(LoopState& loop, std::size_t words) {
  std::free(loop.doacross_shape);
  loop.doacross_shape = static_cast<std::uint64_t*>(std::malloc(words * sizeof(std::uint64_t)));
  if (loop.doacross_shape == nullptr) fatal("out of memory: no room for a doacross loop");
  return loop.doacross_shape;
}

void begin(Thread* self, std::size_t dims) {
  LoopState& loop = self->member->loop;
  if (HEARTH_UNLIKELY(loop.doacross != nullptr)) doacross_end(self);
  HEARTH_ASSERT(dims != 0, "a doacross loop of no dimensions, in member %d", self->tid);
  loop.doacross_dims = static_cast<std::uint32_t>(dims);
  loop.doacross = enter_share(self);
}

// How many inner iterations of its row come before this one.
std::uint64_t inner_index(const LoopState& loop, const std::uint64_t* indices) {
  std::uint64_t index = 0;
  for (std::uint32_t d = 1; d < loop.doacross_dims; ++d) index = index * loop.doacross_shape[d] + indices[d];
  return index;
}

// What tools are given.
const std::uint64_t* bits_of(const std::int64_t* values) {
  return reinterpret_cast<const std::uint64_t*>(values);
}

// Shape of points: {lower, step, count} per dimension.
bool point_index(const LoopState& loop, const std::int64_t* values, std::uint64_t& index) {
  index = 0;
  for (std::uint32_t d = 0; d < loop.doacross_dims; ++d) {
    const std::uint64_t* dim = loop.doacross_shape + std::size_t{3} * d;
    const auto step = static_cast<std::int64_t>(dim[1]);
    const std::uint64_t way = step > 0 ? static_cast<std::uint64_t>(values[d]) - dim[0]
                                       : dim[0] - static_cast<std::uint64_t>(values[d]);
    const std::uint64_t length = step > 0 ? dim[1] : 0 - dim[1];
    if (static_cast<std::int64_t>(way) < 0 || way / length >= dim[2]) return false;
    index = index * dim[2] + way / length;
  }
  return true;
}

}  // namespace

void rows_begin(Thread* self, std::size_t dims, const std::uint64_t* counts) {
  if (self->team->size == 1) return;
  begin(self, dims);
  LoopState& loop = self->member->loop;
  std::uint64_t* shape = new_shape(loop, dims);
  for (std::size_t d = 0; d < dims; ++d) shape[d] = counts[d];
  // The first entry is of no use for indices: it keeps the distance of rows.
  const std::uint64_t rows = counts[0];
  shape[0] = rows <= kSpacedRows ? kWordsPerLine : 1;
  shared_words(loop.doacross, rows * shape[0] + 1);
}

void rows_post(Thread* self, const std::uint64_t* indices) {
  const LoopState& loop = self->member->loop;
  if (loop.doacross == nullptr) return;
  if (events::active()) events::doacross(self, ompt_dependence_type_source, indices, loop.doacross_dims);
  count_shared_write();
  Word& row = words_of(loop)[indices[0] * loop.doacross_shape[0]];
  const std::uint64_t done = inner_index(loop, indices) + 1;
  HEARTH_ASSERT(row.load(std::memory_order_relaxed) <= done,
                "row %" PRIu64 " has come to %" PRIu64 " already, and posts %" PRIu64, indices[0],
                row.load(std::memory_order_relaxed), done);
  // Release: pairs with the load in rows_wait(). Only the member that runs the row stores, in rising order.
  row.store(done, std::memory_order_release);
  self->team->events.notify_all();
}

void rows_wait(Thread* self, const std::uint64_t* indices) {
  const LoopState& loop = self->member->loop;
  if (loop.doacross == nullptr) return;
  const Word& row = words_of(loop)[indices[0] * loop.doacross_shape[0]];
  const std::uint64_t inner = inner_index(loop, indices);
  // Acquire pairs with the release in rows_post(): what the row has done so far is seen.
  wait_until(self->team->events,
             [&] { return row.load(std::memory_order_acquire) > inner || construct_cancelled(self); });
  if (events::active()) events::doacross(self, ompt_dependence_type_sink, indices, loop.doacross_dims);
}

void points_begin(Thread* self, std::size_t dims, const DoacrossDim* space) {
  if (self->team->size == 1) return;
  begin(self, dims);
  LoopState& loop = self->member->loop;
  std::uint64_t* shape = new_shape(loop, 3 * dims);
  std::uint64_t points = 1;
  for (std::size_t d = 0; d < dims; ++d) {
    const DoacrossDim& dim = space[d];
    const auto lower = static_cast<std::uint64_t>(dim.lower), upper = static_cast<std::uint64_t>(dim.upper);
    const bool empty = dim.step > 0 ? dim.upper < dim.lower : dim.upper > dim.lower;
    const std::uint64_t way = dim.step > 0 ? upper - lower : lower - upper;
    const std::uint64_t length =
        dim.step > 0 ? static_cast<std::uint64_t>(dim.step) : 0 - static_cast<std::uint64_t>(dim.step);
    shape[3 * d] = lower;
    shape[3 * d + 1] = static_cast<std::uint64_t>(dim.step);
    shape[3 * d + 2] = empty ? 0 : way / length + 1;
    if (__builtin_mul_overflow(points, shape[3 * d + 2], &points))
      fatal("a doacross loop has more than 2^64 iterations");
  }
  shared_words(loop.doacross, points / kBits + 1);
}

void points_post(Thread* self, const std::int64_t* values) {
  const LoopState& loop = self->member->loop;
  std::uint64_t index = 0;
  if (loop.doacross == nullptr || !point_index(loop, values, index)) return;
  if (events::active())
    events::doacross(self, ompt_dependence_type_source, bits_of(values), loop.doacross_dims);
  count_shared_write();
  // Release: pairs with the load in points_wait().
  words_of(loop)[index / kBits].fetch_or(std::uint64_t{1} << index % kBits, std::memory_order_release);
  self->team->events.notify_all();
}

void points_wait(Thread* self, const std::int64_t* values) {
  const LoopState& loop = self->member->loop;
  std::uint64_t index = 0;
  if (loop.doacross == nullptr || !point_index(loop, values, index)) return;
  const Word& word = words_of(loop)[index / kBits];
  const std::uint64_t bit = std::uint64_t{1} << index % kBits;
  // Acquire pairs with the release in points_post().
  wait_until(self->team->events,
             [&] { return (word.load(std::memory_order_acquire) & bit) != 0 || construct_cancelled(self); });
  if (events::active())
    events::doacross(self, ompt_dependence_type_sink, bits_of(values), loop.doacross_dims);
}

void doacross_end(Thread* self) {
  LoopState& loop = self->member->loop;
  if (loop.doacross == nullptr) return;
  WorkShare* share = loop.doacross;
  loop.doacross = nullptr;
  std::free(loop.doacross_shape);
  loop.doacross_shape = nullptr;
  leave_share(self, share);
}

}  // namespace hearth::rt
