// SPDX-License-Identifier: MIT
#include "core/running_warps.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

namespace occupipe {
namespace {

// By looking at every moment between two changes.
double work(const std::vector<double>& starts, const std::vector<double>& stops, double most) {
    std::vector<double> moments = starts;
    moments.insert(moments.end(), stops.begin(), stops.end());
    std::ranges::sort(moments);
    double sum = 0;
    for (std::size_t i = 1; i < moments.size(); ++i) {
        double running = 0;
        for (std::size_t w = 0; w < starts.size(); ++w)
            running += starts[w] <= moments[i - 1] && stops[w] >= moments[i];
        sum += std::min(running, most) * (moments[i] - moments[i - 1]);
    }
    return sum;
}

double of_parts(const RunningCycles& running, double warps, double most) {
    double sum = 0;
    for (std::size_t part = 0; part < running_parts; ++part) {
        const double below = warps * static_cast<double>(part) / running_parts;
        const double here = warps * static_cast<double>(part + 1) / running_parts;
        sum += (std::min(here, most) - std::min(below, most)) * running[part];
    }
    return sum;
}

TEST(RunningWarps, TwoWarpsByHand) {
    const RunningCycles running =
        running_cycles(std::vector<double>{0, 0}, std::vector<double>{100, 60});
    for (std::size_t part = 0; part < running_parts; ++part)
        EXPECT_EQ(running[part], part < 8 ? 100 : 60) << part;
}

// With multiples of sixteen warps nothing is lost of any work that up to a sixteenth can do.
TEST(RunningWarps, SixteenthsKeepTheWorkOfAnyUnit) {
    std::mt19937_64 random(5);
    std::uniform_real_distribution<double> any(0, 1000);
    for (const int warps : {1, 3, 5, 16, 20, 32, 64}) {
        std::vector<double> starts;
        std::vector<double> stops;
        for (int w = 0; w < warps; ++w) {
            starts.push_back(any(random) / 10);
            stops.push_back(starts.back() + any(random));
        }
        const RunningCycles running = running_cycles(starts, stops);
        EXPECT_TRUE(std::ranges::is_sorted(running, std::greater<>()));
        const double all = work(starts, stops, warps);
        EXPECT_NEAR(of_parts(running, warps, warps), all, 1e-9 * all) << warps;
        for (const double most : {0.25 * warps, 0.5 * warps, 0.75 * warps}) {
            const double here = work(starts, stops, most);
            const double slack = warps % 16 == 0 ? 1e-9 : 0.06;
            EXPECT_NEAR(of_parts(running, warps, most), here, slack * here) << warps;
        }
    }
}

TEST(RunningWarps, OrderOfStopsIsOfOneScheduler) {
    // Two schedulers; on each the older warp stops first, and the second scheduler is later.
    const std::vector<double> stops{100, 500, 300, 900};
    EXPECT_EQ(stop_order(stops, std::vector<int>{0, 1, 0, 1}, 10)->correlation, 1);
    EXPECT_EQ(stop_order(stops, std::vector<int>{0, 1, 0, 1}, 10)->telling, 1);
    EXPECT_EQ(
        stop_order(std::vector<double>{900, 500, 300}, std::vector<int>{0, 0, 0}, 10)->correlation,
        -1);
    EXPECT_FALSE(stop_order(std::vector<double>{500, 505}, std::vector<int>{0, 0}, 10));
    EXPECT_FALSE(stop_order(std::vector<double>{1, 900}, std::vector<int>{0, 1}, 10));
}

TEST(RunningWarps, WarpsThatStopTogetherAddOneCounterOnly) {
    const std::vector<double> starts(8, 0.0);
    std::vector<double> stops(8, 1000.0);
    stops[3] = 995;
    const std::vector<int> of(8, 0);
    const auto together = running_counters(starts, stops, of);
    EXPECT_EQ(together.size(), 1U);
    EXPECT_EQ(together.at("stop_spread_cycles"), 5);
    stops[7] = 2000;
    const auto apart = running_counters(starts, stops, of);
    EXPECT_EQ(apart.at("running_01"), 2000);
    EXPECT_EQ(apart.at("running_16"), 995);
    EXPECT_EQ(apart.at("stop_order"), 1);
    EXPECT_EQ(apart.at("stops_telling"), 0.25);  // 7 of 28 pairs
}

WarpTimes steady(double start, double per_part) {
    WarpTimes warp{.start = start, .checkpoints = {}, .stop = start + 4 * per_part};
    for (int part = 1; part < 4; ++part) warp.checkpoints.push_back(start + part * per_part);
    return warp;
}

TEST(Windows, OfWarpsThatKeepTheirPaceAreExact) {
    // 400 instructions each at 0.4, 0.5 and 0.32 per cycle.
    const std::vector<WarpTimes> warps{steady(0, 250), steady(3, 200), steady(0, 312.5)};
    const auto window = common_window(warps, 400);
    ASSERT_TRUE(window);
    EXPECT_NEAR(window->instructions / window->cycles, 0.4 + 0.5 + 0.32, 1e-9);
    EXPECT_LT(window->instructions_error, 0.02 * window->instructions);
    // From the last one's start to the first one's last checkpoint: longer, and known as well.
    EXPECT_NEAR(window->cycles, 603 - 3, 1e-9);
}

TEST(Windows, OfWarpsThatStarveSayHowLittleIsKnown) {
    // The second does nothing until the first has left, and then all at the first one's pace. How
    // far it was when the first stopped cannot be told from the readings.
    const WarpTimes first = steady(0, 100);
    const WarpTimes starved{.start = 0, .checkpoints = {500, 600, 700}, .stop = 800};
    const auto window = common_window(std::vector<WarpTimes>{first, starved}, 400);
    ASSERT_TRUE(window);
    const double truth = 1.0 * window->cycles;
    EXPECT_GT(window->instructions, truth);
    EXPECT_LE(window->instructions - window->instructions_error, truth);
    EXPECT_GT(window->instructions_error, 0.1 * window->instructions);
}

TEST(Windows, AreAbsentWhereWarpsDidNotRunAtOnce) {
    EXPECT_FALSE(common_window(std::vector<WarpTimes>{steady(0, 100), steady(390, 100)}, 400));
    EXPECT_TRUE(
        window_counters(std::vector<WarpTimes>{steady(0, 100), steady(390, 100)}, 400).empty());
    const auto counters =
        window_counters(std::vector<WarpTimes>{steady(0, 100), steady(0, 100)}, 400);
    EXPECT_EQ(counters.size(), 3U);
    EXPECT_EQ(counters.at("window_cycles"), 200);
    EXPECT_EQ(counters.at("window_instructions"), 400);
}

}  // namespace
}  // namespace occupipe
