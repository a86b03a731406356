# Sets TORCHSTONE_NCCL to whether models of C++ can have ranks on CUDA (docs/ranks.md). LibTorch for CUDA contains c10d's NCCL. Its
# header needs those of NCCL and CUDA. They are in the packages of pip next to torch, and CUDA's also in its toolkit.
set(TORCHSTONE_NCCL OFF)
if(EXISTS ${LIBTORCH_ROOT}/lib/libtorch_cuda.so AND EXISTS ${LIBTORCH_ROOT}/include/torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp)
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
    # After all other folders, and without warnings.
    set(TORCHSTONE_NCCL_OPTIONS -DUSE_C10D_NCCL)
    foreach(folder ${nccl_folders})
      list(APPEND TORCHSTONE_NCCL_OPTIONS -idirafter ${folder})
    endforeach()
    include(CheckCXXSourceCompiles)
    set(CMAKE_REQUIRED_LIBRARIES LibTorch::torch)
    set(CMAKE_REQUIRED_FLAGS "-std=c++20 -DUSE_C10D_NCCL")
    foreach(folder ${nccl_folders})
      string(APPEND CMAKE_REQUIRED_FLAGS " -idirafter \"${folder}\"")
    endforeach()
    string(MAKE_C_IDENTIFIER "nccl_links_with_${LIBTORCH_VERSION}_${LIBTORCH_ROOT}" nccl_links)  # another LibTorch is tried again
    check_cxx_source_compiles("#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>
                               int main() { return c10d::ProcessGroupNCCL::Options::create() == nullptr; }"
                              ${nccl_links})
    set(TORCHSTONE_NCCL ${${nccl_links}})
    unset(CMAKE_REQUIRED_LIBRARIES)
    unset(CMAKE_REQUIRED_FLAGS)
  endif()
  if(NOT TORCHSTONE_NCCL)
    message(STATUS "Without ranks of models in C++ on CUDA: no headers of NCCL and CUDA that fit LibTorch ${LIBTORCH_VERSION} "
                   "(optional; nvidia-nccl-cu13 of pip, and the CUDA toolkit)")
  endif()
endif()
