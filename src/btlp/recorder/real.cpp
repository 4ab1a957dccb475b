// See real.h.
#define HEARTH_RECORDER 1
#include "btlp/recorder/real.h"

#include <dlfcn.h>

namespace hearth::btlp::recorder {

const Real& real() {
  static Real found;
  static bool looked = false;
  if (!__atomic_load_n(&looked, __ATOMIC_ACQUIRE)) {  // pairs with the release below: the table is whole
    const auto look = [](const char* name) { return dlsym(RTLD_NEXT, name); };
    found.create = reinterpret_cast<decltype(found.create)>(look("pthread_create"));
    found.join = reinterpret_cast<decltype(found.join)>(look("pthread_join"));
    found.tryjoin = reinterpret_cast<decltype(found.tryjoin)>(look("pthread_tryjoin_np"));
    found.timedjoin = reinterpret_cast<decltype(found.timedjoin)>(look("pthread_timedjoin_np"));
    found.thrd_join = reinterpret_cast<decltype(found.thrd_join)>(look("thrd_join"));
    __atomic_store_n(&looked, true, __ATOMIC_RELEASE);  // pairs with the acquire above
  }
  return found;
}

}  // namespace hearth::btlp::recorder
