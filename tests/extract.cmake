# SPDX-License-Identifier: MIT
occupipe_test(extract_test KIND unit SHARDS 2 FULL *ExtractKernels* LINK occupipe::extract GTest::gmock
    SOURCES extract/fold_test.cpp extract/graph_test.cpp extract/kernels_test.cpp extract/memory_requests_test.cpp extract/parameters_test.cpp extract/buffer_check_test.cpp extract/stack_distance_test.cpp extract/memory_trace_test.cpp extract/reference_order_test.cpp extract/buffer_store_test.cpp extract/code_reuse_test.cpp extract/shadow_memory_test.cpp)
occupipe_test(execute_test KIND cli SHARDS 2 WITHOUT_NVRTC Execute.CompilesSource*:*ExecuteRefuses* LINK occupipe::core GTest::gmock nlohmann_json::nlohmann_json
    SOURCES cli/execute_test.cpp cli/execute_refusals_test.cpp cli/extract_test.cpp support/run_program.cpp)
target_compile_definitions(execute_test PRIVATE OCCUPIPE_PROGRAM="$<TARGET_FILE:occupipe>")
add_dependencies(execute_test occupipe)
occupipe_test(sources_test KIND cli WITHOUT_NVRTC SourcesCompiled.* LINK occupipe::core nlohmann_json::nlohmann_json GTest::gmock
    SOURCES cli/sources_test.cpp cli/validate_measured_test.cpp cli/tune_test.cpp support/run_program.cpp)
target_compile_definitions(sources_test PRIVATE OCCUPIPE_PROGRAM="$<TARGET_FILE:occupipe>")
add_dependencies(sources_test occupipe)
occupipe_test(annotate_test KIND cli ONE_PROCESS LINK occupipe::core GTest::gmock nlohmann_json::nlohmann_json
    SOURCES cli/annotate_test.cpp support/run_program.cpp)
target_compile_definitions(annotate_test PRIVATE OCCUPIPE_PROGRAM="$<TARGET_FILE:occupipe>")
add_dependencies(annotate_test occupipe)
# No test: run it by hand (docs/background/performance.md).
add_executable(occupipe_execute_benchmark perf/execute_benchmark.cpp)
target_link_libraries(occupipe_execute_benchmark PRIVATE occupipe::extract occupipe::isa occupipe::core benchmark::benchmark occupipe::warnings)
target_compile_definitions(occupipe_execute_benchmark PRIVATE OCCUPIPE_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
add_executable(occupipe_memory_benchmark perf/memory_benchmark.cpp)
target_link_libraries(occupipe_memory_benchmark PRIVATE occupipe::extract occupipe::isa occupipe::core benchmark::benchmark occupipe::warnings)
target_compile_definitions(occupipe_memory_benchmark PRIVATE OCCUPIPE_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
