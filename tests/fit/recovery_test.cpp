// SPDX-License-Identifier: MIT
// What the fitter claims about 150 random devices, 1,000 in the full run, through text in the
// measurement format.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>

#include "core/files/files.h"
#include "core/statistics.h"
#include "fit/curves/curve.h"
#include "fit/profile/build_profile.h"
#include "tests/fit/synthetic_device.h"
#include "tests/support/thinned.h"

namespace occupipe {
namespace {

// Sanitizers slow this down twentyfold; a tenth of the devices then, and wider limits.
#if defined(__SANITIZE_ADDRESS__)
const int devices = thinned::all_cases() ? 100 : 50;
constexpr double slack = 3;
#else
const int devices = thinned::all_cases() ? 1000 : 150;
constexpr double slack = 1;
#endif

struct Tally {
    int intervals = 0;
    int covering = 0;
    int within_three = 0;
    int flags = 0;
    int right_flags = 0;
    std::vector<double> errors_at_one_percent;

    void add(const Estimate& e, double truth, double noise) {
        if (!e.identifiable()) return;
        const double z = (e.value - truth) / e.std_error.value();
        ++intervals;
        covering += std::abs(z) <= 1.96;
        within_three += std::abs(z) <= 3;
        if (noise > 0.008 && noise < 0.012)
            errors_at_one_percent.push_back(std::abs(e.value / truth - 1));
    }
};

void fit_device(std::uint64_t seed, Tally& tally) {
    test::Dice dice(seed);
    const test::RandomCore core(dice);
    std::vector<test::RandomInstruction> instructions;
    MeasurementFile file = test::empty_file();
    for (const char* name : {"a.f32", "b.f32", "c.f32"}) {
        instructions.emplace_back(core, name, dice);
        const test::RandomInstruction& i = instructions.back();
        test::add_rows(
            file, name, i.shapes(), [&](const auto& s) { return i.time(core, s); }, core.noise,
            dice.random);
    }
    const std::vector read{parse_measurements(test::json_text(file), "synthetic.json")};
    const FitOutcome out = fit_measurements(read);
    ASSERT_EQ(out.subjects.size(), instructions.size());
    for (std::size_t n = 0; n < instructions.size(); ++n) {
        const test::RandomInstruction& i = instructions[n];
        const TimingFit& f = out.subjects[n].fit;
        ASSERT_TRUE(f.ok) << "seed " << seed << ": " << f.reason;
        if (i.clear_cut) {
            tally.flags += 2;
            tally.right_flags += f.cpi.identifiable() == !i.no_plateau;
            tally.right_flags += f.latency.identifiable() == !i.no_bow;
        }
        tally.add(f.cpi, i.truth.cpi, core.noise.relative);
        tally.add(f.latency, i.truth.latency, core.noise.relative);
    }
}

TEST(Recovery, IntervalsCoverFlagsAreRightAndErrorsAreSmallOnManyDevices) {
    Tally t;
    for (int d = 1; d <= devices; ++d) fit_device(static_cast<std::uint64_t>(d), t);
    const double covered = static_cast<double>(t.covering) / t.intervals;
    const double right = static_cast<double>(t.right_flags) / t.flags;
    const double error = median(t.errors_at_one_percent);
    std::printf("%d intervals: %.2f %% cover, %.2f %% within three standard errors\n", t.intervals,
                100 * covered, 100.0 * t.within_three / t.intervals);
    std::printf("%d flags: %.2f %% right\n", t.flags, 100 * right);
    std::printf("median error at 1 %% noise: %.3f %% of %zu\n", 100 * error,
                t.errors_at_one_percent.size());
    EXPECT_GE(covered, 0.95 - 0.02 * slack);
    EXPECT_LE(covered, 0.95 + 0.02 * slack);
    EXPECT_GE(right, 1 - 0.01 * slack);
    EXPECT_LT(error, 0.005);
}

}  // namespace
}  // namespace occupipe
