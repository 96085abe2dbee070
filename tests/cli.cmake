# SPDX-License-Identifier: MIT
occupipe_test(cli_test KIND cli TIMEOUT 600 LINK occupipe::core GTest::gmock
    SOURCES cli/bad_command_line_test.cpp cli/loop_test.cpp cli/explain_test.cpp cli/run_program.cpp)
target_compile_definitions(cli_test PRIVATE OCCUPIPE_PROGRAM="$<TARGET_FILE:occupipe>"
    OCCUPIPE_OPENCL=$<BOOL:${OCCUPIPE_OPENCL}>)
add_dependencies(cli_test occupipe)
