// SPDX-License-Identifier: MIT
#include "sim/machine/ticks.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "core/error.h"

namespace occupipe::sim {
namespace {

TEST(DecimalRational, IsWhatTheDecimalTextSays) {
    EXPECT_EQ(decimal_rational(0.375), (Rational{3, 8}));
    EXPECT_EQ(decimal_rational(5.25), (Rational{21, 4}));
    EXPECT_EQ(decimal_rational(0.1), (Rational{1, 10}));
    EXPECT_EQ(decimal_rational(0.2513), (Rational{2513, 10000}));
    EXPECT_EQ(decimal_rational(378), (Rational{378, 1}));
    EXPECT_EQ(decimal_rational(1e15), (Rational{1'000'000'000'000'000, 1}));
}

TEST(DecimalRational, IsAbsentWhereItDoesNotFit) {
    EXPECT_EQ(decimal_rational(1e300), std::nullopt);
    EXPECT_EQ(decimal_rational(1e-30), std::nullopt);
}

TEST(DecimalRational, RefusesWhatIsNoTime) {
    EXPECT_THROW(decimal_rational(0), InputError);
    EXPECT_THROW(decimal_rational(-1), InputError);
    EXPECT_THROW(decimal_rational(std::numeric_limits<double>::infinity()), InputError);
    EXPECT_THROW(decimal_rational(std::numeric_limits<double>::quiet_NaN()), InputError);
}

TEST(ChooseTick, IsTheGreatestCommonDivisor) {
    const std::vector<Duration> durations = {duration(0.375), duration(5.25),
                                             Duration{1.0 / 3, Rational{1, 3}}};
    const TickScale scale = choose_tick(durations);
    EXPECT_FALSE(scale.rounded);
    EXPECT_EQ(scale.tick, (Rational{1, 24}));
    EXPECT_EQ(scale.to_ticks(durations[0]), 9);
    EXPECT_EQ(scale.to_ticks(durations[1]), 126);
    EXPECT_EQ(scale.to_ticks(durations[2]), 8);
    EXPECT_EQ(scale.to_cycles(126), 5.25);
}

TEST(ChooseTick, MayBeLongerThanACycle) {
    const std::vector<Duration> durations = {duration(12), duration(345)};
    EXPECT_EQ(choose_tick(durations).tick, (Rational{3, 1}));
}

TEST(ChooseTick, RoundsToAMillionthOfACycleWhereExactTicksWouldBeTooFine) {
    const std::vector<Duration> durations = {duration(0.25134781234567), duration(378.1)};
    const TickScale scale = choose_tick(durations);
    EXPECT_TRUE(scale.rounded);
    EXPECT_EQ(scale.tick, (Rational{1, 1'000'000}));
    EXPECT_EQ(scale.to_ticks(durations[0]), 251'348);
    EXPECT_EQ(scale.to_ticks(durations[1]), 378'100'000);
}

TEST(ChooseTick, KeepsFittedValuesOfSevenDecimalsExact) {
    const std::vector<Duration> durations = {duration(0.2513478), duration(378.1234567)};
    EXPECT_FALSE(choose_tick(durations).rounded);
}

TEST(TickScale, RefusesTimesBelowItsResolutionOrBeyondItsRange) {
    const std::vector<Duration> durations = {duration(1e-9), duration(1)};
    const TickScale scale = choose_tick(durations);
    EXPECT_THROW(scale.to_ticks(durations[0]), InputError);
    EXPECT_THROW(scale.to_ticks(duration(1e300)), InputError);
}

}  // namespace
}  // namespace occupipe::sim
