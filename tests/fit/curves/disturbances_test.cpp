// SPDX-License-Identifier: MIT
#include "fit/curves/disturbances.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

#include "core/error.h"
#include "core/row_dependence.h"
#include "fit/curves/counters.h"
#include "fit/laws/fit_timing.h"
#include "fit/profile/contradictions.h"
#include "fit/profile/copied_rows.h"
#include "fit/profile/physics_check.h"
#include "tests/fit/synthetic.h"

namespace occupipe {
namespace {

TEST(Disturbances, TheStepOfACoarseClockIsFoundAndOthersAreNot) {
    EXPECT_DOUBLE_EQ(clock_step(std::vector<double>{64, 160, 96, 4096, 992}).value(), 32);
    EXPECT_DOUBLE_EQ(clock_step(std::vector<double>{7, 8, 21, 1000}).value(), 1);
    EXPECT_FALSE(clock_step(std::vector<double>{7.13, 8.77, 21.3, 1000.91}));
    EXPECT_FALSE(clock_step(std::vector<double>{5, 5, 5, 5}));
}

std::vector<PointHistory> histories(double drift, double exponential, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::normal_distribution<double> normal;
    std::exponential_distribution<double> delay;
    std::vector<PointHistory> out(100);
    for (int i = 0; i < 500; ++i) {
        PointHistory& p = out[random() % out.size()];
        const double t =
            exponential > 0 ? 1 + exponential * delay(random) : 1 + 0.005 * normal(random);
        p.log_times.push_back(std::log(t * (1 + drift * i / 500)));
        p.order.push_back(i);
    }
    return out;
}

TEST(Disturbances, ADriftOverTheRunIsToldFromScatter) {
    const RepetitionSlope drifting = repetition_slope(histories(0.03, 0, 1)).value();
    EXPECT_TRUE(drifting.over_all_rows());
    EXPECT_TRUE(drifting.clear());
    EXPECT_NEAR(drifting.over_run, 0.03, 0.01);
    for (std::uint64_t seed = 1; seed <= 20; ++seed)
        EXPECT_FALSE(repetition_slope(histories(0, 0, seed)).value().clear());
}

// Repetitions that were taken one after the other see a tooth of a saw as a steep drift, which was
// told as one of 34 % over the run.
TEST(Disturbances, TeethOfASawAreNoDriftOverTheRun) {
    std::mt19937_64 random(1);
    std::normal_distribution<double> normal(0, 0.002);
    std::vector<PointHistory> points(66);
    constexpr int repetitions = 5, teeth = 20;
    for (std::size_t i = 0; i < points.size() * repetitions; ++i) {
        const double through = static_cast<double>(teeth * i) / (66.0 * repetitions);
        PointHistory& p = points[i / repetitions];
        p.log_times.push_back(0.04 * (through - std::floor(through)) + normal(random));
        p.order.push_back(static_cast<double>(i));
    }
    const RepetitionSlope slope = repetition_slope(points).value();
    EXPECT_TRUE(slope.clear());
    EXPECT_GT(slope.over_run, 0.2);
    EXPECT_FALSE(slope.over_all_rows());
    EXPECT_NEAR(slope.span, 5.0 / 330, 0.004);
}

// By the points' places among the shapes: one sweep, two sweeps one in the other's gaps, shuffled.
TEST(Disturbances, PointsInTheOrderOfTheirShapesAreTold) {
    const auto points = [](const std::vector<int>& turns) {
        std::vector<PointHistory> out;
        for (const int turn : turns) {
            PointHistory& p = out.emplace_back();
            for (int r = 0; r < 5; ++r) {
                p.log_times.push_back(1);
                p.order.push_back(5 * turn + r);
            }
        }
        return out;
    };
    std::vector<int> one;
    std::vector<int> two;
    for (int i = 0; i < 40; ++i) {
        one.push_back(i);
        two.push_back(i % 2 == 0 ? i / 2 : 20 + i / 2);
    }
    EXPECT_TRUE(measured_in_order(points(one)));
    EXPECT_TRUE(measured_in_order(points(two)));
    std::mt19937_64 random(1);
    int told = 0;
    for (int i = 0; i < 1000; ++i) {
        std::ranges::shuffle(one, random);
        told += measured_in_order(points(one));
    }
    EXPECT_LE(told, 5);
}

TEST(Disturbances, DelaysLiftMediansAndSymmetricScatterDoesNot) {
    // The median of an exponential distribution is log 2 of its mean.
    EXPECT_NEAR(one_sided_lift(histories(0, 0.01, 1)).value(), 0.007, 0.003);
    for (std::uint64_t seed = 1; seed <= 20; ++seed)
        EXPECT_FALSE(one_sided_lift(histories(0, 0, seed)));
}

MeasurementFile run(const char* path, double factor) {
    MeasurementFile file = test::empty_file();
    file.path = path;
    for (int w = 1; w <= 8; ++w)
        for (const int depth : {64, 128})
            file.rows.push_back(
                test::row_of("fma.f32", {w, 1, 1, depth}, factor * 4.0 * depth + w, 0));
    return file;
}

// Coarse counters and deterministic devices give the same twice.
TEST(Contradictions, EqualRunsOfDifferentDatesAreNoDuplicates) {
    MeasurementFile first = run("a.json", 1);
    MeasurementFile second = run("b.json", 1);
    first.context["date"] = "2026-11-23T01:14:36+00:00";
    second.context["date"] = first.context["date"];
    EXPECT_THROW(refuse_duplicates(std::vector{first, second}), InputError);
    second.context["date"] = "2026-11-23T02:14:36+00:00";
    const std::vector both{first, second};
    EXPECT_NO_THROW(refuse_duplicates(both));
    const std::vector<std::string> said = contradictions(both).notes;
    ASSERT_FALSE(said.empty());
    EXPECT_NE(said[0].find("equal to the last digit, but of different runs"), std::string::npos);
    // Other stops of warps are another measurement.
    second.context = first.context;
    second.rows.front().counters["stop_spread_cycles"] = 3;
    EXPECT_NO_THROW(refuse_duplicates(std::vector{first, second}));
}

// Five repetitions of forty places, counted in steps.
MeasurementFile scattered(std::uint64_t seed, double step) {
    std::mt19937_64 random(seed);
    std::normal_distribution<double> normal(0, 0.005);
    MeasurementFile file = test::empty_file();
    file.path = "a.json";
    for (int w = 1; w <= 40; ++w)
        for (int r = 0; r < 5; ++r) {
            const double cycles = 256.0 * std::max(w, 10) * (1 + normal(random));
            file.rows.push_back(test::row_of("fma.f32", {w, 1, 1, 256},
                                             step > 0 ? step * std::round(cycles / step) : cycles,
                                             r));
        }
    return file;
}

bool names_a_copy(const MeasurementFile& file) {
    return std::ranges::any_of(copies_in(std::span(&file, 1)), [](const std::string& note) {
        return note.find("a copied part counts twice") != note.npos;
    });
}

TEST(Contradictions, ACopiedPartOfAFileIsNamed) {
    for (std::uint64_t seed = 1; seed <= 10; ++seed)
        for (const double step : {0.0, 1.0}) {
            const MeasurementFile file = scattered(seed, step);
            MeasurementFile behind = file;
            for (std::size_t i = 60; i < 100; ++i) {
                behind.rows.push_back(file.rows[i]);
                behind.rows.back().repetition += 5;
            }
            EXPECT_TRUE(names_a_copy(behind)) << seed << " " << step;
            MeasurementFile beside = file;
            beside.rows.clear();
            for (std::size_t place = 0; place < 40; ++place)
                for (const int twice : {0, 5})
                    for (std::size_t r = 0; r < 5; ++r) {
                        beside.rows.push_back(file.rows[5 * place + r]);
                        beside.rows.back().repetition += twice;
                    }
            EXPECT_TRUE(names_a_copy(beside)) << seed << " " << step;
        }
}

// Equal repetitions are what a coarse counter and a deterministic device give, or a copy that
// nothing tells from these.
TEST(Contradictions, EqualRepetitionsAreNoCopyWhereChanceOrTheDeviceMakesThem) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed)
        for (const double step : {0.0, 1.0, 8.0, 32.0, 128.0, 1e4})
            EXPECT_FALSE(names_a_copy(scattered(seed, step))) << seed << " " << step;
    // One half of the places is exact, the other scatters.
    MeasurementFile half = scattered(1, 1);
    for (std::size_t i = 0; i < 100; ++i)
        half.rows[i].cycles = 256.0 * std::max(half.rows[i].shape.warps(), 10);
    EXPECT_FALSE(names_a_copy(half));
    MeasurementFile exact = scattered(1, 1e4);
    for (std::size_t i = 0; i < 100; ++i) {
        exact.rows.push_back(exact.rows[i]);
        exact.rows.back().repetition += 5;
    }
    EXPECT_FALSE(names_a_copy(exact));
}

TEST(Contradictions, RunsThatDisagreeAndTheSameRunTwiceAreNoticed) {
    EXPECT_THROW(refuse_duplicates(std::vector{run("a.json", 1), run("b.json", 1)}), InputError);
    // Written anew, in another order.
    MeasurementFile anew = run("b.json", 1);
    anew.content_hash = "another";
    std::ranges::reverse(anew.rows);
    EXPECT_THROW(refuse_duplicates(std::vector{run("a.json", 1), anew}), InputError);
    // A part of it: model devices give the same cycles in a quick sweep and in a part of a run.
    anew.rows.resize(anew.rows.size() / 2);
    for (const std::vector<MeasurementFile>& files :
         {std::vector{run("a.json", 1), anew}, {anew, run("a.json", 1)}}) {
        EXPECT_NO_THROW(refuse_duplicates(files));
        const std::vector<std::string> said = contradictions(files).notes;
        ASSERT_FALSE(said.empty());
        EXPECT_EQ(said[0], "all measurements of b.json are in a.json, too, and count twice");
    }
    const std::vector other{run("a.json", 1), run("b.json", 1.2)};
    EXPECT_NO_THROW(refuse_duplicates(other));
    const std::vector<std::string> said = contradictions(other).notes;
    ASSERT_EQ(said.size(), 1U);
    EXPECT_NE(said[0].find("fma.f32: a.json and b.json disagree by 2"), std::string::npos);
    EXPECT_TRUE(contradictions(std::vector{run("a.json", 1), run("b.json", 1.01)}).notes.empty());
}

TEST(Contradictions, ChangedUnitsAreNoticed) {
    MeasurementFile file = run("a.json", 1);
    const MeasurementFile later = run("a.json", 1000);
    file.rows.insert(file.rows.end(), later.rows.begin(), later.rows.end());
    EXPECT_FALSE(contradictions(std::vector{file}).notes.empty());
    MeasurementFile wrong = run("a.json", 1);
    for (MeasurementRow& row : wrong.rows) row.seconds /= 1000;
    EXPECT_FALSE(contradictions(std::vector{wrong}).notes.empty());
}

// Latencies of 6 and 30 cycles in one curve; many delays are no second instruction.
TEST(Contradictions, TwoInstructionsUnderOneNameAreNoticed) {
    const auto noticed = [](double other_latency, double outlier_share) {
        MeasurementFile file = test::empty_file();
        std::mt19937_64 random(1);
        for (const double latency : {6.0, other_latency})
            test::add_rows(
                file, "fma.f32", test::gpu_shapes(32, 8, 1),
                [&](const auto& s) {
                    return test::hull_time({"", latency / 6, latency}, s);
                },
                {0.005, 3, outlier_share}, random);
        return std::ranges::any_of(contradictions(std::vector{file}).notes,
                                   [](const std::string& note) {
                                       return note.find("under one name") != std::string::npos;
                                   });
    };
    EXPECT_TRUE(noticed(30, 0));
    EXPECT_TRUE(noticed(9, 0));
    EXPECT_TRUE(noticed(7.5, 0));
    EXPECT_FALSE(noticed(6, 0));
    EXPECT_FALSE(noticed(6, 0.3));
}

// Whichever of the two comes next: with two repetitions every other place has one kind alone.
TEST(Contradictions, KindsThatComeByChanceAreNoticedFromTwoRepetitionsOn) {
    const auto noticed = [](int repetitions, double factor, double share, double scatter) {
        MeasurementFile file = test::empty_file();
        std::mt19937_64 random(5);
        std::uniform_real_distribution<double> chance(0, 1);
        for (const MeasurementShape& shape : test::gpu_shapes(32, 8, 1))
            for (int r = 0; r < repetitions; ++r) {
                const double of = chance(random) < share ? factor : 1;
                const double off = 1 + scatter * (2 * chance(random) - 1);
                file.rows.push_back(test::row_of(
                    "fma.f32", shape, test::hull_time({"", 0.5, 6}, shape) * of * off, r));
            }
        return !contradictions(std::vector{file}).two_kinds.empty();
    };
    for (const int repetitions : {2, 3, 5})
        for (const double factor : {1.1, 1.2, 2.0}) {
            SCOPED_TRACE(::testing::Message() << repetitions << " repetitions, " << factor);
            EXPECT_TRUE(noticed(repetitions, factor, 0.5, 0.01));
            EXPECT_FALSE(noticed(repetitions, factor, 0.1, 0.01));
            EXPECT_FALSE(noticed(repetitions, 1, 0, factor - 1));  // up to 100 % of scatter
        }
}

MeasurementFile repeated(unsigned seed, int repetitions, double scatter,
                         const std::function<double(int r, std::mt19937_64&)>& factor,
                         const test::Truth& other = {"", 1, 5}) {
    MeasurementFile file = test::empty_file();
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> chance(-1, 1);
    std::vector<MeasurementShape> shapes = test::gpu_shapes(32, 12, 4);
    std::ranges::shuffle(shapes, random);
    for (const MeasurementShape& shape : shapes)
        for (int r = 0; r < repetitions; ++r) {
            const double slower = factor(r, random);
            const test::Truth truth = slower < 0 ? other : test::Truth{"", 1, 5};
            const double off = 1 + scatter * chance(random);
            file.rows.push_back(test::row_of(
                "fma.f32", shape, test::hull_time(truth, shape) * std::abs(slower) * off, r));
        }
    return file;
}

// A first repetition that is 8 % slow was called two instructions under one name.
TEST(Contradictions, SlowFirstRepetitionsAreAWarmUpAndDoNotCount) {
    for (const int repetitions : {3, 5})
        for (unsigned seed = 1; seed <= 5; ++seed) {
            const MeasurementFile file =
                repeated(seed, repetitions, 0.005, [](int r, auto&) { return r == 0 ? 1.08 : 1; });
            EXPECT_TRUE(contradictions(std::vector{file}).notes.empty());
            const Curve curve = curves_of(std::span(&file, 1)).at(0);
            ASSERT_TRUE(curve.warm_up);
            EXPECT_NEAR(*curve.warm_up, 0.08, 0.01);
            for (const CurvePoint& point : curve.points)
                EXPECT_EQ(static_cast<int>(point.repetitions.size()), repetitions - 1);
            const TimingFit fit = fit_timing(curve, InstructionKind::compute);
            EXPECT_NEAR(fit.cpi.value, 1, 0.005);
            EXPECT_LE(*fit.cpi.std_error, 0.005);
            EXPECT_TRUE(std::ranges::any_of(fit.notes, [](const std::string& note) {
                return note.find("first repetitions take") != std::string::npos;
            }));
        }
}

TEST(Disturbances, OnlyAFirstRepetitionThatStandsOutIsAWarmUp) {
    const auto told = [](const MeasurementFile& file) {
        return curves_of(std::span(&file, 1)).at(0).warm_up.has_value();
    };
    for (unsigned seed = 1; seed <= 5; ++seed) {
        EXPECT_FALSE(told(repeated(seed, 5, 0.02, [](int, auto&) { return 1.0; })));
        EXPECT_FALSE(
            told(repeated(seed, 2, 0.005, [](int r, auto&) { return r == 0 ? 1.08 : 1; })));
        // Each is shorter than the one before, or any of them is long.
        EXPECT_FALSE(told(repeated(seed, 5, 0.001, [](int r, auto&) { return 1 - 0.02 * r; })));
        EXPECT_FALSE(told(repeated(seed, 5, 0.005, [](int, auto& random) {
            return std::bernoulli_distribution(0.3)(random) ? 1.5 : 1.0;
        })));
        EXPECT_TRUE(told(repeated(seed, 5, 0.01, [](int r, auto&) { return r == 0 ? 1.05 : 1; })));
    }
}

// Half of all repetitions at another clock: λ and Λ by one factor, which no one can tell from two
// instructions. Kinds that differ by two factors are two instructions.
TEST(Contradictions, StatesOfAClockAreNotCalledTwoInstructions) {
    const auto kinds = [](const MeasurementFile& file) {
        const Contradictions found = contradictions(std::vector{file});
        const auto it = found.two_kinds.find("fma.f32");
        return it == found.two_kinds.end() ? std::nullopt : std::optional(it->second);
    };
    const auto by_chance = [](double factor) {
        return [factor](int, std::mt19937_64& random) {
            return std::bernoulli_distribution(0.5)(random) ? factor : 1.0;
        };
    };
    for (unsigned seed = 1; seed <= 8; ++seed) {
        for (const double factor : {1.08, 1.3}) {
            const auto states = kinds(repeated(seed, 5, 0.005, by_chance(factor)));
            ASSERT_TRUE(states) << factor;
            EXPECT_TRUE(states->one_factor) << factor;
            EXPECT_NEAR(states->factor, factor, 0.02) << factor;
        }
        const auto in_turn = [](int r, auto&) { return r % 2 == 0 ? 1.0 : -1.0; };
        const auto two = kinds(repeated(seed, 6, 0.005, in_turn, {"", 1.2, 7}));
        ASSERT_TRUE(two);
        EXPECT_FALSE(two->one_factor);
        const auto far = kinds(repeated(seed, 5, 0.005, by_chance(5)));
        ASSERT_TRUE(far);
        EXPECT_FALSE(far->one_factor);
    }
}

// Λ 5 and 6.25 gave 5.65 ± 0.08, λ 1 and 1.25 an error of a tenth of what lies between them.
TEST(Contradictions, KindsThatDifferInLatencyOrInCpiAloneAreNoticed) {
    const auto kinds = [](unsigned seed, double other_cpi, double other_latency, double scatter) {
        MeasurementFile file = test::empty_file();
        std::mt19937_64 random(seed);
        std::uniform_real_distribution<double> chance(0, 1);
        for (const MeasurementShape& shape : test::gpu_shapes(32, 12, 4))
            for (int r = 0; r < 5; ++r) {
                const test::Truth truth = chance(random) < 0.5
                                              ? test::Truth{"", 1, 5}
                                              : test::Truth{"", other_cpi, other_latency};
                const double off = 1 + scatter * (2 * chance(random) - 1);
                file.rows.push_back(
                    test::row_of("fma.f32", shape, test::hull_time(truth, shape) * off, r));
            }
        const Contradictions found = contradictions(std::vector{file});
        const auto it = found.two_kinds.find("fma.f32");
        return it == found.two_kinds.end() ? std::nullopt : std::optional(it->second.with);
    };
    int few = 0;
    int many = 0;
    for (unsigned seed = 1; seed <= 10; ++seed) {
        few += kinds(seed, 1, 6.25, 0.005) == TwoKinds::With::few;
        many += kinds(seed, 1.25, 5, 0.005) == TwoKinds::With::many;
        for (const double scatter : {0.005, 0.05, 0.2})
            EXPECT_FALSE(kinds(seed, 1, 5, scatter)) << scatter;
    }
    EXPECT_GE(few, 8);  // of 24 places as few as 21 may show both by chance
    EXPECT_GE(many, 9);
}

// Cycles per step that jump between depths of one shape are in two units; an overhead makes no such
// jump, however large.
TEST(Contradictions, UnitsThatChangeFromDepthToDepthAreNoticed) {
    MeasurementFile file = run("a.json", 1);
    for (MeasurementRow& row : file.rows)
        if (row.shape.depth == 128) *row.cycles *= 1000;
    const auto said = contradictions(std::vector{file}).notes;
    ASSERT_FALSE(said.empty());
    EXPECT_NE(said[0].find("between depths"), std::string::npos) << said[0];
    MeasurementFile late = run("a.json", 1);
    for (MeasurementRow& row : late.rows) *row.cycles += 1e7;
    for (const std::string& note : contradictions(std::vector{late}).notes)
        EXPECT_EQ(note.find("between depths"), std::string::npos) << note;
}

TEST(Contradictions, EventTimesInMicrosecondsForNanosecondsAreNoticed) {
    MeasurementFile wrong = run("a.json", 1);
    for (MeasurementRow& row : wrong.rows) row.seconds *= 1000;
    const auto said = contradictions(std::vector{wrong}).notes;
    ASSERT_FALSE(said.empty());
    EXPECT_NE(said[0].find("is their unit right?"), std::string::npos) << said[0];
}

// The launch is in every event time and drops out of the difference between depths.
TEST(Contradictions, ACounterThatTheEventTimerContradictsIsNoticed) {
    for (const double factor : {0.5, 0.7, 1.0, 1.1, 1.5, 2.0}) {
        MeasurementFile file = run("a.json", 1);
        for (MeasurementRow& row : file.rows) {
            row.seconds += 5e-6;
            *row.cycles *= factor;
        }
        const auto said = contradictions(std::vector{file}).notes;
        const bool wrong = factor < 0.8 || factor > 1.2;
        EXPECT_EQ(std::ranges::any_of(said,
                                      [](const std::string& note) {
                                          return note.find("by the event timer") !=
                                                 std::string::npos;
                                      }),
                  wrong)
            << factor;
    }
}

// Of plain arithmetic only: a division may take its time.
TEST(Physics, ArithmeticInTheThousandsIsImplausible) {
    for (const char* subject : {"fma.f32", "div.f32"}) {
        const bool plain = std::string_view(subject) == "fma.f32";
        EXPECT_EQ(is_plain_arithmetic(subject), plain);
        MeasurementFile file = test::empty_file();
        std::mt19937_64 random(1);
        test::add_rows(
            file, subject, test::gpu_shapes(),
            [](const auto& s) {
                return test::hull_time({"", 250, 1999}, s);
            },
            {0.005, 3}, random);
        const TimingFit fit =
            fit_timing(curves_of(std::span(&file, 1)).front(), InstructionKind::compute);
        EXPECT_EQ(std::ranges::any_of(fit.notes,
                                      [](const std::string& note) {
                                          return note.find("implausible") != std::string::npos;
                                      }),
                  plain);
    }
}

TEST(Disturbances, ManyOutliersAreCounted) {
    std::vector<PointHistory> points = histories(0, 0, 3);
    EXPECT_EQ(wild_share(points), 0);
    std::mt19937_64 random(4);
    for (PointHistory& p : points)
        for (double& t : p.log_times)
            if (random() % 4 == 0) t += std::log(3.0);
    EXPECT_NEAR(wild_share(points), 0.25, 0.06);
}

TEST(WaitsForResult, ALoadOfAFloatIsNoChainUnlessItsRowSaysSo) {
    MeasurementRow row = test::row_of("ld.global.f32", {1, 1, 1, 64}, 300, 0);
    EXPECT_FALSE(waits_for_result(row));
    row.counters[dependent_counter] = 1;
    EXPECT_TRUE(waits_for_result(row));
    EXPECT_TRUE(waits_for_result(test::row_of("ld.global.u32", {1, 1, 1, 64}, 300, 0)));
    EXPECT_TRUE(waits_for_result(test::row_of("fma.f32", {1, 1, 1, 64}, 300, 0)));
}

}  // namespace
}  // namespace occupipe
