// SPDX-License-Identifier: MIT
#include "core/measurement.h"

#include <gtest/gtest.h>

namespace occupipe {
namespace {

TEST(MeasurementName, IsTheOneOfTheFileFormat) {
    EXPECT_EQ(measurement_name("fma.f32", {4, 2, 1, 1024}),
              "fma.f32/group_warps:4/concurrent_groups:2/chains:1/depth:1024");
}

TEST(MixName, ReadsBack) {
    const auto mix = parse_mix(mix_name({"fma.f32", 8, "cos.approx.f32"}));
    ASSERT_TRUE(mix.has_value());
    EXPECT_EQ(mix->first, "fma.f32");
    EXPECT_EQ(mix->beta, 8);
    EXPECT_EQ(mix->second, "cos.approx.f32");
}

TEST(MixName, WhatIsNoMixIsNone) {
    for (const char* text : {"fma.f32", "mix", "mix()", "mix(a,b)", "mix(a*,b)", "mix(a*0,b)",
                             "mix(a*-1,b)", "mix(a*2.5,b)", "mix(a*2,)", "mix(*2,b)", "mix(a*2,b",
                             "mix(a*2,b,c)", "mix(a*2 ,b)", "mix(a,b*2)", "mix(a*99999999999,b)"}) {
        EXPECT_FALSE(parse_mix(text).has_value()) << text;
    }
}

}  // namespace
}  // namespace occupipe
