// SPDX-License-Identifier: MIT
#include "analysis/tuning/stages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "analysis/tuning/tune_journal.h"
#include "core/error.h"
#include "core/files/files.h"
#include "sim/models/registry.h"
#include "tests/support/temporary_folder.h"

namespace occupipe::analysis {
namespace {

using testing::ElementsAre;

TunedConfiguration coarse(double seconds, const std::string& limiter = "fma") {
    TunedConfiguration row;
    row.predicted = {std::nullopt};
    row.coarse = seconds;
    row.stage = Stage::coarse;
    row.limiter = row.coarse_limiter = limiter;
    return row;
}

TunedConfiguration exact(double seconds, double coarse_seconds,
                         const std::string& limiter = "fma") {
    TunedConfiguration row = coarse(coarse_seconds, limiter);
    row.predicted = {seconds};
    row.stage = Stage::exact;
    return row;
}

// In which order all of them become exact, at so many times their coarse time.
std::vector<std::size_t> order_of(std::vector<TunedConfiguration> rows, double factor = 1) {
    std::vector<std::size_t> order;
    std::vector<bool> taken(rows.size());
    while (const auto next = next_exact(rows, taken)) {
        order.push_back(*next);
        taken[*next] = true;
        if (rows[*next].coarse)
            rows[*next] = exact(factor * *rows[*next].coarse, *rows[*next].coarse);
        if (order.size() > rows.size()) break;
    }
    return order;
}

TEST(Stages, TheBestAndTheLeastKnownTakeTurns) {
    // The shortest; the furthest from it; the shortest that is left; the middle of the gap.
    EXPECT_THAT(order_of({coarse(16), coarse(1), coarse(2), coarse(4), coarse(1.1)}),
                ElementsAre(1, 0, 4, 3, 2));
}

TEST(Stages, ALimiterOfWhichNothingIsExactIsTheLeastKnown) {
    EXPECT_THAT(order_of({coarse(1), coarse(100), coarse(3, "mem"), coarse(2, "mem")}),
                ElementsAre(0, 3, 2, 1));
}

TEST(Stages, ThoseWithoutACoarseTimeComeLast) {
    TunedConfiguration none = coarse(1);
    none.coarse.reset();
    none.refused = Refusal::prediction;
    none.refusal = "the coarse model refuses";
    TunedConfiguration final_one = none;
    final_one.refused = Refusal::compiler;
    TunedConfiguration refused_exactly = none;
    refused_exactly.stage = Stage::exact;
    EXPECT_THAT(order_of({coarse(1), coarse(2), none, final_one, refused_exactly}),
                ElementsAre(0, 1, 2));
}

TEST(Stages, EqualCodeIsNoTurnOfItsOwn) {
    TunedConfiguration same = exact(1, 1);
    same.known = true;
    // One turn so far: the least known is next, not the best.
    EXPECT_EQ(
        next_exact(std::vector{exact(1, 1), same, coarse(2), coarse(50)}, std::vector<bool>(4)),
        3U);
}

TEST(Stages, AScatteredLimiterMayHideTheBest) {
    // Two exact ones each: of "mem", the factor is 1 but may be 8 or 1/8.
    const std::vector<TunedConfiguration> rows = {
        exact(1, 1),        exact(2, 2), exact(8, 1, "mem"), exact(1, 8, "mem"),
        exact(1, 1, "mem"), coarse(1),   coarse(1.5, "mem"), exact(1, 1)};
    EXPECT_EQ(next_exact(rows, std::vector<bool>(rows.size())), 6U);
}

TEST(Stages, CoarseTimesAreScaledWithTheScatterOfTheScale) {
    std::vector<TunedConfiguration> rows = {exact(2, 1), exact(8, 1), coarse(3), coarse(5, "mem")};
    rows[0].interval = TimeInterval{1, 4};  // half-widths ln 2 and ln 2
    rows[1].interval = TimeInterval{4, 16};
    estimate_coarse(rows);
    EXPECT_FALSE(rows[0].estimated);
    ASSERT_TRUE(rows[2].estimated && rows[2].interval);
    EXPECT_NEAR(*rows[2].estimated, 12, 1e-12);  // geometric mean 4
    // Logarithms of 2 and 8 are ln 4 apart: a standard deviation of ln 4 / √2.
    // Student's t of one degree of freedom.
    const double own = 12.706204736 * std::log(4) / std::sqrt(2) * std::sqrt(1.5);
    const double width = std::sqrt(own * own + std::log(2) * std::log(2));
    EXPECT_NEAR(rows[2].interval->high, 12 * std::exp(width), 1e-3 * std::exp(width));
    EXPECT_NEAR(rows[2].interval->low, 12 / std::exp(width), 1e-9);
    EXPECT_NEAR(*rows[3].estimated, 20, 1e-12);  // nothing is known of "mem" alone
    EXPECT_EQ(time_of(rows[1]), 8);
    EXPECT_EQ(time_of(rows[3]), rows[3].estimated);
}

// One configuration under four names is one piece of evidence.
TEST(Stages, EqualCodeDoesNotScatter) {
    std::vector<TunedConfiguration> rows = {exact(2, 1), exact(2, 1), exact(2, 1), coarse(3)};
    rows[1].known = rows[2].known = true;
    rows[0].interval = rows[1].interval = TimeInterval{1, 4};
    EXPECT_EQ(coarse_scale(rows).all.count, 1U);
    estimate_coarse(rows);
    EXPECT_EQ(rows[3].estimated, 6);
    EXPECT_FALSE(rows[3].interval);
}

TEST(Stages, WithoutAnExactTimeNoIntervalIsClaimed) {
    std::vector<TunedConfiguration> rows = {coarse(3)};
    estimate_coarse(rows);
    EXPECT_EQ(rows[0].estimated, 3);
    EXPECT_FALSE(rows[0].interval);
    rows.push_back(exact(2, 1));
    rows.back().interval = TimeInterval{1, 4};
    estimate_coarse(rows);
    EXPECT_EQ(rows[0].estimated, 6);
    EXPECT_FALSE(rows[0].interval);  // one does not scatter
}

TEST(Stages, TheJournalKeepsBoth) {
    const auto models = find_models({"pipeline"});
    TunedConfiguration row = coarse(3, "mem");
    row.number = 7;
    row.code = "c";
    row.spent = 1.5;
    row.at_limit = true;
    const std::string line = tuned_line(row, models);
    const TunedConfiguration back = parse_tuned_line(line, models);
    EXPECT_EQ(back.stage, Stage::coarse);
    EXPECT_EQ(back.coarse, 3);
    EXPECT_EQ(back.coarse_limiter, "mem");
    EXPECT_EQ(back.spent, 1.5);
    EXPECT_TRUE(back.at_limit);
    EXPECT_FALSE(back.predicted.front());
    EXPECT_EQ(tuned_line(back, models), line);
    row = exact(4, 3);
    const TunedConfiguration made = parse_tuned_line(tuned_line(row, models), models);
    EXPECT_EQ(made.stage, Stage::exact);
    EXPECT_EQ(made.coarse, 3);
    EXPECT_EQ(made.predicted.front(), 4);
    for (const char* bad : {R"({"number": 1, "stage": "fine"})", R"({"number": 1, "coarse": 0})",
                            R"({"number": 1, "spent": -1})", R"({"number": 1, "coarse": "3"})"})
        EXPECT_THROW(parse_tuned_line(bad, models), InputError) << bad;
}

}  // namespace
}  // namespace occupipe::analysis
