// SPDX-License-Identifier: MIT
#include "fit/laws/fit_timing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "fit/laws/drift.h"
#include "tests/fit/synthetic.h"
#include "tests/fit/tiny_core.h"

namespace occupipe {
namespace {

using test::Noise;
using test::Truth;

Curve curve_from(const Truth& truth, const std::vector<MeasurementShape>& shapes,
                 const test::TimeLaw& law, const Noise& noise, std::uint64_t seed) {
    MeasurementFile file;
    std::mt19937_64 random(seed);
    test::add_rows(file, truth.name, shapes, law, noise, random);
    return curves_of(std::span(&file, 1))[0];
}

Curve hull_curve(const Truth& truth, const std::vector<MeasurementShape>& shapes,
                 const Noise& noise, std::uint64_t seed, double overhead = 0) {
    return curve_from(
        truth, shapes,
        [&](const MeasurementShape& s) { return overhead + test::time_of(truth, s); }, noise, seed);
}

TimingFit fit(const Curve& curve, const TimingFitOptions& options = {}) {
    return fit_timing(curve, kind_of(curve.subject), options);
}

std::vector<MeasurementShape> warps(std::initializer_list<int> counts,
                                    std::initializer_list<int> depths = {512, 1024, 2048}) {
    std::vector<MeasurementShape> shapes;
    for (const int w : counts)
        for (const int n : depths) shapes.push_back({1, w, 1, n});
    return shapes;
}

bool near_enough(const Estimate& e, double truth) {
    return std::abs(e.value - truth) <= std::max(3 * e.std_error.value(), 0.02 * truth);
}

TEST(FitTiming, RecoversPublishedValuesFromNoisyCurvesForManySeeds) {
    int inside = 0;
    int all = 0;
    for (std::uint64_t seed = 1; seed <= 20; ++seed)
        for (const Truth& truth : test::gtx_1060()) {
            const TimingFit f = fit(hull_curve(truth, test::gpu_shapes(), {0.02, 5}, seed));
            ASSERT_TRUE(f.ok) << truth.name << ": " << f.reason;
            ASSERT_TRUE(f.cpi.identifiable() && f.latency.identifiable()) << truth.name;
            EXPECT_TRUE(near_enough(f.cpi, truth.cpi)) << truth.name << " seed " << seed;
            EXPECT_TRUE(near_enough(f.latency, truth.latency)) << truth.name << " seed " << seed;
            all += 2;
            inside += std::abs(f.cpi.value - truth.cpi) <= 1.96 * *f.cpi.std_error;
            inside += std::abs(f.latency.value - truth.latency) <= 1.96 * *f.latency.std_error;
        }
    // 400 intervals of 95 %: three standard deviations of the count are 3.3 %.
    EXPECT_GE(inside, all * 0.917);
    EXPECT_LE(inside, all * 0.983);
}

TEST(FitTiming, NoiselessCurvesGiveTheirParametersBack) {
    for (const Truth& truth : test::gtx_1060()) {
        const TimingFit f = fit(hull_curve(truth, test::gpu_shapes(), {0, 3}, 1, 250));
        ASSERT_TRUE(f.ok) << f.reason;
        EXPECT_NEAR(f.cpi.value, truth.cpi, 1e-6 * truth.cpi) << truth.name;
        EXPECT_NEAR(f.latency.value, truth.latency, 1e-6 * truth.latency) << truth.name;
        ASSERT_TRUE(f.overhead);
        EXPECT_NEAR(f.overhead->value, 250, 0.1) << truth.name;
        EXPECT_GT(*f.cpi.std_error, 0);
        EXPECT_FALSE(f.misfit);
        EXPECT_EQ(f.schedulers, 1);
        EXPECT_FALSE(f.contention || f.knee || f.port_limit);
    }
}

// Half of the steps by one machine instruction and half by another: the law fits, and the Λ that it
// would give is neither's. What stands beside the measured instruction in each step is another
// matter.
TEST(FitTiming, StepsDealtToTwoInstructionsHaveNoLatencyOfTheirOwn) {
    Curve curve = hull_curve({"fma.f16x2", 0.5, 8}, test::gpu_shapes(), {0.01, 3}, 1);
    const TimingFit plain = fit(curve);
    ASSERT_TRUE(plain.latency.identifiable());
    curve.chain = {{"HFMA2", 0.5}, {"HFMA2.MMA", 0.5}};
    const TimingFit dealt = fit(curve);
    ASSERT_TRUE(dealt.ok);
    EXPECT_EQ(dealt.latency.kind, Estimate::Kind::undetermined);
    EXPECT_FALSE(dealt.latency.std_error);
    EXPECT_NE(dealt.latency.note.find("different machine instructions"), std::string::npos);
    EXPECT_EQ(dealt.cpi.value, plain.cpi.value);
    EXPECT_TRUE(dealt.cpi.identifiable());
    for (const std::map<std::string, double>& chain :
         {std::map<std::string, double>{{"ISETP", 1}, {"SEL", 1}},
          {{"PRMT", 1}, {"IMAD.MOV", 1.0 / 128}},
          {{"DSETP", 1}, {"FSEL", 2}}}) {
        curve.chain = chain;
        EXPECT_EQ(fit(curve).latency.value, plain.latency.value);
        EXPECT_TRUE(fit(curve).latency.identifiable());
    }
}

TEST(FitTiming, ChainsStandForWarpsAndALargeOverheadIsAbsorbed) {
    // A CPU through OpenCL: one warp, chains only, tens of microseconds of launch.
    std::vector<MeasurementShape> shapes;
    for (int c = 1; c <= 10; ++c)
        for (const int n : {65536, 131072, 262144}) shapes.push_back({1, 1, c, n});
    const Truth truth{"fma.f32", 0.5, 4};
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        const TimingFit f = fit(hull_curve(truth, shapes, {0.02, 5}, seed, 1e5));
        ASSERT_TRUE(f.ok) << f.reason;
        EXPECT_TRUE(near_enough(f.cpi, truth.cpi)) << seed << ": " << f.cpi.value;
        EXPECT_TRUE(near_enough(f.latency, truth.latency)) << seed << ": " << f.latency.value;
    }
}

TEST(FitTiming, WithoutAPlateauCpiIsABoundAndLatencyIsStillFound) {
    const Truth truth{"ld.global.u32", 12, 345};  // ridge at 28.75 warps
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        const TimingFit f = fit(hull_curve(truth, warps({1, 2, 4, 8, 12, 16, 20}), {}, seed));
        ASSERT_TRUE(f.ok) << f.reason;
        EXPECT_FALSE(f.cpi.identifiable());
        EXPECT_FALSE(f.cpi.std_error);
        EXPECT_GE(f.cpi.value, truth.cpi);  // an upper bound
        EXPECT_EQ(f.cpi.kind, Estimate::Kind::upper_bound);
        EXPECT_TRUE(f.latency.identifiable());
        EXPECT_TRUE(near_enough(f.latency, truth.latency));
    }
}

TEST(FitTiming, WithoutABowLatencyIsABoundAndCpiIsStillFound) {
    const Truth truth{"div.f64", 47, 90};  // ridge below 2 warps
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        const TimingFit f = fit(hull_curve(truth, warps({4, 8, 12, 16, 32, 64}), {}, seed));
        ASSERT_TRUE(f.ok) << f.reason;
        EXPECT_TRUE(f.cpi.identifiable());
        EXPECT_TRUE(near_enough(f.cpi, truth.cpi));
        EXPECT_FALSE(f.latency.identifiable());
        EXPECT_FALSE(f.latency.std_error);
        EXPECT_GE(f.latency.value, truth.latency);
    }
}

TEST(FitTiming, LatencyHiddenBehindCpiIsNotInvented) {
    // One warp already keeps the unit busy: Λ < λ.
    const Truth truth{"div.f64", 47, 30};
    const TimingFit f = fit(hull_curve(truth, warps({1, 2, 4, 8}), {}, 3));
    ASSERT_TRUE(f.ok) << f.reason;
    EXPECT_TRUE(near_enough(f.cpi, truth.cpi));
    EXPECT_FALSE(f.latency.identifiable());
    EXPECT_GE(f.latency.value, 47);  // what one warp's step allows
    EXPECT_LE(f.latency.value, 52);
}

TEST(FitTiming, OneShapeGivesTwoBounds) {
    const TimingFit f = fit(hull_curve({"fma.f32", 1, 20}, warps({8}), {}, 3));
    ASSERT_TRUE(f.ok) << f.reason;
    EXPECT_FALSE(f.cpi.identifiable());
    EXPECT_FALSE(f.latency.identifiable());
    EXPECT_GE(f.latency.value, 20 * 0.99);
    EXPECT_GE(f.cpi.value, 1);
}

TEST(FitTiming, OneDepthNeedsAKnownOverhead) {
    const Truth truth{"fma.f32", 1, 20};
    const Curve curve = hull_curve(truth, warps({1, 2, 4, 8, 16, 24, 32, 64}, {1024}), {}, 3, 400);
    const TimingFit refused = fit(curve);
    EXPECT_FALSE(refused.ok);
    EXPECT_NE(refused.reason.find("depth"), std::string::npos);
    TimingFitOptions known;
    known.known_overhead_cycles = 400;
    const TimingFit f = fit(curve, known);
    ASSERT_TRUE(f.ok) << f.reason;
    EXPECT_FALSE(f.overhead);
    EXPECT_TRUE(near_enough(f.cpi, truth.cpi));
    EXPECT_TRUE(near_enough(f.latency, truth.latency));
}

TEST(FitTiming, TooLittleDataIsRefusedWithAReason) {
    const TimingFit two = fit(hull_curve({"fma.f32", 1, 20}, warps({8}, {512, 1024}), {}, 3));
    EXPECT_FALSE(two.ok);
    EXPECT_NE(two.reason.find("at least 3"), std::string::npos);
    Curve empty;
    empty.subject = "fma.f32";
    empty.rows = 4;
    empty.rejected["launch failed"] = 4;
    const TimingFit none = fit(empty);
    EXPECT_FALSE(none.ok);
    EXPECT_NE(none.reason.find("launch failed"), std::string::npos);
}

TEST(FitTiming, WildRepetitionsAndWildPointsDoNotMoveTheResult) {
    const Truth truth{"mul.s32", 0.75, 12};
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        Curve curve = hull_curve(truth, test::gpu_shapes(), {0.02, 5, 0.01, 3}, seed);
        for (std::size_t i = 20; i < curve.points.size(); i += 60) curve.points[i].cycles *= 3;
        const TimingFit f = fit(curve);
        ASSERT_TRUE(f.ok) << f.reason;
        EXPECT_TRUE(near_enough(f.cpi, truth.cpi)) << seed;
        EXPECT_TRUE(near_enough(f.latency, truth.latency)) << seed;
        EXPECT_GE(f.outlying_points, 4) << seed;
    }
}

// Three of five are at one point in a hundred; λ came out as at most 1.01, or as 1.6 ± 0.3.
TEST(FitTiming, RepetitionsThatEndTooEarlyShortenNothing) {
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
        const Truth truth{"fma.f32", 2, 12};
        MeasurementFile file = test::empty_file();
        std::mt19937_64 random(seed);
        std::normal_distribution<double> normal;
        std::uniform_real_distribution<double> chance(0, 1);
        for (const MeasurementShape& shape : test::gpu_shapes(32, 16, 2))
            for (int r = 0; r < 5; ++r) {
                const double part = chance(random) < 0.1 ? 0.5 : 1;
                const double off = 1 + 0.005 * normal(random);
                file.rows.push_back(
                    test::row_of(truth.name, shape, test::hull_time(truth, shape) * part * off, r));
            }
        const TimingFit f = fit_timing(curves_of(std::span(&file, 1))[0], InstructionKind::compute);
        ASSERT_TRUE(f.ok) << f.reason;
        ASSERT_TRUE(f.cpi.identifiable()) << seed << f.cpi.note;
        EXPECT_NEAR(f.cpi.value, 2, std::max(0.02, 2 * *f.cpi.std_error)) << seed;
        EXPECT_LE(*f.cpi.std_error, 0.04) << seed;
        EXPECT_NEAR(f.latency.value, 12, 0.3) << seed;
    }
}

TEST(FitTiming, OneRepetitionPerPointStillGivesErrors) {
    const Truth truth{"mul.s32", 0.75, 12};
    int inside = 0;
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
        const TimingFit f = fit(hull_curve(truth, test::gpu_shapes(), {0.02, 1}, seed));
        ASSERT_TRUE(f.ok) << f.reason;
        inside += std::abs(f.cpi.value - truth.cpi) <= 1.96 * *f.cpi.std_error;
        inside += std::abs(f.latency.value - truth.latency) <= 1.96 * *f.latency.std_error;
    }
    EXPECT_GE(inside, 86);  // of 100, expected 95
}

TEST(FitTiming, StaircaseOfSchedulersIsFoundAndNotAveragedOver) {
    // λ = 16 per core = 64 per scheduler; from the event simulation.
    const test::TinyCore core{.cpi = 64, .latency = 300, .schedulers = 4};
    const Truth truth{"fma.f64", 16, 300};
    std::vector<MeasurementShape> shapes;
    for (int w = 1; w <= 32; ++w)
        for (const int n : {64, 128, 256}) shapes.push_back({1, w, 1, n});
    const Curve curve = curve_from(
        truth, shapes, [&](const MeasurementShape& s) { return static_cast<double>(core.run(s)); },
        {0.01, 5}, 9);
    const TimingFit f = fit(curve);
    ASSERT_TRUE(f.ok) << f.reason;
    EXPECT_EQ(f.schedulers, 4);
    EXPECT_TRUE(near_enough(f.cpi, truth.cpi)) << f.cpi.value;
    EXPECT_TRUE(near_enough(f.latency, truth.latency)) << f.latency.value;
    EXPECT_FALSE(f.misfit);
}

TEST(FitTiming, ContentionIsReportedBesideTheUnloadedLatency) {
    const Truth truth{"ld.global.u32", 10, 300};
    const auto law = [&](const MeasurementShape& s) {
        const double loaded = truth.latency + 3.0 * (s.warps() - 1);
        return test::hull_time({truth.name, truth.cpi, loaded}, s);
    };
    const TimingFit f = fit(curve_from(truth, test::gpu_shapes(), law, {0.01, 5}, 4));
    ASSERT_TRUE(f.ok) << f.reason;
    ASSERT_TRUE(f.contention);
    EXPECT_NEAR(f.contention->value, 3, std::max(3 * *f.contention->std_error, 0.1));
    EXPECT_TRUE(near_enough(f.latency, truth.latency)) << f.latency.value;
    EXPECT_TRUE(near_enough(f.cpi, truth.cpi)) << f.cpi.value;
}

TEST(FitTiming, RoundKneeIsReported) {
    const Truth truth{"fma.f32", 1, 20};
    const auto law = [&](const MeasurementShape& s) {
        const double w = s.warps();
        const double q = 0.2;
        const double period = std::pow(std::pow(20, 1 / q) + std::pow(w, 1 / q), q);
        return 20 + (w - 1) + (static_cast<double>(s.depth) - 1) * period;
    };
    const TimingFit f = fit(curve_from(truth, test::gpu_shapes(), law, {0.01, 5}, 4));
    ASSERT_TRUE(f.ok) << f.reason;
    ASSERT_TRUE(f.knee);
    EXPECT_NEAR(f.knee->value, 0.2, 0.02);
    EXPECT_TRUE(near_enough(f.cpi, truth.cpi)) << f.cpi.value;
    EXPECT_TRUE(near_enough(f.latency, truth.latency)) << f.latency.value;
}

TEST(FitTiming, SystematicMisfitIsFlaggedWithItsSize) {
    const Truth truth{"fma.f32", 1, 20};
    const auto law = [&](const MeasurementShape& s) {
        return test::hull_time(truth, s) * (1 + 0.05 * std::sin(s.warps()));
    };
    const TimingFit f = fit(curve_from(truth, test::gpu_shapes(), law, {0.002, 5}, 4));
    ASSERT_TRUE(f.ok) << f.reason;
    ASSERT_TRUE(f.misfit);
    EXPECT_NEAR(f.misfit->relative_size, 0.05 / std::sqrt(2), 0.01);
    ASSERT_FALSE(f.notes.empty());
    EXPECT_GT(f.residual_scale, 5);
}

TEST(FitTiming, SlopeNotQuotient) {
    // A third of the time is overhead; the quotient time/depth would be 50 % off.
    const Truth truth{"fma.f32", 1, 20};
    const TimingFit f = fit(hull_curve(truth, warps({1, 2, 8, 16, 32, 64}), {}, 5, 20 * 512));
    ASSERT_TRUE(f.ok) << f.reason;
    EXPECT_TRUE(near_enough(f.latency, truth.latency)) << f.latency.value;
    EXPECT_TRUE(near_enough(f.cpi, truth.cpi)) << f.cpi.value;
}

// A device that becomes slower or faster by `drift` from the first row to the last; points in the
// order of their shapes, or shuffled as `measure` does, repetitions one after the other.
Curve drifting_curve(const Truth& truth, double drift, bool in_order, std::uint64_t seed,
                     const Noise& noise = {0.005, 5}) {
    std::vector<MeasurementShape> shapes = warps({1, 2, 4, 6, 8, 12, 16, 24, 32, 48, 64});
    std::mt19937_64 random(seed);
    if (!in_order) std::ranges::shuffle(shapes, random);
    std::normal_distribution<double> normal;
    MeasurementFile file;
    const auto n = static_cast<double>(shapes.size() * static_cast<std::size_t>(noise.repetitions));
    for (const MeasurementShape& shape : shapes)
        for (int r = 0; r < noise.repetitions; ++r) {
            const double t = (200 + test::time_of(truth, shape)) *
                             (1 + drift * static_cast<double>(file.rows.size()) / n) *
                             (1 + noise.relative * normal(random));
            file.rows.push_back(test::row_of(truth.name, shape, t, r));
        }
    return curves_of(std::span(&file, 1))[0];
}

bool holds(const Estimate& e, double truth, double errors) {
    return e.identifiable() && std::abs(e.value - truth) <= errors * *e.std_error;
}

TEST(FitTiming, ADriftInMeasuresOrderIsFoundAndStandsInTheErrors) {
    const Truth truth{"fma.f32", 0.25, 6};
    for (const double drift : {-0.05, 0.03, 0.1})
        for (std::uint64_t seed = 1; seed <= 5; ++seed) {
            const TimingFit f = fit(drifting_curve(truth, drift, false, seed));
            ASSERT_TRUE(f.ok && f.drift) << f.reason << " drift " << drift << " seed " << seed;
            EXPECT_NEAR(f.drift->value, drift, 0.01) << seed;
            EXPECT_TRUE(holds(f.cpi, truth.cpi, 2)) << drift << " " << f.cpi.value;
            EXPECT_TRUE(holds(f.latency, truth.latency, 2)) << drift << " " << f.latency.value;
            // The middle of the run is known well, whatever the run did.
            EXPECT_NEAR(f.cpi.value, (1 + drift / 2) * truth.cpi, 0.01 * truth.cpi);
            EXPECT_LT(*f.cpi.std_error, 0.5 * std::abs(drift) * f.cpi.value);
            EXPECT_EQ(f.schedulers, 1) << drift << " " << seed;
            EXPECT_FALSE(f.contention) << drift << " " << seed;
            EXPECT_TRUE(std::ranges::any_of(f.notes, [](const std::string& note) {
                return note.find("drift") != std::string::npos;
            }));
        }
}

// A third more at some numbers of warps, above the ridge and below: the misfit of the rest is
// small.
TEST(FitTiming, ValuesAreMarkedWhereTheLawMissesManyPoints) {
    MeasurementFile file = test::empty_file();
    std::mt19937_64 random(4);
    const Truth truth{"fma.f32", 1, 6};
    test::add_rows(
        file, truth.name, test::gpu_shapes(32, 32, 1),
        [&](const MeasurementShape& s) {
            return test::hull_time(truth, s) * (s.warps() % 5 == 2 ? 1.33 : 1.0);
        },
        {0.01, 5}, random);
    const TimingFit f = fit(curves_of(std::vector{file}).at(0));
    ASSERT_TRUE(f.ok) << f.reason;
    EXPECT_TRUE(is_doubtful(f.cpi)) << f.cpi.note;
    EXPECT_TRUE(is_doubtful(f.latency)) << f.latency.note;
}

TEST(FitTiming, ASteadyRunHasNoDrift) {
    const Truth truth{"fma.f32", 0.25, 6};
    for (const bool in_order : {false, true})
        for (std::uint64_t seed = 1; seed <= 10; ++seed)
            EXPECT_FALSE(fit(drifting_curve(truth, 0, in_order, seed)).drift) << seed;
}

TEST(FitTiming, ADriftInTheOrderOfTheShapesIsNoGrowthAndMarksTheValues) {
    const Truth truth{"fma.f32", 0.25, 6};
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        const TimingFit f = fit(drifting_curve(truth, 0.1, true, seed));
        ASSERT_TRUE(f.ok) << f.reason;
        EXPECT_TRUE(holds(f.cpi, truth.cpi, 2)) << seed << " " << f.cpi.value;
        EXPECT_TRUE(holds(f.latency, truth.latency, 2)) << seed << " " << f.latency.value;
        EXPECT_FALSE(f.contention) << seed;
        EXPECT_TRUE(is_doubtful(f.cpi)) << f.cpi.note;
        EXPECT_TRUE(is_doubtful(f.latency)) << f.latency.note;
    }
}

// Instructions one after the other: at the second the device has changed already.
TEST(FitTiming, ADriftBeforeAnInstructionsFirstRowStandsInItsErrors) {
    const Truth truth{"fma.f32", 0.25, 6};
    const std::vector<MeasurementShape> shapes = warps({1, 2, 4, 6, 8, 12, 16, 24, 32, 48, 64});
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        std::mt19937_64 random(seed);
        std::normal_distribution<double> normal;
        MeasurementFile file;
        const double rows = 2 * 5 * static_cast<double>(shapes.size());
        for (const char* name : {"add.f32", "fma.f32"})
            for (const MeasurementShape& shape : shapes)
                for (int r = 0; r < 5; ++r) {
                    const double t = (200 + test::time_of(truth, shape)) *
                                     (1 + 0.1 * static_cast<double>(file.rows.size()) / rows) *
                                     (1 + 0.005 * normal(random));
                    file.rows.push_back(test::row_of(name, shape, t, r));
                }
        for (const Curve& curve : curves_of(std::span(&file, 1))) {
            const TimingFit f = fit(curve);
            ASSERT_TRUE(f.ok) << f.reason;
            EXPECT_TRUE(holds(f.cpi, truth.cpi, 2.5))
                << seed << " " << f.cpi.value << " " << *f.cpi.std_error;
            EXPECT_TRUE(holds(f.latency, truth.latency, 2.5)) << seed << " " << f.latency.value;
        }
    }
}

// Too small to be found, such a drift still stands in the errors.
TEST(FitTiming, ADriftInTheOrderOfTheShapesThatMayHideWidensTheErrors) {
    const Truth truth{"fma.f32", 0.25, 6};
    int inside = 0;
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        const TimingFit f = fit(drifting_curve(truth, 0.01, true, seed));
        ASSERT_TRUE(f.ok) << f.reason;
        inside += holds(f.cpi, truth.cpi, 3) + holds(f.latency, truth.latency, 3);
    }
    EXPECT_GE(inside, 18);
}

// Times modulo 2^13 follow no law: a bound of Λ below a cycle is none.
TEST(FitTiming, ACounterThatWrapsGivesNoNumbers) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        Curve curve = hull_curve({"fma.f32", 0.25, 6}, test::gpu_shapes(), {0.005, 5}, seed, 200);
        MeasurementFile file;
        for (const CurvePoint& p : curve.points)
            for (const double cycles : p.repetitions)
                file.rows.push_back(
                    test::row_of("fma.f32", p.shape, std::fmod(cycles, 8192) + 1, 0));
        const TimingFit f = fit(curves_of(std::span(&file, 1))[0]);
        EXPECT_FALSE(f.ok) << f.cpi.value << " " << f.latency.value;
        EXPECT_FALSE(f.reason.empty());
    }
}

// What is wrong with a shape is wrong at all its depths, and a few shapes say little about their
// own spread.
TEST(FitTiming, WindowsOfAFewShapesCoverLambda) {
    std::mt19937_64 random(11);
    std::uniform_real_distribution<double> wrong(-0.03, 0.03);
    TimingFit law;
    law.cpi.value = 2;
    law.latency.value = 24;
    int inside = 0;
    constexpr int curves = 400;
    for (int i = 0; i < curves; ++i) {
        Curve curve;
        for (int warps = 20; warps <= 60; warps += 8) {
            const double of_shape = wrong(random);
            for (const int depth : {64, 128, 256}) {
                CurvePoint& point = curve.points.emplace_back();
                point.shape = {1, warps, 1, depth};
                point.window_cpi = law.cpi.value * (1 + of_shape + 0.1 * wrong(random));
            }
        }
        const std::optional<Estimate> found = cpi_of_windows(curve, law, 4);
        ASSERT_TRUE(found);
        inside += std::abs(found->value - law.cpi.value) <= 2 * *found->std_error;
    }
    EXPECT_GE(inside, 0.92 * curves);
    EXPECT_LE(inside, 0.98 * curves);
}

}  // namespace
}  // namespace occupipe
