# SPDX-License-Identifier: MIT
occupipe_test(fit_unit_test KIND unit
    SOURCES fit/curve_model_test.cpp fit/curve_test.cpp fit/least_squares_test.cpp
            fit/statistics_test.cpp fit/nist_test.cpp
    LINK occupipe::fit)
occupipe_test(fit_timing_test KIND fit
    SOURCES fit/fit_timing_test.cpp fit/staircase_test.cpp fit/sanity_test.cpp
    LINK occupipe::fit)
occupipe_test(fit_profile_test KIND fit
    SOURCES fit/fit_mix_test.cpp fit/build_profile_test.cpp fit/fit_contention_test.cpp
            fit/profile_sets_test.cpp
    LINK occupipe::fit GTest::gmock)
occupipe_test(fit_recovery_test KIND fit TIMEOUT 900
    SOURCES fit/recovery_test.cpp
    LINK occupipe::fit)

add_executable(fit_benchmark ${PROJECT_SOURCE_DIR}/tests/fit/fit_benchmark.cpp)
target_link_libraries(fit_benchmark PRIVATE occupipe::fit occupipe::warnings benchmark::benchmark_main)
