# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Entries of tests that cannot run here.

# webnn_skipped_test(<name> <label> <reason>): the one entry of a suite that cannot run here.
function(webnn_skipped_test name label reason)
  add_test(NAME ${name} COMMAND ${CMAKE_COMMAND} -E echo "skipped: ${reason}")
  set_tests_properties(${name} PROPERTIES SKIP_REGULAR_EXPRESSION "skipped: " LABELS ${label})
  message(STATUS "The test ${name} is skipped: ${reason}")
endfunction()

# webnn_absent_data(<name> <label> <what>): the same where data of the folder WEBNN_SHARED are absent; it fails if they are
# required.
function(webnn_absent_data name label what)
  if(WEBNN_REQUIRE_SHARED)
    add_test(NAME ${name} COMMAND sh -c "echo 'failed: ${what}, and WEBNN_REQUIRE_SHARED is ON'; exit 1")
    set_tests_properties(${name} PROPERTIES LABELS ${label})
    message(STATUS "The test ${name} fails: ${what}")
  else()
    webnn_skipped_test(${name} ${label} "${what}")
  endif()
endfunction()
