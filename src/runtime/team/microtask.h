// Calls of functions that clang has outlined (microtask_*.S).
#pragma once

#include <cstdint>

namespace hearth::rt {

/// Call an outlined function of clang's with any number of arguments (microtask_*.S).
extern "C" void hearth_invoke_microtask(void* function, std::int32_t* gtid, std::int32_t* btid,
                                        std::int32_t argc, void** argv, void** exit_frame)
    __attribute__((visibility("hidden")));

}  // namespace hearth::rt
