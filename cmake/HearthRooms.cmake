# hearth_room(<room> [SOURCES <files>] [DEPENDS <rooms below>])
#   The static library hearth_<room>; what it DEPENDS on is visible to those above. A room with rooms inside has no SOURCES.
#
# hearth_part(<room> SOURCES <files>)
#   Adds the files of a room inside the room, from the CMakeLists.txt in its folder.
#
# hearth_checked_room(<room>)
#   hearth_<room>_checked: the room's files again, with all assertions on, for its unit tests. It depends on the checked copies of
#   the rooms below where there are any, so that no program has a function twice.
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

function(hearth_checked_room room)
  set(plain hearth_${room})
  get_target_property(sources ${plain} SOURCES)
  get_target_property(folder ${plain} SOURCE_DIR)
  list(TRANSFORM sources PREPEND "${folder}/" REGEX "^[^/]")
  add_library(${plain}_checked STATIC EXCLUDE_FROM_ALL ${sources})
  set_target_properties(${plain}_checked PROPERTIES POSITION_INDEPENDENT_CODE ON HEARTH_CHECKED ON)
  get_target_property(links ${plain} LINK_LIBRARIES)
  get_target_property(interface ${plain} INTERFACE_LINK_LIBRARIES)
  foreach(library IN LISTS links)
    set(scope PRIVATE)
    if(library IN_LIST interface)
      set(scope PUBLIC)
    endif()
    if(TARGET ${library}_checked)
      set(library ${library}_checked)
    endif()
    target_link_libraries(${plain}_checked ${scope} ${library})
  endforeach()
  get_target_property(includes ${plain} INTERFACE_INCLUDE_DIRECTORIES)
  if(includes)
    target_include_directories(${plain}_checked SYSTEM PUBLIC ${includes})
  endif()
endfunction()

function(hearth_unit_test name)
  cmake_parse_arguments(arg "" "" "SOURCES;LIBRARIES" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE hearth_tool_flags ${arg_LIBRARIES} GTest::gtest GTest::gtest_main)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin/tests")
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST PROPERTIES LABELS unit TIMEOUT 120)
endfunction()
