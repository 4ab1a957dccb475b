/* The takeover of malloc and of anonymous mmap: what libhearth.so and libhearth-malloc.so (src/preload/malloc.c) know of each other.
 * For C and C++.
 *
 * libhearth-malloc.so is preloaded and stands in front of the C library's malloc and its kin. It passes
 * everything on until libhearth.so, when it is loaded with HEARTH_DISTRIBUTE set, hands it a HearthTakeover;
 * from then on blocks of `least` bytes and more are managed memory (managed.h), and anonymous mappings of that size stay
 * the program's own, but their pages get a policy. A process without libhearth.so never gets one.
 *
 * The number in the name of the call is the version of this interface: objects of two installations do not
 * find each other.
 */
#ifndef HEARTH_MEMORY_TAKEOVER_H
#define HEARTH_MEMORY_TAKEOVER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Managed memory as seen from malloc. Any thread may call; nothing of it calls malloc. */
struct HearthTakeover {
  size_t least;           /* blocks from here on, in bytes, are taken over */
  uintptr_t begin, bytes; /* the addresses of managed memory */
  /* For the code behind `caller`. Null: not to be had, ask the C library */
  void* (*allocate)(size_t alignment, size_t size, int zeroed, const void* caller);
  void* (*resize)(void* block, size_t size); /* null: not to be had, the block is as it was */
  void (*release)(void* block);
  size_t (*size_of)(const void* block); /* as asked for */
  void (*missed)(size_t size); /* the C library gave a block of this size, because allocate could not */
  /* Anonymous memory that the program itself has just mapped and nobody has touched, for the code behind `caller`; and that
   * so much was unmapped, of whatever kind. */
  void (*mapped)(void* begin, size_t bytes, const void* caller);
  void (*unmapped)(size_t bytes);
};

/* Defined by libhearth-malloc.so. Copies `how` and returns 1; or returns 0, because this program's malloc is
 * another one. In `*other` the path of an object that has an allocator of its own, or null. Called once, by
 * libhearth.so. */
__attribute__((weak, visibility("default"))) int hearth_take_over_malloc_3(const struct HearthTakeover* how,
                                                                           const char** other);

#ifdef __cplusplus
}

#include "placement/distribution.h"

namespace hearth::memory {

struct TakeoverRequest {
  placement::Kind kind = placement::Kind::standard;  // standard: nothing is taken over, but to learn
  bool learn = false;                                // each allocation site has its own (sites.h)
  std::size_t least = 0;
  bool huge = false;
};

/// Takes malloc's large blocks over, as HEARTH_DISTRIBUTE says. Once, when the library is loaded. With one
/// location there is nothing to distribute, and malloc stays as it is; where it cannot be done, one line says
/// why.
void take_over_malloc(const TakeoverRequest& request);

}  // namespace hearth::memory
#endif

#endif
