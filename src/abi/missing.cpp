#include "abi/missing.h"

#include "base/log.h"

namespace hearth::abi {

void missing_entry_point(const char* name) {
  fatal(
      "%s: not implemented; the stock runtime serves this program: set HEARTH=off, or run it without `hearth "
      "run`.",
      name);
}

void missing_openacc(const char* name) {
  fatal(
      "%s: OpenACC is not ours; Hearth serves OpenMP only. The stock libgomp serves this program: set "
      "HEARTH=off, or "
      "run it without `hearth run`.",
      name);
}

}  // namespace hearth::abi
