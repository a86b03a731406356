# Builds the preset asan in build-asan and runs the tests of everything that reads foreign files or settings under it.
cmake_minimum_required(VERSION 3.25)
cmake_path(SET source NORMALIZE ${CMAKE_CURRENT_LIST_DIR}/../..)

function(run)
  execute_process(COMMAND ${ARGV} WORKING_DIRECTORY ${source} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

run(${CMAKE_COMMAND} --preset asan -D TORCHSTONE_PYTHON=${PYTHON} -D CMAKE_UNITY_BUILD=ON)
run(${CMAKE_COMMAND} --build build-asan --target test_reports test_cases test_models)
# LibTorch and its static initialisers leak by design; OpenMP's threads spin less on a busy machine when they sleep.
set(ENV{ASAN_OPTIONS} detect_leaks=0)
set(ENV{UBSAN_OPTIONS} halt_on_error=1:print_stacktrace=1)
set(ENV{OMP_WAIT_POLICY} passive)
run(build-asan/bin/test_reports --gtest_brief=1)
run(build-asan/bin/test_cases --gtest_brief=1)
run(build-asan/bin/test_models --gtest_brief=1 --gtest_filter=*Pickle*:*Safetensors*:*Script*:Values/*:Mutations*)
