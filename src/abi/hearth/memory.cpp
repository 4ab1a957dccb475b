// The calls of <hearth/hearth.h> about memory: distributed blocks, and where bytes are. Any thread.
//
// A block of distributed memory is told from malloc's by its address, so free and realloc take both.
#include <algorithm>

#include "abi/export.h"
#include "hearth/hearth.h"
#include "memory/distributed.h"
#include "memory/owners.h"
#include "memory/sites.h"
#include "runtime/process/startup.h"
#include "runtime/settings/settings.h"

namespace {

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

void* allocate(const Distribution& what, std::size_t alignment, std::size_t size, bool zeroed = false) {
  const bool huge = what.kind != Kind::standard && settings().huge_pages;
  return memory::allocate_distributed(
      {.what = what, .size = size, .alignment = alignment, .zeroed = zeroed, .huge = huge});
}

void* allocate_specific(omp_malloc_distribution_t distribution, std::size_t alignment, std::size_t size,
                        bool zeroed = false) {
  Kind kind = Kind::standard;
  return kind_of(distribution, kind) ? allocate({.kind = kind}, alignment, size, zeroed) : nullptr;
}

Distribution by_environment() { return {.kind = settings().data_distribution}; }

Shares shares_of(ByteRange range) {
  rt::initialize();
  return memory::look_up(range);
}

}  // namespace

HEARTH_EXPORT void* omp_malloc(std::size_t size) {
  HEARTH_ALLOCATES_FOR_CALLER;
  return allocate(by_environment(), 1, size);
}
HEARTH_EXPORT void* omp_malloc_specific(std::size_t size, omp_malloc_distribution_t distribution) {
  return allocate_specific(distribution, 1, size);
}
HEARTH_EXPORT void* omp_malloc_aligned(std::size_t alignment, std::size_t size) {
  HEARTH_ALLOCATES_FOR_CALLER;
  return allocate(by_environment(), alignment, size);
}
HEARTH_EXPORT void* omp_malloc_aligned_specific(std::size_t alignment, std::size_t size,
                                                omp_malloc_distribution_t distribution) {
  return allocate_specific(distribution, alignment, size);
}
HEARTH_EXPORT void* omp_malloc_calloc(std::size_t count, std::size_t size) {
  HEARTH_ALLOCATES_FOR_CALLER;
  std::size_t bytes = 0;
  return __builtin_mul_overflow(count, size, &bytes) ? nullptr : allocate(by_environment(), 1, bytes, true);
}
HEARTH_EXPORT void* omp_malloc_calloc_specific(std::size_t count, std::size_t size,
                                               omp_malloc_distribution_t distribution) {
  std::size_t bytes = 0;
  return __builtin_mul_overflow(count, size, &bytes) ? nullptr : allocate_specific(distribution, 1, bytes, true);
}

HEARTH_EXPORT void omp_malloc_free(void* block) { memory::release_distributed(block); }

HEARTH_EXPORT void* omp_malloc_realloc(void* block, std::size_t size) {
  HEARTH_ALLOCATES_FOR_CALLER;
  if (block == nullptr) return allocate(by_environment(), 1, size);
  return memory::resize_distributed(block, size);
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
