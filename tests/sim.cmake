# SPDX-License-Identifier: MIT
add_library(occupipe_sim_test_support STATIC sim/random_case.cpp)
target_link_libraries(occupipe_sim_test_support PUBLIC occupipe::sim occupipe::core PRIVATE GTest::gtest occupipe::warnings)

occupipe_test(sim_unit_test KIND unit SHARDS 2
    SOURCES sim/contention_test.cpp sim/issue_window_test.cpp sim/known_answers_test.cpp sim/not_modelled_test.cpp sim/parts_test.cpp sim/period_test.cpp sim/policy_test.cpp sim/quantitative_roofline_test.cpp sim/refusal_test.cpp sim/ticks_test.cpp
    LINK occupipe::analysis occupipe::sim occupipe::core)
occupipe_test(sim_models_test KIND unit ONE_PROCESS SOURCES sim/kernel_analysis_test.cpp
    LINK occupipe::sim occupipe::core)
occupipe_test(sim_models_golden_test KIND golden ONE_PROCESS SOURCES sim/models_golden_test.cpp
    LINK occupipe::sim occupipe::core)
occupipe_test(sim_explain_test KIND unit ONE_PROCESS SOURCES sim/explain_test.cpp
    LINK occupipe_sim_test_support occupipe::report occupipe::analysis occupipe::sim occupipe::core nlohmann_json::nlohmann_json)
occupipe_test(sim_property_test KIND property SOURCES sim/algorithm_1_test.cpp sim/detection_cost_test.cpp sim/estimate_test.cpp sim/models_property_test.cpp sim/problem_test.cpp sim/property_test.cpp
    LINK occupipe_sim_test_support occupipe::sim occupipe::core)
occupipe_test(sim_differential_test KIND diff FULL * SOURCES sim/differential_test.cpp
    LINK occupipe_sim_test_support occupipe::sim occupipe::core)
occupipe_test(sim_groups_test KIND diff SHARDS 2 FULL * SOURCES sim/groups_test.cpp
    LINK occupipe_sim_test_support occupipe::sim occupipe::core GTest::gmock)

occupipe_test(sim_barrier_golden_test KIND golden ONE_PROCESS SOURCES sim/barrier_golden_test.cpp
    LINK occupipe::sim occupipe::core)
occupipe_test(sim_golden_test KIND golden ONE_PROCESS SOURCES sim/mix_golden_test.cpp sim/mmul_golden_test.cpp
    LINK occupipe::sim occupipe::core)

# Across sim and cli, hence the whole program.
occupipe_test(sim_cli_test KIND cli SHARDS 2 SOURCES cli/predict_compare_test.cpp cli/predict_test.cpp
    LINK occupipe::cli nlohmann_json::nlohmann_json)

# Through the program itself, as it ends by signals and exit codes.
occupipe_test(limit_test KIND cli SOURCES cli/limit_test.cpp support/run_program.cpp
    LINK occupipe::core GTest::gmock nlohmann_json::nlohmann_json)
target_compile_definitions(limit_test PRIVATE OCCUPIPE_PROGRAM="$<TARGET_FILE:occupipe>")
add_dependencies(limit_test occupipe)

# No test: run it by hand (docs/background/performance.md).
add_executable(occupipe_sim_benchmark perf/sim_benchmark.cpp)
target_link_libraries(occupipe_sim_benchmark PRIVATE occupipe::sim occupipe::core benchmark::benchmark occupipe::warnings)
target_compile_definitions(occupipe_sim_benchmark PRIVATE OCCUPIPE_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
add_executable(occupipe_barrier_combinations perf/barrier_combinations.cpp)
target_link_libraries(occupipe_barrier_combinations PRIVATE occupipe::sim occupipe::core occupipe::warnings)
target_compile_definitions(occupipe_barrier_combinations PRIVATE OCCUPIPE_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
