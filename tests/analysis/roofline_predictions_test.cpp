// SPDX-License-Identifier: MIT
#include "analysis/roofline/roofline_predictions.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "analysis/roofline/device_rates.h"
#include "analysis/roofline/executed_traffic.h"
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
    EXPECT_EQ(one.missing[0], "T_SP (fma.f32 or mul.f32)");
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

// A data sheet's rate: λ is lanes · bytes · clock over it.
TEST(DeviceRates, AGivenRateIsTheRate) {
    GpuProfile poor = device();
    std::erase_if(poor.instructions,
                  [](const InstructionTiming& one) { return one.name == "ld.global.f32"; });
    EXPECT_FALSE(memory_rate(poor).has_value());
    const GpuProfile given = with_rate(poor, "B_mem", 192);
    EXPECT_NEAR(*memory_rate(given), 192e9, 1);
    EXPECT_DOUBLE_EQ(given.find_instruction("ld.global.f32")->cpi.value, 320.0 * 4 / 192);
    EXPECT_NO_THROW(validate(given));
    EXPECT_THROW(with_rate(given, "B_mem", 1), InputError);
    EXPECT_THROW(with_rate(poor, "B_men", 1), InputError);
    EXPECT_THROW(with_rate(poor, "B_mem", 0), InputError);
    EXPECT_THROW(with_rate(poor, "alpha_s", 1), InputError);
}

// The RTX 2070: 36 cores of 32 lanes at 1.41 GHz. A published integer multiplication is faster than
// the issue limit allows, and no rate.
TEST(DeviceRates, PublishedTablesGiveWhatTheyCan) {
    const GpuProfile turing =
        read_profile(std::filesystem::path(OCCUPIPE_SOURCE_DIR) / "profiles/nvidia-rtx-2070.yaml");
    EXPECT_NEAR(*operation_rate(turing, OperationKind::fp32), 2 * 36 * 32 * 1.41e9 / 0.5, 1);
    EXPECT_NEAR(*memory_rate(turing), 361e9, 0.5e9);  // as the paper's Table 6 prints it
    EXPECT_FALSE(operation_rate(turing, OperationKind::integer).has_value());
}

// 320 lanes at 1 GHz, two operations: λ 0.25 is 2560 GFLOP/s, 0.28 at full occupancy 2285.7.
TEST(DeviceRates, BothAreShownAndADisagreementIsSaid) {
    GpuProfile profile = device();
    EXPECT_TRUE(rate_warnings(profile).empty());
    const auto& rate = rates().front();
    ASSERT_EQ(rate.symbol, "T_SP");
    EXPECT_FALSE(full_value_of(rate, profile).has_value());
    ParameterTable table{.over = "full_occupancy", .note = "", .rows = {}};
    table.rows.push_back({.at = 64, .cpi = Estimate{.value = 0.26}, .latency = {}});
    profile.find_instruction("fma.f32")->tables = {table};
    EXPECT_NEAR(full_value_of(rate, profile)->value, 640 / 0.26, 1e-9);
    EXPECT_TRUE(rate_warnings(profile).empty());  // 3.8 %
    // Where the curve only bounds λ, predictions take the rate at full occupancy.
    GpuProfile bounded = profile;
    bounded.find_instruction("fma.f32")->cpi.kind = Estimate::Kind::upper_bound;
    EXPECT_NEAR(*operation_rate(profile, OperationKind::fp32), 2560e9, 1);
    EXPECT_NEAR(*operation_rate(bounded, OperationKind::fp32), 640e9 / 0.26, 1);
    profile.find_instruction("fma.f32")->tables[0].rows[0].cpi->value = 0.28;
    ASSERT_EQ(rate_warnings(profile).size(), 1U);
    EXPECT_NE(rate_warnings(profile)[0].find("-10.7 %"), std::string::npos);
}

TEST(DeviceRates, AScalarRateIsNotCalledThePeak) {
    GpuProfile profile = device();
    profile.warp_size = 1;
    ASSERT_EQ(rate_warnings(profile).size(), 1U);
    EXPECT_NE(rate_warnings(profile)[0].find("not the peak"), std::string::npos);
}

// 100 groups of 8 warps; each warp reads 4 sectors in each of 10 rounds, of which the second level
// finds three quarters, and writes 4 once.
TEST(ExecutedTraffic, CachesLetThroughWhatTheyDoNotHold) {
    const std::string instructions =
        "  - repeat: 10\n    body:\n"
        "      - {id: a, op: ld.global.f32, memory: {bytes: 128, sectors: 4, least_sectors: 4, "
        "core: [], device: [[2048, 0.75]]}}\n"
        "  - {id: b, op: st.global.f32, memory: {bytes: 128, sectors: 4, least_sectors: 4, "
        "written: []}}\n";
    Kernel told = parse_kernel(
        "format: occupipe-kernel/1\nname: k\n"
        "memory: {cores: 10, concurrent_groups: 2, group_shared_bytes: 0}\ninstructions:\n" +
            instructions,
        "k.yaml");
    told.launch = Launch{.group_warps = 8, .concurrent_groups = 2, .groups = 100};
    KernelParameters kernel = saxpy();
    const CacheSizes large{{"l2", {4096, "asked"}}};
    set_traffic(kernel, told, device(), large);
    EXPECT_DOUBLE_EQ(*kernel.dram_read_sectors, 100 * 8 * 10 * 4 * 0.25);
    // 4096 of the 358,400 bytes that are read and written are still cached at the end.
    EXPECT_NEAR(*kernel.dram_write_sectors, 100 * 8 * 4 * (1 - 4096.0 / 358400), 1e-6);
    EXPECT_NE(kernel.origin.find("4 KiB (asked)"), std::string::npos) << kernel.origin;
    CacheSizes little = large;
    little["l2"].bytes = 1024;
    set_traffic(kernel, told, device(), little);
    EXPECT_DOUBLE_EQ(*kernel.dram_read_sectors, 100 * 8 * 10 * 4);
    EXPECT_THROW(set_traffic(kernel, told, device(), {}), InputError);
}

}  // namespace
}  // namespace occupipe::analysis
