# SPDX-License-Identifier: MIT
occupipe_test(isa_test KIND unit LINK occupipe::isa GTest::gmock
    SOURCES isa/decode_test.cpp isa/cubin_test.cpp isa/random_test.cpp)
