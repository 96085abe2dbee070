# SPDX-License-Identifier: MIT
occupipe_test(extract_test KIND unit LINK occupipe::extract GTest::gmock
    SOURCES extract/memory_requests_test.cpp extract/parameters_test.cpp extract/buffer_check_test.cpp)
