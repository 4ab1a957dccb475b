# The programs of `hearth bench`, compiled ahead, in lib/hearth/bench: NAME.gcc by gcc, NAME.clang where clang can link OpenMP. They
# are plain OpenMP programs that load whatever library LD_LIBRARY_PATH has: without information for debuggers, stripped, and
# without pages that only keep sections apart, since there are dozens.
set(bench "${PROJECT_SOURCE_DIR}/bench")
set(HEARTH_BENCH_OUTPUT "${CMAKE_BINARY_DIR}/lib/hearth/bench")

if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
  set(HEARTH_BENCH_GCC "${CMAKE_C_COMPILER}")
else()
  find_program(HEARTH_BENCH_GCC gcc)
endif()
find_program(HEARTH_BENCH_CLANG NAMES clang-19 clang)
set(hearth_bench_compilers "")
foreach(compiler IN ITEMS gcc clang)
  string(TOUPPER "${compiler}" upper)
  set(command "${HEARTH_BENCH_${upper}}")
  if(NOT command)
    continue()
  endif()
  set(probe "${CMAKE_BINARY_DIR}/CMakeFiles/bench_probe.c")
  file(WRITE "${probe}" "#include <omp.h>\nint main(void) {\n#pragma omp parallel\n  omp_get_thread_num();\n  return 0;\n}\n")
  execute_process(COMMAND "${command}" -fopenmp "${probe}" -o "${CMAKE_BINARY_DIR}/CMakeFiles/bench_probe.${compiler}"
                  RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
  if(failed)
    message(STATUS "hearth bench: ${command} cannot build OpenMP programs; its variant is left out")
  else()
    list(APPEND hearth_bench_compilers ${compiler})
  endif()
endforeach()

# On an older glibc, as the command.
set(hearth_bench_portable "")
if(HEARTH_PORTABLE)
  set(hearth_bench_portable -D_GNU_SOURCE "${PROJECT_SOURCE_DIR}/src/cli/portable.c" -Wl,--no-as-needed -l:libpthread.so.0
      -l:libdl.so.2)
endif()

# One program, by every compiler that there is.
function(hearth_bench_program name optimise)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "SOURCES;FLAGS")
  list(TRANSFORM arg_SOURCES PREPEND "${bench}/")
  list(TRANSFORM arg_SOURCES APPEND ".c")
  file(GLOB headers CONFIGURE_DEPENDS "${bench}/*/*.h")
  foreach(compiler IN LISTS hearth_bench_compilers)
    string(TOUPPER "${compiler}" upper)
    set(output "${HEARTH_BENCH_OUTPUT}/${name}.${compiler}")
    add_custom_command(
      OUTPUT "${output}"
      COMMAND "${CMAKE_COMMAND}" -E make_directory "${HEARTH_BENCH_OUTPUT}"
      COMMAND "${HEARTH_BENCH_${upper}}" -std=gnu11 ${optimise} -g0 ${arg_FLAGS} "-I${PROJECT_SOURCE_DIR}/tests/numa"
              "-I${PROJECT_SOURCE_DIR}/include" -fopenmp ${arg_SOURCES} ${hearth_bench_portable} -o "${output}" -s -Wl,-z,noseparate-code
              -Wl,--build-id=none -lm -ldl
      DEPENDS ${arg_SOURCES} ${headers} VERBATIM)
    set_property(GLOBAL APPEND PROPERTY hearth_bench_outputs "${output}")
  endforeach()
endfunction()

foreach(name IN ITEMS fib nqueens sort strassen sparselu uts health)
  hearth_bench_program(${name} -O2 SOURCES tasks/${name} tasks/driver common/bench common/team)
endforeach()
hearth_bench_program(overhead -O2 SOURCES overhead/main overhead/constructs common/bench common/team)
foreach(name IN ITEMS map reduction vecmul matmul jacobi sparselu)
  hearth_bench_program(las-${name} -O3 SOURCES las/${name} las/las las/optimal las/places FLAGS -D_GNU_SOURCE)
endforeach()
foreach(name IN ITEMS nested_regions nested_stream zones nested_lu amr)
  hearth_bench_program(${name} -O2 SOURCES forest/${name} forest/forest forest/counts FLAGS -D_GNU_SOURCE)
endforeach()

get_property(outputs GLOBAL PROPERTY hearth_bench_outputs)
add_custom_target(hearth_bench_programs ALL DEPENDS ${outputs})
install(PROGRAMS ${outputs} DESTINATION "${HEARTH_INSTALL_LIBDIR}/bench")
install(FILES src/trial/bench.schema.json DESTINATION "${CMAKE_INSTALL_DATADIR}/hearth")
