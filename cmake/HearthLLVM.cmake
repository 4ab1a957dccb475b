# HEARTH_BTLP: `hearth cc` and what it loads, which need LLVM 19. It is on where LLVM 19's headers are; asked for without them it
# is an error that says what to install.
find_package(LLVM 19.1 QUIET CONFIG HINTS /usr/lib/llvm-19)
set(hearth_llvm_found OFF)
if(LLVM_FOUND AND TARGET LLVM AND LLVM_VERSION_MAJOR EQUAL 19)
  set(hearth_llvm_found ON)
endif()
option(HEARTH_BTLP "Build `hearth cc`, which places the threads of C and C++ programs (needs LLVM 19's headers)" ${hearth_llvm_found})
if(HEARTH_BTLP AND NOT hearth_llvm_found)
  message(FATAL_ERROR "HEARTH_BTLP needs LLVM 19 with its headers and shared library: run `tools/setup btlp`, or install clang-19 "
                      "and llvm-19-dev, or give -DLLVM_DIR=. Without it: -DHEARTH_BTLP=OFF.")
elseif(NOT HEARTH_BTLP)
  message(STATUS "hearth cc is not built (HEARTH_BTLP is OFF; `tools/setup btlp` installs what it needs)")
endif()
