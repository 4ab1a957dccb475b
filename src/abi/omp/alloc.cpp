// The allocator API in its four skins: omp_ (C, and Fortran by reference), GOMP_, __kmpc_, and Intel's
// kmp_malloc family.
//
// Any thread. What is translated here is "no allocator given": the default allocator of the current task, an
// ICV.
#include <cstdlib>

#include "abi/export.h"
#include "memory/allocators.h"
#include "memory/sites.h"
#include "runtime/process/allocatables.h"
#include "runtime/state/own_icvs.h"

namespace {

using hearth::memory::AllocatorHandle;
using hearth::memory::kNullAllocator;
using hearth::memory::Trait;

AllocatorHandle default_allocator() { return hearth::rt::Thread::current()->task->icvs->default_allocator; }

void set_default_allocator(AllocatorHandle allocator) {
  // Null stands for the implementation's default, as in the peers.
  if (allocator == kNullAllocator) allocator = hearth::memory::kDefaultMemAlloc;
  hearth::rt::own_icvs(hearth::rt::Thread::current()).default_allocator = allocator;
}

AllocatorHandle or_default(AllocatorHandle allocator) {
  return allocator != kNullAllocator ? allocator : default_allocator();
}

void* resize(void* block, std::size_t size, AllocatorHandle allocator, AllocatorHandle of_block) {
  if (allocator == kNullAllocator) allocator = of_block;
  // Without any allocator, a block stays with its own and a new one comes from the default.
  if (block == nullptr) allocator = or_default(allocator);
  return hearth::memory::reallocate(block, size, allocator);
}

void* aligned(std::size_t alignment, std::size_t size) {
  if (alignment < sizeof(void*)) alignment = sizeof(void*);
  void* block = nullptr;
  return posix_memalign(&block, alignment, size) == 0 ? block : nullptr;
}

}  // namespace

HEARTH_EXPORT void* omp_alloc(std::size_t size, AllocatorHandle allocator) {
  HEARTH_ALLOCATES_FOR_CALLER;
  return hearth::memory::allocate(or_default(allocator), 1, size);
}
HEARTH_EXPORT void* omp_aligned_alloc(std::size_t alignment, std::size_t size, AllocatorHandle allocator) {
  HEARTH_ALLOCATES_FOR_CALLER;
  return hearth::memory::allocate(or_default(allocator), alignment, size);
}
HEARTH_EXPORT void* omp_calloc(std::size_t count, std::size_t size, AllocatorHandle allocator) {
  HEARTH_ALLOCATES_FOR_CALLER;
  return hearth::memory::allocate_zeroed(or_default(allocator), 1, count, size);
}
HEARTH_EXPORT void* omp_aligned_calloc(std::size_t alignment, std::size_t count, std::size_t size,
                                       AllocatorHandle allocator) {
  HEARTH_ALLOCATES_FOR_CALLER;
  return hearth::memory::allocate_zeroed(or_default(allocator), alignment, count, size);
}
HEARTH_EXPORT void* omp_realloc(void* block, std::size_t size, AllocatorHandle allocator, AllocatorHandle of_block) {
  HEARTH_ALLOCATES_FOR_CALLER;
  return resize(block, size, allocator, of_block);
}
HEARTH_EXPORT void omp_free(void* block, AllocatorHandle) { hearth::memory::release(block); }

HEARTH_EXPORT AllocatorHandle omp_init_allocator(std::uintptr_t space, int count, const Trait* traits) {
  return hearth::memory::make_allocator(space, count, traits);
}
HEARTH_EXPORT void omp_destroy_allocator(AllocatorHandle allocator) { hearth::memory::destroy_allocator(allocator); }
HEARTH_EXPORT void omp_set_default_allocator(AllocatorHandle allocator) { set_default_allocator(allocator); }
HEARTH_EXPORT AllocatorHandle omp_get_default_allocator() { return default_allocator(); }

HEARTH_EXPORT AllocatorHandle omp_init_allocator_(const std::uintptr_t* space, const std::int32_t* count,
                                                  const Trait* traits) {
  return hearth::memory::make_allocator(*space, *count, traits);
}
HEARTH_EXPORT AllocatorHandle omp_init_allocator_8_(const std::uintptr_t* space, const std::int64_t* count,
                                                    const Trait* traits) {
  return hearth::memory::make_allocator(*space, static_cast<int>(*count), traits);
}
HEARTH_EXPORT void omp_destroy_allocator_(const AllocatorHandle* allocator) {
  hearth::memory::destroy_allocator(*allocator);
}
HEARTH_EXPORT void omp_set_default_allocator_(const AllocatorHandle* allocator) { set_default_allocator(*allocator); }
HEARTH_EXPORT AllocatorHandle omp_get_default_allocator_() { return default_allocator(); }

// gcc calls these for `#pragma omp allocate` and the allocate clause.
HEARTH_EXPORT void* GOMP_alloc(std::size_t alignment, std::size_t size, AllocatorHandle allocator) {
  return hearth::memory::allocate(or_default(allocator), alignment, size);
}
HEARTH_EXPORT void GOMP_free(void* block, AllocatorHandle) { hearth::memory::release(block); }

HEARTH_EXPORT void* __kmpc_alloc(int, std::size_t size, AllocatorHandle allocator) {
  return hearth::memory::allocate(or_default(allocator), 1, size);
}
HEARTH_EXPORT void* __kmpc_aligned_alloc(int, std::size_t alignment, std::size_t size, AllocatorHandle allocator) {
  return hearth::memory::allocate(or_default(allocator), alignment, size);
}
HEARTH_EXPORT void* __kmpc_calloc(int, std::size_t count, std::size_t size, AllocatorHandle allocator) {
  return hearth::memory::allocate_zeroed(or_default(allocator), 1, count, size);
}
HEARTH_EXPORT void* __kmpc_realloc(int, void* block, std::size_t size, AllocatorHandle allocator,
                                   AllocatorHandle of_block) {
  return resize(block, size, allocator, of_block);
}
HEARTH_EXPORT void __kmpc_free(int, void* block, AllocatorHandle) { hearth::memory::release(block); }
HEARTH_EXPORT AllocatorHandle __kmpc_init_allocator(int, std::uintptr_t space, int count, const Trait* traits) {
  return hearth::memory::make_allocator(space, count, traits);
}
HEARTH_EXPORT void __kmpc_destroy_allocator(int, AllocatorHandle allocator) {
  hearth::memory::destroy_allocator(allocator);
}
HEARTH_EXPORT void __kmpc_set_default_allocator(int, AllocatorHandle allocator) { set_default_allocator(allocator); }
HEARTH_EXPORT AllocatorHandle __kmpc_get_default_allocator(int) { return default_allocator(); }

// Intel's extension is a malloc of its own; here it is the C library's, which has per-thread caches itself.
HEARTH_EXPORT void* kmp_malloc(std::size_t size) { return std::malloc(size); }
HEARTH_EXPORT void* kmp_aligned_malloc(std::size_t size, std::size_t alignment) { return aligned(alignment, size); }
HEARTH_EXPORT void* kmp_calloc(std::size_t count, std::size_t size) { return std::calloc(count, size); }
HEARTH_EXPORT void* kmp_realloc(void* block, std::size_t size) { return std::realloc(block, size); }
HEARTH_EXPORT void kmp_free(void* block) { std::free(block); }
HEARTH_EXPORT void* kmpc_malloc(std::size_t size) { return std::malloc(size); }
HEARTH_EXPORT void* kmpc_aligned_malloc(std::size_t size, std::size_t alignment) { return aligned(alignment, size); }
HEARTH_EXPORT void* kmpc_calloc(std::size_t count, std::size_t size) { return std::calloc(count, size); }
HEARTH_EXPORT void* kmpc_realloc(void* block, std::size_t size) { return std::realloc(block, size); }
HEARTH_EXPORT void kmpc_free(void* block) { std::free(block); }

HEARTH_EXPORT void* kmp_malloc_(const std::size_t* size) { return std::malloc(*size); }
HEARTH_EXPORT void* kmp_aligned_malloc_(const std::size_t* size, const std::size_t* alignment) {
  return aligned(*alignment, *size);
}
HEARTH_EXPORT void* kmp_calloc_(const std::size_t* count, const std::size_t* size) {
  return std::calloc(*count, *size);
}
HEARTH_EXPORT void* kmp_realloc_(void* const* block, const std::size_t* size) { return std::realloc(*block, *size); }
HEARTH_EXPORT void kmp_free_(void* const* block) { std::free(*block); }

// gcc 14's Fortran: an allocatable variable whose memory came from GOMP_alloc.
HEARTH_EXPORT void GOMP_add_alloc(void* block) { hearth::rt::remember_allocatable(block); }
/// Whether the block was remembered; it is forgotten, since the caller frees it.
HEARTH_EXPORT bool GOMP_is_alloc(void* block) { return hearth::rt::forget_allocatable(block); }
