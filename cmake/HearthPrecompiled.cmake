# hearth_precompile(<target> HEADERS <headers>)
#   The target's C++ files find these headers compiled already. For most files of the library <atomic> alone is half of the
#   compile time.
#
# hearth_precompile(<target> FROM <target>)
#   The same headers, without compiling them again; both targets have the same flags, warnings and -O apart.
#
# Every file still includes what it uses: a change to the list below changes no meaning. Where ccache is the compiler's
# launcher nothing is compiled ahead, since ccache does not keep objects that were made so.
set(HEARTH_PRECOMPILE ON)
if(CMAKE_DISABLE_PRECOMPILE_HEADERS OR CMAKE_CXX_COMPILER_LAUNCHER MATCHES "ccache")
  set(HEARTH_PRECOMPILE OFF)
endif()

function(hearth_precompile target)
  cmake_parse_arguments(arg "" "FROM" "HEADERS" ${ARGN})
  if(NOT HEARTH_PRECOMPILE)
    return()
  endif()
  set_target_properties(${target} PROPERTIES HEARTH_PRECOMPILED ON)
  if(arg_FROM)
    target_precompile_headers(${target} REUSE_FROM ${arg_FROM})
  else()
    target_precompile_headers(${target} PRIVATE ${arg_HEADERS})
  endif()
endfunction()
