# Adapts the build of fixtures/, which includes this file, to the release of LibTorch. Each part names the release that made it
# necessary. The C++ code is in fixtures/core/torch_releases.h. docs/releases.md lists all of it.
string(REGEX MATCH "^[0-9]+\\.[0-9]+" libtorch_release "${LIBTORCH_VERSION}")
if(libtorch_release VERSION_LESS oldest_torch)
  message(FATAL_ERROR "LibTorch ${LIBTORCH_VERSION} in ${LIBTORCH_ROOT} is too old (expected ${oldest_torch} or newer)")
elseif(libtorch_release VERSION_GREATER newest_tested_torch)
  message(WARNING "LibTorch ${LIBTORCH_VERSION} is newer than ${newest_tested_torch}, the newest release that Torchstone was tested with")
endif()

# Before 2.12, LibTorch's header for CUDA graphs includes CUDA's headers.
if(EXISTS ${LIBTORCH_ROOT}/lib/libtorch_cuda.so AND NOT EXISTS ${LIBTORCH_ROOT}/include/ATen/accelerator/Graph.h)
  find_package(CUDAToolkit QUIET)
  if(CUDAToolkit_FOUND)
    torchstone_source_properties(FILES measure/device_graph.cpp PROPERTIES INCLUDE_DIRECTORIES "${CUDAToolkit_INCLUDE_DIRS}")
  else()
    message(STATUS "No CUDA toolkit: --torchstone_cuda_graphs is unsupported with this LibTorch")
  endif()
endif()

# Before 2.13, the wheels export NativeRT. The wheels of 2.13 contain only the header. The test program declares the symbol
# itself, because compiling LibTorch's header would take long. Each LibTorch has its own cache entry, because a build folder may
# be configured for another LibTorch later.
string(MAKE_C_IDENTIFIER "TORCHSTONE_NATIVERT_OF_${LIBTORCH_VERSION}_${LIBTORCH_ROOT}" has_nativert)
if(EXISTS ${LIBTORCH_ROOT}/include/torch/csrc/api/include/torch/nativert/ModelRunnerHandle.h)
  include(CheckCXXSourceCompiles)
  set(CMAKE_REQUIRED_LIBRARIES LibTorch::torch)
  check_cxx_source_compiles([[
    void run() __asm__("_ZN5torch8nativert17ModelRunnerHandle27runWithFlatInputsAndOutputsESt6vectorIN3c106IValueESaIS4_EE");
    int main() { run(); }]] ${has_nativert})
  unset(CMAKE_REQUIRED_LIBRARIES)
endif()
if(${has_nativert})
  torchstone_source_properties(FILES backends/nativert.cpp PROPERTIES COMPILE_DEFINITIONS TORCHSTONE_HAS_NATIVERT)
else()
  message(STATUS "This LibTorch exports no NativeRT: the backend nativert is unsupported")
endif()
