# Sets TORCHSTONE_GLOO and TORCHSTONE_NCCL: whether C++ models can have ranks on the CPU and on CUDA (docs/ranks.md). Sets
# TORCHSTONE_GLOO_OPTIONS and TORCHSTONE_NCCL_OPTIONS: the compiler options that they need. LibTorch contains c10d's backends, but
# not all headers that these include.
# TORCHSTONE_GLOO_KNOWN and TORCHSTONE_NCCL_KNOWN: arguments that give the result to another configuration with this LibTorch.
include(CheckCXXSourceCompiles)

# Tries to link a program with this statement, because the headers may not fit LibTorch. -idirafter makes the compiler search their
# folders last, and without warnings.
function(torchstone_check_c10d backend group folders statement)
  set(options -DUSE_C10D_${backend})
  set(CMAKE_REQUIRED_FLAGS "-std=c++20 -DUSE_C10D_${backend}")
  foreach(folder ${folders})
    list(APPEND options -idirafter ${folder})
    string(APPEND CMAKE_REQUIRED_FLAGS " -idirafter \"${folder}\"")
  endforeach()
  set(CMAKE_REQUIRED_LIBRARIES LibTorch::torch)
  string(MAKE_C_IDENTIFIER "${backend}_links_with_${LIBTORCH_VERSION}_${LIBTORCH_ROOT}" links)  # repeated for another LibTorch
  check_cxx_source_compiles("#include <torch/csrc/distributed/c10d/${group}.hpp>
                             int main() { return c10d::${group}::${statement} == nullptr; }" ${links})
  set(TORCHSTONE_${backend} ${${links}} PARENT_SCOPE)
  set(TORCHSTONE_${backend}_OPTIONS ${options} PARENT_SCOPE)
  set(TORCHSTONE_${backend}_KNOWN "-D${links}=${${links}}" PARENT_SCOPE)
endfunction()

set(c10d_headers ${LIBTORCH_ROOT}/include/torch/csrc/distributed/c10d)

# Debian's libgloo-dev has the headers of Gloo.
find_path(TORCHSTONE_GLOO_INCLUDE_DIR gloo/rendezvous/store.h DOC "Folder of Gloo's headers; optional")
set(TORCHSTONE_GLOO OFF)
if(TORCHSTONE_GLOO_INCLUDE_DIR AND EXISTS ${c10d_headers}/ProcessGroupGloo.hpp)
  torchstone_check_c10d(GLOO ProcessGroupGloo ${TORCHSTONE_GLOO_INCLUDE_DIR} "createDeviceForInterface(\"lo\")")
endif()
if(NOT TORCHSTONE_GLOO)
  message(STATUS "Without ranks of models in C++: no headers of Gloo that fit LibTorch ${LIBTORCH_VERSION} (optional; libgloo-dev)")
endif()

# The packages of pip next to torch have the headers of NCCL and CUDA. CUDA's toolkit has the headers of CUDA as well.
set(TORCHSTONE_NCCL OFF)
if(EXISTS ${LIBTORCH_ROOT}/lib/libtorch_cuda.so AND EXISTS ${c10d_headers}/ProcessGroupNCCL.hpp)
  find_package(CUDAToolkit QUIET)
  file(GLOB nvidia_folders ${LIBTORCH_ROOT}/../nvidia/*/include)
  find_path(TORCHSTONE_NCCL_INCLUDE_DIR nccl.h HINTS ${nvidia_folders} ${CUDAToolkit_INCLUDE_DIRS} DOC "Folder of nccl.h; optional")
  if(TORCHSTONE_NCCL_INCLUDE_DIR)
    set(nccl_folders ${TORCHSTONE_NCCL_INCLUDE_DIR})
    foreach(folder ${nvidia_folders} ${CUDAToolkit_INCLUDE_DIRS})
      list(APPEND nccl_folders ${folder})
      if(EXISTS ${folder}/cccl)  # <nv/target> of CUDA 13, which nvcc finds there by itself
        list(APPEND nccl_folders ${folder}/cccl)
      endif()
    endforeach()
    list(REMOVE_DUPLICATES nccl_folders)
    torchstone_check_c10d(NCCL ProcessGroupNCCL "${nccl_folders}" "Options::create()")
  endif()
  if(NOT TORCHSTONE_NCCL)
    message(STATUS "Without ranks of models in C++ on CUDA: no headers of NCCL and CUDA that fit LibTorch ${LIBTORCH_VERSION} "
                   "(optional; nvidia-nccl-cu13 of pip, and the CUDA toolkit)")
  endif()
endif()
