# The five required libraries, found as the distribution packages them. A missing one ends with the line to type.
set(packages GTest fmt yaml-cpp CLI11 nlohmann_json)
set(missing "")
foreach(package IN LISTS packages)
  find_package(${package} QUIET)
  if(NOT ${package}_FOUND)
    list(APPEND missing ${package})
  endif()
endforeach()
if(missing)
  list(JOIN missing ", " missing)
  message(FATAL_ERROR "Not found: ${missing}. On Debian or Ubuntu: apt-get install -y "
          "libgtest-dev libgmock-dev libfmt-dev libyaml-cpp-dev libcli11-dev nlohmann-json3-dev")
endif()
if(NOT TARGET yaml-cpp::yaml-cpp)  # yaml-cpp 0.7 exports the target without a namespace
  add_library(yaml-cpp::yaml-cpp ALIAS yaml-cpp)
endif()

find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # A precompiled header is cached only when its own time stamps and macros are not compared.
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${CCACHE})
endif()
