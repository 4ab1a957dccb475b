// Blocks and pools. A block is
//
//   raw ... | Header | the program's bytes, aligned
//
// with Header right before the program's bytes. What a block takes from its allocator's pool is the whole of
// it, from raw on: memory that an allocator holds is memory that others cannot have. Synchronisation: the
// pool's count, nothing else.
//
// Blocks of allocators with a partition other than environment are managed memory (managed.h): they begin at
// a page, so their header's facts stand beside them, and they take whole pages, or slots, from the pool.
#include "memory/allocators.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <atomic>
#include <new>

#include <sys/mman.h>
#include <unistd.h>

#include "base/log.h"
#include "memory/managed.h"

namespace hearth::memory {

namespace {

struct Allocator {
  Traits traits;
  std::atomic<std::size_t> used{0};  // bytes of the pool that live blocks take; only when there is a pool size
};

// As aligned as malloc's memory, so that a block without particular alignment is as aligned as malloc's, too.
struct alignas(std::max_align_t) Header {
  void* raw;                  // what malloc (or mmap, when pinned) gave
  std::size_t total;          // from raw to the end
  AllocatorHandle allocator;  // who is to be told when the block goes
};
static_assert(sizeof(Header) == 32);

bool is_power_of_two(std::size_t n) { return n != 0 && (n & (n - 1)) == 0; }

bool is_predefined(AllocatorHandle handle) {
  return (handle >= kDefaultMemAlloc && handle <= kThreadMemAlloc) ||
         (handle >= kTargetHostMemAlloc && handle <= kTargetDeviceMemAlloc) || handle == kPinnedMemAlloc;
}

bool is_made(AllocatorHandle handle) { return handle > kLastPredefined; }

Allocator& made(AllocatorHandle handle) { return *reinterpret_cast<Allocator*>(handle); }

bool is_memory_space(std::uintptr_t space) { return space <= 4 || (space >= 100 && space <= 102); }

Header& header_of(void* block) { return static_cast<Header*>(block)[-1]; }

/// Take `bytes` from the pool, exactly: never more than the pool has, whatever other threads do, and never
/// refused while there is room.
bool take_from_pool(Allocator& allocator, std::size_t bytes) {
  std::size_t used = allocator.used.load(std::memory_order_relaxed);
  do {
    if (bytes > allocator.traits.pool_size || used > allocator.traits.pool_size - bytes) return false;
  } while (
      !allocator.used.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed, std::memory_order_relaxed));
  return true;
}

bool has_pool(const Traits& traits) { return traits.pool_size != ~std::uintptr_t{0}; }

bool lock_pages(void* begin, std::size_t bytes) {
  if (mlock(begin, bytes) == 0) return true;
  HEARTH_WARN_ONCE(
      "cannot lock %zu bytes for an allocator with the trait pinned=true (mlock: errno %d; see ulimit -l). Using its fallback.",
      bytes, errno);
  return false;
}

/// Pinned memory has its own pages: locking counts per page, so a block that shared one would be unpinned
/// with its neighbour.
void* map_pinned(std::size_t total) {
  void* raw = mmap(nullptr, total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (raw == MAP_FAILED) return nullptr;
  if (lock_pages(raw, total)) return raw;
  munmap(raw, total);
  return nullptr;
}

struct Request {
  std::size_t alignment;
  std::size_t size;
  bool zeroed;
};

bool is_distributed(const Traits& traits) { return traits.partition != trait::kEnvironment; }

placement::Distribution distribution_of(const Traits& traits) {
  switch (traits.partition) {
    case trait::kNearest: return {.kind = placement::Kind::nearest};
    case trait::kBlocked: return {.kind = placement::Kind::blocked};
    case trait::kInterleaved: return {.kind = placement::Kind::interleaved};
    default: return {.kind = placement::Kind::environment};
  }
}

/// A block of malloc's or mmap's memory, with a header.
void* plain_block(AllocatorHandle handle, const Traits& traits, const Request& request, std::size_t alignment,
                  std::size_t total) {
  void* raw = traits.pinned ? map_pinned(total) : request.zeroed ? std::calloc(1, total) : std::malloc(total);
  if (raw == nullptr) return nullptr;
  std::uintptr_t address = reinterpret_cast<std::uintptr_t>(raw) + sizeof(Header);
  if (alignment > alignof(Header)) address = (address + alignment - 1) & ~(static_cast<std::uintptr_t>(alignment) - 1);
  void* block = reinterpret_cast<void*>(address);
  header_of(block) = {raw, total, handle};
  return block;
}

/// A block of managed memory, distributed as the partition trait says.
void* distributed_block(AllocatorHandle handle, const Traits& traits, const Request& request, std::size_t alignment) {
  void* block = managed_allocate({.what = distribution_of(traits),
                                  .size = request.size,
                                  .alignment = alignment,
                                  .tag = handle,
                                  .zeroed = request.zeroed});
  if (block != nullptr && traits.pinned && !lock_pages(block, request.size)) {
    managed_release(block);
    return nullptr;
  }
  return block;
}

/// What a block would take from a pool; 0 when it is too large for any.
std::size_t footprint(const Traits& traits, std::size_t alignment, std::size_t size) {
  if (is_distributed(traits)) {
    const std::size_t bytes = managed_block_bytes(distribution_of(traits), alignment, size);
    return bytes == SIZE_MAX ? 0 : bytes;
  }
  const std::size_t slack = alignment > alignof(Header) ? alignment - alignof(Header) : 0;
  std::size_t total = 0;
  if (__builtin_add_overflow(size, sizeof(Header) + slack, &total) || total < sizeof(Header) ||
      total > static_cast<std::size_t>(PTRDIFF_MAX))
    return 0;
  return total;
}

/// One attempt, without fallback. `held` bytes of the pool are the caller's already, and the new block's on
/// success.
void* try_allocate(AllocatorHandle handle, const Traits& traits, const Request& request, std::size_t held = 0) {
  std::size_t alignment = request.alignment > traits.alignment ? request.alignment : traits.alignment;
  // Locking counts per page: a block that shared one would be unlocked with its neighbour.
  if (traits.pinned && is_distributed(traits) && alignment < kPage) alignment = kPage;
  const std::size_t total = footprint(traits, alignment, request.size);
  if (total == 0) return nullptr;

  const bool pooled = is_made(handle) && has_pool(traits);
  const std::size_t more = total > held ? total - held : 0;
  if (pooled && !take_from_pool(made(handle), more)) return nullptr;

  void* block = is_distributed(traits) ? distributed_block(handle, traits, request, alignment)
                                       : plain_block(handle, traits, request, alignment, total);
  if (block == nullptr) {
    if (pooled) made(handle).used.fetch_sub(more, std::memory_order_relaxed);
    return nullptr;
  }
  if (pooled && held > total) made(handle).used.fetch_sub(held - total, std::memory_order_relaxed);
  return block;
}

/// What is known of a block, wherever that stands.
struct Facts {
  void* block;
  Header header;     // of a managed block: raw is the block itself, total what it takes from its pool
  std::size_t room;  // bytes of it that may be the program's
  bool managed;
};

Facts facts_of(void* block) {
  ManagedBlock managed;
  // malloc's memory may be managed too, under the header of a plain block.
  if (is_managed(block) && block_at(block, managed) && managed.tag != kTagOfMalloc)
    return {block, {block, managed.capacity, managed.tag}, managed.size, true};
  const Header& header = header_of(block);
  // Everything behind the header may be the program's: alignment may have left less room in front than was
  // reckoned with.
  const auto before = static_cast<std::size_t>(static_cast<char*>(block) - static_cast<char*>(header.raw));
  return {block, header, header.total - before, false};
}

/// The end of a block. Without `to_pool` its share of the pool belongs to another block already.
void give_back(const Facts& facts, bool to_pool) {
  const Header& header = facts.header;
  bool pinned = header.allocator == kPinnedMemAlloc;
  if (is_made(header.allocator)) {
    Allocator& allocator = made(header.allocator);
    pinned = allocator.traits.pinned;
    if (to_pool && has_pool(allocator.traits)) allocator.used.fetch_sub(header.total, std::memory_order_relaxed);
  }
  if (facts.managed) {
    if (pinned) munlock(facts.block, header.total);
    managed_release(facts.block);
  } else if (pinned) {
    munmap(header.raw, header.total);
  } else {
    std::free(header.raw);
  }
}

void* allocate_from(AllocatorHandle handle, const Request& request) {
  if (request.size == 0 || !is_power_of_two(request.alignment)) return nullptr;
  // A chain of fallback allocators ends: an allocator's fallback exists before it does, so there are no
  // rings.
  for (;;) {
    if (!is_made(handle) && !is_predefined(handle)) {
      HEARTH_WARN_ONCE("omp_alloc: %#zx is not an allocator; returning a null pointer.",
                       static_cast<std::size_t>(handle));
      return nullptr;
    }
    const Traits traits = traits_of(handle);
    if (void* block = try_allocate(handle, traits, request)) return block;
    switch (traits.fallback) {
      case trait::kNullFb: return nullptr;
      case trait::kAbortFb:
        fatal("an allocator with the trait fallback=abort_fb cannot allocate %zu bytes (pool_size %zu).", request.size,
              static_cast<std::size_t>(traits.pool_size));
      case trait::kAllocatorFb: handle = traits.fallback_allocator; continue;
      default:
        // The default memory space. If that just failed, asking once more cannot help.
        if (handle == kDefaultMemAlloc) return nullptr;
        handle = kDefaultMemAlloc;
        continue;
    }
  }
}

}  // namespace

AllocatorHandle make_allocator(std::uintptr_t memory_space, int count, const Trait* traits) {
  if (!is_memory_space(memory_space) || count < 0 || (count > 0 && traits == nullptr)) return kNullAllocator;
  Traits made_of;
  made_of.memory_space = memory_space;
  for (int i = 0; i < count; ++i) {
    const std::uintptr_t value = traits[i].value;
    const bool by_default = value == trait::kDefault;
    switch (static_cast<TraitKey>(traits[i].key)) {
      case TraitKey::sync_hint:
        if (by_default) break;
        if (value < trait::kContended || value > trait::kPrivate) return kNullAllocator;
        made_of.sync_hint = value;
        break;
      case TraitKey::alignment:
        if (by_default) break;
        if (!is_power_of_two(value)) return kNullAllocator;
        made_of.alignment = value;
        break;
      case TraitKey::access:
        if (by_default) break;
        if (value < trait::kAll || value > trait::kCgroup) return kNullAllocator;
        made_of.access = value;
        break;
      case TraitKey::pool_size:
        made_of.pool_size = value;  // the default's number says "no limit"
        break;
      case TraitKey::fallback:
        if (by_default) break;
        if (value < trait::kDefaultMemFb || value > trait::kAllocatorFb) return kNullAllocator;
        made_of.fallback = value;
        break;
      case TraitKey::fb_data: made_of.fallback_allocator = value; break;
      case TraitKey::pinned:
        if (by_default) break;
        if (value > trait::kTrue) return kNullAllocator;
        made_of.pinned = value == trait::kTrue;
        break;
      case TraitKey::partition:
        if (by_default) break;
        if (value < trait::kEnvironment || value > trait::kInterleaved) return kNullAllocator;
        made_of.partition = value;
        break;
      default: return kNullAllocator;
    }
  }
  // fallback=allocator_fb without a usable fb_data falls back to the default memory space.
  if (made_of.fallback == trait::kAllocatorFb && !is_predefined(made_of.fallback_allocator) &&
      !is_made(made_of.fallback_allocator))
    made_of.fallback = trait::kDefaultMemFb;

  void* memory = std::malloc(sizeof(Allocator));
  if (memory == nullptr) return kNullAllocator;
  auto* allocator = new (memory) Allocator;
  allocator->traits = made_of;
  return reinterpret_cast<AllocatorHandle>(allocator);
}

void destroy_allocator(AllocatorHandle allocator) {
  if (is_made(allocator)) std::free(&made(allocator));
}

Traits traits_of(AllocatorHandle allocator) {
  if (is_made(allocator)) return made(allocator).traits;
  Traits traits;
  switch (allocator) {
    case 2: traits.memory_space = 1; break;  // large capacity
    case 3: traits.memory_space = 2; break;  // constant
    case 4: traits.memory_space = 3; break;  // high bandwidth
    case 5: traits.memory_space = 4; break;  // low latency
    case 6: traits.access = trait::kCgroup; break;
    case 7: traits.access = trait::kPteam; break;
    case 8: traits.access = trait::kThread; break;
    case kPinnedMemAlloc:
      traits.pinned = true;
      traits.fallback = trait::kNullFb;
      break;
    default: break;
  }
  return traits;
}

std::size_t pool_used(AllocatorHandle allocator) {
  return is_made(allocator) ? made(allocator).used.load(std::memory_order_relaxed) : 0;
}

void* allocate(AllocatorHandle allocator, std::size_t alignment, std::size_t size) {
  return allocate_from(allocator, {alignment, size, false});
}

void* allocate_zeroed(AllocatorHandle allocator, std::size_t alignment, std::size_t count, std::size_t size) {
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes)) return nullptr;
  return allocate_from(allocator, {alignment, bytes, true});
}

void* reallocate(void* block, std::size_t size, AllocatorHandle allocator) {
  if (block == nullptr) return allocate(allocator, 1, size);
  if (size == 0) {
    release(block);
    return nullptr;
  }
  const Facts old = facts_of(block);
  if (allocator == kNullAllocator) allocator = old.header.allocator;
  // Within one pool the old block's bytes count for the new one: growing by a byte needs room for a byte.
  const bool same_pool = allocator == old.header.allocator && is_made(allocator) && has_pool(made(allocator).traits);
  void* other = nullptr;
  if (same_pool) other = try_allocate(allocator, made(allocator).traits, {1, size, false}, old.header.total);
  const bool moved_within_pool = other != nullptr;
  if (other == nullptr) other = allocate(allocator, 1, size);
  if (other == nullptr) return nullptr;
  std::memcpy(other, block, old.room < size ? old.room : size);
  give_back(old, !moved_within_pool);
  return other;
}

void release(void* block) {
  if (block != nullptr) give_back(facts_of(block), true);
}

}  // namespace hearth::memory
