// SPDX-License-Identifier: MIT
// Execution costs by hand: Helal et al. 2017, equations 1 to 5, on devices of round numbers and on
// those of its Table I.
#include "automatch/execution_cost.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <random>
#include <stdexcept>
#include <vector>

#include "automatch/device.h"
#include "automatch/workload.h"
#include "core/error.h"
#include "core/files/files.h"

namespace occupipe::automatch {
namespace {

// Figure 5: a c d b c e g e d d, of words: six first references, distances 2 1 4 0.
Workload example() {
    Workload w;
    w.kernel = "example";
    w.operations = {
        .total = 12, .additions = 8, .multiplications = 4, .fused_pairs = 3, .vectorisable = 6};
    w.schedules = {{.name = "as-written",
                    .depth = 3,
                    .widths = {{.levels = 2, .f64 = 1}, {.levels = 1, .f64 = 10}},
                    .parallelism = {{.levels = 1, .f64 = 10}, {.levels = 2, .f64 = 2}},
                    .reach = {{.from = 2, .to = 2, .count = 1}},
                    .first_reach = 1}};
    w.reuse = {{.unit_bytes = 8,
                .references = 10,
                .first = 6,
                .distances = {{0, 0, 1}, {1, 1, 1}, {2, 2, 1}, {4, 4, 1}}}};
    w.synchronisations = 5;
    return w;
}

Device round_device() {
    return {.name = "round",
            .processors = 4,
            .flops = 2,
            .fast_bytes = 32,  // Z = 4 words
            .line_bytes = 16,
            .fast_bandwidth = 100,
            .fast_latency = 3,
            .slow_bandwidth = 10,
            .slow_latency = 50,
            .synchronisation = 7,
            .vector_width = 4,
            .f32_flops = {}};
}

TEST(ExecutionCost, LiteralByHand) {
    const Cost cost = execution_cost(example(), round_device(), CostModel::literal);
    // f_im = 12/16, f_v = 1/2; D/π0 = 3/2; levels: 2 · 1/(1·2·0.375) + 10/(4·2·0.375)
    EXPECT_DOUBLE_EQ(cost.computation, 1.5 + 2 / (2 * 0.375) + 10 / (4 * 2 * 0.375));
    // The formula counts four of ten references as fast (0, 1, 2 and 4 are at most 4).
    EXPECT_DOUBLE_EQ(cost.memory, (3 + 50) * 3 + (4.0 / 100 + 6.0 / 10) * 16);
    EXPECT_DOUBLE_EQ(cost.synchronisation, 35);
    ASSERT_TRUE(cost.seconds);
    EXPECT_DOUBLE_EQ(*cost.seconds, cost.computation + cost.memory + cost.synchronisation);
    EXPECT_EQ(cost.bottleneck(), "memory");
}

TEST(ExecutionCost, CorrectedByHand) {
    const Cost cost = execution_cost(example(), round_device(), CostModel::corrected);
    // Six of twelve vectorised at width 4: (6 + 4·6)/12 = 2.5; nine turns for twelve: 2·9/12 = 1.5.
    EXPECT_DOUBLE_EQ(cost.computation, 1.5 + (2 * 0.5 + 10 / (2.0 * 4)) * 2.5 * 1.5);
    // At distance 4 an LRU memory of 4 words misses: seven references are slow, units are words.
    EXPECT_DOUBLE_EQ(cost.memory, 3 * 2 + 50 * 1 + (3.0 / 100 + 7.0 / 10) * 8);
    ASSERT_TRUE(cost.seconds);
    EXPECT_DOUBLE_EQ(*cost.seconds, cost.memory + 35);
}

TEST(ExecutionCost, BoundByHand) {
    const Cost cost = execution_cost(example(), round_device(), CostModel::bound);
    // All of it at full rate, eight additions being more than half: 12/8 · 16/12 = 2.
    EXPECT_DOUBLE_EQ(cost.computation, 2);
    EXPECT_DOUBLE_EQ(cost.memory, (6 * 8 - 32) / 10.0);
    ASSERT_TRUE(cost.seconds);
    EXPECT_DOUBLE_EQ(*cost.seconds, 2);
    EXPECT_EQ(cost.synchronisation, 0);
}

TEST(ExecutionCost, BoundOfAChainIsThatOfItsOperations) {
    Workload w = example();
    w.operations = {.total = 1800, .additions = 900, .multiplications = 900};
    w.schedules[0].depth = 1001;
    w.schedules[0].widths = {{.levels = 1000, .f64 = 1}, {.levels = 1, .f64 = 800}};
    w.schedules[0].parallelism = {{.levels = 1000, .f64 = 1000}, {.levels = 1, .f64 = 800}};
    const Cost cost = execution_cost(w, round_device(), CostModel::bound);
    EXPECT_DOUBLE_EQ(cost.computation, 1800 / 8.0);  // a scan has the work and not the depth
    // Pairs of doubles and single additions: which are alone is not told.
    w.operations = {.total = 100, .single_precision = 80, .additions = 90, .multiplications = 10};
    Device device = round_device();
    device.f32_flops = 64;
    EXPECT_DOUBLE_EQ(execution_cost(w, device, CostModel::bound).computation,
                     (20 / 2.0 + 80 / 64.0) / 4);
}

TEST(ExecutionCost, WhatTheEquationsDoNotSayIsSaidInWords) {
    Workload w = example();
    w.operations.vectorisable = 0;
    EXPECT_EQ(execution_cost(w, round_device(), CostModel::literal).silent,
              "no operation can be vectorised: equation 3 is infinite");
    EXPECT_TRUE(execution_cost(w, round_device(), CostModel::corrected).seconds);
    w.operations = {.total = 12, .divisions = 12, .vectorisable = 12};
    EXPECT_EQ(execution_cost(w, round_device(), CostModel::literal).silent,
              "there is neither an addition nor a multiplication: equation 1 is 0/0");
    w.synchronisations.reset();
    for (const CostModel model : {CostModel::literal, CostModel::corrected}) {
        const Cost cost = execution_cost(w, round_device(), model);
        EXPECT_FALSE(cost.seconds);
        EXPECT_EQ(cost.silent, "the number of synchronisations is not known; give it with --sync");
    }
    w = example();
    w.operations.single_precision = 12;
    for (LevelWidth& width : w.schedules[0].widths) std::swap(width.f64, width.f32);
    EXPECT_EQ(execution_cost(w, round_device(), CostModel::bound).silent,
              "the profile lacks match.f32_flops_per_second");
    Device device = round_device();
    device.vector_width.reset();
    EXPECT_EQ(execution_cost(example(), device, CostModel::corrected).silent,
              "the profile lacks match.vector_width, and not all operations can be vectorised");
}

TEST(ExecutionCost, WithoutOperationsOnlyMemoryAndSynchronisationsCost) {
    Workload w = example();
    w.operations = {};
    w.schedules = {{.name = "as-written"}};
    for (const CostModelName& model : cost_models()) {
        const Cost cost = execution_cost(w, round_device(), model.model);
        EXPECT_EQ(cost.computation, 0) << model.name;
        ASSERT_TRUE(cost.seconds) << model.name;
        EXPECT_TRUE(std::isfinite(*cost.seconds)) << model.name;
    }
}

// Whatever the workload: no more processors, bandwidth or rate make the bound or an estimate of
// computation larger, and the bound is never above the corrected cost.
TEST(ExecutionCost, FasterDevicesAreNeverSlower) {
    std::mt19937 random(7);
    const auto number = [&](double low, double high) {
        return std::exp(
            std::uniform_real_distribution<double>(std::log(low), std::log(high))(random));
    };
    for (int i = 0; i < 500; ++i) {
        Workload w = example();
        w.operations = {.total = 0};
        w.schedules[0].widths.clear();
        w.schedules[0].parallelism.clear();
        w.schedules[0].depth = 0;
        for (int k = 0; k < 6; ++k) {
            const auto levels = static_cast<std::int64_t>(number(1, 1e4));
            const auto width = static_cast<std::int64_t>(number(1, 1e5));
            w.schedules[0].widths.push_back({.levels = levels, .f64 = width});
            w.schedules[0].parallelism.push_back({.levels = levels, .f64 = levels * width});
            w.schedules[0].depth += levels;
            w.operations.total += levels * width;
        }
        w.operations.additions = w.operations.total / 3;
        w.operations.multiplications = w.operations.total - w.operations.additions;
        w.operations.fused_pairs = w.operations.additions / 2;
        w.operations.vectorisable =
            static_cast<std::int64_t>(static_cast<double>(w.operations.total) * number(0.01, 1));
        Device slow = round_device();
        for (const DeviceNumber& one : device_numbers()) slow.*one.value = number(1, 1e6);
        slow.processors = std::floor(slow.processors);
        slow.line_bytes = 64;
        for (const CostModelName& model : cost_models()) {
            const Cost before = execution_cost(w, slow, model.model);
            ASSERT_TRUE(before.seconds) << model.name;
            for (double Device::*better : {&Device::processors, &Device::flops,
                                           &Device::fast_bandwidth, &Device::slow_bandwidth}) {
                Device fast = slow;
                fast.*better *= 3;
                EXPECT_LE(*execution_cost(w, fast, model.model).seconds,
                          *before.seconds * (1 + 1e-12))
                    << model.name;
            }
        }
        EXPECT_LE(execution_cost(w, slow, CostModel::bound).computation,
                  execution_cost(w, slow, CostModel::corrected).computation * (1 + 1e-12));
    }
}

TEST(Split, SharesAreInverseToCosts) {
    const Split two = split(std::array{3.0, 1.0});  // the paper's example
    EXPECT_DOUBLE_EQ(two.shares[0], 0.25);
    EXPECT_DOUBLE_EQ(two.shares[1], 0.75);
    EXPECT_DOUBLE_EQ(two.seconds, 0.75);
    EXPECT_DOUBLE_EQ(two.gain, 2);
    const Split alike = split(std::array{5.0, 5.0, 5.0});
    EXPECT_DOUBLE_EQ(alike.gain, 1);
    EXPECT_THROW(split(std::array{1.0, 0.0}), std::invalid_argument);
    EXPECT_THROW(split(std::vector<double>{}), std::invalid_argument);
}

GpuProfile shipped(const char* name) {
    return read_profile(std::filesystem::path(OCCUPIPE_SOURCE_DIR) / "automatch/devices" / name);
}

TEST(Device, TableOne) {
    const Device arc1 = device_of(shipped("intel-i5-2400.yaml"));
    EXPECT_EQ(arc1.processors, 4);
    EXPECT_EQ(arc1.flops, 20e9);
    EXPECT_EQ(arc1.fast_bytes, 6 * 1048576);
    EXPECT_EQ(arc1.slow_bandwidth, 18.88e9);
    EXPECT_DOUBLE_EQ(arc1.synchronisation, 0.2e-6);
    const Device arc5 = device_of(shipped("nvidia-tesla-k20x.yaml"));
    EXPECT_DOUBLE_EQ(arc5.processors * arc5.flops, 1128.96e9);
    EXPECT_EQ(arc5.line_bytes, 128);
    EXPECT_DOUBLE_EQ(arc5.slow_latency, 0.68e-6);
    EXPECT_EQ(device_of(shipped("intel-i7-4700.yaml")).fast_bandwidth, 349e9);
    EXPECT_EQ(device_of(shipped("nvidia-tesla-c2075.yaml")).processors, 448);
    EXPECT_EQ(device_of(shipped("nvidia-tesla-k20c.yaml")).processors, 2496);
}

TEST(Device, WhatAProfileLacksIsNamed) {
    GpuProfile profile = shipped("intel-i5-2400.yaml");
    profile.match.fast_bytes.reset();
    profile.match.slow_latency_seconds->kind = Estimate::Kind::upper_bound;
    try {
        device_of(profile);
        FAIL();
    } catch (const InputError& error) {
        EXPECT_STREQ(error.what(),
                     "the profile of Intel Core i5-2400 lacks what AutoMatch asks of a device: "
                     "match.fast_bytes (Z), match.slow_latency_seconds (α_s, of which only a bound "
                     "is known); docs/background/automatch.md says where these numbers come from");
    }
}

// A serial sum of 10⁶ words: contract of the literal cost, which charges both latencies to each of
// its levels.
TEST(ExecutionCost, ALongChainPaysLatencyOnItsEveryLevel) {
    Workload dot;
    dot.kernel = "dot";
    constexpr std::int64_t n = 1'000'000;
    dot.operations = {.total = 2 * n,
                      .additions = n,
                      .multiplications = n,
                      .fused_pairs = n,
                      .vectorisable = 2 * n};
    dot.schedules = {{.name = "as-written",
                      .depth = n + 1,
                      .widths = {{.levels = n, .f64 = 1}, {.levels = 1, .f64 = n}}}};
    dot.reuse = {{.unit_bytes = 8, .references = 2 * n, .first = 2 * n},
                 {.unit_bytes = 64, .references = n / 4, .first = n / 4}};
    dot.synchronisations = 0;
    const Device arc1 = device_of(shipped("intel-i5-2400.yaml"));
    const Cost cost = execution_cost(dot, arc1, CostModel::literal);
    const double latency = (n + 1) * 69e-9;  // 69 ms
    EXPECT_NEAR(cost.memory, latency + 2.0 * n * 64 / 18.88e9, 1e-12);
    EXPECT_LT(*execution_cost(dot, arc1, CostModel::bound).seconds, 1e-3);
}

TEST(Sensitivity, ExponentsOfASumAddUpAsTheirShares) {
    GpuProfile profile = shipped("nvidia-tesla-k20x.yaml");
    const auto all = sensitivity(example(), profile, CostModel::literal);
    ASSERT_EQ(all.size(), device_numbers().size());
    const Cost cost = execution_cost(example(), device_of(profile), CostModel::literal);
    for (const Sensitivity& one : all) {
        if (one.symbol == "s0") {
            EXPECT_NEAR(one.exponent, cost.synchronisation / *cost.seconds, 1e-4);
        }
        if (one.symbol == "π0") {
            EXPECT_NEAR(one.exponent, -cost.computation / *cost.seconds, 1e-4);
        }
    }
    EXPECT_FALSE(standard_error(all));  // the table has no errors
    for (auto estimate :
         {&MatchDevice::flops_per_second, &MatchDevice::fast_bytes_per_second,
          &MatchDevice::fast_latency_seconds, &MatchDevice::slow_bytes_per_second,
          &MatchDevice::slow_latency_seconds, &MatchDevice::synchronisation_seconds})
        (profile.match.*estimate)->std_error = 0;
    profile.match.synchronisation_seconds->std_error =
        0.1 * profile.match.synchronisation_seconds->value;
    const auto error = standard_error(sensitivity(example(), profile, CostModel::literal));
    ASSERT_TRUE(error);
    EXPECT_NEAR(*error, 0.1 * cost.synchronisation, 1e-4 * *cost.seconds);
}

TEST(CostModels, AreKnownByName) {
    for (const CostModelName& one : cost_models()) EXPECT_EQ(cost_model(one.name), one.model);
    EXPECT_THROW(cost_model("automatic"), InputError);
}

}  // namespace
}  // namespace occupipe::automatch
