# Fuzz targets (libFuzzer, which comes with clang). Their sources are compiled once more, because the fuzzer has to see their
# branches, and with the sanitizers.

# hearth_fuzzer(NAME SOURCES file... [HEADERS pattern...] [FLAGS flag...] [DEPENDS file...]): the program bin/tests/NAME. Sources
# are relative to the folder that calls; it is built anew when a header changes that a pattern names.
function(hearth_fuzzer name)
  cmake_parse_arguments(PARSE_ARGV 1 fuzz "" "" "SOURCES;HEADERS;FLAGS;DEPENDS")
  set(program "${CMAKE_BINARY_DIR}/bin/tests/${name}")
  list(TRANSFORM fuzz_SOURCES PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/" REGEX "^[^/]")
  file(GLOB headers CONFIGURE_DEPENDS ${fuzz_HEADERS} "${PROJECT_SOURCE_DIR}/src/base/*.h" "${PROJECT_SOURCE_DIR}/tests/fuzz/*.h")
  add_custom_command(
    OUTPUT "${program}"
    COMMAND "${CMAKE_COMMAND}" -E make_directory "${CMAKE_BINARY_DIR}/bin/tests"
    COMMAND "${HEARTH_FUZZ_CXX}" -std=gnu++20 -g1 -O1 -Wno-deprecated-declarations -fsanitize=fuzzer,address,undefined
            -fno-sanitize-recover=all -D_GNU_SOURCE "-I${PROJECT_SOURCE_DIR}/src" ${fuzz_SOURCES} ${fuzz_FLAGS} -o "${program}"
    DEPENDS ${fuzz_SOURCES} ${headers}
    VERBATIM)
  add_custom_target(${name} ALL DEPENDS "${program}" ${fuzz_DEPENDS})
endfunction()

# hearth_fuzz_test(TEST PROGRAM RUNS n MAX_LEN n [TIMEOUT seconds] [ENVIRONMENT name=value...] [ARGS argument...]): a short run,
# from a fixed seed, as the ctest fuzz/TEST. By hand, longer: bin/tests/PROGRAM -max_total_time=600.
function(hearth_fuzz_test test program)
  cmake_parse_arguments(PARSE_ARGV 2 fuzz "" "RUNS;MAX_LEN;TIMEOUT" "ENVIRONMENT;ARGS")
  if(NOT fuzz_TIMEOUT)
    set(fuzz_TIMEOUT 300)
  endif()
  add_test(NAME fuzz/${test} COMMAND "${CMAKE_BINARY_DIR}/bin/tests/${program}" -runs=${fuzz_RUNS} -seed=1 -max_len=${fuzz_MAX_LEN}
                                     -timeout=20 ${fuzz_ARGS})
  set_tests_properties(fuzz/${test} PROPERTIES TIMEOUT ${fuzz_TIMEOUT} ENVIRONMENT "${fuzz_ENVIRONMENT}")
endfunction()
