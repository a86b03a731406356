# Defines the imported target `LibTorch::torch`. The CMake files inside the CUDA wheels require nvcc, which nothing here needs.
# LibTorch is found in TORCHSTONE_LIBTORCH (an unzipped LibTorch), else in the wheel of TORCHSTONE_PYTHON.
# A variable that the caller has set is not changed: before CMake 3.21, set(… CACHE) would remove it (CMP0126).
if(NOT DEFINED TORCHSTONE_LIBTORCH OR DEFINED CACHE{TORCHSTONE_LIBTORCH})
  set(TORCHSTONE_LIBTORCH "$ENV{TORCHSTONE_LIBTORCH}" CACHE PATH "An unzipped LibTorch; empty: take the wheel of TORCHSTONE_PYTHON")
endif()
if(NOT DEFINED TORCHSTONE_PYTHON OR DEFINED CACHE{TORCHSTONE_PYTHON})
  set(TORCHSTONE_PYTHON "$ENV{TORCHSTONE_PYTHON}" CACHE FILEPATH "The Python whose torch is used to build and to compile models")
endif()

# Sets oldest_torch, newest_tested_torch and default_torch.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/torch_versions)
file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/torch_versions torch_versions REGEX "^[a-z_]+=")
foreach(line ${torch_versions})
  string(REGEX MATCH "^([a-z_]+)=(.*)$" line "${line}")
  set(${CMAKE_MATCH_1} ${CMAKE_MATCH_2})
endforeach()

if(NOT TORCHSTONE_LIBTORCH)
  if(NOT TORCHSTONE_PYTHON)
    foreach(candidate ${PROJECT_SOURCE_DIR}/.venv/bin/python $ENV{VIRTUAL_ENV}/bin/python)
      if(EXISTS ${candidate})
        set(TORCHSTONE_PYTHON ${candidate} CACHE FILEPATH "" FORCE)
        break()
      endif()
    endforeach()
  endif()
  if(NOT TORCHSTONE_PYTHON)
    find_program(python3_on_path python3)
    set(TORCHSTONE_PYTHON ${python3_on_path} CACHE FILEPATH "" FORCE)
  endif()
  # -E: pip hides the packages of an environment from an isolated build through PYTHONPATH.
  foreach(option "" -E)
    execute_process(COMMAND ${TORCHSTONE_PYTHON} ${option} -c "import os, torch; print(os.path.dirname(torch.__file__))"
                    OUTPUT_VARIABLE libtorch_root OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_VARIABLE error RESULT_VARIABLE failed)
    if(NOT failed)
      break()
    endif()
  endforeach()
  if(failed)
    message(FATAL_ERROR "No torch in ${TORCHSTONE_PYTHON}. Run: python3 -m venv .venv && .venv/bin/pip install torch==${default_torch}\n"
            "or set TORCHSTONE_PYTHON to a Python with torch ${oldest_torch} or newer, or TORCHSTONE_LIBTORCH to an unzipped LibTorch.\n${error}")
  endif()
else()
  set(libtorch_root ${TORCHSTONE_LIBTORCH})
endif()
# The version numbers are in torch/version.h until 2.9, and later in torch/headeronly/version.h.
set(version_lines "")
foreach(header torch/headeronly/version.h torch/csrc/api/include/torch/version.h)
  if(EXISTS ${libtorch_root}/include/${header} AND NOT version_lines)
    file(STRINGS ${libtorch_root}/include/${header} version_lines REGEX "define TORCH_VERSION_(MAJOR|MINOR|PATCH) [0-9]+")
    # Sources are compiled with the version, so that a replaced LibTorch is configured again.
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${libtorch_root}/include/${header})
  endif()
endforeach()
if(NOT version_lines)
  message(FATAL_ERROR "${libtorch_root} holds no LibTorch (include/torch/headeronly/version.h is missing)")
endif()
string(REGEX REPLACE "[^0-9;]" "" version_lines "${version_lines}")
list(JOIN version_lines "." LIBTORCH_VERSION)
message(STATUS "LibTorch ${LIBTORCH_VERSION} in ${libtorch_root}")

add_library(LibTorch::torch INTERFACE IMPORTED GLOBAL)
# LibTorch contains fmt's headers, newer than the distribution's, but no library. So all code with torch uses header-only fmt.
target_include_directories(LibTorch::torch SYSTEM INTERFACE
                           ${libtorch_root}/include ${libtorch_root}/include/torch/csrc/api/include)
target_link_directories(LibTorch::torch INTERFACE ${libtorch_root}/lib)
# Nothing references libtorch_cuda directly. Without --no-as-needed the linker drops it, and no GPU is found.
set(libtorch_libraries torch torch_cpu c10)
if(EXISTS ${libtorch_root}/lib/libtorch_cuda.so)
  list(APPEND libtorch_libraries torch_cuda c10_cuda)
endif()
list(TRANSFORM libtorch_libraries PREPEND "-l" OUTPUT_VARIABLE libtorch_flags)
# libstdc++ comes first. The wheels export symbols of an older one, whose std::filesystem crashes.
target_link_libraries(LibTorch::torch INTERFACE -Wl,--push-state,--no-as-needed -lstdc++ ${libtorch_flags} -Wl,--pop-state)
# Built programs and plug-ins find LibTorch at its current path, installed ones by their launcher (cmake/launcher.in).
list(APPEND CMAKE_BUILD_RPATH ${libtorch_root}/lib)
set(LIBTORCH_ROOT ${libtorch_root})
