# The flags of the house, as interface targets:
#
#   hearth_library_flags   everything that goes into libhearth.so (rooms base to abi): no exceptions, no RTTI, hidden
#   hearth_shared_flags    the link of libhearth.so itself: only libc and the loader, never unloaded
#   hearth_tool_flags      programs and tests: ordinary C++20
#
# Debug builds keep assert(); RelWithDebInfo is -O2 -g without NDEBUG games: HEARTH_ASSERT decides by HEARTH_DEBUG.
find_package(Threads REQUIRED)

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS ON)
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_FLAGS_RELWITHDEBINFO "-O2 -g -DNDEBUG")
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g -DNDEBUG")

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "" FORCE)
endif()

add_library(hearth_warnings INTERFACE)
target_compile_options(hearth_warnings INTERFACE -Wall -Wextra -Wshadow -Wpointer-arith -Wvla
                       $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor -Woverloaded-virtual>)

add_library(hearth_common_flags INTERFACE)
target_include_directories(hearth_common_flags INTERFACE "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}/include"
                           "${PROJECT_BINARY_DIR}/generated")
target_compile_definitions(hearth_common_flags INTERFACE _GNU_SOURCE HEARTH_VERSION="${PROJECT_VERSION}" $<$<CONFIG:Debug>:HEARTH_DEBUG=1>)
target_link_libraries(hearth_common_flags INTERFACE hearth_warnings Threads::Threads)
if(HEARTH_SANITIZE)
  target_compile_options(hearth_common_flags INTERFACE -fsanitize=${HEARTH_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(hearth_common_flags INTERFACE -fsanitize=${HEARTH_SANITIZE})
endif()

# glibc_compat.h binds the symbols whose version moved past 2.28 to the older version, so that a library built on a new
# distribution loads on an old one. It comes first in every translation unit, before any declaration could be used.
add_library(hearth_library_flags INTERFACE)
target_link_libraries(hearth_library_flags INTERFACE hearth_common_flags)
target_compile_options(hearth_library_flags INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions -fno-rtti -fno-threadsafe-statics -fvisibility-inlines-hidden>
  $<$<COMPILE_LANGUAGE:C,CXX>:-fPIC -fvisibility=hidden -fno-plt -ftls-model=initial-exec -fno-semantic-interposition>
  $<$<COMPILE_LANGUAGE:C,CXX>:SHELL:-include ${PROJECT_SOURCE_DIR}/src/base/glibc_compat.h>)

# The C++ library is static and its names stay inside; nodelete because worker threads may outlive a dlclose().
add_library(hearth_shared_flags INTERFACE)
target_link_libraries(hearth_shared_flags INTERFACE hearth_library_flags)
target_link_options(hearth_shared_flags INTERFACE
  -static-libstdc++ -static-libgcc -Wl,--exclude-libs,ALL -Wl,--as-needed -Wl,-z,nodelete -Wl,-z,relro -Wl,-z,now)
if(NOT HEARTH_SANITIZE)
  target_link_options(hearth_shared_flags INTERFACE -Wl,-z,defs)
endif()

add_library(hearth_tool_flags INTERFACE)
target_link_libraries(hearth_tool_flags INTERFACE hearth_common_flags)
