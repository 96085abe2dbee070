// SPDX-License-Identifier: MIT
#include "fit/laws/proportion.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/instruction.h"
#include "fit/laws/fit_timing.h"
#include "tests/fit/synthetic.h"

namespace occupipe {
namespace {

using test::Truth;

// How many times as long a run of so many cycles takes.
using Slower = std::function<double(double cycles)>;

Curve curve_of(const Truth& truth, const Slower& slower, double launch, std::uint64_t seed,
               double noise = 0.003) {
    MeasurementFile file;
    std::mt19937_64 random(seed);
    const auto law = [&](const MeasurementShape& s) {
        const double cycles = launch + test::hull_time(truth, s);
        return cycles * slower(cycles);
    };
    std::vector<MeasurementShape> shapes;
    for (const int w : {1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 28, 32, 36, 40, 48, 56, 64})
        for (const int depth : {512, 1024, 2048}) shapes.push_back({w, 1, 1, depth});
    test::add_rows(file, truth.name, shapes, law, {noise, 5}, random);
    return curves_of(std::span(&file, 1))[0];
}

TimingFit fit(const Curve& curve) { return fit_timing(curve, kind_of(curve.subject)); }

// λ and Λ came out 6 to 13 % high, with errors of a tenth of that.
TEST(Proportion, WhereLongRunsAreSlowerValuesAreMarkedAndCovered) {
    const Truth truth{"fma.f32", 0.5, 8};
    const std::vector<std::pair<std::string, Slower>> shapes{
        {"step", [](double t) { return t > 12000 ? 1.1 : 1.0; }},
        {"late step", [](double t) { return t > 40000 ? 1.06 : 1.0; }},
        {"gradual", [](double t) { return 1 - 0.1 * std::expm1(-t / 40000); }},
        {"linear", [](double t) { return 1 + 0.1 * std::min(t / 65536, 1.0); }}};
    for (const auto& [name, slower] : shapes)
        for (std::uint64_t seed = 1; seed <= 4; ++seed) {
            const TimingFit f = fit(curve_of(truth, slower, 100, seed));
            ASSERT_TRUE(f.ok) << f.reason;
            for (const auto& [e, planted] :
                 {std::pair(f.cpi, truth.cpi), std::pair(f.latency, truth.latency)}) {
                EXPECT_TRUE(is_doubtful(e)) << name << ": " << e.note;
                if (!e.identifiable()) {
                    EXPECT_GE(e.value, planted) << name;
                    continue;
                }
                EXPECT_LE(std::abs(e.value - planted), 2 * *e.std_error) << name << " " << seed;
                EXPECT_LE(*e.std_error, 0.2 * planted) << name;
            }
        }
}

// Every place's longest run alone: the launch that is fitted is less than nothing.
TEST(Proportion, ALaunchThatIsLessThanNothingIsNotBelieved) {
    const Truth truth{"fma.f32", 0.5, 8};
    MeasurementFile file;
    std::mt19937_64 random(1);
    for (const int w : {1, 2, 4, 8, 16, 24, 32, 64})  // too few places to tell by themselves
        for (const int depth : {512, 1024, 2048})
            test::add_rows(
                file, truth.name, {{w, 1, 1, depth}},
                [&](const MeasurementShape& s) {
                    return test::hull_time(truth, s) * (s.depth == 2048 ? 1.1 : 1.0);
                },
                {0.003, 5}, random);
    const TimingFit f = fit(curves_of(std::span(&file, 1))[0]);
    ASSERT_TRUE(f.ok) << f.reason;
    ASSERT_TRUE(f.overhead);
    EXPECT_GE(f.overhead->value, 0);
    for (const auto& [e, planted] :
         {std::pair(f.cpi, truth.cpi), std::pair(f.latency, truth.latency)}) {
        EXPECT_TRUE(is_doubtful(e)) << e.note;
        EXPECT_LE(std::abs(e.value - planted), 2 * *e.std_error);
    }
}

TEST(Proportion, CleanRunsAreInProportionWhateverTheLaunchCosts) {
    const Slower never = [](double) { return 1.0; };
    for (const Truth& truth : {Truth{"fma.f32", 0.5, 8}, Truth{"ld.shared.u32", 1, 29}})
        for (const double launch : {0.0, 30.0, 3000.0})
            for (const double noise : {0.002, 0.02})
                for (std::uint64_t seed = 1; seed <= 8; ++seed) {
                    const TimingFit f = fit(curve_of(truth, never, launch, seed, noise));
                    ASSERT_TRUE(f.ok) << f.reason;
                    EXPECT_FALSE(is_doubtful(f.cpi)) << launch << " " << f.cpi.note;
                    EXPECT_FALSE(is_doubtful(f.latency)) << launch;
                }
}

TEST(Proportion, ALaunchHidesWhatItIsNotTakenOutOf) {
    const Curve curve = curve_of(
        {"fma.f32", 0.5, 8}, [](double t) { return t > 12000 ? 1.1 : 1.0; }, 0, 1);
    const std::vector<double> none(curve.points.size(), 0.0);
    EXPECT_NEAR(disproportion(curve, none), 0.1, 0.01);
    const Curve launched = curve_of(
        {"fma.f32", 0.5, 8}, [](double) { return 1.0; }, 1000, 1);
    EXPECT_EQ(disproportion(launched, none), 0);
    EXPECT_EQ(disproportion(launched, std::vector<double>(curve.points.size(), 1000.0)), 0);
}

}  // namespace
}  // namespace occupipe
