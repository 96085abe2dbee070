// SPDX-License-Identifier: MIT
#include "analysis/tuning/ranking.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "analysis/tuning/tune_journal.h"
#include "core/error.h"
#include "core/files/files.h"
#include "sim/models/registry.h"
#include "tests/support/temporary_folder.h"

namespace occupipe::analysis {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TunedConfiguration row(std::uint64_t number, int x, std::optional<double> seconds,
                       const std::string& limiter = "fma", const std::string& code = "") {
    TunedConfiguration made;
    made.number = number;
    made.configuration = {{"x", x}};
    made.predicted = {seconds};
    made.limiter = limiter;
    made.code = code.empty() ? "code of " + std::to_string(number) : code;
    if (!seconds) {
        made.refused = Refusal::compiler;
        made.refusal = "does not compile";
    }
    return made;
}

Tuned tuned_of(std::vector<TunedConfiguration> rows) {
    Tuned tuned;
    tuned.models = find_models({"pipeline"});
    tuned.rows = std::move(rows);
    return tuned;
}

MeasuredRun measured(int x, double seconds) {
    return {.configuration = {{"x", x}}, .seconds = seconds, .failure = ""};
}

TEST(Ranking, ShortestFirstAndRefusedNotAtAll) {
    const Tuned tuned = tuned_of({row(0, 1, 3), row(1, 2, {}), row(2, 3, 1), row(3, 4, 2)});
    const Ranking ranking = ranked(tuned, {}, 0);
    EXPECT_THAT(ranking.order, ElementsAre(2, 3, 0));
    EXPECT_FALSE(ranking.clock);
    EXPECT_TRUE(ranking.top.empty());
    EXPECT_FALSE(ranking.expected[1]);
}

TEST(Ranking, TheTopHasNoCodeTwiceAndEachFourthPlaceIsOfAnotherLimiter) {
    const Tuned tuned =
        tuned_of({row(0, 1, 1.0, "fma", "same"), row(1, 2, 1.0, "fma", "same"), row(2, 3, 1.1),
                  row(3, 4, 1.2), row(4, 5, 1.3), row(5, 6, 9, "mem"), row(6, 7, 8, "shared")});
    EXPECT_THAT(ranked(tuned, {}, 3).top, ElementsAre(0, 2, 3));
    EXPECT_THAT(ranked(tuned, {}, 4).top, ElementsAre(0, 2, 3, 6));
    EXPECT_THAT(ranked(tuned, {}, 5).top, ElementsAre(0, 2, 3, 4, 6));
    EXPECT_THAT(ranked(tuned, {}, 100).top, ElementsAre(0, 2, 3, 4, 6, 5));
}

TEST(Ranking, AFactorIsFittedWithItsStandardError) {
    const Tuned tuned = tuned_of({row(0, 1, 1), row(1, 2, 2), row(2, 3, 3), row(3, 4, 2.5)});
    // Ratios 2 and 8: the geometric mean is 4, the logarithms are 2 ln 2 apart.
    const std::vector<MeasuredRun> runs = {measured(1, 2), measured(2, 16)};
    const Ranking ranking = ranked(tuned, runs, 1);
    ASSERT_TRUE(ranking.clock);
    EXPECT_EQ(ranking.clock->count, 2U);
    EXPECT_NEAR(ranking.clock->factor, 4, 1e-12);
    EXPECT_NEAR(*ranking.clock->scatter, std::log(4) / std::sqrt(2), 1e-12);
    EXPECT_NEAR(*ranking.clock->standard_error, std::log(2), 1e-12);
    // Measured 2 and 16; predicted 3 and 2.5, expected 12 and 10.
    EXPECT_THAT(ranking.order, ElementsAre(0, 3, 2, 1));
    EXPECT_NEAR(*ranking.expected[3], 10, 1e-12);
    EXPECT_THAT(ranking.top, ElementsAre(3));
    // Of one time, median 10, logarithmic normal: the textbook's expected improvement below 2.
    const double s = *ranking.clock->scatter, z = std::log(2.0 / 10) / s;
    const auto normal = [](double at) { return std::erfc(-at / std::sqrt(2.0)) / 2; };
    const double expected = 2 * normal(z) - 10 * std::exp(s * s / 2) * normal(z - s);
    ASSERT_TRUE(ranking.improvement);
    EXPECT_NEAR(*ranking.improvement, expected, 1e-4);
}

TEST(Ranking, SeveralTimesOfAConfigurationCountWithTheirMedian) {
    const Tuned tuned = tuned_of({row(0, 1, 1), row(1, 2, 2)});
    const std::vector<MeasuredRun> runs = {measured(1, 5), measured(1, 3), measured(1, 9)};
    const Ranking ranking = ranked(tuned, runs, 1);
    EXPECT_EQ(ranking.expected[0], 5);
    EXPECT_EQ(ranking.clock->count, 1U);
}

TEST(Ranking, OneMeasurementHasNoStandardError) {
    const Tuned tuned = tuned_of({row(0, 1, 1), row(1, 2, 2)});
    const std::vector<MeasuredRun> runs = {measured(1, 3)};
    const Ranking ranking = ranked(tuned, runs, 1);
    EXPECT_NEAR(ranking.clock->factor, 3, 1e-12);
    EXPECT_FALSE(ranking.clock->standard_error);
    EXPECT_FALSE(ranking.improvement);
}

TEST(Ranking, ATunableExplainsWhatItsValuesTellApart) {
    TuningSpace space;
    space.tunables = {{"x", {1, 2}}, {"y", {1, 2, 3}}, {"z", {5}}};
    Tuned tuned = tuned_of({});
    std::uint64_t number = 0;
    for (int x = 1; x <= 2; ++x)
        for (int y = 1; y <= 2; ++y) {
            tuned.rows.push_back(row(number++, x, x == 1 ? 1 : 4));
            tuned.rows.back().configuration = {{"x", x}, {"y", y}, {"z", 5}};
        }
    const auto all = effects(space, tuned);
    ASSERT_EQ(all.size(), 2U);
    EXPECT_EQ(all[0].name, "x");
    EXPECT_NEAR(*all[0].importance, 1, 1e-12);
    EXPECT_NEAR(*all[1].importance, 0, 1e-12);
    EXPECT_DOUBLE_EQ(*all[0].best[1], 4);
    EXPECT_FALSE(all[1].best[2]);
    for (TunedConfiguration& one : tuned.rows) one.predicted = {2.0};
    EXPECT_FALSE(effects(space, tuned)[0].importance);
}

TEST(TuneJournal, ALineIsWhatItWasMadeOf) {
    const auto models = find_models({"pipeline", "roofline"});
    TunedConfiguration one = row(7, 1, 0.25, "mem");
    one.predicted = {0.25, std::nullopt};
    one.interval = {0.2, 0.3};
    one.known = true;
    one.compile_seconds = 1.5;
    const TunedConfiguration back = parse_tuned_line(tuned_line(one, models), models);
    EXPECT_EQ(back.number, 7U);
    EXPECT_EQ(back.predicted, one.predicted);
    EXPECT_EQ(back.interval, one.interval);
    EXPECT_EQ(back.limiter, "mem");
    EXPECT_EQ(back.code, one.code);
    EXPECT_TRUE(back.known);
    EXPECT_EQ(back.refused, Refusal::none);
    EXPECT_EQ(back.compile_seconds, 1.5);
    TunedConfiguration refused = row(8, 1, {});
    refused.refusal = "says \"no\"\n\xff";
    refused.predicted.resize(2);
    const TunedConfiguration again = parse_tuned_line(tuned_line(refused, models), models);
    EXPECT_EQ(again.refused, Refusal::compiler);
    EXPECT_THAT(again.refusal, HasSubstr("says \"no\"\n"));
    for (const char* bad : {R"({"number":-1})", R"({"number":1,"seconds":{"pipeline":0}})",
                            R"({"number":1,"refused":"tired"})", R"({"number":1,"cost":[1]})",
                            R"({"seconds":{}})", R"({"number":1,"more":2})", "[]", ""})
        EXPECT_THROW(parse_tuned_line(bad, models), InputError) << bad;
}

TEST(TuneJournal, GoesOnBehindTheLastWholeLine) {
    const test::TemporaryFolder folder;
    const auto models = find_models({"pipeline"});
    const auto file = folder.path / "a.journal";
    {
        TuneJournal journal(file, "hash", models, false);
        EXPECT_TRUE(journal.take_rows().empty());
        journal.add(row(1, 1, 1));
        journal.add(row(2, 2, 2));
        EXPECT_THROW(TuneJournal(file, "hash", models, false), InputError);  // it is being written
    }
    const std::string whole = read_text_file(file);
    // Killed within the last line, at any byte of it.
    const std::size_t second = whole.rfind("{\"number\":2");
    for (const std::size_t size : {second + 1, whole.size() - 20, whole.size() - 1}) {
        write_text_file(file, whole.substr(0, size), Overwrite::yes);
        TuneJournal journal(file, "hash", models, false);
        EXPECT_EQ(journal.take_rows().size(), 1U) << size;
        journal.add(row(2, 2, 2));
        EXPECT_EQ(read_text_file(file), whole) << size;
    }
    write_text_file(file, whole.substr(0, 10), Overwrite::yes);
    EXPECT_TRUE(TuneJournal(file, "hash", models, false).take_rows().empty());
    try {
        TuneJournal(file, "other", models, false);
        FAIL();
    } catch (const InputError& error) {
        EXPECT_THAT(error.what(), HasSubstr("a.journal: is of another space"));
    }
    EXPECT_TRUE(TuneJournal(file, "other", models, true).take_rows().empty());
}

}  // namespace
}  // namespace occupipe::analysis
