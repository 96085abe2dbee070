// SPDX-License-Identifier: MIT
#include "fit/laws/hull_law.h"

#include <ceres/jet.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "tests/accuracy/event_core.h"
#include "tests/fit/synthetic.h"
#include "tests/fit/tiny_core.h"

namespace occupipe {
namespace {

HullShape hull_shape(const MeasurementShape& s) {
    return {static_cast<double>(s.group_warps), static_cast<double>(s.concurrent_groups),
            static_cast<double>(s.chains), static_cast<double>(s.depth)};
}

// λ per core; copies = 1: one subsystem, else one per scheduler.
HullParameters<double> plain(double cpi, double latency, int copies = 1) {
    HullParameters<double> p;
    p.cpi = cpi;
    p.latency = latency;
    p.port = copies > 1 ? 1 : 0;
    return p;
}

TEST(HullLaw, OneLineEqualsBothCasesOfTheModel) {
    for (const test::Truth& truth : test::gtx_1060())
        for (const MeasurementShape& s : test::gpu_shapes())
            EXPECT_NEAR(hull_cycles(plain(truth.cpi, truth.latency), hull_shape(s), 1),
                        test::hull_time(truth, s), 1e-9 * test::hull_time(truth, s));
}

TEST(HullLaw, EqualsRoundRobinSimulationForWarpsAndChains) {
    for (const auto& [cpi, latency] : {std::pair{1, 7}, {3, 20}, {2, 2}, {5, 3}})
        for (int groups = 1; groups <= 12; ++groups)
            for (const int chains : {1, 2, 3}) {
                const MeasurementShape s{1, groups, chains, 6};
                const test::TinyCore core{cpi, latency};
                EXPECT_DOUBLE_EQ(hull_cycles(plain(cpi, latency), hull_shape(s), 1),
                                 static_cast<double>(core.run(s)))
                    << cpi << "/" << latency << " groups " << groups << " chains " << chains;
            }
}

TEST(HullLaw, EqualsSimulationOfSeveralSchedulers) {
    for (const int k : {2, 4})
        for (int warps = 1; warps <= 13; ++warps) {
            const MeasurementShape s{1, warps, 1, 6};
            const test::TinyCore core{.cpi = 4, .latency = 9, .schedulers = k};
            EXPECT_DOUBLE_EQ(hull_cycles(plain(4.0 / k, 9, k), hull_shape(s), k),
                             static_cast<double>(core.run(s)))
                << k << " schedulers, " << warps << " warps";
        }
}

// The event simulation in continuous time knows no law: one unit that schedulers use in turn.
TEST(HullLaw, EqualsSimulationOfOneUnitThatSchedulersShareInTurn) {
    std::mt19937_64 random(1);
    for (const int k : {2, 3, 4})
        for (const double port : {0.0, 0.8})
            for (int warps = 1; warps <= 30; ++warps) {
                // Where a port is nearly full while the unit is not, who waits for whom repeats
                // in patterns that no flow has.
                if (port > 0 && warps / k * k < 4) continue;
                const test::EventCore core{
                    .service = 1, .latency = 4, .schedulers = k, .port = port * k};
                std::vector<int> where;
                for (int w = 0; w < warps; ++w) where.push_back(w % k);
                const auto cycles = [&](int depth) {
                    const test::EventRun run =
                        run_events(core, 1, depth, where, std::vector(where.size(), 0.0), random);
                    return *std::ranges::max_element(run.stops);
                };
                HullParameters<double> p = plain(1, 4);
                p.port = port;
                const auto law = [&](int depth) {
                    return hull_cycles(p, hull_shape({1, warps, 1, depth}), k);
                };
                EXPECT_NEAR((law(2400) - law(600)) / 1800, (cycles(2400) - cycles(600)) / 1800,
                            0.01)
                    << k << " schedulers, ports " << port << ", " << warps << " warps";
            }
}

TEST(BarrierLaw, EqualsSimulationForEveryGroupShape) {
    for (const auto& [cpi, latency] : {std::pair{1, 7}, {3, 20}, {2, 40}, {5, 3}})
        for (const int g : {1, 2, 4, 8})
            for (int groups = 1; groups <= 8; ++groups) {
                const MeasurementShape s{g, groups, 1, 6};
                const test::TinyCore core{.cpi = cpi, .latency = latency, .barrier = true};
                EXPECT_DOUBLE_EQ(barrier_cycles(plain(cpi, latency), hull_shape(s), 1),
                                 static_cast<double>(core.run(s)))
                    << cpi << "/" << latency << ", " << groups << " groups of " << g;
            }
}

TEST(BarrierLaw, EqualsSimulationOfSeveralSchedulersWhereGroupsFillThem) {
    for (const int g : {4, 8})
        for (int groups = 1; groups <= 6; ++groups) {
            const MeasurementShape s{g, groups, 1, 6};
            const test::TinyCore core{.cpi = 4, .latency = 25, .schedulers = 4, .barrier = true};
            EXPECT_DOUBLE_EQ(barrier_cycles(plain(1, 25, 4), hull_shape(s), 4),
                             static_cast<double>(core.run(s)))
                << groups << " groups of " << g;
        }
}

TEST(SmoothMaximum, IsTheMaximumWhenSharpAndLiesTwoToTheQAboveTheCorner) {
    EXPECT_EQ(smooth_max(3.0, 5.0, 0.0), 5.0);
    EXPECT_EQ(smooth_max(5.0, 3.0, 0.0), 5.0);
    EXPECT_NEAR(smooth_max(4.0, 4.0, 0.25), 4 * std::pow(2, 0.25), 1e-12);
    EXPECT_NEAR(smooth_max(3.0, 4.0, 0.5), 5.0, 1e-12);  // p = 2: Pythagoras
    EXPECT_NEAR(smooth_max(1e-300, 1e300, 0.01), 1e300, 1e285);
}

TEST(Hull, DerivativesOfTheHullEqualDifferenceQuotients) {
    using Jet = ceres::Jet<double, 7>;
    const std::array<double, 7> at{0.7, 23.0, 40.0, 3.0, 0.1, 0.1, 0.9};
    const auto value = [](const auto& x, const HullShape& s, bool barrier) {
        using T = std::decay_t<decltype(x[0])>;
        const HullParameters<T> p{x[0], x[1], x[2], x[3], x[4], x[5], x[6]};
        return barrier ? barrier_cycles(p, s, 2) : hull_cycles(p, s, 2);
    };
    for (const bool barrier : {false, true})
        for (const double groups : {1.0, 20.0, 31.0, 32.0, 64.0}) {
            const HullShape s{2, groups, 1, 100};
            std::array<Jet, 7> x;
            for (int i = 0; i < 7; ++i) x[i] = Jet(at[i], i);
            const Jet exact = value(x, s, barrier);
            EXPECT_NEAR(exact.a, value(at, s, barrier), 1e-9 * exact.a);
            for (std::size_t i = 0; i < 7; ++i) {
                std::array<double, 7> up = at, down = at;
                const double h = 1e-5 * at[i];
                up[i] += h;
                down[i] -= h;
                const double quotient = (value(up, s, barrier) - value(down, s, barrier)) / (2 * h);
                EXPECT_NEAR(exact.v[static_cast<Eigen::Index>(i)], quotient,
                            1e-5 * std::abs(quotient) + 1e-6)
                    << "parameter " << i << ", groups " << groups;
            }
        }
}

TEST(MixLaws, KnownValues) {
    EXPECT_DOUBLE_EQ(mix_one_subsystem(1.0, 5.0, 5.0), 0.5);
    EXPECT_DOUBLE_EQ(mix_two_subsystems(0.25, 1.0, 2.0), 2.0);  // type 2 binds: β/λ2
    EXPECT_DOUBLE_EQ(mix_two_subsystems(0.25, 1.0, 8.0), 4.0);  // type 1 binds: 1/λ1
    EXPECT_DOUBLE_EQ(mix_with_issue_limit(1.0, 8.0, 1.0, 9.0), 0.9);
}

}  // namespace
}  // namespace occupipe
