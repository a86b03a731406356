# Finds the required libraries by find_package. If some are missing, configuring fails with their names and Debian packages.
set(debian_GTest libgtest-dev libgmock-dev)
set(debian_GMock libgmock-dev)  # Debian has a separate package for GMock
set(debian_fmt libfmt-dev)
set(debian_yaml-cpp libyaml-cpp-dev)
set(debian_CLI11 libcli11-dev)
set(debian_nlohmann_json nlohmann-json3-dev)
set(missing "")
# The oldest supported versions, those of Debian 12.
set(oldest_GTest 1.12)
set(oldest_fmt 9.1)
set(oldest_yaml-cpp 0.7)
set(oldest_CLI11 2.1)
set(oldest_nlohmann_json 3.11)
foreach(package GTest fmt yaml-cpp CLI11 nlohmann_json)
  find_package(${package} QUIET)
  if(${package}_FOUND AND ${package}_VERSION VERSION_LESS oldest_${package})
    message(FATAL_ERROR "${package} ${oldest_${package}} or newer is required; ${${package}_DIR} has ${${package}_VERSION}")
  endif()
  if(NOT ${package}_FOUND)
    list(APPEND missing ${package})
  elseif(package STREQUAL "GTest" AND NOT TARGET GTest::gmock AND (TORCHSTONE_TESTS OR NOT DEFINED TORCHSTONE_TESTS))
    list(APPEND missing GMock)
  endif()
endforeach()
if(missing)
  set(debian_packages "")
  foreach(package IN LISTS missing)
    list(APPEND debian_packages ${debian_${package}})
  endforeach()
  list(JOIN missing ", " missing)
  list(JOIN debian_packages " " debian_packages)
  message(STATUS "Missing Debian packages: ${debian_packages}")  # quickstart.sh reads this line
  message(FATAL_ERROR "Not found: ${missing}. On Debian or Ubuntu: apt-get install -y ${debian_packages}\n"
          "Elsewhere: CMAKE_PREFIX_PATH names the folders that they are installed in.")
endif()
# From 1.14 on, GoogleTest runs the tests of a suite in the order of their files and lines (gtest.cc, TestSuite::Run).
set(GTEST_ORDERS_BY_PLACE 0)
if(GTest_VERSION VERSION_GREATER_EQUAL 1.14)
  set(GTEST_ORDERS_BY_PLACE 1)
endif()
if(NOT TARGET yaml-cpp::yaml-cpp)  # yaml-cpp 0.7 exports the target without a namespace
  add_library(yaml-cpp::yaml-cpp ALIAS yaml-cpp)
endif()

find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # ccache caches a precompiled header only if it does not compare time stamps and macros.
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${CCACHE})
endif()
