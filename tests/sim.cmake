# SPDX-License-Identifier: MIT
add_library(occupipe_sim_test_support STATIC sim/random_case.cpp)
target_link_libraries(occupipe_sim_test_support PUBLIC occupipe::sim occupipe::core PRIVATE occupipe::warnings)

occupipe_test(sim_differential_test KIND diff SOURCES sim/differential_test.cpp
    LINK occupipe_sim_test_support occupipe::sim occupipe::core TIMEOUT 600)
