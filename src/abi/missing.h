// The end of the road for entry points that are exported, so that no program is refused by the loader, but
// not there. Any thread; never returns. The generated stubs (exports/generate.py) are the only callers.
#pragma once

namespace hearth::abi {

/// "not implemented": names the entry point, says how to get the stock runtime, aborts.
[[noreturn, gnu::cold]] void missing_entry_point(const char* name);

/// OpenACC is not ours, and never will be by accident: says so, aborts.
[[noreturn, gnu::cold]] void missing_openacc(const char* name);

}  // namespace hearth::abi

#define HEARTH_MISSING(name, kind)                                            \
  extern "C" [[noreturn, gnu::visibility("default"), gnu::cold]] void name(); \
  extern "C" void name() { ::hearth::abi::kind(#name); }
