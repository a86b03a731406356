# cmake --install: programs, libraries, headers and suites, and a package for models compiled elsewhere:
#   find_package(Torchstone REQUIRED)
#   torchstone_plugin(my_models my_models.cpp)
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Torchstone)

install(TARGETS torchstone torchstone-report torchstone_cases)
install(TARGETS torchstone_reports torchstone_models torchstone_fixtures EXPORT TorchstoneTargets)
install(EXPORT TorchstoneTargets NAMESPACE Torchstone:: DESTINATION ${package_dir})
foreach(folder reports models fixtures)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${folder} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/torchstone FILES_MATCHING PATTERN "*.h")
endforeach()

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/TorchstoneConfig.cmake.in ${PROJECT_BINARY_DIR}/TorchstoneConfig.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/TorchstoneConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/TorchstoneConfig.cmake ${PROJECT_BINARY_DIR}/TorchstoneConfigVersion.cmake
              ${CMAKE_CURRENT_LIST_DIR}/LibTorch.cmake DESTINATION ${package_dir})
