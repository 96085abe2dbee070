# SPDX-License-Identifier: MIT
# CTest keeps one set of properties for each name: of two tests of one name both get the last one's labels, and a preset that
# leaves that label out leaves out both, without a word. No two tests may share a name.
#
#   cmake -D CTEST=ctest -D BUILD=build/release -P cmake/CheckTestNames.cmake
execute_process(COMMAND ${CTEST} --test-dir ${BUILD} --show-only OUTPUT_VARIABLE listed COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "Test +#[0-9]+: [^\n]+" lines "${listed}")
set(seen "")
set(twice "")
foreach(line IN LISTS lines)
    string(REGEX REPLACE "^Test +#[0-9]+: " "" name "${line}")
    list(FIND seen "${name}" before)
    if(NOT before EQUAL -1)
        list(APPEND twice "${name}")
    endif()
    list(APPEND seen "${name}")
endforeach()
list(LENGTH seen number)
if(number EQUAL 0)
    message(FATAL_ERROR "${BUILD}: no tests found")
endif()
if(twice)
    list(GET twice 0 first)
    list(LENGTH twice number)
    message(FATAL_ERROR "${BUILD}: ${number} names belong to two tests each, for example ${first}")
endif()
