// SPDX-License-Identifier: MIT
#include "fit/profile/physics_check.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace occupipe {
namespace {

// cycles = overhead + period(in flight) * depth, five repetitions half a per mille apart.
template <class Period>
Curve curve_of(Period period) {
    CurveBuilder builder;
    for (const int chains : {1, 2, 4, 6, 8, 10}) {
        for (const std::int64_t depth : {1000, 2000, 4000}) {
            for (int repetition = 0; repetition < 5; ++repetition) {
                MeasurementRow row;
                row.subject = "div.f32";
                row.shape = {
                    .group_warps = 1, .concurrent_groups = 1, .chains = chains, .depth = depth};
                row.repetition = repetition;
                row.cycles = (300 + period(chains) * static_cast<double>(depth)) *
                             (1 + 5e-4 * (repetition - 2));
                builder.add(row);
            }
        }
    }
    return std::move(builder).finish("div.f32");
}

double hull(int chains) { return std::max(11.0, 3.0 * chains); }
// A divider that takes 11 cycles for a lone chain but 10 for interleaved ones (seen on a Zen 4
// core).
double quirk(int chains) { return chains == 1 ? 11.0 : std::max(10.0, 3.0 * chains); }

TEST(Sanity, TheLeftEndIsTheSlopeOverDepthOfOneInstructionInFlight) {
    const auto left = left_end_latency(curve_of(hull));
    ASSERT_TRUE(left.has_value());
    EXPECT_NEAR(left->value, 11, 0.02);
    EXPECT_LT(*left->std_error, 0.02);
}

TEST(Sanity, NoLeftEndWithoutASingleChain) {
    Curve curve = curve_of(hull);
    std::erase_if(curve.points, [](const CurvePoint& point) { return point.shape.chains == 1; });
    EXPECT_FALSE(left_end_latency(curve).has_value());
}

TEST(Sanity, ALawThatHoldsIsLeftAlone) {
    const TimingFit fit = fit_timing(curve_of(hull), InstructionKind::compute);
    ASSERT_TRUE(fit.ok);
    EXPECT_NEAR(fit.latency.value, 11, 0.03);
    for (const std::string& note : fit.notes)
        EXPECT_EQ(note.find("one instruction in flight"), std::string::npos) << note;
}

TEST(Sanity, WhereTheLawDoesNotHoldTheLeftEndDecidesAndTheErrorSaysSo) {
    const TimingFit fit = fit_timing(curve_of(quirk), InstructionKind::compute);
    ASSERT_TRUE(fit.ok);
    EXPECT_NEAR(fit.latency.value, 11, 0.11);  // a contradiction of 1 % is let pass
    EXPECT_NEAR(fit.cpi.value, 3, 0.03);
    // whichever branch the robust fit took, 10 must not look impossible nor 11 unlikely
    if (*fit.latency.std_error < 0.1) {
        EXPECT_TRUE(fit.contention || fit.misfit || fit.outlying_points > 0);
    }
}

TEST(Sanity, LessThanACyclePerInstructionIsWithdrawn) {
    const TimingFit fit =
        fit_timing(curve_of([](int chains) { return 0.04 * chains; }), InstructionKind::compute);
    EXPECT_FALSE(fit.ok);
    EXPECT_NE(fit.reason.find("less than one"), std::string::npos) << fit.reason;
}

TEST(Sanity, OneCycleExactlyStands) {
    const TimingFit fit =
        fit_timing(curve_of([](int chains) { return std::max(1.0, 0.25 * chains); }),
                   InstructionKind::compute);
    EXPECT_TRUE(fit.ok) << fit.reason;
}

}  // namespace
}  // namespace occupipe
