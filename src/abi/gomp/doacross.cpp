// gcc's post and wait of doacross loops: translators to runtime/loop/doacross.h. Each member of the team for
// itself.
//
// The varargs carry iteration numbers of 64 bits, the first being named in the wait.
#include <cstdarg>
#include <cstdint>

#include "abi/export.h"
#include "base/log.h"
#include "runtime/loop/doacross.h"
#include "runtime/tools/events.h"

using hearth::rt::Thread;

namespace {

// These are inlined, so that an Entry in them sees the return address of the entry point.
constexpr std::uint32_t kMaxDims = 64;

[[gnu::always_inline]] inline void post(const std::uint64_t* counts) {
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  hearth::rt::rows_post(self, counts);
}

[[gnu::always_inline]] inline void wait(std::uint64_t first, std::va_list rest) {
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  const std::uint32_t dims = self->member->loop.doacross_dims;
  if (self->member->loop.doacross == nullptr) return;
  if (dims > kMaxDims)
    hearth::fatal("a doacross loop has %u dimensions; at most %u are supported.", dims, kMaxDims);
  std::uint64_t indices[kMaxDims];
  indices[0] = first;
  for (std::uint32_t d = 1; d < dims; ++d) indices[d] = va_arg(rest, std::uint64_t);
  hearth::rt::rows_wait(self, indices);
}

}  // namespace

HEARTH_EXPORT void GOMP_doacross_post(long* counts) { post(reinterpret_cast<const std::uint64_t*>(counts)); }

HEARTH_EXPORT void GOMP_doacross_ull_post(unsigned long long* counts) {
  post(reinterpret_cast<const std::uint64_t*>(counts));
}

HEARTH_EXPORT void GOMP_doacross_wait(long first, ...) {
  std::va_list rest;
  va_start(rest, first);
  wait(static_cast<std::uint64_t>(first), rest);
  va_end(rest);
}

HEARTH_EXPORT void GOMP_doacross_ull_wait(unsigned long long first, ...) {
  std::va_list rest;
  va_start(rest, first);
  wait(first, rest);
  va_end(rest);
}
