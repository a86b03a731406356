include(GoogleTest)
set(TORCHSTONE_TEST_RESULTS ${PROJECT_BINARY_DIR}/test-results)

# In a release build, tests are compiled without optimisation: it takes the compiler half as long again, and they spend their
# time in the libraries.
set(unoptimised $<$<CONFIG:Release>:-O0>)
torchstone_precompile(tests_precompiled ${unoptimised})

# torchstone_test_program(NAME [TORCH] LINK libraries… SOURCES files…): bin/NAME.
function(torchstone_test_program name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "TORCH" "" "LINK;SOURCES")
  add_executable(${name} ${arg_SOURCES} ${PROJECT_SOURCE_DIR}/tests/shard.cpp)
  target_link_libraries(${name} PRIVATE ${arg_LINK} GTest::gmock GTest::gtest_main torchstone_options)
  target_compile_definitions(${name} PRIVATE TORCHSTONE_TEST_DIR="${PROJECT_SOURCE_DIR}/tests" TORCHSTONE_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
                             TORCHSTONE_PYTHON="${TORCHSTONE_PYTHON}")
  target_compile_options(${name} PRIVATE ${unoptimised})
  if(arg_TORCH)
    target_precompile_headers(${name} REUSE_FROM tests_precompiled)
    set_target_properties(${name} PROPERTIES UNITY_BUILD_BATCH_SIZE ${torchstone_unit_with_torch})
  endif()
endfunction()

# torchstone_shards(NAME PROGRAM program COUNT n [FILTER filter] LABELS labels…): the selected tests of the program as n ctest
# tests NAME/1_of_n …, or NAME if n is 1. A process per test would spend most of its time on loading LibTorch. Each writes
# GoogleTest's XML to test-results/, which run.py reads. A filter that selects nothing fails the test.
function(torchstone_shards name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "PROGRAM;COUNT;FILTER" "LABELS")
  if(NOT arg_FILTER)
    set(arg_FILTER "*")
  endif()
  foreach(number RANGE 1 ${arg_COUNT})
    math(EXPR index "${number} - 1")
    set(shard ${name}/${number}_of_${arg_COUNT})
    if(arg_COUNT EQUAL 1)
      set(shard ${name})
    endif()
    add_test(NAME ${shard} COMMAND ${arg_PROGRAM} --gtest_filter=${arg_FILTER} --gtest_output=xml:${TORCHSTONE_TEST_RESULTS}/${shard}.xml)
    set_tests_properties(${shard} PROPERTIES LABELS "${arg_LABELS}" TIMEOUT 900 FAIL_REGULAR_EXPRESSION "\n.==========. 0 tests from 0 test suites ran"
                         ENVIRONMENT "GTEST_TOTAL_SHARDS=${arg_COUNT};GTEST_SHARD_INDEX=${index};OMP_WAIT_POLICY=passive")
  endforeach()
endfunction()
