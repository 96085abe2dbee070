# SPDX-License-Identifier: MIT
occupipe_test(match_test KIND unit SOURCES match/execution_cost_test.cpp match/workload_test.cpp
    LINK occupipe::match occupipe::core)
