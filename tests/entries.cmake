# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# How entries of ctest are added, here and by bench/.

set(WEBNN_TIMEOUT_FACTOR "" CACHE STRING "By how much time limits of tests are multiplied; presets: the environment's")
set(timeout_factor ${WEBNN_TIMEOUT_FACTOR})
if(NOT timeout_factor AND CMAKE_CROSSCOMPILING) # an emulator takes ten to twenty times as long
  set(timeout_factor 10)
elseif(NOT timeout_factor)
  set(timeout_factor 1)
endif()

# webnn_add_test(<name> COMMAND ... [LABELS ...] [ENVIRONMENT ...] [TIMEOUT <seconds>])
# The first label is the suite's.  Further labels: `long` takes an entry out of `make test` and into `make check`; `isa` says
# that it chooses instruction sets itself, so that the suites with a capped one leave it out; `repeat` that it computes what
# another entry does, so that `make check` leaves it out where it repeats suites (under sanitizers, with a capped instruction
# set).  Exit code 77: skipped.
function(webnn_add_test name)
  cmake_parse_arguments(PARSE_ARGV 1 TEST "" "TIMEOUT" "COMMAND;ENVIRONMENT;LABELS")
  if(NOT DEFINED TEST_TIMEOUT)
    set(TEST_TIMEOUT 600)
  endif()
  math(EXPR TEST_TIMEOUT "${TEST_TIMEOUT} * ${timeout_factor}")
  set(environment OMP_WAIT_POLICY=passive WEBNN_CACHE=off POCL_CACHE_DIR=${PROJECT_BINARY_DIR}/pocl
      WEBNN_SHARED=${WEBNN_SHARED} WEBNN_REQUIRE_SHARED=$<BOOL:${WEBNN_REQUIRE_SHARED}> ${TEST_ENVIRONMENT})
  add_test(NAME ${name} COMMAND ${TEST_COMMAND})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${TEST_TIMEOUT} SKIP_RETURN_CODE 77 LABELS "${TEST_LABELS}"
                       ENVIRONMENT "${environment}")
  # LLVM allocates much and frees it soon: a quarantine of 256 MB and 30 callers of each allocation cost half of a test's time.
  # GCC 12's leak checker may die where it looks for the thread-local storage of libraries that came while the program ran.
  if(WEBNN_SANITIZE)
    set_tests_properties(${name} PROPERTIES ENVIRONMENT_MODIFICATION
                         "ASAN_OPTIONS=path_list_append:quarantine_size_mb=8:malloc_context_size=8:intercept_tls_get_addr=0")
  endif()
endfunction()

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
