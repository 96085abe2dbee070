# SPDX-License-Identifier: MIT
occupipe_test(extract_test KIND unit LINK occupipe::extract GTest::gmock
    SOURCES extract/memory_requests_test.cpp extract/parameters_test.cpp extract/buffer_check_test.cpp)
occupipe_test(execute_test KIND cli WITHOUT_NVRTC * LINK occupipe::core GTest::gmock nlohmann_json::nlohmann_json
    SOURCES cli/execute_test.cpp cli/execute_refusals_test.cpp support/run_program.cpp)
target_compile_definitions(execute_test PRIVATE OCCUPIPE_PROGRAM="$<TARGET_FILE:occupipe>")
add_dependencies(execute_test occupipe)
