// See allocatables.h. A table of chains by address, guarded by one lock.
#include "runtime/process/allocatables.h"

#include <cstdint>
#include <cstdlib>

#include "base/log.h"
#include "runtime/sync/lock.h"

namespace hearth::rt {
namespace {

struct Remembered {
  void* block;
  Remembered* next;
};
constexpr std::size_t kChains = 256;
constinit Lock remembered_lock;
constinit Remembered* remembered[kChains] = {};

Remembered** chain_of(void* block) { return &remembered[(reinterpret_cast<std::uintptr_t>(block) >> 4) % kChains]; }

}  // namespace

void remember_allocatable(void* block) {
  auto* entry = static_cast<Remembered*>(std::malloc(sizeof(Remembered)));
  if (entry == nullptr) fatal("out of memory: no room for an allocatable variable's entry");
  LockGuard guard(remembered_lock);
  Remembered** chain = chain_of(block);
  *entry = {block, *chain};
  *chain = entry;
}

bool forget_allocatable(void* block) {
  Remembered* found = nullptr;
  {
    LockGuard guard(remembered_lock);
    for (Remembered** link = chain_of(block); *link != nullptr; link = &(*link)->next) {
      if ((*link)->block != block) continue;
      found = *link;
      *link = found->next;
      break;
    }
  }
  std::free(found);
  return found != nullptr;
}

}  // namespace hearth::rt
