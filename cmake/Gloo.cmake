# Sets TORCHSTONE_GLOO to whether models of C++ can have ranks (docs/ranks.md). LibTorch contains Gloo, but not all of the headers
# that its own header needs. Debian's libgloo-dev has them. They may be older than LibTorch, so a program is linked once.
find_path(TORCHSTONE_GLOO_INCLUDE_DIR gloo/rendezvous/store.h DOC "Folder of Gloo's headers; optional")
set(TORCHSTONE_GLOO OFF)
if(TORCHSTONE_GLOO_INCLUDE_DIR AND EXISTS ${LIBTORCH_ROOT}/include/torch/csrc/distributed/c10d/ProcessGroupGloo.hpp)
  # After all other folders, and without warnings.
  set(TORCHSTONE_GLOO_OPTIONS -idirafter ${TORCHSTONE_GLOO_INCLUDE_DIR} -DUSE_C10D_GLOO)
  include(CheckCXXSourceCompiles)
  set(CMAKE_REQUIRED_LIBRARIES LibTorch::torch)
  list(JOIN TORCHSTONE_GLOO_OPTIONS " " CMAKE_REQUIRED_FLAGS)
  string(PREPEND CMAKE_REQUIRED_FLAGS "-std=c++20 ")
  string(MAKE_C_IDENTIFIER "gloo_links_with_${LIBTORCH_VERSION}" gloo_links)  # another LibTorch is tried again
  check_cxx_source_compiles("#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
                             int main() { return c10d::ProcessGroupGloo::createDeviceForInterface(\"lo\") == nullptr; }"
                            ${gloo_links})
  set(TORCHSTONE_GLOO ${${gloo_links}})
  unset(CMAKE_REQUIRED_LIBRARIES)
  unset(CMAKE_REQUIRED_FLAGS)
endif()
if(NOT TORCHSTONE_GLOO)
  message(STATUS "Without ranks of models in C++: no headers of Gloo that fit LibTorch ${LIBTORCH_VERSION} (optional; libgloo-dev)")
endif()
