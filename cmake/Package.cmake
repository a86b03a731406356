# cpack in the build folder makes a .deb and a .tar.gz in packages/. Neither contains LibTorch, which bin/torchstone finds
# (launcher.in).
if(NOT PROJECT_IS_TOP_LEVEL)
  return()
endif()
set(CPACK_GENERATOR DEB TGZ)
set(CPACK_PACKAGE_NAME torchstone)
set(CPACK_PACKAGE_VENDOR Torchstone)
set(CPACK_PACKAGE_CONTACT "The Torchstone authors")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "judge compiled PyTorch models against eager (for LibTorch ${LIBTORCH_VERSION})")
set(CPACK_PACKAGE_DESCRIPTION
    "Tells whether a compiled PyTorch model gives eager's answer, and whether it is faster. Built for LibTorch ${LIBTORCH_VERSION},\
 which is not part of the package: set TORCHSTONE_PYTHON to a Python with torch==${LIBTORCH_VERSION}, or TORCHSTONE_LIBTORCH to an\
 unzipped LibTorch.")
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_PACKAGE_FILE_NAME torchstone-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_DEPENDS bash)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "g++, cmake")
# Libraries from the distribution's packages become dependencies. LibTorch comes from none of them.
find_program(DPKG_SHLIBDEPS dpkg-shlibdeps)
if(DPKG_SHLIBDEPS)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${LIBTORCH_ROOT}/lib ${CMAKE_LIBRARY_OUTPUT_DIRECTORY})
endif()

# The .tar.gz includes the component `bundled`.
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/CPackGenerator.cmake @ONLY CONTENT [[
if(CPACK_GENERATOR STREQUAL TGZ)
  list(APPEND CPACK_INSTALL_CMAKE_PROJECTS "@PROJECT_BINARY_DIR@" Torchstone bundled /)
endif()
]])
set(CPACK_PROJECT_CONFIG_FILE ${PROJECT_BINARY_DIR}/CPackGenerator.cmake)
include(CPack)
