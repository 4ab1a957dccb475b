// The default ompt_start_tool, which LLVM's library exports, too: no tool here, ask whoever comes after this
// library.
//
// The runtime (runtime/tools/ompt.cpp) asks the process for a tool. A tool in the program, or preloaded, comes
// before this library in the search order and is found directly; one in a library that is loaded behind this
// one is found through here.
#include <dlfcn.h>

#include "abi/export.h"

HEARTH_EXPORT void* ompt_start_tool(unsigned version, const char* runtime) {
  using StartTool = void* (*)(unsigned, const char*);
  void* next = dlsym(RTLD_NEXT, "ompt_start_tool");
  return next != nullptr ? reinterpret_cast<StartTool>(next)(version, runtime) : nullptr;
}
