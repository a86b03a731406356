# Adds the cases to ctest. Before the first case the results folder is emptied; from then on this ctest holds it.
# The results are merged after the last case.
set(TORCHSTONE_BINARY ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/torchstone)
configure_file(${CMAKE_CURRENT_LIST_DIR}/Cases.cmake.in ${PROJECT_BINARY_DIR}/torchstone_cases.cmake @ONLY)
set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY TEST_INCLUDE_FILES ${PROJECT_BINARY_DIR}/torchstone_cases.cmake)
add_test(NAME torchstone.results.empty COMMAND torchstone-report claim ${PROJECT_BINARY_DIR}/results)
add_test(NAME torchstone.results.merge COMMAND torchstone-report merge ${PROJECT_BINARY_DIR}/results -o ${PROJECT_BINARY_DIR}/results)
set_tests_properties(torchstone.results.empty PROPERTIES FIXTURES_SETUP torchstone_results)
set_tests_properties(torchstone.results.merge PROPERTIES FIXTURES_CLEANUP torchstone_results)
