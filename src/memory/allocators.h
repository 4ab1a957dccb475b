// OpenMP's allocators (OpenMP 5.2, section 6): predefined ones, those a program makes with traits, and the
// blocks they give.
//
// Any thread may call anything, except that destroying an allocator while others use it is the program's
// error, as the specification has it. An allocator is constant after it was made, but for the count of bytes
// taken from its pool, which is atomic. A block carries a header that says where it came from, so freeing
// needs no allocator argument. What "the default allocator of the current task" is, the caller knows:
// omp_null_allocator (0) is not accepted as an allocator here.
//
// The numbers of handles, memory spaces, trait keys and trait values are the specification's, and the same in
// gcc's and clang's omp.h.
#pragma once

#include <cstddef>
#include <cstdint>

#include <string_view>

namespace hearth::memory {

using AllocatorHandle = std::uintptr_t;

inline constexpr AllocatorHandle kNullAllocator = 0;
inline constexpr AllocatorHandle kDefaultMemAlloc = 1;
inline constexpr AllocatorHandle kThreadMemAlloc = 8;        // the last of the specification's eight
inline constexpr AllocatorHandle kTargetHostMemAlloc = 100;  // LLVM's extensions, 100 to 102
inline constexpr AllocatorHandle kTargetDeviceMemAlloc = 102;
inline constexpr AllocatorHandle kPinnedMemAlloc = 200;   // GNU's ompx_gnu_pinned_mem_alloc
inline constexpr AllocatorHandle kLastPredefined = 1024;  // larger handles are addresses of Allocators

enum class TraitKey : std::int32_t {
  sync_hint = 1,
  alignment = 2,
  access = 3,
  pool_size = 4,
  fallback = 5,
  fb_data = 6,
  pinned = 7,
  partition = 8,
};

// omp_alloctrait_value_t.
namespace trait {
inline constexpr std::uintptr_t kFalse = 0;
inline constexpr std::uintptr_t kTrue = 1;
inline constexpr std::uintptr_t kContended = 3;
inline constexpr std::uintptr_t kUncontended = 4;
inline constexpr std::uintptr_t kSerialized = 5;
inline constexpr std::uintptr_t kPrivate = 6;
inline constexpr std::uintptr_t kAll = 7;
inline constexpr std::uintptr_t kThread = 8;
inline constexpr std::uintptr_t kPteam = 9;
inline constexpr std::uintptr_t kCgroup = 10;
inline constexpr std::uintptr_t kDefaultMemFb = 11;
inline constexpr std::uintptr_t kNullFb = 12;
inline constexpr std::uintptr_t kAbortFb = 13;
inline constexpr std::uintptr_t kAllocatorFb = 14;
inline constexpr std::uintptr_t kEnvironment = 15;
inline constexpr std::uintptr_t kNearest = 16;
inline constexpr std::uintptr_t kBlocked = 17;
inline constexpr std::uintptr_t kInterleaved = 18;
inline constexpr std::uintptr_t kDefault = ~std::uintptr_t{0};
}  // namespace trait

/// omp_alloctrait_t, bit for bit.
struct Trait {
  std::int32_t key;
  std::uintptr_t value;
};
static_assert(sizeof(Trait) == 16);

/// What an allocator was asked to be. sync_hint and access change nothing here: every allocator is safe for
/// all threads. partition decides where the pages lie (managed.h): environment leaves that to the operating
/// system and takes malloc's memory.
struct Traits {
  std::uintptr_t memory_space = 0;
  std::uintptr_t sync_hint = trait::kContended;
  std::uintptr_t alignment = 1;
  std::uintptr_t access = trait::kAll;
  std::uintptr_t pool_size = ~std::uintptr_t{0};
  std::uintptr_t fallback = trait::kDefaultMemFb;
  AllocatorHandle fallback_allocator = kNullAllocator;
  bool pinned = false;
  std::uintptr_t partition = trait::kEnvironment;
};

/// A new allocator, or kNullAllocator when a trait or the memory space is not legal or memory is refused.
AllocatorHandle make_allocator(std::uintptr_t memory_space, int count, const Trait* traits);

/// Forget an allocator that make_allocator() made; a predefined handle or null is left alone.
void destroy_allocator(AllocatorHandle allocator);

/// The traits of any allocator, predefined ones too.
Traits traits_of(AllocatorHandle allocator);

/// Bytes that live blocks of this allocator take from its pool, headers and alignment included.
std::size_t pool_used(AllocatorHandle allocator);

/// A block of `size` bytes at a multiple of `alignment` (a power of two; the allocator's own may be larger).
/// Null when size is 0, when alignment is not a power of two, or when the allocator and its fallback have no
/// memory.
void* allocate(AllocatorHandle allocator, std::size_t alignment, std::size_t size);

/// The same for count * size bytes, zeroed. Null when the product does not fit.
void* allocate_zeroed(AllocatorHandle allocator, std::size_t alignment, std::size_t count, std::size_t size);

/// Resize a block: the content up to the smaller size is kept; the new block comes from `allocator`, or from
/// the block's own when that is null. `block` may be null (then `allocator` must not be). Null leaves the
/// block as it was, except that size 0 frees it.
void* reallocate(void* block, std::size_t size, AllocatorHandle allocator);

/// Give a block back to the allocator it came from. Null is allowed.
void release(void* block);

/// OMP_ALLOCATOR: a predefined allocator ("omp_high_bw_mem_alloc"), or a predefined memory space, optionally
/// with traits ("omp_default_mem_space:alignment=64,pinned=true"). On failure `allocator` is null, `problem` says what is
/// wrong and `column` (from 1) where.
struct AllocatorText {
  AllocatorHandle allocator = kNullAllocator;
  const char* problem = nullptr;
  std::size_t column = 0;
};
AllocatorText allocator_from_text(std::string_view text);

}  // namespace hearth::memory
