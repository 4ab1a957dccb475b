// libhearth.so's side of the takeover of malloc (takeover.h). Everything but the count of mappings is written
// once, before libhearth-malloc.so hears of it, and constant from then on. Any thread.
#include "memory/takeover.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>

#include <fcntl.h>
#include <unistd.h>

#include "base/log.h"
#include "base/parse.h"
#include "memory/managed.h"
#include "memory/sites.h"
#include "topology/current.h"

namespace hearth::memory {
namespace {

using placement::Kind;

constinit TakeoverRequest taken;
constinit placement::Distribution what;  // of all blocks, unless each site has its own
constinit std::uint32_t weights[placement::kMaxLocations] = {};
/// A weighted block goes round the nodes so often.
constexpr std::size_t kRounds = 4;
std::size_t most_pieces() { return kRounds * static_cast<std::size_t>(memory_homes().homes.count); }

// The kernel gives a process so many mappings (65530) and then refuses all: threads, libraries, malloc. A
// program may have that many large blocks; half of them are left to everybody else.
constinit std::int64_t most_mappings = 65530 / 2;
constinit std::atomic<std::int64_t> mappings{0};

void read_most_mappings() {
  const int file = open("/proc/sys/vm/max_map_count", O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  char text[32];
  const ssize_t length = read(file, text, sizeof(text));
  close(file);
  if (length <= 0) return;
  const auto most = parse_integer({text, static_cast<std::size_t>(length)}, 0, INT32_MAX);
  if (most) most_mappings = most.value / 2;
}

/// What a block with a region of its own takes: each of its parts, and the unused rest of its last granule.
std::int64_t mappings_of(Kind kind, std::size_t bytes) {
  if (kind == Kind::blocked) return memory_homes().homes.count + 1;
  if (kind == Kind::weighted) return static_cast<std::int64_t>(most_pieces()) + 1;
  return bytes <= kLargestInSlab && !taken.learn ? 0 : 2;
}
std::int64_t mappings_of(const ManagedBlock& block) {
  return mappings_of(taken.learn ? block.site_kind : taken.kind, block.capacity);
}

void* allocate(std::size_t alignment, std::size_t size, int zeroed, const void* caller) {
  ManagedRequest request = {.what = what,
                            .size = size,
                            .alignment = alignment,
                            .tag = kTagOfMalloc,
                            .zeroed = zeroed != 0,
                            .huge = taken.huge,
                            .most_pieces = most_pieces()};
  if (taken.learn) sites::choose(caller, request);
  const std::int64_t more = mappings_of(request.what.kind, size);
  if (mappings.fetch_add(more, std::memory_order_relaxed) + more <= most_mappings) {
    void* block = managed_allocate(request);
    if (block != nullptr) return block;
  }
  mappings.fetch_sub(more, std::memory_order_relaxed);
  return nullptr;
}

/// The block at `address`, for a caller that is about to use it.
ManagedBlock block_of(const void* address) {
  ManagedBlock block;
  if (!block_at(address, block) || block.begin != address)
    fatal("free(%p): not a block of malloc, or freed before.", address);
  return block;
}

void release(void* address) {
  const ManagedBlock block = block_of(address);
  if (block.tag == kTagOfMalloc) mappings.fetch_sub(mappings_of(block), std::memory_order_relaxed);
  managed_release(address);
}

void* resize(void* address, std::size_t size) {
  const ManagedBlock before = block_of(address);
  void* const other = managed_resize(address, size);
  if (other == nullptr || before.tag != kTagOfMalloc) return other;
  const std::int64_t more = mappings_of(block_of(other)) - mappings_of(before);
  if (more != 0) mappings.fetch_add(more, std::memory_order_relaxed);
  return other;
}

std::size_t size_of(const void* address) { return block_of(address).size; }

void missed(std::size_t size) {
  HEARTH_WARN_ONCE(
      "malloc(%zu) is not distributed: too many large blocks for the kernel's mappings (vm.max_map_count), or no address space "
      "(ulimit -v). Its pages are where they are first touched.",
      size);
}

// ---- what the program maps itself

extern "C" {
// The linker's: where this library lies. What it maps for itself is its own business.
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));
}

/// Of mappings that are there now. An estimate: of what is unmapped nobody knows which it was.
constinit std::atomic<std::int64_t> mapped_pieces{0};

std::int64_t pieces_of_mapping() { return taken.kind == Kind::blocked || taken.kind == Kind::weighted ? mappings_of(taken.kind, 0) : 1; }

void mapped(void* begin, std::size_t bytes, const void* caller) {
  const auto* const from = static_cast<const char*>(caller);
  if (taken.learn || (from >= __ehdr_start && from < _end)) return;
  const std::int64_t more = pieces_of_mapping();
  if (mapped_pieces.fetch_add(more, std::memory_order_relaxed) + more > most_mappings) {
    mapped_pieces.fetch_sub(more, std::memory_order_relaxed);
    HEARTH_WARN_ONCE(
        "mmap of %zu bytes is not distributed: too many mappings for the kernel (vm.max_map_count). Its pages are where they "
        "are first touched.",
        bytes);
    return;
  }
  distribute_mapping(begin, bytes, what, taken.huge, most_pieces());
}

void unmapped(std::size_t bytes) {
  if (bytes < taken.least) return;
  const std::int64_t less = pieces_of_mapping();
  if (mapped_pieces.fetch_sub(less, std::memory_order_relaxed) < less) mapped_pieces.fetch_add(less, std::memory_order_relaxed);
}

// ---- weighted

/// What a processor of the node gets from its memory; 0: nobody knows.
double bandwidth_of(const topology::Machine& machine, int node) {
  const auto index = static_cast<std::size_t>(node);
  if (!machine.bandwidth_mbs.empty() && machine.bandwidth_mbs.at(index, index) > 0)
    return static_cast<double>(machine.bandwidth_mbs.at(index, index));
  return machine.nodes[index].access.read_bandwidth_mbs;
}

/// In proportion to the bandwidth of each node's memory, the widest 16. Equal ones where one of them is not known.
void weigh_by_bandwidth() {
  constexpr double kWidest = 16;
  const topology::Machine& machine = topology::machine();
  const placement::Homes& homes = memory_homes().homes;
  double bandwidth[placement::kMaxLocations], most = 0;
  for (std::int32_t i = 0; i < homes.count; ++i) {
    const int node = machine.locations[static_cast<std::size_t>(homes.at[i])].node;
    bandwidth[i] = node < 0 ? 0 : bandwidth_of(machine, node);
    if (bandwidth[i] <= 0) {
      warn(
          "HEARTH_DISTRIBUTE=weighted: how fast the memory of location %d is is not known (the firmware's HMAT does not say), so "
          "all locations get equal parts. `hearth topo --measure --keep` measures it.",
          homes.at[i]);
      return;
    }
    most = std::max(most, bandwidth[i]);
  }
  for (std::int32_t i = 0; i < homes.count; ++i)
    weights[i] = std::max(static_cast<std::uint32_t>(bandwidth[i] / most * kWidest + 0.5), 1u);
  what.weights = weights;
}

}  // namespace

void take_over_malloc(const TakeoverRequest& request) {
  if (request.kind == Kind::standard && !request.learn) return;
  if (hearth_take_over_malloc_3 == nullptr) {
    warn(
        "HEARTH_DISTRIBUTE: libhearth-malloc.so is not preloaded, so malloc is not distributed. "
        "Start the program with `hearth run`, or add the file to LD_PRELOAD.");
    return;
  }
  if (!memory_homes().several() || !reserve_managed_range()) return;
  taken = request;
  what.kind = request.kind;
  if (what.kind == Kind::weighted) weigh_by_bandwidth();
  read_most_mappings();
  const HearthTakeover how{.least = request.least,
                           .begin = owner_table.base(),
                           .bytes = owner_table.size(),
                           .allocate = allocate,
                           .resize = resize,
                           .release = release,
                           .size_of = size_of,
                           .missed = missed,
                           .mapped = mapped,
                           .unmapped = unmapped};
  const char* other = nullptr;
  const bool done = hearth_take_over_malloc_3(&how, &other) != 0;
  if (!done)
    warn(
        "HEARTH_DISTRIBUTE: malloc is %s's in this program, not the C library's, so it is not distributed. "
        "Its pages are where they are first touched.",
        other != nullptr ? other : "another library");
  else if (other != nullptr)
    warn(
        "HEARTH_DISTRIBUTE: %s has an allocator of its own beside malloc. Its blocks are not distributed: "
        "their pages are where they are first touched.",
        other);
}

}  // namespace hearth::memory
