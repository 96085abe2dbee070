# SPDX-License-Identifier: MIT
occupipe_test(fit_unit_test KIND unit SHARDS 2
    SOURCES fit/laws/hull_law_test.cpp fit/curves/curve_test.cpp fit/solver/least_squares_test.cpp fit/solver/hull_problem_test.cpp fit/solver/jackknife_test.cpp
            fit/statistics_test.cpp fit/curves/disturbances_test.cpp fit/solver/nist_test.cpp fit/curves/line_fit_test.cpp fit/curves/step_time_test.cpp
            accuracy/event_core.cpp
    LINK occupipe::fit)
occupipe_test(fit_timing_test KIND fit SHARDS 2
    SOURCES fit/laws/fit_timing_test.cpp fit/laws/loop_bodies_test.cpp fit/laws/proportion_test.cpp fit/laws/staircase_test.cpp fit/laws/error_causes_test.cpp fit/profile/physics_check_test.cpp
    LINK occupipe::fit)
occupipe_test(fit_profile_test KIND fit SHARDS 2
    SOURCES fit/structure/fit_mix_test.cpp fit/profile/build_profile_test.cpp fit/laws/fit_contention_test.cpp
            fit/profile/profile_watch_test.cpp fit/profile/profile_extend_test.cpp fit/profile/profile_complete_test.cpp fit/profile/profile_sets_test.cpp fit/profile/described_fields_test.cpp fit/laws/working_set_test.cpp fit/profile/tables_test.cpp fit/structure/placement_test.cpp fit/structure/scopes_test.cpp
    LINK occupipe::fit GTest::gmock)
occupipe_test(fit_recovery_test KIND fit TIMEOUT 900 FULL *
    SOURCES fit/recovery_test.cpp
    LINK occupipe::fit)

add_executable(fit_benchmark ${PROJECT_SOURCE_DIR}/tests/fit/fit_benchmark.cpp)
target_link_libraries(fit_benchmark PRIVATE occupipe::fit occupipe::warnings benchmark::benchmark_main)

occupipe_test(fit_cli_test KIND cli SHARDS 2 TIMEOUT 600
    SOURCES cli/fit_test.cpp support/run_program.cpp
    LINK occupipe::core GTest::gmock)
target_compile_definitions(fit_cli_test PRIVATE OCCUPIPE_PROGRAM="$<TARGET_FILE:occupipe>")
add_dependencies(fit_cli_test occupipe)

option(OCCUPIPE_FUZZ "Build the libFuzzer targets (needs clang)" OFF)
if(OCCUPIPE_FUZZ)
    if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
        message(FATAL_ERROR "OCCUPIPE_FUZZ needs clang: -DCMAKE_CXX_COMPILER=clang++")
    endif()
    foreach(component core isa extract fit bench automatch published ask report)  # without coverage of the code under test the fuzzer is blind
        target_compile_options(occupipe_${component} PRIVATE -fsanitize=fuzzer-no-link,address,undefined)
    endforeach()
    target_compile_options(occupipe_analysis PRIVATE -fsanitize=fuzzer-no-link,address,undefined)
    foreach(target measurements:fit published:analysis profilers:report kernels:bench files:bench workloads:automatch sweeps:analysis exchange:analysis machine_code:isa launches:core execute:extract images:isa sources:ask tuning:analysis)  # what is fuzzed: the component it is in
        string(REPLACE ":" ";" target "${target}")
        list(GET target 0 name)
        list(GET target 1 component)
        add_executable(fuzz_${name} ${PROJECT_SOURCE_DIR}/tests/fuzz/fuzz_${name}.cpp)
        target_compile_options(fuzz_${name} PRIVATE -fsanitize=fuzzer,address,undefined)
        target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer,address,undefined)
        target_link_libraries(fuzz_${name} PRIVATE occupipe::${component})
    endforeach()
endif()

# A core cycle by cycle that runs decoded loops (tests/virtual_gpu), in front of the real fit.
add_library(virtual_gpu STATIC ${PROJECT_SOURCE_DIR}/tests/virtual_gpu/timed_code.cpp
            ${PROJECT_SOURCE_DIR}/tests/virtual_gpu/virtual_core.cpp)
target_include_directories(virtual_gpu PUBLIC ${PROJECT_SOURCE_DIR})
target_link_libraries(virtual_gpu PUBLIC occupipe::bench occupipe::warnings)
occupipe_test(virtual_gpu_test KIND fit SHARDS 4 WITHOUT_NVRTC *TodaysLoops*:*StoredLoops*:VirtualGpuLoops.* FULL *UnderStartSkew*:*DriftingWarps* LINK virtual_gpu occupipe::fit SOURCES fit/virtual_gpu_test.cpp)

# Planted and found: event simulations that know nothing of the fitter's law (docs/background/accuracy.md).
add_library(accuracy_devices STATIC ${PROJECT_SOURCE_DIR}/tests/accuracy/event_core.cpp
            ${PROJECT_SOURCE_DIR}/tests/accuracy/scenarios.cpp ${PROJECT_SOURCE_DIR}/tests/accuracy/mixed_core.cpp
            ${PROJECT_SOURCE_DIR}/tests/accuracy/mixed_devices.cpp ${PROJECT_SOURCE_DIR}/tests/accuracy/score.cpp)
target_include_directories(accuracy_devices PUBLIC ${PROJECT_SOURCE_DIR})
target_link_libraries(accuracy_devices PUBLIC occupipe::fit occupipe::warnings)
add_executable(accuracy ${PROJECT_SOURCE_DIR}/tests/accuracy/accuracy.cpp)
target_link_libraries(accuracy PRIVATE accuracy_devices)
occupipe_test(accuracy_test KIND fit FULL *MixesTell*:*BarriersAnd*:*NoPlateau* LINK accuracy_devices SOURCES accuracy/accuracy_test.cpp)
