# Options of every target of the project. Programs and libraries need the same -fPIC, because they share the precompiled header.
add_library(torchstone_options INTERFACE)
target_compile_features(torchstone_options INTERFACE cxx_std_20)
target_compile_options(torchstone_options INTERFACE $<BUILD_INTERFACE:-fPIC>)
target_compile_options(torchstone_options INTERFACE $<BUILD_INTERFACE:-Wall;-Wextra;-Wpedantic;$<$<CXX_COMPILER_ID:GNU>:-Wshadow=local>>
                       $<$<BOOL:${TORCHSTONE_WERROR}>:$<BUILD_INTERFACE:-Werror>>)
# g++ 13 warns about functions that return a reference to a part of an argument, although no reference dangles.
target_compile_options(torchstone_options INTERFACE
                       $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_GREATER_EQUAL:$<CXX_COMPILER_VERSION>,13>>:-Wno-dangling-reference>)
# Makes g++ collect garbage less often. This needs a tenth more memory (2.9 GB per unit) and saves an eighth of the time.
target_compile_options(torchstone_options INTERFACE
                       $<$<CXX_COMPILER_ID:GNU>:$<BUILD_INTERFACE:SHELL:--param ggc-min-expand=400 --param ggc-min-heapsize=4000000>>)
target_include_directories(torchstone_options INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>)

# Unity builds (CMAKE_UNITY_BUILD): each unit parses the headers and instantiates LibTorch's templates once, which takes half of
# the time of a unit of 13 files. A unit of 40 files takes less than twice as long, and 2 GB of memory.
set(CMAKE_UNITY_BUILD_BATCH_SIZE 40)

# torchstone_precompile(NAME [options…]): a precompiled header for everything that includes torch (24 s → 9 s per file). It needs
# the options of the files that use it, because the compiler refuses a header with other predefined macros. -Wpedantic and -O0
# change such macros.
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/precompile.cpp CONTENT "")  # does not touch an unchanged file
function(torchstone_precompile name)
  add_library(${name} OBJECT ${PROJECT_BINARY_DIR}/precompile.cpp)
  target_link_libraries(${name} PRIVATE LibTorch::torch fmt::fmt-header-only torchstone_options)
  target_compile_options(${name} PRIVATE ${ARGN})
  target_precompile_headers(${name} PRIVATE <torch/torch.h> <torch/script.h>)
endfunction()
torchstone_precompile(torchstone_precompiled)

# Each unit with the header instantiates the templates that LibTorch's inline functions use (6 s, even without code of its
# own). So these units are larger.
set(torchstone_unit_with_torch 50)

# torchstone_source_properties(FILES file... PROPERTIES property value...): set_source_files_properties with an error for
# missing files. Otherwise a file that was moved would silently lose its properties.
function(torchstone_source_properties)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "" "FILES;PROPERTIES")
  if(NOT arg_FILES OR NOT arg_PROPERTIES OR arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "torchstone_source_properties(FILES file... PROPERTIES property value...) expected, got: ${ARGN}")
  endif()
  foreach(file ${arg_FILES})
    if(NOT EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${file})
      message(FATAL_ERROR "${CMAKE_CURRENT_SOURCE_DIR}/${file}: no such file, but CMakeLists.txt gives it properties")
    endif()
  endforeach()
  set_source_files_properties(${arg_FILES} PROPERTIES ${arg_PROPERTIES})
endfunction()

# torchstone_torch_free(TARGET SOURCES files… LINK libraries…): compiles files of TARGET as the object library TARGET_core.
# LibTorch is not among its include directories, so including one of LibTorch's headers there is a compile error. The files
# also compile faster without the precompiled header.
function(torchstone_torch_free target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINK")
  add_library(${target}_core OBJECT ${arg_SOURCES})
  target_link_libraries(${target}_core PRIVATE ${arg_LINK} torchstone_options)
  # Adds these folders directly, because linking models and fixtures would also add LibTorch's include folders.
  target_include_directories(${target}_core PRIVATE ${PROJECT_SOURCE_DIR}/models/include ${PROJECT_SOURCE_DIR}/fixtures/include)
  target_sources(${target} PRIVATE $<TARGET_OBJECTS:${target}_core>)
endfunction()

# torchstone_library(NAME [TORCH] [WITHOUT folder] [TORCH_FREE files… [EXCEPT files…]] LINK libraries…):
# Builds the shared library torchstone_NAME from all sources of this folder, except for WITHOUT, report_tool/ and *main.cpp. It is
# shared so that a plug-in and the program that loads it use the same registries.
# TORCH: the sources include LibTorch and use the precompiled header.
# TORCH_FREE: globs of sources that do not include LibTorch, not even indirectly (torchstone_torch_free). EXCEPT are files
# that the globs match but that include LibTorch.
# The installed target requires LibTorch and no other library, because the public headers need none.
function(torchstone_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "TORCH" "WITHOUT" "TORCH_FREE;EXCEPT;LINK")
  foreach(pattern IN LISTS arg_TORCH_FREE arg_EXCEPT)
    file(GLOB matches ${pattern})
    if(NOT matches)
      message(FATAL_ERROR "${CMAKE_CURRENT_SOURCE_DIR}/${pattern}: no such file, but it is given to torchstone_library(${name})")
    endif()
  endforeach()
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS *.cpp)
  if(arg_WITHOUT)
    file(GLOB_RECURSE others ${arg_WITHOUT}/*.cpp)
    list(REMOVE_ITEM sources ${others})
  endif()
  list(FILTER sources EXCLUDE REGEX "/report_tool/|main\\.cpp$")
  set(torch_free "")
  if(arg_TORCH_FREE)
    file(GLOB torch_free CONFIGURE_DEPENDS ${arg_TORCH_FREE})
    file(GLOB exceptions ${arg_EXCEPT})
    list(REMOVE_ITEM torch_free ${exceptions})
    list(REMOVE_ITEM sources ${torch_free})
  endif()
  add_library(torchstone_${name} SHARED ${sources})
  add_library(Torchstone::${name} ALIAS torchstone_${name})
  set_target_properties(torchstone_${name} PROPERTIES EXPORT_NAME ${name})
  if(torch_free)
    set(link ${arg_LINK})
    list(REMOVE_ITEM link LibTorch::torch Torchstone::models Torchstone::fixtures)
    torchstone_torch_free(torchstone_${name} SOURCES ${torch_free} LINK ${link})
  endif()
  set(installed ${arg_LINK})
  list(FILTER installed INCLUDE REGEX "^(Torchstone|LibTorch)::")
  list(FILTER arg_LINK EXCLUDE REGEX "^(Torchstone|LibTorch)::")
  list(TRANSFORM arg_LINK REPLACE "(.+)" "$<BUILD_INTERFACE:\\1>")
  target_link_libraries(torchstone_${name} PUBLIC ${installed} ${arg_LINK} PRIVATE $<BUILD_INTERFACE:torchstone_options>)
  target_include_directories(torchstone_${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include>
                             $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(torchstone_${name} PUBLIC cxx_std_20)
  if(NOT TORCHSTONE_FUZZ)  # clang links the sanitizers only into the programs there
    target_link_options(torchstone_${name} PRIVATE -Wl,--no-undefined)
  endif()
  if(arg_TORCH)
    target_precompile_headers(torchstone_${name} REUSE_FROM torchstone_precompiled)
    set_target_properties(torchstone_${name} PROPERTIES UNITY_BUILD_BATCH_SIZE ${torchstone_unit_with_torch})
  endif()
endfunction()
