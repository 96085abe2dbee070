// SPDX-License-Identifier: MIT
#include "core/measurement.h"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace occupipe {
namespace {

TEST(MeasurementName, IsTheOneOfTheFileFormat) {
    EXPECT_EQ(measurement_name("fma.f32", {4, 2, 1, 1024}),
              "fma.f32/group_warps:4/concurrent_groups:2/chains:1/depth:1024");
}

TEST(RowCounters, RowsThatShareTheirNamesChangeAlone) {
    const auto names = std::make_shared<const std::vector<std::string>>(
        std::initializer_list<std::string>{"b", "d"});
    RowCounters first(names, {2, 4});
    const RowCounters second(names, {20, 40});
    first["d"] = 5;
    first["a"] = 1;
    first["c"] = 3;
    first.erase("b");
    first.erase("none");
    std::string text;
    first.for_each(
        [&](const std::string& name, double value) { text += name + std::to_string(int(value)); });
    EXPECT_EQ(text, "a1c3d5");
    EXPECT_EQ(second.size(), 2U);
    EXPECT_EQ(second.find("b"), 20);
    EXPECT_EQ(second.at("d"), 40);
    EXPECT_FALSE(second.contains("a"));
    EXPECT_EQ(RowCounters().find("a"), std::nullopt);
    EXPECT_THROW((void)second.at("c"), std::out_of_range);
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
