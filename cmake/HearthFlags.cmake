# The flags of the house, as interface targets:
#
#   hearth_library_flags   everything that goes into libhearth.so (rooms base to abi): no exceptions, no RTTI, hidden
#   hearth_shared_flags    the link of libhearth.so itself: only libc and the loader, never unloaded
#   hearth_tool_flags      programs and tests: ordinary C++20
#
# The library's own assertions are those of base/assert.h. Their level is HEARTH_ASSERT_LEVEL, and 3 in targets with
# the property HEARTH_CHECKED: copies of the rooms for their unit tests (HearthRooms.cmake).
find_package(Threads REQUIRED)

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS ON)
set(CMAKE_C_STANDARD 11)
# Functions and lines, compressed, are what a backtrace or a profile needs; variables are in the preset `debug`. Full
# information would be four times the size and a fifth of the compile time. Whoever gives flags of their own keeps them.
foreach(language IN ITEMS C CXX)
  if(CMAKE_${language}_FLAGS_RELWITHDEBINFO STREQUAL "-O2 -g -DNDEBUG")
    set(CMAKE_${language}_FLAGS_RELWITHDEBINFO "-O2 -g1 -gz -DNDEBUG")
  endif()
endforeach()

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "" FORCE)
endif()

set(HEARTH_ASSERT_LEVEL "" CACHE STRING
    "Assertions of the library: 0 none, 1 cheap ones, 2 also invariants, 3 also whole structures; empty: 2 in Debug and under sanitizers, else 0")
set_property(CACHE HEARTH_ASSERT_LEVEL PROPERTY STRINGS "" 0 1 2 3)
set(hearth_assert_level "${HEARTH_ASSERT_LEVEL}")
if(hearth_assert_level STREQUAL "")
  set(hearth_assert_level 0)
  if(HEARTH_SANITIZE OR CMAKE_BUILD_TYPE STREQUAL "Debug")
    set(hearth_assert_level 2)
  endif()
elseif(NOT hearth_assert_level MATCHES "^[0-3]$")
  message(FATAL_ERROR "HEARTH_ASSERT_LEVEL is '${HEARTH_ASSERT_LEVEL}'; legal: 0, 1, 2, 3 or empty")
endif()

add_library(hearth_warnings INTERFACE)
target_compile_options(hearth_warnings INTERFACE -Wall -Wextra -Wshadow -Wpointer-arith -Wvla
                       $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor -Woverloaded-virtual> $<$<BOOL:${HEARTH_WERROR}>:-Werror>)

add_library(hearth_common_flags INTERFACE)
target_include_directories(hearth_common_flags INTERFACE "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}/include"
                           "${PROJECT_BINARY_DIR}/generated")
target_compile_definitions(hearth_common_flags INTERFACE _GNU_SOURCE HEARTH_VERSION="${PROJECT_VERSION}"
                           HEARTH_ASSERT_LEVEL=$<IF:$<BOOL:$<TARGET_PROPERTY:HEARTH_CHECKED>>,3,${hearth_assert_level}>)
target_link_libraries(hearth_common_flags INTERFACE hearth_warnings Threads::Threads)
if(HEARTH_SANITIZE)
  target_compile_options(hearth_common_flags INTERFACE -fsanitize=${HEARTH_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(hearth_common_flags INTERFACE -fsanitize=${HEARTH_SANITIZE})
endif()

# glibc_compat.h binds the symbols whose version moved past 2.28 to the older version, so that a library built on a new
# distribution loads on an old one. It comes first in every translation unit, before any declaration could be used. Where
# headers are compiled ahead (HearthPrecompiled.cmake) it is the first of these.
set(HEARTH_GLIBC_COMPAT "${PROJECT_SOURCE_DIR}/src/base/glibc_compat.h")
add_library(hearth_library_flags INTERFACE)
target_link_libraries(hearth_library_flags INTERFACE hearth_common_flags)
target_compile_options(hearth_library_flags INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions -fno-rtti -fno-threadsafe-statics -fvisibility-inlines-hidden>
  $<$<COMPILE_LANGUAGE:C,CXX>:-fPIC -fvisibility=hidden -fno-plt -ftls-model=initial-exec -fno-semantic-interposition>
  $<$<COMPILE_LANGUAGE:C>:SHELL:-include ${HEARTH_GLIBC_COMPAT}>
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<NOT:$<BOOL:$<TARGET_PROPERTY:HEARTH_PRECOMPILED>>>>:SHELL:-include ${HEARTH_GLIBC_COMPAT}>)

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
