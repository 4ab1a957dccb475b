#include "abi/missing.h"

#include "base/log.h"

namespace hearth::abi {

void missing_entry_point(const char* name) {
  fatal("%s: not implemented in Hearth. Use the stock runtime: set HEARTH=off, or do not use `hearth run`.", name);
}

void missing_openacc(const char* name) {
  fatal("%s: OpenACC is not supported, only OpenMP. Use the stock libgomp: set HEARTH=off, or do not use `hearth run`.",
        name);
}

}  // namespace hearth::abi
