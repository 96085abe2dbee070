// SPDX-License-Identifier: MIT
// The issue limit's windows (docs/background/pipeline-model.md, "Issue limit").
#include "sim/machine/issue_window.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "core/error.h"

namespace occupipe::sim {
namespace {

constexpr std::int64_t cycle = 4;  // ticks

std::string pattern(const IssueWindow& window, int scheduler, int cycles) {
    std::string text;
    for (int n = 0; n < cycles; ++n) text += std::to_string(window.allowed(scheduler, n));
    return text;
}

TEST(IssueWindow, AllowsWhatTheModelsExamplesSay) {
    EXPECT_EQ(pattern(IssueWindow(4, 1, cycle), 0, 4), "4444");
    for (int j = 0; j < 4; ++j) EXPECT_EQ(pattern(IssueWindow(4, 4, cycle), j, 4), "1111");
    // Two of the four in turn.
    EXPECT_EQ(pattern(IssueWindow(2, 4, cycle), 0, 4), "1010");
    EXPECT_EQ(pattern(IssueWindow(2, 4, cycle), 1, 4), "1010");
    EXPECT_EQ(pattern(IssueWindow(2, 4, cycle), 2, 4), "0101");
    EXPECT_EQ(pattern(IssueWindow(2, 4, cycle), 3, 4), "0101");
    EXPECT_EQ(pattern(IssueWindow(0.5, 1, cycle), 0, 6), "010101");
    EXPECT_EQ(pattern(IssueWindow(1.5, 1, cycle), 0, 4), "1212");
}

TEST(IssueWindow, SumsToTheLimitOverTheSchedulers) {
    for (const double limit : {1.0, 2.0, 0.3, 2.4, 4.7, 0.125})
        for (const int schedulers : {1, 2, 3, 4, 7})
            for (std::int64_t n = 0; n < 200; ++n) {
                const IssueWindow window(limit, schedulers, cycle);
                std::int64_t sum = 0;
                for (int j = 0; j < schedulers; ++j) sum += window.allowed(j, n);
                // In tenths of thousandths, whole for all of these.
                const auto il = static_cast<std::int64_t>(std::llround(limit * 10'000));
                EXPECT_EQ(sum, il * (n + 1) / 10'000 - il * n / 10'000) << limit << ' ' << n;
            }
}

TEST(IssueWindow, FindsTheNextOpenCycle) {
    for (const double limit : {0.3, 0.125, 0.75, 2.0, 1.0})
        for (const int schedulers : {1, 2, 3, 4}) {
            const IssueWindow window(limit, schedulers, cycle);
            for (int j = 0; j < schedulers; ++j)
                for (std::int64_t time = 0; time < 60 * cycle; ++time) {
                    std::int64_t n = time / cycle;
                    while (window.allowed(j, n) == 0) ++n;
                    EXPECT_EQ(window.first_open(j, time), std::max(time, n * cycle));
                }
        }
    // Beyond the end of simulated time.
    EXPECT_GT(IssueWindow(1e-18, 1, 1000).first_open(0, 0), max_ticks);
}

TEST(IssueWindow, RecursAfterItsPeriod) {
    EXPECT_EQ(IssueWindow(4, 1, cycle).period(), cycle);
    EXPECT_EQ(IssueWindow(2, 4, cycle).period(), 2 * cycle);
    EXPECT_EQ(IssueWindow(2.4, 4, cycle).period(), 5 * cycle);
    EXPECT_EQ(IssueWindow(3.14159265358979, 1, 1'000'000).period(), std::nullopt);
    for (const double limit : {0.3, 2.4, 4.7, 0.125})
        for (const int schedulers : {1, 3, 4}) {
            const IssueWindow window(limit, schedulers, cycle);
            const auto period = static_cast<int>(*window.period() / cycle);
            for (int j = 0; j < schedulers; ++j) {
                const std::string twice = pattern(window, j, 2 * period);
                EXPECT_EQ(twice.substr(0, period), twice.substr(period));
            }
        }
}

TEST(IssueWindow, AllowsInAllTheLimitTimesTheCyclesBegun) {
    EXPECT_EQ(IssueWindow(2, 4, cycle).capacity(9), 6);
    EXPECT_EQ(IssueWindow(0.3, 1, cycle).capacity(5 * cycle), 1);
}

TEST(IssueWindow, RefusesWhatIsNoFraction) {
    EXPECT_THROW(IssueWindow(1e-40, 1, cycle), InputError);
}

}  // namespace
}  // namespace occupipe::sim
