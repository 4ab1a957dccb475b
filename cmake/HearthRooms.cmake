# hearth_room(<room> [SOURCES <files>] [DEPENDS <rooms below>])
#   The static library hearth_<room>; what it DEPENDS on is visible to those above. A room with rooms inside has no SOURCES.
#
# hearth_part(<room> SOURCES <files>)
#   Adds the files of a room inside the room, from the CMakeLists.txt in its folder.
#
# hearth_unit_test(<name> SOURCES <files> [LIBRARIES <targets>])
#   One GoogleTest program bin/tests/<name>; each of its tests is a ctest of its own, labelled "unit".
include(GoogleTest)

function(hearth_room room)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPENDS" ${ARGN})
  add_library(hearth_${room} STATIC ${arg_SOURCES})
  set_target_properties(hearth_${room} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_link_libraries(hearth_${room} PRIVATE hearth_library_flags)
  foreach(below IN LISTS arg_DEPENDS)
    target_link_libraries(hearth_${room} PUBLIC hearth_${below})
  endforeach()
endfunction()

function(hearth_part room)
  cmake_parse_arguments(arg "" "" "SOURCES" ${ARGN})
  target_sources(hearth_${room} PRIVATE ${arg_SOURCES})
endfunction()

function(hearth_unit_test name)
  cmake_parse_arguments(arg "" "" "SOURCES;LIBRARIES" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE hearth_tool_flags ${arg_LIBRARIES} GTest::gtest GTest::gtest_main)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin/tests")
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST PROPERTIES LABELS unit TIMEOUT 120)
endfunction()
