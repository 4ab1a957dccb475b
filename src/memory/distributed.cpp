// See distributed.h.
#include "memory/distributed.h"

#include <cstdlib>

#include "base/log.h"

namespace hearth::memory {
namespace {

using placement::Kind;

void* from_malloc(const ManagedRequest& request) {
  void* block = nullptr;
  if (request.alignment <= alignof(std::max_align_t)) {
    block = request.zeroed ? std::calloc(1, request.size) : std::malloc(request.size);
  } else if (posix_memalign(&block, request.alignment, request.size) != 0) {
    return nullptr;
  } else if (request.zeroed) {
    __builtin_memset(block, 0, request.size);
  }
  return block;
}

/// Not a block that the program has from malloc, whose memory may be managed too (takeover.h).
bool is_distributed(const void* block) {
  ManagedBlock managed;
  return is_managed(block) && !(block_at(block, managed) && managed.tag == kTagOfMalloc);
}

}  // namespace

void* allocate_distributed(const ManagedRequest& request) {
  if (request.size == 0 || request.alignment == 0 || (request.alignment & (request.alignment - 1)) != 0) return nullptr;
  if (request.what.kind == Kind::standard) return from_malloc(request);
  if (void* block = managed_allocate(request)) return block;
  void* block = from_malloc(request);
  if (block != nullptr)
    HEARTH_WARN_ONCE(
        "%zu bytes cannot be distributed (%s): no more address space or mappings for them. "
        "Their pages are where they are first touched.",
        request.size, placement::kind_name(request.what.kind));
  return block;
}

void release_distributed(void* block) {
  if (is_distributed(block))
    managed_release(block);
  else
    std::free(block);
}

void* resize_distributed(void* block, std::size_t size) {
  if (size == 0) {
    release_distributed(block);
    return nullptr;
  }
  return is_distributed(block) ? managed_resize(block, size) : std::realloc(block, size);
}

}  // namespace hearth::memory
