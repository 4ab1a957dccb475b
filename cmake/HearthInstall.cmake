# What is installed beside the programs and libraries, which the rooms install themselves: headers, documentation, the
# pkg-config file and the CMake package.
include(CMakePackageConfigHelpers)

install(DIRECTORY include/hearth DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")

install(FILES README.md LICENSE DESTINATION "${CMAKE_INSTALL_DOCDIR}")
install(DIRECTORY docs DESTINATION "${CMAKE_INSTALL_DOCDIR}" PATTERN "*.[17]" EXCLUDE)
install(FILES docs/reference/libhearth.7 DESTINATION "${CMAKE_INSTALL_MANDIR}/man7")
if(HEARTH_CLI)
  install(FILES docs/reference/hearth.1 DESTINATION "${CMAKE_INSTALL_MANDIR}/man1")
endif()

# Both files find the prefix from where they lie, so that it can be moved.
set(packages "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
file(RELATIVE_PATH HEARTH_PREFIX_FROM_PC "/${packages}" "/")
configure_file(cmake/install/hearth.pc.in "${CMAKE_BINARY_DIR}/hearth.pc" @ONLY)
install(FILES "${CMAKE_BINARY_DIR}/hearth.pc" DESTINATION "${packages}")

set(package "${CMAKE_INSTALL_LIBDIR}/cmake/Hearth")
configure_package_config_file(cmake/install/HearthConfig.cmake.in "${CMAKE_BINARY_DIR}/HearthConfig.cmake"
                              INSTALL_DESTINATION "${package}" PATH_VARS HEARTH_INSTALL_LIBDIR CMAKE_INSTALL_INCLUDEDIR)
write_basic_package_version_file("${CMAKE_BINARY_DIR}/HearthConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_BINARY_DIR}/HearthConfig.cmake" "${CMAKE_BINARY_DIR}/HearthConfigVersion.cmake"
        DESTINATION "${package}")
