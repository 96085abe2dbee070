// SPDX-License-Identifier: MIT
#include "analysis/tuning/enumeration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "analysis/tuning/space.h"
#include "core/buffer_fill.h"
#include "core/error.h"
#include "sim/engine/run_progress.h"

namespace occupipe::analysis {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TuningSpace space_of(std::vector<TuningSpace::Tunable> tunables,
                     const std::vector<std::string>& conditions) {
    TuningSpace space;
    space.file = "space.yaml";
    space.tunables = std::move(tunables);
    for (const std::string& one : conditions) space.conditions.push_back({one, {}, "restrictions"});
    return space;
}

TEST(Enumeration, TheLastTunableIsTheFastest) {
    const TuningSpace space = space_of({{"a", {1, 2}}, {"b", {10, 20, 30}}}, {});
    EXPECT_EQ(combinations(space), 6U);
    EXPECT_EQ(to_text(configuration_of(space, 4)), "a=2, b=20");
    EXPECT_THAT(numbers_of(space), ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST(Enumeration, ConditionsLeaveOut) {
    const TuningSpace space = space_of({{"a", {1, 2, 3}}, {"b", {1, 2}}, {"c", {0, 1}}},
                                       {"a * b <= 3", "c == 0 or a > 1"});
    // a b c: 1 1 0, 1 2 0, 2 1 0, 2 1 1, 3 1 0, 3 1 1
    EXPECT_THAT(numbers_of(space), ElementsAre(0, 2, 4, 5, 8, 9));
}

TEST(Enumeration, IsWhatTryingEachOneFinds) {
    const std::vector<std::string> conditions = {"a % b == 0", "a + c < 7",   "b != c or a == 2",
                                                 "c >= 2",     "d * a <= 12", "max(a, d) > 2"};
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        std::vector<TuningSpace::Tunable> tunables;
        for (std::uint64_t i = 0; i < 4; ++i) {
            TuningSpace::Tunable one{std::string(1, static_cast<char>('a' + i)), {}};
            for (std::uint64_t v = 0; v <= random_bits(seed, i) % 5; ++v)
                one.values.emplace_back(static_cast<std::int64_t>(v + 1));
            tunables.push_back(one);
        }
        std::vector<std::string> some;
        for (std::uint64_t i = 0; i < conditions.size(); ++i)
            if (random_bits(seed, 100 + i) % 2 == 0) some.push_back(conditions[i]);
        const TuningSpace space = space_of(tunables, some);
        std::vector<std::uint64_t> all;
        for (std::uint64_t number = 0; number < combinations(space); ++number)
            if (!excluded_by(space, configuration_of(space, number))) all.push_back(number);
        EXPECT_EQ(numbers_of(space), all) << "seed " << seed;
    }
}

// 10^12 combinations; each value of the first tunable leaves one of all others.
TEST(Enumeration, WhatAConditionExcludesIsNotGoneThrough) {
    TuningSpace::Tunable wide{"a", {}};
    for (int i = 0; i < 1000; ++i) wide.values.emplace_back(i);
    TuningSpace::Tunable second = wide, third = wide, last = wide;
    second.name = "b";
    third.name = "c";
    last.name = "d";
    const TuningSpace space =
        space_of({wide, second, third, last}, {"a == 0", "b == a", "c == b", "d == 999"});
    EXPECT_THAT(numbers_of(space), ElementsAre(999));
}

TEST(Enumeration, AShuffleIsTheSameForItsSeedAndLosesNothing) {
    std::vector<std::uint64_t> numbers(100);
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = i;
    std::vector<std::uint64_t> one = numbers, again = numbers, other = numbers;
    shuffle(one, 1);
    shuffle(again, 1);
    shuffle(other, 2);
    EXPECT_EQ(one, again);
    EXPECT_NE(one, other);
    EXPECT_NE(one, numbers);
    std::ranges::sort(one);
    EXPECT_EQ(one, numbers);
}

TEST(Enumeration, RefusesWhatCannotBeNumbered) {
    std::vector<TuningSpace::Tunable> tunables;
    for (int i = 0; i < 63; ++i) tunables.push_back({"t" + std::to_string(i), {0, 1}});
    try {
        combinations(space_of(tunables, {}));
        FAIL();
    } catch (const InputError& error) {
        EXPECT_THAT(error.what(), HasSubstr("2^62 combinations"));
    }
    try {
        numbers_of(space_of({{"a", {1}}}, {"a +"}));
        FAIL();
    } catch (const InputError& error) {
        EXPECT_THAT(error.what(), HasSubstr("space.yaml: restrictions: 'a +'"));
    }
    EXPECT_THROW(numbers_of(space_of({{"a", {1}}}, {}), [] { return true; }), Interrupted);
}

TEST(Enumeration, NamesInAnExpressionAreItsWords) {
    EXPECT_THAT(names_in("bx*tile_x2 <= 32 or not (use_pad == 'yes')"),
                ElementsAre("bx", "tile_x2", "32", "or", "not", "use_pad", "yes"));
}

}  // namespace
}  // namespace occupipe::analysis
