// SPDX-License-Identifier: MIT
#include "analysis/roofline_predictions.h"

#include <gtest/gtest.h>

#include <string>

#include "core/error.h"
#include "core/files/files.h"

namespace occupipe::analysis {
namespace {

// 10 cores of 32 lanes at 1 GHz: fma.f32 λ 0.25 is 2.56 TFLOP/s.
GpuProfile device() {
    return parse_profile(
        "format: occupipe-profile/1\n"
        "device: {name: D}\ncores: 10\nwarp_size: 32\nclock_hz: 1e9\n"
        "issue: {limit: 4}\n"
        "subsystems: {alu: {scope: core}, mem: {scope: core}}\n"
        "instructions:\n"
        "  fma.f32: {subsystem: alu, cpi: 0.25, latency: 4}\n"
        "  mad.s32: {subsystem: alu, cpi: 1, latency: 4}\n"
        "  add.s32: {subsystem: alu, cpi: 0.5, latency: 4}\n"
        "  ld.shared.u32: {subsystem: mem, cpi: 1, latency: 20}\n"
        "  ld.global.f32: {subsystem: mem, cpi: 8, latency: 400}\n",
        "p.yaml");
}

KernelParameters saxpy() {
    return {.kernel = "saxpy",
            .fp32_fma = 1e6,
            .fp64_fma = 0,
            .fp32 = 1e6,
            .fp64 = 0,
            .integer = 5e6,
            .load_store = 3e6,
            .warp_instructions = 15e6 / 32,
            .dram_read_sectors = 8e6 / 32,
            .dram_write_sectors = 4e6 / 32};
}

TEST(RooflinePredictions, SaxpyByHand) {
    const RooflinePrediction one = roofline_prediction(saxpy(), device(), RooflineVariant::literal);
    ASSERT_TRUE(one.result.has_value());
    EXPECT_DOUBLE_EQ(one.rates->operation, 2 * 320e9 / 0.25);
    EXPECT_DOUBLE_EQ(one.rates->load_store, 320e9);
    EXPECT_DOUBLE_EQ(one.rates->other, 640e9);
    EXPECT_DOUBLE_EQ(*one.rates->memory, 4 * 320e9 / 8);
    EXPECT_DOUBLE_EQ(one.result->compute_time, 2e6 / 2.56e12 + 3e6 / 320e9 + 11e6 / 640e9);
    EXPECT_DOUBLE_EQ(*one.result->memory_time, 12e6 / 160e9);
    EXPECT_TRUE(one.result->memory_bound);
    EXPECT_DOUBLE_EQ(*one.distance_to_flip, one.result->compute_time / (12e6 / 160e9));
    EXPECT_DOUBLE_EQ(*intensity_of(one.work), 2e6 / 12e6);
}

// With so much less traffic the bound is at its turning point.
TEST(RooflinePredictions, TheDistanceToTheOtherBoundIsTrue) {
    const double flip =
        *roofline_prediction(saxpy(), device(), RooflineVariant::literal).distance_to_flip;
    for (const double sign : {-1.0, 1.0}) {
        KernelParameters less = saxpy();
        *less.dram_read_sectors *= flip * (1 + sign * 1e-6);
        *less.dram_write_sectors *= flip * (1 + sign * 1e-6);
        EXPECT_EQ(
            roofline_prediction(less, device(), RooflineVariant::literal).result->memory_bound,
            sign > 0);
    }
}

TEST(RooflinePredictions, TheKindIsTheFirstThatIsThere) {
    KernelParameters kernel = saxpy();
    EXPECT_EQ(kind_of(kernel), OperationKind::fp32);
    kernel.fp64 = 1;
    EXPECT_EQ(kind_of(kernel), OperationKind::fp64);
    kernel.fp64 = 0;
    kernel.fp32 = 0;
    kernel.fp32_fma = 0;
    EXPECT_EQ(kind_of(kernel), OperationKind::integer);
    EXPECT_EQ(work_of(kernel).operation_instructions, 5e6);
    kernel.fp64.reset();
    EXPECT_THROW(kind_of(kernel), InputError);  // not counted is not zero
}

TEST(RooflinePredictions, AProfileWithoutARateIsNotPredicted) {
    GpuProfile profile = device();
    std::erase_if(profile.instructions,
                  [](const InstructionTiming& one) { return one.name == "fma.f32"; });
    const RooflinePrediction one = roofline_prediction(saxpy(), profile, RooflineVariant::literal);
    EXPECT_FALSE(one.result.has_value());
    ASSERT_EQ(one.missing.size(), 1U);
    EXPECT_EQ(one.missing[0], "T_SP (fma.f32)");
    // What the kernel does not execute it does not need.
    KernelParameters integer = saxpy();
    integer.fp32 = integer.fp32_fma = 0;
    EXPECT_TRUE(roofline_prediction(integer, profile, RooflineVariant::literal).result.has_value());
}

TEST(RooflinePredictions, CountsThatContradictEachOtherAreNamed) {
    KernelParameters kernel = saxpy();
    kernel.warp_instructions = 1e5;  // 3.2e6 lanes for 4e6 operations, loads and stores
    try {
        work_of(kernel);
        ADD_FAILURE();
    } catch (const InputError& error) {
        for (const char* word : {"saxpy", "M_fp32", "M_ldst", "M_inst"})
            EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
    }
    kernel = saxpy();
    kernel.dram_read_sectors.reset();
    try {
        work_of(kernel);
        ADD_FAILURE();
    } catch (const InputError& error) {
        EXPECT_NE(std::string(error.what()).find("M_tran-r"), std::string::npos) << error.what();
    }
}

// A wavefront of 64 lanes counts 64 per instruction.
TEST(RooflinePredictions, TheWarpSizeIsThatOfTheMachineThatCounted) {
    KernelParameters kernel = saxpy();
    kernel.warp_size = 64;
    EXPECT_DOUBLE_EQ(work_of(kernel).all, 30e6);
}

}  // namespace
}  // namespace occupipe::analysis
