// SPDX-License-Identifier: MIT
#include "fit/laws/loop_bodies.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>

#include "core/instruction.h"
#include "fit/laws/fit_timing.h"
#include "fit/profile/build_profile.h"
#include "tests/fit/synthetic.h"

namespace occupipe {
namespace {

using test::Noise;
using test::Truth;

TimingFit fit(const Curve& curve) { return fit_timing(curve, kind_of(curve.subject)); }

bool near_enough(const Estimate& e, double truth) {
    return std::abs(e.value - truth) <= std::max(3 * e.std_error.value(), 0.02 * truth);
}

// A loop around the steps: so many cycles per iteration on a warp's chain, and of the unit; and how
// much longer everything takes in the kernel with the long or the short body.
struct Loop {
    double latency;
    double cpi;
    double long_body = 1;
    double short_body = 1;
};

Curve looped_curve(const Truth& truth, const Loop& loop, const Noise& noise, std::uint64_t seed,
                   bool counted = false) {
    MeasurementFile file;
    std::mt19937_64 random(seed);
    for (const int w : {1, 2, 3, 4, 6, 8, 12, 16, 20, 24, 28, 32, 40, 48, 56, 64})
        for (const auto& [depth, body] : {std::pair{512, 256}, {1024, 64}, {2048, 256}}) {
            const auto law = [&](const MeasurementShape& s) {
                const double n = static_cast<double>(s.depth);
                const double slower = body == 256 ? loop.long_body : loop.short_body;
                return 300 + slower * std::max(n * truth.latency + n / body * loop.latency,
                                               s.warps() * (n * truth.cpi + n / body * loop.cpi));
            };
            const std::size_t before = file.rows.size();
            test::add_rows(file, truth.name, {{1, w, 1, depth}}, law, noise, random);
            for (std::size_t i = before; i < file.rows.size(); ++i) {
                file.rows[i].counters["unroll"] = body;
                if (!counted) continue;
                file.rows[i].counters["loop_instructions"] = body + 3;
                file.rows[i].counters["other_instructions"] = 3;
                file.rows[i].counters["other_stall_cycles"] = 12;
            }
        }
    return curves_of(std::span(&file, 1))[0];
}

TEST(LoopBodies, TwoLoopBodiesTellTheLoopFromTheSteps) {
    const Truth truth{"fma.f32", 0.25, 4};
    const Loop loop{5, 0.75};
    int inside = 0;
    constexpr int seeds = 40;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        const TimingFit f = fit(looped_curve(truth, loop, {0.005, 3, 0.01, 3}, seed));
        ASSERT_TRUE(f.ok) << f.reason;
        ASSERT_TRUE(f.loop_latency && f.loop_cpi);
        inside += std::abs(f.cpi.value - truth.cpi) <= 1.96 * *f.cpi.std_error;
        inside += std::abs(f.latency.value - truth.latency) <= 1.96 * *f.latency.std_error;
        inside +=
            std::abs(f.loop_latency->value - loop.latency) <= 1.96 * *f.loop_latency->std_error;
        inside += std::abs(f.loop_cpi->value - loop.cpi) <= 1.96 * *f.loop_cpi->std_error;
        EXPECT_NEAR(f.cpi.value, truth.cpi, 0.005 * truth.cpi) << seed;
        EXPECT_NEAR(f.latency.value, truth.latency, 0.05) << seed;
    }
    EXPECT_GE(inside, 0.9 * 4 * seeds);
}

TEST(LoopBodies, WithoutTheLoopEveryPlaceLiesOnOneLineOverDepth) {
    const Curve curve = looped_curve({"fma.f32", 0.25, 4}, {5, 0.75}, {0, 3}, 1);
    const TimingFit f = fit(curve);
    ASSERT_TRUE(f.ok) << f.reason;
    const Curve steps = steps_alone(curve, f);
    for (const CurvePoint& p : steps.points) {
        const double n = static_cast<double>(p.shape.depth);
        EXPECT_NEAR(p.cycles, 300 + std::max(4 * n, 0.25 * n * p.shape.warps()), 0.002 * p.cycles)
            << p.shape.warps() << " warps, depth " << n;
    }
}

TEST(LoopBodies, ALoopThatCostsNothingIsFoundToCostNothing) {
    const Truth truth{"ld.shared.u32", 1, 29};
    const TimingFit f = fit(looped_curve(truth, {0, 0}, {0.003, 3}, 7));
    ASSERT_TRUE(f.ok) << f.reason;
    EXPECT_LE(std::abs(f.loop_cpi->value), 3 * *f.loop_cpi->std_error);
    EXPECT_LE(std::abs(f.loop_latency->value), 3 * *f.loop_latency->std_error);
    EXPECT_TRUE(near_enough(f.cpi, truth.cpi));
    EXPECT_TRUE(near_enough(f.latency, truth.latency));
}

void expect_covered_and_marked(const Estimate& e, double truth, const std::string& where) {
    ASSERT_TRUE(e.identifiable()) << where;
    EXPECT_LE(std::abs(e.value - truth), 2 * *e.std_error) << where;
    EXPECT_LE(*e.std_error, 0.2 * truth) << where;
    EXPECT_TRUE(is_doubtful(e)) << where << ": " << e.note;
}

// The loop's own cost took it: λ and Λ came out 6.7 to 33 % high (a slow long body) or 3.3 to 8.3 %
// low, with errors of 0.1 % and no note.
TEST(LoopBodies, ABodyThatIsSlowerForAnotherReasonIsSaidAndCovered) {
    for (const Truth& truth : {Truth{"fma.f32", 0.25, 4}, Truth{"ld.shared.u32", 1, 29}})
        for (const Loop& loop : {Loop{8, 0.5, 1.05, 1}, Loop{8, 0.5, 1.1, 1}, Loop{8, 0.5, 1.25, 1},
                                 Loop{0, 0, 1.05, 1}, Loop{8, 0.5, 1, 1.05}, Loop{8, 0.5, 1, 1.1},
                                 Loop{8, 0.5, 1, 1.25}, Loop{0, 0, 1, 1.05}})
            for (std::uint64_t seed = 1; seed <= 3; ++seed) {
                const TimingFit f = fit(looped_curve(truth, loop, {0.003, 3}, seed, true));
                ASSERT_TRUE(f.ok) << f.reason;
                const std::string where =
                    fmt::format("{} {} {} {}", truth.name, loop.long_body, loop.short_body, seed);
                expect_covered_and_marked(f.cpi, truth.cpi, "λ " + where);
                expect_covered_and_marked(f.latency, truth.latency, "Λ " + where);
                EXPECT_FALSE(f.loop_cpi || f.loop_latency) << where;
                EXPECT_GT(f.bodies_apart, 0) << where;
                EXPECT_GE(*f.reached_cpi, truth.cpi) << where;
            }
}

TEST(LoopBodies, APlausibleLoopIsNoDifferenceOfTheKernels) {
    const Truth truth{"fma.f32", 0.25, 4};
    for (const bool counted : {true, false})
        for (const Loop& loop : {Loop{0, 0}, Loop{12, 0.75}, Loop{20, 0.25}})
            for (std::uint64_t seed = 1; seed <= 10; ++seed) {
                const TimingFit f = fit(looped_curve(truth, loop, {0.003, 3}, seed, counted));
                ASSERT_TRUE(f.ok) << f.reason;
                EXPECT_EQ(f.bodies_apart, 0) << loop.latency << " " << seed;
                EXPECT_FALSE(is_doubtful(f.cpi)) << f.cpi.note;
                EXPECT_LE(*f.cpi.std_error, 0.005 * truth.cpi);
                EXPECT_LE(*f.latency.std_error, 0.005 * truth.latency);
            }
}

// Without a plateau λ is a bound by Λ, whichever body is right.
TEST(LoopBodies, BoundsHoldForEitherBody) {
    const Truth truth{"ld.global.u32", 0.5, 400};
    for (const Loop& loop : {Loop{0, 0, 1.1, 1}, Loop{0, 0, 1, 1.25}}) {
        const TimingFit f = fit(looped_curve(truth, loop, {0.003, 3}, 1));
        ASSERT_TRUE(f.ok) << f.reason;
        EXPECT_EQ(f.cpi.kind, Estimate::Kind::upper_bound);
        EXPECT_GE(f.cpi.value, truth.latency / 64) << loop.long_body;
        expect_covered_and_marked(f.latency, truth.latency, "Λ");
    }
}

TEST(LoopBodies, TwoWaysReachFromEitherBodyWithTheDearestLoopToNone) {
    const Estimate cost{.value = -8, .std_error = 1};
    const TwoWays ways = two_ways(10, cost, 16, 64, 16);
    EXPECT_FALSE(ways.possible);
    EXPECT_DOUBLE_EQ(ways.high, 10 - 8.0 / 64);
    EXPECT_DOUBLE_EQ(ways.low, 10 - 8.0 / 16 - 16.0 / 16);
    EXPECT_DOUBLE_EQ(ways.apart, 9.875 / 9.5 - 1);
    EXPECT_TRUE(two_ways(10, {.value = -2, .std_error = 1}, 16, 64, 16).possible);
    EXPECT_TRUE(two_ways(10, {.value = 18, .std_error = 1}, 16, 64, 16).possible);
    EXPECT_FALSE(two_ways(10, {.value = 20, .std_error = 1}, 16, 64, 16).possible);
}

}  // namespace
}  // namespace occupipe
