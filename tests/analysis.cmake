# SPDX-License-Identifier: MIT
occupipe_test(analysis_test KIND unit
    SOURCES analysis/published_test.cpp analysis/self_check_test.cpp analysis/ncu_report_test.cpp
    LINK occupipe::analysis occupipe::core GTest::gmock)
