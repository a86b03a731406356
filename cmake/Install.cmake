# Layout of cmake --install and of all packages (.deb, .tar.gz, wheel), with the names of GNUInstallDirs' defaults.
#   bin/                       torchstone and torchstone-report, which start the programs with LibTorch (launcher.in).
#   bin/torchstone-export      makes a .pt2 of a model of a Python package (lib/torchstone/exporter).
#   bin/torchstone-releases    runs cases under several releases of torch (lib/torchstone/releases).
#   bin/torchstone-slurm       runs cases on a Slurm cluster (lib/torchstone/slurm).
#   lib/torchstone/            the programs, their libraries and the three Python programs.
#   share/doc/Torchstone/      LICENSE and NOTICE.
#   share/torchstone/          suites, policies, expected statuses, lists of operators, variants (cases/CMakeLists.txt).
#   include/torchstone/        only the public headers (docs/api.md).
#   lib/cmake/Torchstone/      for plug-ins that are compiled elsewhere:
#                                find_package(Torchstone 0.1 REQUIRED)
#                                torchstone_plugin(my_models my_models.cpp)
#                              and for custom test programs (examples/own_program):
#                                target_link_libraries(my_tests PRIVATE Torchstone::main)
#                              and for other custom programs (examples/own_training):
#                                target_link_libraries(my_program PRIVATE Torchstone::fixtures)
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Torchstone)

install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/NOTICE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(TARGETS torchstone torchstone-report RUNTIME DESTINATION ${TORCHSTONE_PRIVATE_DIR})
set(libraries torchstone_reports torchstone_models torchstone_fixtures torchstone_cases torchstone_main)
if(TORCHSTONE_DIAGNOSE)
  list(APPEND libraries torchstone_diagnose)
endif()
install(TARGETS ${libraries} EXPORT TorchstoneTargets
        LIBRARY DESTINATION ${TORCHSTONE_PRIVATE_DIR} ARCHIVE DESTINATION ${TORCHSTONE_PRIVATE_DIR})
install(EXPORT TorchstoneTargets NAMESPACE Torchstone:: DESTINATION ${package_dir})
foreach(folder reports models fixtures)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${folder}/include/torchstone DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
endforeach()

# The LibTorch that a wheel is built with may be removed afterwards.
set(launcher_fallback ${LIBTORCH_ROOT})
if(SKBUILD)
  set(launcher_fallback "")
endif()
list(JOIN libtorch_libraries " " libtorch_libraries_words)
file(RELATIVE_PATH prefix_from_bin /prefix/${CMAKE_INSTALL_BINDIR} /prefix)
string(REGEX REPLACE "/$" "" prefix_from_bin "${prefix_from_bin}")
foreach(program torchstone torchstone-report)
  configure_file(${CMAKE_CURRENT_LIST_DIR}/launcher.in ${PROJECT_BINARY_DIR}/launchers/${program} @ONLY
                 FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
  install(PROGRAMS ${PROJECT_BINARY_DIR}/launchers/${program} DESTINATION ${CMAKE_INSTALL_BINDIR})
endforeach()

# Programs in pure Python. torchstone-releases builds from the sources, which are removed after a wheel is built.
file(RELATIVE_PATH private_dir_from_bin /prefix/${CMAKE_INSTALL_BINDIR} /prefix/${TORCHSTONE_PRIVATE_DIR})
set(releases_source ${PROJECT_SOURCE_DIR})
if(SKBUILD)
  set(releases_source "")
endif()
foreach(program torchstone-export torchstone-releases torchstone-slurm)
  configure_file(${CMAKE_CURRENT_LIST_DIR}/${program}.in ${PROJECT_BINARY_DIR}/launchers/${program} @ONLY
                 FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
  install(PROGRAMS ${PROJECT_BINARY_DIR}/launchers/${program} DESTINATION ${CMAKE_INSTALL_BINDIR})
endforeach()

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/TorchstoneConfig.cmake.in ${PROJECT_BINARY_DIR}/TorchstoneConfig.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/TorchstoneConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/TorchstoneConfig.cmake ${PROJECT_BINARY_DIR}/TorchstoneConfigVersion.cmake
              ${CMAKE_CURRENT_LIST_DIR}/LibTorch.cmake ${CMAKE_CURRENT_LIST_DIR}/torch_versions DESTINATION ${package_dir})

# Component `bundled`: libraries that the machine may lack (fmt, yaml-cpp), for the wheel and the .tar.gz. A .deb has them as
# dependencies. The component excludes LibTorch, and libraries that every Linux with that LibTorch has.
install(CODE "set(built \"$<TARGET_FILE:torchstone>;$<TARGET_FILE:torchstone-report>\")
  set(bundled_dir \"\${CMAKE_INSTALL_PREFIX}/${TORCHSTONE_PRIVATE_DIR}\")" COMPONENT bundled EXCLUDE_FROM_ALL)
install(SCRIPT ${CMAKE_CURRENT_LIST_DIR}/Bundle.cmake COMPONENT bundled EXCLUDE_FROM_ALL)
