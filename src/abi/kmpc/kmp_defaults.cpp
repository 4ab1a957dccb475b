// kmp_set_defaults(): variables of the environment, set by the program itself, as "NAME=value|NAME=value".
//
// Any thread. The environment was read when the runtime started; what can still change afterwards is changed
// for what comes later, and the rest is named in a warning.
#include <cstring>

#include "abi/export.h"
#include "base/log.h"
#include "base/options.h"
#include "runtime/process/startup.h"
#include "runtime/state/process.h"
#include "runtime/sync/wait.h"
#include "runtime/settings/settings.h"

namespace {

using hearth::OptionId;
using hearth::OptionReader;
using hearth::rt::contention;
using hearth::rt::process;

constexpr std::size_t kMostText = 1024;
constexpr std::size_t kMostVariables = 64;

bool can_change(OptionId id) {
  return id == OptionId::omp_target_offload || id == OptionId::kmp_blocktime ||
         id == OptionId::omp_stacksize || id == OptionId::kmp_stacksize;
}

void apply(const OptionReader& given) {
  char storage[4 * kMostText];
  const hearth::rt::Settings wanted = hearth::rt::parse_settings(given, storage, sizeof(storage));
  if (given[OptionId::omp_target_offload].given())
    process.target_offload.store(wanted.target_offload, std::memory_order_relaxed);
  if (wanted.blocktime_us >= 0)
    contention.spin_ns = wanted.blocktime_us == INT64_MAX ? INT64_MAX : wanted.blocktime_us * 1000;
  if (wanted.stack_size != 0) process.stack_size = wanted.stack_size;
}

void set_defaults(const char* text, std::size_t length) {
  hearth::rt::initialize();
  char copy[kMostText];
  if (length >= sizeof(copy)) {
    hearth::warn("kmp_set_defaults(): the text is too long (%zu bytes); ignored.", length);
    return;
  }
  std::memcpy(copy, text, length);
  copy[length] = '\0';
  const char* variables[kMostVariables + 1] = {};
  std::size_t count = 0;
  char* rest = nullptr;
  for (char* one = strtok_r(copy, "|", &rest); one != nullptr && count < kMostVariables;
       one = strtok_r(nullptr, "|", &rest))
    variables[count++] = one;

  OptionReader given;
  given.read(variables, hearth::process_is_privileged());
  bool known = false;
  for (std::size_t i = 0; i < hearth::kOptionCount; ++i) {
    const OptionId id = hearth::option_at(i);
    if (!given[id].given()) continue;
    known = true;
    if (!can_change(id))
      hearth::warn("kmp_set_defaults(): %s can no longer change; set it in the environment.",
                   hearth::option(id).name.data());
  }
  if (known)
    apply(given);
  else
    hearth::warn("kmp_set_defaults(\"%.*s\"): unknown variable; ignored.",
                 static_cast<int>(length), text);
}

}  // namespace

HEARTH_EXPORT void kmp_set_defaults(const char* text) { set_defaults(text, std::strlen(text)); }
HEARTH_EXPORT void kmpc_set_defaults(const char* text) { set_defaults(text, std::strlen(text)); }
HEARTH_EXPORT void kmp_set_defaults_(const char* text, int length) {
  set_defaults(text, length > 0 ? static_cast<std::size_t>(length) : 0);
}
