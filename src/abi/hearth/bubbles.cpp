// Hearth's own entry points for who uses what memory: <hearth/memory.h>. Translators to runtime/bubbles/hints.h. Any thread.
#include <cerrno>
#include <cstddef>

#include "abi/export.h"
#include "memory/areas.h"
#include "runtime/bubbles/announced.h"
#include "runtime/bubbles/hints.h"
#include "runtime/state/thread.h"

namespace rt = hearth::rt;
using hearth::placement::Access;
using hearth::placement::ByteRange;
using rt::Thread;
using rt::Who;

namespace {

bool is_who(int who) { return who >= 0 && who <= 2; }
bool is_access(int access) { return access >= 1 && access <= 3; }

// Size 0: the area that holds the address.
ByteRange bytes_at(void* address, std::size_t size) {
  hearth::memory::Area area;
  if (size != 0 || !hearth::memory::areas.find_settled(reinterpret_cast<std::uintptr_t>(address), area))
    return ByteRange::of(address, size);
  return area.range;
}

int said(int error) {
  if (error == 0) return 0;
  errno = error;
  return -1;
}

}  // namespace

HEARTH_EXPORT int hearth_mem_attach(void* address, std::size_t size, int who, int access, double passes) {
  if (!is_who(who) || !is_access(access) || !(passes > 0)) return said(EINVAL);
  return said(rt::attach(Thread::current(), bytes_at(address, size), static_cast<Who>(who),
                           static_cast<Access>(access), passes));
}

HEARTH_EXPORT int hearth_mem_detach(void* address, int who) {
  if (!is_who(who)) return said(EINVAL);
  return said(rt::detach(Thread::current(), reinterpret_cast<std::uintptr_t>(address), static_cast<Who>(who)));
}

HEARTH_EXPORT int hearth_mem_follow(int who) {
  if (!is_who(who)) return said(EINVAL);
  return said(rt::follow(Thread::current(), static_cast<Who>(who)));
}

HEARTH_EXPORT int hearth_mem_attach_on_touch(void* address, std::size_t size) {
  return said(rt::attach_on_touch(Thread::current(), bytes_at(address, size)));
}

HEARTH_EXPORT int hearth_affinity(void* address, std::size_t size, int access, int when) {
  if (!is_access(access) || when < 0 || when > 1) return said(EINVAL);
  return said(rt::say_affinity(Thread::current(), bytes_at(address, size), static_cast<Access>(access), when == 1));
}
