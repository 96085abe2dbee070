// SPDX-License-Identifier: MIT
// The quantitative roofline against its own formulas, written out as the paper has them, and
// against cases that can be worked out by hand.
#include "sim/models/quantitative_roofline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "core/error.h"
#include "core/files/files.h"
#include "sim/models/registry.h"
#include "tests/sim/build.h"

namespace occupipe::test {
namespace {

// Formulas 2 to 19 one by one, with the paper's percentages and weights relative to T_SP.
double paper_time(OperationKind kind, double m_ops, double m_fma, double m_ldst, double i_total,
                  double w_traf, double t_sp, double t_op, double t_add, double t_ldst,
                  double b_mem) {
    const bool integer = kind == OperationKind::integer;
    const double w_comp = integer ? m_ops : m_ops + m_fma;                    // (2)
    const double e_mix = integer ? 50 : (m_ops + m_fma) / (2 * m_ops) * 100;  // (4)
    const double d_ops = m_ops / i_total * 100;                               // (5)
    const double d_ldst = m_ldst / i_total * 100;                             // (6)
    const double d_other = 100 - d_ops - d_ldst;                              // (7)
    const double c_op = d_ops * (t_sp / t_op);                                // (11), (14)
    const double c_ldst = d_ldst * (t_sp / 2 / t_ldst);                       // (12), (15)
    const double c_other = d_other * (t_sp / 2 / t_add);                      // (13), (16)
    const double e_instr = c_op / (c_op + c_ldst + c_other) * 100;            // (17)
    const double adjusted = e_mix / 100 * (e_instr / 100) * t_op;             // (18)
    const double o_krn = w_comp / w_traf;
    const double o_dev = adjusted / b_mem;
    return w_comp / (o_krn > o_dev ? adjusted : o_krn * b_mem);  // (19)
}

TEST(QuantitativeRoofline, IsThePapersFormulas) {
    std::mt19937_64 random(17);
    const auto draw = [&](double low, double high) {
        return std::exp(
            std::uniform_real_distribution<double>(std::log(low), std::log(high))(random));
    };
    int memory_bound = 0;
    for (int i = 0; i < 2000; ++i) {
        const auto kind = static_cast<OperationKind>(i % 3);
        const double ops = draw(1, 1e9), ldst = draw(1, 1e9);
        const double fma = ops * draw(1e-3, 1);
        const double all = (ops + ldst) * (1 + draw(1e-3, 10));
        const double traffic = draw(1, 1e10);
        const double sp = draw(1e11, 1e14),
                     op = kind == OperationKind::fp32 ? sp : draw(1e10, 1e14);
        const double add = draw(1e10, 1e14), shared = draw(1e10, 1e13), memory = draw(1e10, 1e13);
        const RooflineResult result = evaluate(
            {.kind = kind,
             .operation_instructions = ops,
             .multiply_adds = fma,
             .load_store = ldst,
             .all = all,
             .traffic = traffic},
            {.operation = op, .load_store = shared, .other = add, .memory = memory, .issue = {}});
        const double expected =
            paper_time(kind, ops, fma, ldst, all, traffic, sp, op, add, shared, memory);
        EXPECT_NEAR(result.time / expected, 1, 1e-12);
        memory_bound += result.memory_bound ? 1 : 0;
    }
    EXPECT_GT(memory_bound, 200);
    EXPECT_LT(memory_bound, 1800);
}

// Nothing but multiply-adds runs at the peak.
TEST(QuantitativeRoofline, MultiplyAddsAloneReachThePeak) {
    const RooflineResult result = evaluate(
        {.kind = OperationKind::fp32,
         .operation_instructions = 32e6,
         .multiply_adds = 32e6,
         .load_store = 0,
         .all = 32e6,
         .traffic = 0},
        {.operation = 6.4e12, .load_store = 1e12, .other = 1e12, .memory = 1e11, .issue = {}});
    EXPECT_EQ(result.mix_efficiency, 1);
    EXPECT_EQ(result.instruction_efficiency, 1);
    EXPECT_EQ(result.adjusted_rate, 6.4e12);
    EXPECT_DOUBLE_EQ(result.time, 1e-5);
    EXPECT_FALSE(result.memory_bound);
}

// Additions use half of a multiply-add's two operations.
TEST(QuantitativeRoofline, AdditionsAloneReachHalfThePeak) {
    const RooflineResult result = evaluate(
        {.kind = OperationKind::fp64, .operation_instructions = 8e6, .all = 8e6, .traffic = {}},
        {.operation = 1e12, .load_store = 1, .other = 1, .memory = {}, .issue = {}});
    EXPECT_EQ(result.mix_efficiency, 0.5);
    EXPECT_EQ(result.adjusted_rate, 0.5e12);
    EXPECT_DOUBLE_EQ(result.time, 1.6e-5);
}

// 2 operations for 1 load, 1 store and 2 integer additions per element: by hand.
TEST(QuantitativeRoofline, SaxpyByHand) {
    constexpr double n = 1 << 20;
    const RooflineWork saxpy{.kind = OperationKind::fp32,
                             .operation_instructions = n,
                             .multiply_adds = n,
                             .load_store = 3 * n,
                             .all = 8 * n,
                             .traffic = 12 * n};
    const RooflineRates rates{
        .operation = 4e12, .load_store = 1e12, .other = 2e12, .memory = 2e11, .issue = 1e12};
    const RooflineResult literal = evaluate(saxpy, rates);
    EXPECT_DOUBLE_EQ(literal.compute_time, n * (2 / 4e12 + 3 / 1e12 + 4 / 2e12));  // 5.5e-12 n
    EXPECT_DOUBLE_EQ(*literal.memory_time, 6e-11 * n);
    EXPECT_TRUE(literal.memory_bound);
    EXPECT_DOUBLE_EQ(literal.time, 6e-11 * n);
    EXPECT_DOUBLE_EQ(*literal.instruction_efficiency, 0.5 / 5.5);
    const RooflineResult overlapped = evaluate(saxpy, rates, RooflineVariant::overlapped);
    EXPECT_DOUBLE_EQ(overlapped.compute_time, 8e-12 * n);  // the issue limit
}

TEST(QuantitativeRoofline, ACopyIsBoundByMemoryExactly) {
    const RooflineResult copy =
        evaluate({.kind = OperationKind::integer, .load_store = 2e6, .all = 6e6, .traffic = 8e6},
                 {.operation = 1, .load_store = 1e12, .other = 1e12, .memory = 1e11, .issue = {}});
    EXPECT_TRUE(copy.memory_bound);
    EXPECT_DOUBLE_EQ(copy.time, 8e-5);
    EXPECT_FALSE(copy.mix_efficiency.has_value());
    EXPECT_FALSE(copy.adjusted_rate.has_value());
}

// O_krn = O_dev counts as memory-bound (19); the times agree there.
TEST(QuantitativeRoofline, BothBoundsMeetAtTheBoundary) {
    const RooflineWork work{.kind = OperationKind::fp32,
                            .operation_instructions = 1 << 20,
                            .multiply_adds = 1 << 20,
                            .all = 1 << 20,
                            .traffic = 1 << 21};
    const double rate = 1 << 30;
    const RooflineResult at = evaluate(
        work, {.operation = rate, .load_store = 1, .other = 1, .memory = rate, .issue = {}});
    EXPECT_EQ(at.compute_time, *at.memory_time);
    EXPECT_TRUE(at.memory_bound);
    const RooflineResult over = evaluate(
        work, {.operation = rate, .load_store = 1, .other = 1, .memory = rate * 1.01, .issue = {}});
    EXPECT_FALSE(over.memory_bound);
    EXPECT_EQ(over.time, at.time);
}

TEST(QuantitativeRoofline, TimeScalesWithTheCounts) {
    const RooflineRates rates{
        .operation = 3e12, .load_store = 7e11, .other = 2e12, .memory = 2e11, .issue = 9e11};
    for (const auto variant : {RooflineVariant::literal, RooflineVariant::overlapped})
        for (const double traffic : {1e3, 1e9}) {
            const RooflineWork one{.kind = OperationKind::fp64,
                                   .operation_instructions = 3e5,
                                   .multiply_adds = 1e5,
                                   .load_store = 2e5,
                                   .all = 9e5,
                                   .traffic = traffic};
            RooflineWork many = one;
            for (double* const count : {&many.operation_instructions, &many.multiply_adds,
                                        &many.load_store, &many.all, &*many.traffic})
                *count *= 64;
            EXPECT_DOUBLE_EQ(evaluate(many, rates, variant).time,
                             64 * evaluate(one, rates, variant).time);
        }
}

TEST(QuantitativeRoofline, PartsThatAreMoreThanTheWholeAreRefused) {
    EXPECT_THROW(evaluate({.kind = OperationKind::fp32,
                           .operation_instructions = 10,
                           .load_store = 10,
                           .all = 19,
                           .traffic = {}},
                          {.operation = 1, .load_store = 1, .other = 1, .memory = {}, .issue = {}}),
                 InputError);
}

// fma.f32 λ 0.5, ld.shared 2, add.s32 1 per core; a warp: 4 fma, 2 loads, 3 additions, a barrier.
TEST(QuantitativeRoofline, OnAGraphCountsItsInstructions) {
    GpuProfile profile = parse_profile(
        "format: occupipe-profile/1\n"
        "device: {name: D}\ncores: 2\nwarp_size: 32\nclock_hz: 1e9\n"
        "issue: {limit: 2}\n"
        "subsystems: {alu: {scope: core}, mem: {scope: core}}\n"
        "instructions:\n"
        "  fma.f32: {subsystem: alu, cpi: 0.5, latency: 4}\n"
        "  add.s32: {subsystem: alu, cpi: 1, latency: 4}\n"
        "  bar.sync: {subsystem: alu, cpi: 3, latency: 10}\n"
        "  ld.shared.u32: {subsystem: mem, cpi: 2, latency: 20}\n",
        "p.yaml");
    const Kernel kernel = parse_kernel(
        "format: occupipe-kernel/1\nname: k\ninstructions:\n"
        "  - repeat: 2\n    body:\n"
        "      - {id: f, op: fma.f32}\n      - {id: g, op: fma.f32}\n"
        "      - {id: l, op: ld.shared.u32}\n"
        "  - {id: a, op: add.s32}\n  - {id: b, op: add.s32}\n  - {id: c, op: add.s32}\n"
        "  - {id: s, op: bar.sync}\n",
        "k.yaml");
    const Launch launch{.group_warps = 4, .concurrent_groups = 2, .groups = 8};
    const Prediction literal =
        find_model("quantitative-roofline").predict(profile, kernel, launch, {});
    // 4 · 0.5 + 2 · 2 + (3 additions and a barrier) · 1
    EXPECT_DOUBLE_EQ(1 / literal.warps_per_cycle, 10);
    EXPECT_DOUBLE_EQ(literal.cycles, 4 * 4 * 10);
    const Prediction units =
        find_model("quantitative-roofline-units").predict(profile, kernel, launch, {});
    EXPECT_DOUBLE_EQ(1 / units.warps_per_cycle, 5);  // 10 instructions at two per cycle
    // 500 bytes of a warp at 128 bytes in 8 cycles.
    profile.instructions.push_back({.name = "ld.global.f32",
                                    .subsystem = "mem",
                                    .cpi = {.value = 8},
                                    .latency = Estimate{.value = 400}});
    const Prediction streaming =
        find_model("quantitative-roofline")
            .predict(profile, kernel, launch, {.memory = {.dram_bytes_per_warp = 500}});
    EXPECT_DOUBLE_EQ(1 / streaming.warps_per_cycle, 500 / 16.0);
    EXPECT_EQ(streaming.limited_by, "mem");
    profile.instructions.pop_back();
    profile.instructions.erase(profile.instructions.begin() + 1);  // add.s32
    profile.instructions.push_back({.name = "mul.s32", .subsystem = "alu", .cpi = {.value = 7}});
    EXPECT_THROW(find_model("quantitative-roofline").predict(profile, kernel, launch, {}),
                 InputError);  // the graph's own instruction is missing
}

// Without the paper's reference the kernel's own instructions tell, and the prediction says so.
TEST(QuantitativeRoofline, SaysWhatStandsForAMissingRate) {
    const GpuProfile profile = parse_profile(
        "format: occupipe-profile/1\n"
        "device: {name: D}\ncores: 1\nwarp_size: 32\nclock_hz: 1e9\n"
        "subsystems: {alu: {scope: core}}\n"
        "instructions:\n"
        "  mul.f32: {subsystem: alu, cpi: 3, latency: 4}\n",
        "p.yaml");
    const Kernel kernel = parse_kernel(
        "format: occupipe-kernel/1\nname: k\ninstructions:\n  - {id: f, op: mul.f32}\n", "k.yaml");
    const Prediction one = find_model("quantitative-roofline").predict(profile, kernel, {}, {});
    EXPECT_DOUBLE_EQ(1 / one.warps_per_cycle, 3);
    EXPECT_TRUE(std::ranges::any_of(one.assumptions, [](const std::string& line) {
        return line.find("no fma.f32") != std::string::npos;
    }));
}

}  // namespace
}  // namespace occupipe::test
