// The calls of <hearth/hearth.h> about memory: distributed blocks, and where bytes are. Any thread.
//
// A block of distributed memory is told from malloc's by its address, so free and realloc take both.
#include <cstdlib>

#include <algorithm>

#include "abi/export.h"
#include "base/log.h"
#include "hearth/hearth.h"
#include "memory/owners.h"
#include "runtime/process/startup.h"
#include "runtime/settings/settings.h"

namespace {

using hearth::memory::ManagedRequest;
using hearth::memory::MemoryHomes;
using hearth::placement::ByteRange;
using hearth::placement::Distribution;
using hearth::placement::Kind;
using hearth::placement::Shares;
namespace memory = hearth::memory;
namespace rt = hearth::rt;

const rt::Settings& settings() {
  rt::initialize();
  return rt::settings();
}

bool kind_of(omp_malloc_distribution_t distribution, Kind& kind) {
  switch (distribution) {
    case OMP_MALLOC_STANDARD: kind = Kind::standard; return true;
    case OMP_MALLOC_FINE: kind = Kind::fine; return true;
    case OMP_MALLOC_COARSE: kind = Kind::coarse; return true;
    case OMP_MALLOC_NEAREST: kind = Kind::nearest; return true;
    case OMP_MALLOC_BLOCKED: kind = Kind::blocked; return true;
    case OMP_MALLOC_INTERLEAVED: kind = Kind::interleaved; return true;
  }
  return false;
}

/// The C library's memory, by the rules of this header.
void* plain(std::size_t alignment, std::size_t size, bool zeroed) {
  void* block = nullptr;
  if (alignment <= alignof(std::max_align_t)) {
    block = zeroed ? std::calloc(1, size) : std::malloc(size);
  } else if (posix_memalign(&block, alignment, size) != 0) {
    return nullptr;
  } else if (zeroed) {
    __builtin_memset(block, 0, size);
  }
  return block;
}

void* allocate(const Distribution& what, std::size_t alignment, std::size_t size, bool zeroed = false) {
  if (size == 0 || alignment == 0 || (alignment & (alignment - 1)) != 0) return nullptr;
  if (what.kind == Kind::standard) return plain(alignment, size, zeroed);
  const ManagedRequest request{
      .what = what, .size = size, .alignment = alignment, .zeroed = zeroed, .huge = settings().huge_pages};
  if (void* block = memory::managed_allocate(request)) return block;
  void* block = plain(alignment, size, zeroed);
  if (block != nullptr)
    HEARTH_WARN_ONCE(
        "%zu bytes cannot be distributed (%s): no more address space or mappings for them. "
        "Their pages are where they are first touched.",
        size, hearth::placement::kind_name(what.kind));
  return block;
}

void* allocate_specific(omp_malloc_distribution_t distribution, std::size_t alignment, std::size_t size,
                        bool zeroed = false) {
  Kind kind = Kind::standard;
  return kind_of(distribution, kind) ? allocate({.kind = kind}, alignment, size, zeroed) : nullptr;
}

Distribution by_environment() { return {.kind = settings().data_distribution}; }

/// A block of ours, and not of malloc's, whose memory may be managed too (memory/takeover.h).
bool is_ours(const void* block) {
  memory::ManagedBlock managed;
  return memory::is_managed(block) && !(memory::block_at(block, managed) && managed.tag == memory::kTagOfMalloc);
}

void release(void* block) {
  if (is_ours(block))
    memory::managed_release(block);
  else
    std::free(block);
}

/// Bytes by location, after a look at the kernel where that is needed.
Shares shares_of(ByteRange range) {
  rt::initialize();
  Shares shares(memory::memory_homes().locations);
  const memory::PageMap::Knowledge knowledge = memory::where_is(range, shares);
  if ((knowledge.missing != 0 || knowledge.old != 0 || knowledge.untouched != 0) && memory::learn(&range, 1)) {
    shares.clear(shares.locations);
    memory::where_is(range, shares);
  }
  return shares;
}

}  // namespace

HEARTH_EXPORT void* omp_malloc(std::size_t size) { return allocate(by_environment(), 1, size); }
HEARTH_EXPORT void* omp_malloc_specific(std::size_t size, omp_malloc_distribution_t distribution) {
  return allocate_specific(distribution, 1, size);
}
HEARTH_EXPORT void* omp_malloc_aligned(std::size_t alignment, std::size_t size) {
  return allocate(by_environment(), alignment, size);
}
HEARTH_EXPORT void* omp_malloc_aligned_specific(std::size_t alignment, std::size_t size,
                                                omp_malloc_distribution_t distribution) {
  return allocate_specific(distribution, alignment, size);
}
HEARTH_EXPORT void* omp_malloc_calloc(std::size_t count, std::size_t size) {
  std::size_t bytes = 0;
  return __builtin_mul_overflow(count, size, &bytes) ? nullptr : allocate(by_environment(), 1, bytes, true);
}
HEARTH_EXPORT void* omp_malloc_calloc_specific(std::size_t count, std::size_t size,
                                               omp_malloc_distribution_t distribution) {
  std::size_t bytes = 0;
  return __builtin_mul_overflow(count, size, &bytes) ? nullptr : allocate_specific(distribution, 1, bytes, true);
}

HEARTH_EXPORT void omp_malloc_free(void* block) { release(block); }

HEARTH_EXPORT void* omp_malloc_realloc(void* block, std::size_t size) {
  if (block == nullptr) return allocate(by_environment(), 1, size);
  if (size == 0) {
    release(block);
    return nullptr;
  }
  return is_ours(block) ? memory::managed_resize(block, size) : std::realloc(block, size);
}

HEARTH_EXPORT void* hearth_malloc_distributed(std::size_t size, std::size_t block_bytes, hearth_block_owner_t owner,
                                              void* data) {
  if (owner == nullptr || block_bytes == 0) return nullptr;
  return allocate({.kind = Kind::custom, .owner = owner, .data = data, .block_bytes = block_bytes}, 1, size);
}

HEARTH_EXPORT void* hearth_malloc_weighted(std::size_t size, const unsigned* weights, int count) {
  std::uint32_t all[hearth::placement::kMaxLocations] = {};
  if (weights != nullptr) std::copy_n(weights, std::clamp(count, 0, hearth::placement::kMaxLocations), all);
  return allocate({.kind = Kind::weighted, .weights = weights != nullptr ? all : nullptr}, 1, size);
}

HEARTH_EXPORT int hearth_num_locations() {
  rt::initialize();
  return memory::memory_homes().locations;
}
HEARTH_EXPORT int hearth_num_memory_locations() {
  rt::initialize();
  return memory::memory_homes().homes.count;
}
HEARTH_EXPORT int hearth_memory_location(int index) {
  rt::initialize();
  const MemoryHomes& machine = memory::memory_homes();
  return index >= 0 && index < machine.homes.count ? machine.homes.at[index] : -1;
}
HEARTH_EXPORT int hearth_location_node(int location) {
  rt::initialize();
  const MemoryHomes& machine = memory::memory_homes();
  return location >= 0 && location < machine.locations ? machine.node[location] : -1;
}
HEARTH_EXPORT int hearth_location() {
  rt::initialize();
  return memory::location_here();
}

HEARTH_EXPORT std::size_t hearth_bytes_by_location(const void* begin, std::size_t length, std::size_t* bytes,
                                                   int count) {
  const Shares shares = shares_of(ByteRange::of(begin, length));
  for (int i = 0; i < count; ++i) bytes[i] = i < shares.locations ? shares.at[i] : 0;
  return shares.unknown;
}

HEARTH_EXPORT int hearth_owner(const void* address) {
  const Shares shares = shares_of(ByteRange::of(address, 1));
  for (std::int32_t i = 0; i < shares.locations; ++i)
    if (shares.at[i] != 0) return i;
  return -1;
}
