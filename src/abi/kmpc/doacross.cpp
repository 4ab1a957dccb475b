// clang's doacross loops: translators to runtime/loop/doacross.h. Each member of the team for itself.
#include <cstddef>
#include <cstdint>

#include "abi/export.h"
#include "abi/kmpc/kmp_types.h"
#include "runtime/loop/doacross.h"
#include "runtime/tools/events.h"

using hearth::rt::DoacrossDim;  // clang's struct kmp_dim has the same layout
using hearth::rt::Thread;
static_assert(sizeof(DoacrossDim) == 24);

HEARTH_EXPORT void __kmpc_doacross_init(ident_t*, std::int32_t, std::int32_t dims, const DoacrossDim* space) {
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  hearth::rt::points_begin(self, static_cast<std::size_t>(dims), space);
}

HEARTH_EXPORT void __kmpc_doacross_post(ident_t*, std::int32_t, const std::int64_t* point) {
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  hearth::rt::points_post(self, point);
  if (hearth::rt::events::active()) hearth::rt::events::flush(self);
}

HEARTH_EXPORT void __kmpc_doacross_wait(ident_t*, std::int32_t, const std::int64_t* point) {
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  hearth::rt::points_wait(self, point);
}

HEARTH_EXPORT void __kmpc_doacross_fini(ident_t*, std::int32_t) {
  Thread* self = Thread::current();
  HEARTH_ENTRY(self);
  hearth::rt::doacross_end(self);
}
