// SPDX-License-Identifier: MIT
#include "fit/profile/build_profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <iterator>
#include <random>
#include <span>
#include <utility>

#include "core/error.h"
#include "core/files/files.h"
#include "fit/profile/fit_report.h"
#include "tests/fit/synthetic.h"

namespace occupipe {
namespace {

using ::testing::HasSubstr;

const std::vector<MeasurementShape>& few_shapes() {
    static const std::vector<MeasurementShape> shapes = test::gpu_shapes(64, 4);
    return shapes;
}

MeasurementFile device_file(std::uint64_t seed = 1, const std::string& backend = "cuda") {
    MeasurementFile file = test::empty_file();
    file.context["backend"] = backend;
    std::mt19937_64 random(seed);
    for (const test::Truth& t : test::gtx_1060())
        test::add_rows(
            file, t.name, few_shapes(), [&](const auto& s) { return test::time_of(t, s); },
            {0.02, 5}, random);
    // Kepler-like mix of mul.f32 (λ 0.25) and cos.approx.f32 (λ 1), issue limit 4.
    for (const int beta : {1, 2, 4, 8, 16, 32}) {
        const double ipc = std::min({4.0, beta / 1.0, 4.0 * beta / (beta + 1)});
        const double step = 64 * beta / (beta + 1.0) / ipc;
        test::add_rows(
            file, mix_name({"mul.f32", beta, "cos.approx.f32"}),
            {{32, 2, 1, 512}, {32, 2, 1, 1024}, {32, 2, 1, 2048}},
            [&](const auto& s) { return 50 + static_cast<double>(s.depth) * step; }, {0.02, 5},
            random);
    }
    return file;
}

// Of λ 0.5, Λ 6, times as `of` says for each repetition.
MeasurementFile fma_file(const std::string& path, std::uint64_t seed,
                         const std::function<double(std::mt19937_64&)>& of) {
    MeasurementFile file = test::empty_file();
    file.path = path;
    std::mt19937_64 random(seed);
    std::normal_distribution<double> off(1, 0.01);
    for (const MeasurementShape& shape : test::gpu_shapes(32, 32, 1))
        for (int r = 0; r < 5; ++r)
            file.rows.push_back(
                test::row_of("fma.f32", shape,
                             test::hull_time({"", 0.5, 6}, shape) * of(random) * off(random), r));
    std::ranges::shuffle(file.rows, random);
    return file;
}

// Before, these stood in notes of the profile or the instruction that no table looks at.
TEST(BuildProfile, WhatContradictsItselfFlagsTheNumbers) {
    const auto times = [](double factor) { return [factor](std::mt19937_64&) { return factor; }; };
    const auto delayed = [](std::mt19937_64& random) {
        return std::bernoulli_distribution(0.22)(random) ? 3.0 : 1.0;
    };
    using Files = std::vector<MeasurementFile>;
    const std::vector<std::pair<Files, Doubt::Kind>> cases = {
        {{fma_file("a", 1, times(1)), fma_file("b", 2, times(1.07))}, Doubt::Kind::runs_disagree},
        {{fma_file("a", 1, times(1000))}, Doubt::Kind::implausible},
        {{fma_file("a", 1, delayed)}, Doubt::Kind::far_off}};
    for (const auto& [files, why] : cases) {
        const FitOutcome out = fit_measurements(files);
        const InstructionTiming& found = *out.profile.find_instruction("fma.f32");
        for (const Estimate& e : {found.cpi, *found.latency}) {
            EXPECT_THAT(e.note, HasSubstr(std::string(sentence_of(why))));
            EXPECT_TRUE(has_doubt(e, why)) << e.note;
        }
    }
    const FitOutcome sound = fit_measurements(Files{fma_file("a", 1, times(1))});
    EXPECT_EQ(sound.profile.find_instruction("fma.f32")->cpi.note, "");
    EXPECT_EQ(sound.profile.find_instruction("fma.f32")->cpi.doubts, std::vector<Doubt>{});
}

// Apart by 1.25 nothing was said, apart by 1.5 the numbers did not carry what was said of them.
TEST(BuildProfile, TwoInstructionsUnderOneNameWidenItsNumbersAndFlagThem) {
    for (const double factor : {1.08, 1.25, 1.5}) {
        MeasurementFile file = test::empty_file();
        std::mt19937_64 random(3);
        std::uniform_real_distribution<double> off(-0.01, 0.01);
        for (const MeasurementShape& shape : test::gpu_shapes(32, 8, 1))
            for (int r = 0; r < 6; ++r) {
                const double of = r % 2 == 0 ? 1 : factor;
                const double cycles = test::hull_time({"", 0.5, 6}, shape) * of * (1 + off(random));
                file.rows.push_back(test::row_of("fma.f32", shape, cycles, r));
            }
        const FitOutcome out = fit_measurements(std::vector{file});
        const InstructionTiming& found = *out.profile.find_instruction("fma.f32");
        for (const auto& [e, shorter] : {std::pair(found.cpi, 0.5), std::pair(*found.latency, 6.0)})
            for (const double truth : {shorter, factor * shorter}) {
                if (e.identifiable()) {
                    EXPECT_LE(std::abs(e.value - truth), 2 * *e.std_error) << factor;
                    EXPECT_LE(*e.std_error, (factor - 1) * e.value) << factor;
                } else {
                    EXPECT_EQ(e.kind, Estimate::Kind::upper_bound) << factor;
                    EXPECT_GE(e.value, truth) << factor;
                }
                EXPECT_TRUE(is_doubtful(e)) << e.note;
            }
    }
}

// wgmma.m64n256k16 takes 128 cycles of a Hopper core's units; its four warps count as four.
TEST(BuildProfile, AnInstructionOfFourWarpsSaysSoAndItsWholeTime) {
    MeasurementFile file = test::empty_file();
    std::mt19937_64 random(1);
    std::vector<MeasurementShape> shapes;
    for (const int groups : {1, 2, 3, 4, 6, 8, 12, 16})
        for (const int depth : {512, 1024, 2048}) shapes.push_back({4, groups, 1, depth});
    // A group's instruction waits 160 cycles for the one before; the units need 128.
    test::add_rows(
        file, "wgmma.m64n256k16.f32.f16", shapes,
        [](const MeasurementShape& s) {
            return 200 + static_cast<double>(s.depth) * std::max(160, 128 * s.concurrent_groups);
        },
        {0.002, 3}, random);
    for (MeasurementRow& row : file.rows) row.counters["warps_per_instruction"] = 4;
    const FitOutcome out = fit_measurements(std::span(&file, 1));
    ASSERT_EQ(out.profile.instructions.size(), 1u);
    const InstructionTiming& timing = out.profile.instructions[0];
    EXPECT_EQ(timing.warps_per_instruction, 4);
    EXPECT_NEAR(timing.cpi.value * timing.warps_per_instruction, 128, 0.5);
    EXPECT_THAT(timing.note, HasSubstr("λ per warp; one instruction of 4 warps takes 4 λ"));
    EXPECT_THAT(format_fit_report(out), HasSubstr("4 λ: the whole instruction of 4 warps | 128"));
}

// Table 4 of the analysis paper, through files: λ of ALU and SFU, IL, and whether both are one
// subsystem.
struct Table4 {
    const char* architecture;
    double alu, sfu, limit;
    bool shared;
};

GpuProfile profile_of(const Table4& t, std::uint64_t seed) {
    MeasurementFile file = test::empty_file();
    std::mt19937_64 random(seed);
    for (const auto& [name, cpi, latency] :
         {test::Truth{"fma.f32", t.alu, 8}, test::Truth{"cos.approx.f32", t.sfu, 40}})
        test::add_rows(
            file, name, test::gpu_shapes(64, 8),
            [cpi = cpi, latency = latency](const auto& s) {
                return test::hull_time({"", cpi, latency}, s);
            },
            {0.01, 5}, random);
    for (const int beta : {1, 2, 4, 8, 16, 32}) {
        const double rate = t.shared
                                ? beta / (beta * t.alu + t.sfu)
                                : std::min({1 / t.alu, beta / t.sfu, t.limit * beta / (beta + 1)});
        const double step = 64 * beta / (beta + 1.0) / rate;
        test::add_rows(
            file, mix_name({"fma.f32", beta, "cos.approx.f32"}),
            {{32, 2, 1, 1056}, {32, 2, 1, 2112}},
            [&](const auto& s) { return 50 + static_cast<double>(s.depth) * step; }, {0.01, 5},
            random);
    }
    return fit_measurements(std::vector{file}).profile;
}

// Points in random order over a run in which everything becomes 8 % slower: of a mix's three depths
// at one shape none tells, so its slope was off by up to that.
TEST(BuildProfile, MixesAreCorrectedForADriftThatInstructionsShow) {
    const auto distance = [](const FitOutcome& a, const FitOutcome& b) {
        double most = 0;
        for (std::size_t m = 0; m < a.mixes.size(); ++m)
            for (std::size_t i = 0; i < a.mixes[m].points.size(); ++i)
                most = std::max(
                    most,
                    std::abs(a.mixes[m].points[i].per_cycle / b.mixes[m].points[i].per_cycle - 1));
        return most;
    };
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        MeasurementFile steady = device_file(seed);
        // Points in any order, the repetitions of each one after the other.
        std::mt19937_64 order(seed);
        std::vector<std::vector<MeasurementRow>> points;
        for (MeasurementRow& row : steady.rows) {
            if (row.repetition == 0) points.emplace_back();
            points.back().push_back(std::move(row));
        }
        std::ranges::shuffle(points, order);
        steady.rows.clear();
        for (auto& point : points) std::ranges::move(point, std::back_inserter(steady.rows));
        MeasurementFile drifting = steady;
        for (std::size_t i = 0; i < drifting.rows.size(); ++i)
            *drifting.rows[i].cycles *= std::exp(
                0.08 * (static_cast<double>(i) / static_cast<double>(drifting.rows.size()) - 0.5));
        const FitOutcome as_it_is = fit_measurements(std::span(&steady, 1));
        const FitOutcome corrected = fit_measurements(std::span(&drifting, 1));
        ASSERT_EQ(as_it_is.mixes.size(), corrected.mixes.size());
        EXPECT_LT(distance(as_it_is, corrected), 0.015) << seed;
        EXPECT_TRUE(std::ranges::any_of(corrected.notes, [](const std::string& note) {
            return note.find("mixes are as in its middle") != std::string::npos;
        })) << seed;
        EXPECT_FALSE(std::ranges::any_of(as_it_is.notes, [](const std::string& note) {
            return note.find("mixes are as in its middle") != std::string::npos;
        })) << seed;
    }
}

TEST(BuildProfile, FindsThePapersSubsystemsAndIssueLimits) {
    for (const Table4& t : {Table4{"Fermi", 1, 8, 1, false}, Table4{"Kepler", 0.25, 1, 4, false},
                            Table4{"Tonga", 1, 5, 1, true}})
        for (std::uint64_t seed = 1; seed <= 5; ++seed) {
            const GpuProfile p = profile_of(t, seed);
            EXPECT_EQ(p.subsystems.size(), t.shared ? 1U : 2U) << t.architecture;
            EXPECT_EQ(p.issue.limit.has_value(), !t.shared) << t.architecture;
            if (p.issue.limit) {
                EXPECT_NEAR(*p.issue.limit, t.limit, 0.02 * t.limit);
            }
            EXPECT_THAT(format_profile(p), HasSubstr("subsystems_confidence"));
        }
}

std::string error_of(const std::vector<MeasurementFile>& files) {
    try {
        fit_measurements(files);
    } catch (const InputError& e) {
        return e.what();
    }
    return "no error";
}

TEST(BuildProfile, MakesAValidProfileThatSurvivesItsFile) {
    const std::vector files{device_file()};
    const FitOutcome out = fit_measurements(files);
    EXPECT_NO_THROW(validate(out.profile));
    EXPECT_EQ(out.profile.instructions.size(), test::gtx_1060().size());
    EXPECT_EQ(out.profile.cores, 10);
    EXPECT_EQ(out.profile.warp_size, 32);
    EXPECT_EQ(out.profile.clock_hz, 1.5e9);
    for (const test::Truth& t : test::gtx_1060()) {
        const InstructionTiming* timing = out.profile.find_instruction(t.name);
        ASSERT_NE(timing, nullptr) << t.name;
        EXPECT_EQ(timing->source, Source::measured);
        EXPECT_NEAR(timing->cpi.value, t.cpi,
                    std::max(0.02 * t.cpi, 3 * timing->cpi.std_error.value()));
    }
    ASSERT_TRUE(out.profile.issue.limit);
    EXPECT_NEAR(*out.profile.issue.limit, 4, 0.1);
    EXPECT_EQ(parse_profile(format_profile(out.profile), "again.yaml"), out.profile);
}

TEST(BuildProfile, SameFilesGiveTheSameBytes) {
    const std::vector files{device_file()};
    EXPECT_EQ(format_profile(fit_measurements(files).profile),
              format_profile(fit_measurements(files).profile));
}

TEST(BuildProfile, ProvenanceNamesFilesHashesAndAssumptions) {
    const FitOutcome out = fit_measurements(std::vector{device_file()});
    const std::string yaml = format_profile(out.profile);
    EXPECT_THAT(yaml, HasSubstr("synthetic.json"));
    EXPECT_THAT(yaml, HasSubstr("xxh128:0000"));
    EXPECT_THAT(yaml, HasSubstr("assumed by instruction class"));
    EXPECT_THAT(yaml, HasSubstr("from mixes"));
    EXPECT_THAT(yaml, HasSubstr("2026-01-01"));
    EXPECT_THAT(yaml, ::testing::Not(HasSubstr("NOT HARDWARE")));
}

// The receipt's finding comes with the rows; the curve's own counters stay what they are.
TEST(BuildProfile, WhatElseIsOnTheChainIsSaidAtTheLatency) {
    MeasurementFile file = device_file();
    for (MeasurementRow& row : file.rows) {
        if (row.subject != "cos.approx.f32") continue;
        row.counters["chain.ISETP"] = 1;
        row.counters["chain.SEL"] = 2;
    }
    const std::vector files{file};
    const FitOutcome out = fit_measurements(files);
    const InstructionTiming* with = out.profile.find_instruction("cos.approx.f32");
    ASSERT_NE(with, nullptr);
    EXPECT_THAT(with->latency->note, HasSubstr("a step is 2 SEL + ISETP"));
    EXPECT_EQ(with->step, "2 SEL + ISETP");
    const InstructionTiming* alone = out.profile.find_instruction("mul.f32");
    ASSERT_NE(alone, nullptr);
    EXPECT_EQ(alone->latency->note.find("a step is"), std::string::npos);
    EXPECT_EQ(alone->step, "");
    EXPECT_EQ(parse_profile(format_profile(out.profile), "again.yaml"), out.profile);
}

TEST(BuildProfile, ModelDevicesAreLabelledEverywhere) {
    const FitOutcome out = fit_measurements(std::vector{device_file(1, "model")});
    for (const InstructionTiming& t : out.profile.instructions)
        EXPECT_THAT(t.note, HasSubstr("from a model device, not hardware")) << t.name;
    EXPECT_THAT(format_profile(out.profile), HasSubstr("NOT HARDWARE"));
    EXPECT_THAT(format_fit_report(out), HasSubstr("NOT HARDWARE"));
}

TEST(BuildProfile, MissingFactsAreNamedNotZero) {
    for (const char* key : {"device_name", "cores", "warp_size"}) {
        MeasurementFile file = device_file();
        file.context.erase(key);
        EXPECT_THAT(error_of({file}), HasSubstr(std::string("context.") + key));
        EXPECT_THAT(error_of({file}), HasSubstr("synthetic.json"));
    }
    for (const char* bad : {"0", "-3", "ten", "nan", "1e99", "2.5", ""}) {
        MeasurementFile file = device_file();
        file.context["cores"] = bad;
        EXPECT_THAT(error_of({file}), HasSubstr("context.cores")) << bad;
    }
}

TEST(BuildProfile, ClockComesFromWitnessesElseFromTheContextElseNotAtAll) {
    MeasurementFile file = device_file();
    for (MeasurementRow& row : file.rows) row.clock_hz = 1.4e9;
    EXPECT_EQ(fit_measurements(std::vector{file}).profile.clock_hz, 1.4e9);
    for (MeasurementRow& row : file.rows) row.clock_hz.reset();
    const FitOutcome claimed = fit_measurements(std::vector{file});
    EXPECT_EQ(claimed.profile.clock_hz, 1.5e9);
    EXPECT_THAT(claimed.notes, ::testing::Contains(HasSubstr("no row has a measured clock")));
    file.context.erase("clock_hz");
    EXPECT_THAT(error_of({file}), HasSubstr("context.clock_hz"));
}

TEST(BuildProfile, AMovingClockIsNoted) {
    MeasurementFile file = device_file();
    file.rows.front().clock_hz = 1.3e9;
    EXPECT_THAT(fit_measurements(std::vector{file}).notes,
                ::testing::Contains(HasSubstr("the clock moved")));
}

TEST(BuildProfile, ClocksOfTwoRunsMakeNoThirdBetweenThem) {
    std::vector files{device_file(), device_file(2)};
    for (MeasurementRow& row : files[0].rows) row.clock_hz = 1e9;
    for (MeasurementRow& row : files[1].rows) row.clock_hz = 1.506e9;
    const FitOutcome both = fit_measurements(files);
    EXPECT_EQ(both.profile.clock_hz, 1e9);
    EXPECT_THAT(both.notes, ::testing::Contains(HasSubstr("the clock moved")));
    for (MeasurementFile& file : files)
        for (MeasurementRow& row : file.rows) row.clock_hz.reset();
    files[1].context["clock_hz"] = "1000000000";
    const FitOutcome claimed = fit_measurements(files);
    EXPECT_EQ(claimed.profile.clock_hz, 1.5e9);
    EXPECT_THAT(claimed.notes, ::testing::Contains(HasSubstr("files state clocks from 1000")));
}

TEST(BuildProfile, MoreOnACoreThanItIsSaidToHoldIsNamed) {
    MeasurementFile file = device_file();
    file.context["limits_warps"] = "64";
    EXPECT_THAT(fit_measurements(std::vector{file}).notes,
                ::testing::Not(::testing::Contains(HasSubstr("limits_warps"))));
    file.context["limits_warps"] = "16";
    EXPECT_THAT(fit_measurements(std::vector{file}).notes,
                ::testing::Contains("context.limits_warps is 16, but rows ran with 64"));
}

TEST(BuildProfile, AClaimedClockThatIsNoneIsRefusedOrNamed) {
    for (const char* bad : {"1506", "0", "nan", "-1", "fast", ""}) {
        MeasurementFile file = device_file();
        file.context["clock_hz"] = bad;
        EXPECT_THAT(fit_measurements(std::vector{file}).notes,
                    ::testing::Contains(HasSubstr("context.clock_hz")))
            << bad;
        for (MeasurementRow& row : file.rows) row.clock_hz.reset();
        EXPECT_THAT(error_of({file}), HasSubstr("context.clock_hz")) << bad;
    }
    MeasurementFile file = device_file();
    file.context["clock_hz"] = "700000000";
    EXPECT_THAT(fit_measurements(std::vector{file}).notes,
                ::testing::Contains(HasSubstr("context.clock_hz is 700 MHz")));
    file.context["clock_hz"] = "1400000000";
    EXPECT_THAT(fit_measurements(std::vector{file}).notes,
                ::testing::Not(::testing::Contains(HasSubstr("context.clock_hz"))));
}

TEST(BuildProfile, FilesOfDifferentDevicesAreRefused) {
    std::vector files{device_file(), device_file(2)};
    files[1].path = "other.json";
    EXPECT_NO_THROW(fit_measurements(files));
    files[1].context["device_name"] = "Another GPU";
    const std::string error = error_of(files);
    EXPECT_THAT(error, HasSubstr("other.json"));
    EXPECT_THAT(error, HasSubstr("different devices"));
}

TEST(BuildProfile, NothingToFitIsAnErrorThatSaysWhy) {
    MeasurementFile file = test::empty_file();
    EXPECT_THAT(error_of({file}), HasSubstr("contains no measurements of instructions"));
    file = device_file();
    for (MeasurementRow& row : file.rows) row.error = "launch failed: out of resources";
    EXPECT_THAT(error_of({file}), HasSubstr("out of resources"));
    EXPECT_THAT(error_of({}), HasSubstr("no measurement files"));
}

TEST(BuildProfile, AnInstructionThatCannotBeFittedIsLeftOutAndSaid) {
    MeasurementFile file = device_file();
    for (MeasurementRow& row : file.rows)
        if (row.subject == "div.f64") row.cycles = 0;
    const FitOutcome out = fit_measurements(std::vector{file});
    EXPECT_EQ(out.profile.find_instruction("div.f64"), nullptr);
    EXPECT_THAT(format_profile(out.profile), HasSubstr("not_fitted"));
    EXPECT_THAT(format_fit_table(out), HasSubstr("cycles are not positive and finite"));
}

TEST(BuildProfile, RoundedValuesStandBesideRawOnes) {
    const FitOutcome out = fit_measurements(std::vector{device_file()});
    const auto it =
        std::find_if(out.subjects.begin(), out.subjects.end(),
                     [](const SubjectReport& s) { return s.curve.subject == "cos.approx.f32"; });
    ASSERT_NE(it, out.subjects.end());
    EXPECT_EQ(it->rounded_cpi, 1.0);
    EXPECT_EQ(it->rounded_latency, 15.0);
    EXPECT_NE(it->fit.cpi.value, 1.0);  // noisy data: the raw value is not the round one
    EXPECT_EQ(out.profile.find_instruction("cos.approx.f32")->cpi.value, it->fit.cpi.value);
}

TEST(Report, ShowsEveryPointAndEveryParameter) {
    const FitOutcome out = fit_measurements(std::vector{device_file()});
    const std::string report = format_fit_report(out);
    for (const test::Truth& t : test::gtx_1060()) EXPECT_THAT(report, HasSubstr("## " + t.name));
    EXPECT_THAT(report, HasSubstr("two subsystems with issue limit"));
    const auto lines = static_cast<std::size_t>(std::count(report.begin(), report.end(), '\n'));
    EXPECT_GT(lines, few_shapes().size() * test::gtx_1060().size());
}

TEST(Report, EstimatesShowAsManyDigitsAsTheirErrorAllows) {
    EXPECT_EQ(format_estimate({.value = 0.249531, .std_error = 0.00033, .note = ""}),
              "0.24953 ± 0.00033");
    EXPECT_EQ(format_estimate({.value = 345.52, .std_error = 12.0, .note = ""}), "346 ± 12");
    EXPECT_EQ(format_estimate({.value = 3.5,
                               .std_error = std::nullopt,
                               .kind = Estimate::Kind::upper_bound,
                               .note = "no plateau"}),
              "≤ 3.5 (no plateau)");
    EXPECT_EQ(format_estimate({.value = 10,
                               .std_error = std::nullopt,
                               .kind = Estimate::Kind::lower_bound,
                               .note = ""}),
              "≥ 10");
}

// λ of shipped measurements, as the profiles beside them have it: a change of the fitter that moves
// one by more than two of its errors, or leaves a bound of it, has to be wanted.
TEST(BuildProfile, ShippedMeasurementsKeepTheirValues) {
    const std::filesystem::path results = std::filesystem::path(OCCUPIPE_SOURCE_DIR) / "results";
    for (const auto& [measured, fitted] : {std::pair{"cpu-intel-xeon-pocl/2026-11-23-quick.json",
                                                     "cpu-intel-xeon-pocl/profile-quick.yaml"},
                                           std::pair{"cpu-amd-zen4-pocl/2026-11-21-quick.json",
                                                     "cpu-amd-zen4-pocl/profile-quick.yaml"}}) {
        const MeasurementFile file = read_measurements(results / measured);
        const GpuProfile now = fit_measurements(std::span(&file, 1)).profile;
        int compared = 0;
        for (const InstructionTiming& before : read_profile(results / fitted).instructions) {
            if (!before.cpi.identifiable() || !before.cpi.std_error) continue;
            const InstructionTiming* const timing = now.find_instruction(before.name);
            ASSERT_NE(timing, nullptr) << before.name;
            EXPECT_TRUE(timing->cpi.identifiable()) << before.name;
            EXPECT_NEAR(timing->cpi.value, before.cpi.value, 2 * *before.cpi.std_error)
                << before.name;
            ++compared;
        }
        EXPECT_GT(compared, 50) << measured;
    }
}

}  // namespace
}  // namespace occupipe
