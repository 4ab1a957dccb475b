# HEARTH_PORTABLE: a command that runs on every distribution with glibc 2.28, for wheels and archives: {fmt}, SQLite, zlib and
# the C++ library are linked statically, and src/cli/portable.c stands between these and a newer glibc.
#
# hearth_make_portable(<program>) does the last. hearth_need_old_libraries(<target>) is for what is loaded into programs: before
# glibc 2.34 threads and dlopen() were in libraries of their own, which a program without -pthread does not bring (it had them
# from its libgomp); later glibcs keep empty ones under these names. tools/check-portable looks at the result.
option(HEARTH_PORTABLE "A command that needs only glibc 2.28 (static libraries of SQLite and zlib are needed)" OFF)
if(NOT HEARTH_PORTABLE)
  function(hearth_make_portable program)
  endfunction()
  function(hearth_need_old_libraries target)
  endfunction()
  return()
endif()
if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  message(FATAL_ERROR "HEARTH_PORTABLE knows the versions of glibc's functions on x86-64 only")
endif()

set(ZLIB_USE_STATIC_LIBS ON)
find_library(SQLite3_LIBRARY libsqlite3.a REQUIRED)
# Debian has no static {fmt}: its shared library is named to the linker, and not needed.
add_compile_definitions(FMT_HEADER_ONLY=1)

function(hearth_need_old_libraries target)
  target_link_libraries(${target} PRIVATE -Wl,--no-as-needed -l:libpthread.so.0 -l:libdl.so.2 -Wl,--as-needed)
endfunction()

function(hearth_make_portable program)
  # By itself: a target with headers that are compiled ahead for C++ takes no file in C.
  if(NOT TARGET hearth_portable)
    add_library(hearth_portable OBJECT "${PROJECT_SOURCE_DIR}/src/cli/portable.c")
    target_link_libraries(hearth_portable PRIVATE hearth_tool_flags)
  endif()
  target_sources(${program} PRIVATE "$<TARGET_OBJECTS:hearth_portable>")
  target_link_options(${program} PRIVATE -static-libstdc++ -static-libgcc -Wl,--as-needed)
  target_link_libraries(${program} PRIVATE m)
  hearth_need_old_libraries(${program})
endfunction()
