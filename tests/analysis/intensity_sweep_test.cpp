// SPDX-License-Identifier: MIT
#include "analysis/roofline/intensity_sweep.h"

#include <gtest/gtest.h>

#include "core/files/files.h"

namespace occupipe::analysis {
namespace {

// 320 lanes at 1 GHz: 2.56 TFLOP/s, 160 GB/s; the ridge is at 16 operations per byte, β = 32.
GpuProfile device() {
    return parse_profile(
        "format: occupipe-profile/1\n"
        "device: {name: D}\ncores: 10\nwarp_size: 32\nclock_hz: 1e9\n"
        "subsystems: {alu: {scope: core}, mem: {scope: core}}\n"
        "instructions:\n"
        "  fma.f32: {subsystem: alu, cpi: 0.25, latency: 4}\n"
        "  ld.global.f32: {subsystem: mem, cpi: 8, latency: 400}\n",
        "p.yaml");
}

MixFit mix(const std::string& first, std::vector<MixPoint> points) {
    MixFit fit;
    fit.first = first;
    fit.second = "ld.global.f32";
    fit.points = std::move(points);
    return fit;
}

// A device that is exactly its profile: a load every 8 cycles, β multiply-adds in that time while
// they take less.
TEST(IntensitySweep, AnIdealDeviceHasNoError) {
    std::vector<MixPoint> points;
    for (const int beta : {1, 8, 32, 64})
        points.push_back({.beta = beta, .in_flight = 64, .per_cycle = std::min(beta / 8.0, 4.0)});
    const IntensitySweep sweep = intensity_sweep({mix("fma.f32", points)}, device());
    ASSERT_EQ(sweep.points.size(), 4U);
    EXPECT_EQ(mean_error(sweep.points), 0);
    EXPECT_DOUBLE_EQ(sweep.points[0].intensity, 0.5);
    EXPECT_DOUBLE_EQ(sweep.points[0].measured, 80e9);
    EXPECT_TRUE(sweep.points[2].memory_bound);  // the ridge itself
    EXPECT_FALSE(sweep.points[3].memory_bound);
    EXPECT_DOUBLE_EQ(sweep.points[3].predicted, 2.56e12);
}

// Of several occupancies the best counts; the error is relative to what was measured.
TEST(IntensitySweep, TheBestOccupancyCounts) {
    const IntensitySweep sweep =
        intensity_sweep({mix("fma.f32", {{.beta = 8, .in_flight = 1, .per_cycle = 0.1},
                                         {.beta = 8, .in_flight = 64, .per_cycle = 0.8},
                                         {.beta = 8, .in_flight = 32, .per_cycle = 0.5}})},
                        device());
    ASSERT_EQ(sweep.points.size(), 1U);
    EXPECT_DOUBLE_EQ(sweep.points[0].measured, 0.8 * 640e9);
    EXPECT_DOUBLE_EQ(mean_error(sweep.points), 25);
}

TEST(IntensitySweep, WhatTheProfileLacksIsNamed) {
    const IntensitySweep sweep =
        intensity_sweep({mix("fma.f64", {{.beta = 1, .per_cycle = 1}}),
                         mix("cos.approx.f32", {{.beta = 1, .per_cycle = 1}})},
                        device());
    EXPECT_TRUE(sweep.points.empty());
    ASSERT_EQ(sweep.left_out.size(), 1U);
    EXPECT_NE(sweep.left_out[0].find("fma.f64"), std::string::npos);
}

}  // namespace
}  // namespace occupipe::analysis
