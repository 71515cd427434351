# Read by ctest before it runs: registers each suite of GoogleTest cases in `program` as
# `test`:SUITE, with the list of `properties`. Cases of a suite then share a process. Included by
# the scripts that sluice_test() writes.
execute_process(COMMAND ${program} --gtest_list_tests
                OUTPUT_VARIABLE listing RESULT_VARIABLE failure ERROR_QUIET)
string(REGEX MATCHALL "(^|\n)[A-Za-z_][^ \n]*\\." suites "${listing}")
if(NOT failure EQUAL 0 OR NOT suites)
  set(suites "*.")  # running it tells what is wrong
endif()
foreach(suite IN LISTS suites)
  string(STRIP "${suite}" suite)
  string(REGEX REPLACE "\\.$" "" suite "${suite}")
  add_test("${test}:${suite}" "${program}" "--gtest_filter=${suite}.*" --gtest_brief=1)
  set_tests_properties("${test}:${suite}" PROPERTIES ${properties})
endforeach()
