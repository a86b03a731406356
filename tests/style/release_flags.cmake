# A release build has the flags that the user gives, or else -O1.
cmake_minimum_required(VERSION 3.25)
cmake_path(SET source NORMALIZE ${CMAKE_CURRENT_LIST_DIR}/../..)

function(expect flags)
  file(REMOVE_RECURSE ${FOLDER})
  execute_process(COMMAND ${CMAKE_COMMAND} -S ${source} -B ${FOLDER} -D TORCHSTONE_PYTHON=${PYTHON} -D TORCHSTONE_TESTS=OFF ${GLOO} ${NCCL} ${ARGN}
                  OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
  file(READ ${FOLDER}/compile_commands.json commands)
  string(FIND "${commands}" " ${flags} " found)
  if(found EQUAL -1)
    message(FATAL_ERROR "expected ${flags} in ${FOLDER}/compile_commands.json")
  endif()
endfunction()

expect("-O1 -DNDEBUG")
expect("-O2 -DOWN" "-DCMAKE_CXX_FLAGS_RELEASE=-O2 -DOWN")
file(REMOVE_RECURSE ${FOLDER})
