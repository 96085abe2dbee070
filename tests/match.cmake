# SPDX-License-Identifier: MIT
occupipe_test(match_test KIND unit SOURCES match/execution_cost_test.cpp match/workload_test.cpp
    LINK occupipe::match occupipe::core)
occupipe_test(match_program_test KIND unit SOURCES match/program_test.cpp
    LINK occupipe::match occupipe::core GTest::gmock)
target_compile_definitions(match_program_test PRIVATE OCCUPIPE_MATCH_INSTRUMENTS=$<BOOL:${OCCUPIPE_MATCH_INSTRUMENTS}>)
if(OCCUPIPE_MATCH_INSTRUMENTS)
    add_dependencies(match_program_test occupipe_match_passes occupipe_match_runtime)
endif()
occupipe_test(match_cli_test KIND cli LINK occupipe::core GTest::gmock nlohmann_json::nlohmann_json
    SOURCES cli/match_test.cpp support/run_program.cpp)
target_compile_definitions(match_cli_test PRIVATE OCCUPIPE_PROGRAM="$<TARGET_FILE:occupipe>"
    OCCUPIPE_MATCH_INSTRUMENTS=$<BOOL:${OCCUPIPE_MATCH_INSTRUMENTS}>)
add_dependencies(match_cli_test occupipe)
if(OCCUPIPE_MATCH_INSTRUMENTS)
    add_dependencies(match_cli_test occupipe_match_passes occupipe_match_runtime)
endif()
