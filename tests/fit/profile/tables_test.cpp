// SPDX-License-Identifier: MIT
// Instructions whose parameters are functions: conflicts, shapes, bytes in flight, no law at all;
// and costs outside instructions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/files/files.h"
#include "core/row_dependence.h"
#include "fit/curves/counters.h"
#include "fit/profile/build_profile.h"
#include "fit/profile/fit_report.h"
#include "tests/fit/synthetic.h"

namespace occupipe {
namespace {

using ::testing::HasSubstr;
using Counters = std::map<std::string, double>;

struct Writer {
    explicit Writer(std::uint64_t seed, double relative_noise = 0.01)
        : random(seed), noise(relative_noise) {}

    // A hull at warps 1 … 64.
    void hull(const std::string& subject, double cpi, double latency, const Counters& counters,
              int warp_limit = 64) {
        const test::Truth truth{subject, cpi, latency};
        for (int w = 1; w <= warp_limit; w *= 2)
            for (const int depth : {256, 512, 1024})
                point(subject, {w, 1, 1, depth}, test::time_of(truth, {w, 1, 1, depth}), counters);
    }
    void point(const std::string& subject, const MeasurementShape& shape, double cycles,
               const Counters& counters) {
        for (int r = 0; r < 5; ++r) {
            file.rows.push_back(
                test::row_of(subject, shape, cycles * (1 + noise * normal(random)), r));
            for (const auto& [key, value] : counters) file.rows.back().counters[key] = value;
        }
    }
    FitOutcome fit() const { return fit_measurements(std::span(&file, 1)); }

    MeasurementFile file = test::empty_file();
    std::mt19937_64 random;
    std::normal_distribution<double> normal;
    double noise;
};

const ParameterTable* table_of(const FitOutcome& out, const std::string& name,
                               const std::string& over) {
    const InstructionTiming* t = out.profile.find_instruction(name);
    if (t == nullptr) return nullptr;
    for (const ParameterTable& table : t->tables)
        if (table.over == over) return &table;
    return nullptr;
}

// docs/background/memory.md: Λ' = Λ + D·λ, λ' = (1+D)·λ with D = degree − 1.
TEST(Conflicts, SubjectsOfTheirOwnMakeOneTableAndTwoLines) {
    Writer w(1);
    for (const int degree : {1, 2, 4, 8, 16, 32}) {
        const std::string name =
            degree == 1 ? "ld.shared.b32" : fmt::format("ld.shared.b32.conflict{}", degree);
        const Counters counters =
            degree == 1 ? Counters{} : Counters{{conflict_degree_counter, degree}};
        w.hull(name, 2.0 * degree, 23 + 2.0 * (degree - 1), counters);
    }
    const FitOutcome out = w.fit();
    ASSERT_EQ(out.families.size(), 1U);
    const Family& f = out.families[0];
    EXPECT_EQ(f.name, "ld.shared.b32");
    ASSERT_TRUE(f.cpi_line.ok() && f.latency_line.ok());
    EXPECT_NEAR(f.cpi_line.intercept.value, 2, 0.03);
    EXPECT_NEAR(f.cpi_line.slope.value, 2, 0.03);
    EXPECT_NEAR(f.latency_line.intercept.value, 23, 0.4);
    EXPECT_NEAR(f.latency_line.slope.value, 2, 0.2);
    ASSERT_EQ(f.notes.size(), 2U);
    EXPECT_THAT(f.notes[0], HasSubstr(": one λ per pass"));
    const ParameterTable* table = table_of(out, "ld.shared.b32", "conflict_degree");
    ASSERT_NE(table, nullptr);
    ASSERT_EQ(table->rows.size(), 6U);
    EXPECT_EQ(table->rows[5].at, 32);
    EXPECT_NEAR(table->rows[5].cpi->value, 64, 1);
    EXPECT_TRUE(out.profile.find_instruction("ld.shared.b32.conflict8")->tables.empty());
}

TEST(Conflicts, PassesThatCostOtherThanTheModelSaysAreSaid) {
    Writer w(2);
    for (const int degree : {1, 2, 4, 8, 16})
        w.hull("ld.shared.b32", 1 + 0.5 * (degree - 1), 23 + 3.0 * (degree - 1),
               degree == 1 ? Counters{} : Counters{{conflict_degree_counter, degree}});
    const FitOutcome out = w.fit();
    ASSERT_EQ(out.families.size(), 1U);
    EXPECT_NEAR(out.families[0].cpi_line.slope.value, 0.5, 0.02);
    EXPECT_NEAR(out.families[0].latency_line.slope.value, 3, 0.1);
    EXPECT_THAT(out.families[0].notes[0], HasSubstr("not one λ per pass"));
    // One subject, one entry: λ and Λ without conflicts, the rest in its table.
    ASSERT_EQ(out.profile.instructions.size(), 1U);
    EXPECT_NEAR(out.profile.instructions[0].cpi.value, 1, 0.02);
    EXPECT_EQ(out.profile.instructions[0].tables.at(0).rows.size(), 5U);
}

TEST(Shapes, MatrixUnitsMakeATableOverN) {
    Writer w(3);
    // No faster below N = 64.
    const auto cpi = [](int n) { return std::max(32.0, 0.5 * n); };
    for (const int n : {8, 16, 32, 64, 128, 192, 256})
        w.hull(fmt::format("wgmma.m64n{}k16.f16", n), cpi(n), 30 + cpi(n), {{shape_n_counter, n}},
               8);
    const FitOutcome out = w.fit();
    ASSERT_EQ(out.families.size(), 1U);
    EXPECT_EQ(out.families[0].name, "wgmma.m64nNk16.f16");
    const LineFit& line = out.families[0].cpi_line;
    ASSERT_TRUE(line.ok() && line.bend);
    EXPECT_NEAR(line.slope.value, 0, 0.02);
    EXPECT_NEAR(line.bend->slope.value, 0.5, 0.02);
    EXPECT_NEAR(line.bend->at.value, 64, 6);
    const ParameterTable* table = table_of(out, "wgmma.m64n8k16.f16", "shape_n");
    ASSERT_NE(table, nullptr);
    ASSERT_EQ(table->rows.size(), 7U);
    EXPECT_NEAR(table->rows[6].cpi->value, 128, 2);
    EXPECT_EQ(out.profile.instructions.size(), 7U);
    EXPECT_EQ(parse_profile(format_profile(out.profile), "p.yaml"), out.profile);
}

TEST(Shapes, NamesOfFamilies) {
    EXPECT_EQ(shape_family("wgmma.m64n64k16.f16", 64), "wgmma.m64nNk16.f16");
    EXPECT_EQ(shape_family("mma.sync.m16n8k16.f16", 8), "mma.sync.m16nNk16.f16");
    EXPECT_EQ(shape_family("mma.m16n16k16", 16), "mma.m16nNk16");
    EXPECT_EQ(shape_family("tensor", 16), "tensor");
    EXPECT_EQ(conflict_family("ld.shared.b32.conflict32", 32), "ld.shared.b32");
    EXPECT_EQ(conflict_family("ld.shared.b32.conflict32", 2), "ld.shared.b32.conflict32");
    EXPECT_EQ(conflict_family("plain2", 2), "plain2");
}

TEST(BytesInFlight, CopiesMakeATableBesideTheLaw) {
    Writer w(4);
    const test::Truth truth{"cp.async.b128", 16, 640};
    for (const int warps : {1, 2, 4, 8, 16, 32, 64})
        for (const int depth : {64, 128})
            w.point(truth.name, {warps, 1, 1, depth}, test::hull_time(truth, {warps, 1, 1, depth}),
                    {{bytes_in_flight_counter, 512.0 * warps}, {access_bytes_counter, 16}});
    const FitOutcome out = w.fit();
    const ParameterTable* table = table_of(out, truth.name, "bytes_in_flight");
    ASSERT_NE(table, nullptr);
    ASSERT_EQ(table->rows.size(), 7U);
    EXPECT_EQ(table->rows[0].at, 512);
    EXPECT_EQ(table->rows[6].at, 512 * 64);
    EXPECT_NEAR(table->rows[0].latency->value, 640, 20);   // alone
    EXPECT_NEAR(table->rows[6].cpi->value, 16, 0.5);       // saturated
    EXPECT_NEAR(table->rows[6].latency->value, 1024, 30);  // queues
    EXPECT_NEAR(out.profile.instructions[0].cpi.value, 16, 0.3);
}

TEST(NoLaw, ATableOverInstructionsInFlightStandsInWithANote) {
    Writer w(5, 0.002);
    // Throughput that collapses beyond 16 warps: no hull.
    const auto step = [](int m) { return m <= 16 ? 300.0 : 300.0 + 2.0 * (m - 16) * (m - 16); };
    for (int m = 1; m <= 64; m += 3)
        for (const int depth : {256, 512, 1024})
            w.point("ld.global.dram.b32", {m, 1, 1, depth}, step(m) * depth, {});
    w.hull("fma.f32", 1, 6, {});
    const FitOutcome out = w.fit();
    const ParameterTable* table = table_of(out, "ld.global.dram.b32", "in_flight");
    ASSERT_NE(table, nullptr);
    EXPECT_THAT(table->note, HasSubstr("no law"));
    ASSERT_EQ(table->rows.size(), 22U);
    EXPECT_NEAR(table->rows[0].latency->value, 300, 2);
    EXPECT_NEAR(table->rows[21].latency->value, step(64), 0.01 * step(64));
    EXPECT_NEAR(table->rows[21].cpi->value, step(64) / 64, 0.01 * step(64) / 64);
    EXPECT_THAT(out.profile.find_instruction("ld.global.dram.b32")->note, HasSubstr("no law fits"));
    EXPECT_EQ(table_of(out, "fma.f32", "in_flight"), nullptr);
}

TEST(Independent, StreamsGiveThroughputAndNoLatency) {
    Writer w(6);
    w.hull("ld.global.dram.b32", 8, 40, {{dependent_counter, 0}, {access_bytes_counter, 4}});
    w.hull("ld.global.l2.b32", 4, 200, {{dependent_counter, 1}, {access_bytes_counter, 4}});
    const FitOutcome out = w.fit();
    const InstructionTiming* stream = out.profile.find_instruction("ld.global.dram.b32");
    EXPECT_TRUE(stream->cpi.identifiable());
    EXPECT_NEAR(stream->cpi.value, 8, 0.1);
    EXPECT_FALSE(stream->latency);
    EXPECT_THAT(stream->latency_unknown, HasSubstr("do not depend"));
    EXPECT_TRUE(out.profile.find_instruction("ld.global.l2.b32")->latency->identifiable());
    const std::string written = format_profile(out.profile);
    EXPECT_TRUE(written.starts_with("format: occupipe-profile/2\n"));
    EXPECT_EQ(parse_profile(written, "p.yaml"), out.profile);
    const std::string report = format_fit_report(out);
    // 32 threads of 4 bytes every 8 cycles; 10 cores at 1.5 GHz.
    const double rate = 32 * 4 / out.subjects[0].fit.cpi.value;
    EXPECT_NEAR(rate, 16, 0.2);
    EXPECT_THAT(report, HasSubstr(fmt::format("| {:.4g} | {:.4g} |", rate, rate * 10 * 1.5)));
    EXPECT_THAT(format_fit_table(out), HasSubstr("Λ not measured"));
}

TEST(Overheads, LaunchesGroupsAndLoopsAreLinesWithIntercepts) {
    Writer w(7);
    w.hull("fma.f32", 1, 6, {});
    const auto seconds = [&](const char* counter, double x, double y,
                             const std::string& subject = "empty") {
        for (int r = 0; r < 5; ++r) {
            MeasurementRow row = test::row_of(subject, {1, 1, 1, 1}, 1, r);
            row.cycles.reset();
            row.seconds = y * (1 + 0.005 * w.normal(w.random));
            row.counters[counter] = x;
            w.file.rows.push_back(std::move(row));
        }
    };
    for (const int n : {1, 2, 4, 8, 16, 32, 64}) {
        seconds(awaited_launches_counter, n, 9e-6 + 8e-6 * n, "launch.awaited");
        seconds(launches_counter, n, 5e-6 + 2.2e-6 * n);
        seconds(graph_launches_counter, n, 4e-6 + 1.1e-6 * n, "launch.graph");
        seconds(launch_groups_counter, 64 * n, 4e-6 + 1e-9 * std::max(0, 64 * n - 512));
        w.point("loop", {1, 1, 1, 1}, 120 + 14.0 * n * 100, {{loop_iterations_counter, 100.0 * n}});
    }
    const FitOutcome out = w.fit();
    EXPECT_EQ(out.profile.instructions.size(), 1U);  // lines are no instructions
    const Overheads& o = out.profile.overheads;
    ASSERT_TRUE(o.launch_seconds && o.group_seconds && o.loop_cycles);
    EXPECT_NEAR(o.launch_seconds->value, 2.2e-6, 4 * *o.launch_seconds->std_error);
    EXPECT_LT(*o.launch_seconds->std_error, 3e-8);
    ASSERT_TRUE(o.awaited_launch_seconds);
    EXPECT_NEAR(o.awaited_launch_seconds->value, 8e-6, 4 * *o.awaited_launch_seconds->std_error);
    EXPECT_NEAR(o.group_seconds->value, 1e-9, 1e-10);
    EXPECT_NEAR(o.loop_cycles->value, 14, 0.2);
    ASSERT_TRUE(o.graph_launch_seconds);
    EXPECT_NEAR(o.graph_launch_seconds->value, 1.1e-6, 4 * *o.graph_launch_seconds->std_error);
    ASSERT_EQ(out.overheads.size(), 5U);
    EXPECT_NEAR(out.overheads[1].line.intercept.value, 5e-6, 2e-7);
    ASSERT_TRUE(out.overheads[3].line.bend);
    EXPECT_NEAR(out.overheads[3].line.bend->at.value, 512, 100);
    EXPECT_THAT(format_fit_report(out), HasSubstr("loop over loop_iterations"));
}

TEST(Overheads, ASlopeThatIsNotThereIsABound) {
    Writer w(8, 0.02);
    w.hull("fma.f32", 1, 6, {});
    for (const int n : {1, 2, 4, 8})
        w.point("loop", {1, 1, 1, 1}, 1000, {{loop_iterations_counter, n}});
    const FitOutcome out = w.fit();
    ASSERT_TRUE(out.profile.overheads.loop_cycles);
    EXPECT_EQ(out.profile.overheads.loop_cycles->kind, Estimate::Kind::upper_bound);
    EXPECT_EQ(out.profile.overheads.loop_cycles->note, "not distinguishable from zero");
    EXPECT_FALSE(out.profile.overheads.launch_seconds);
}

TEST(Barriers, TheLineOverGroupSizeAgreesWithTheJointFit) {
    Writer w(9);
    const test::Truth bar{"bar.sync", 2, 30};
    for (const int g : {1, 2, 4, 8, 16, 32})
        for (const int groups : {1, 2})
            for (const int depth : {256, 512, 1024})
                w.point(bar.name, {g, groups, 1, depth},
                        test::barrier_time(bar, {g, groups, 1, depth}), {});
    const FitOutcome out = w.fit();
    const SubjectReport& s = out.subjects[0];
    ASSERT_TRUE(s.fit.ok && s.barrier_line && s.barrier_line->ok());
    EXPECT_NEAR(s.barrier_line->intercept.value, 30, 0.6);
    EXPECT_NEAR(s.barrier_line->slope.value, 2, 0.06);
    EXPECT_NEAR(s.fit.latency.value, s.barrier_line->intercept.value, 0.6);
    EXPECT_THAT(format_fit_report(out), HasSubstr("group against its warps"));
}

TEST(Counters, ValuesThatCannotBeMeantAreRejectedByReason) {
    Writer w(10);
    w.hull("fma.f32", 1, 6, {});
    w.hull("a.f32", 1, 6, {{shape_n_counter, 7.5}});
    w.hull("b.f32", 1, 6, {{dependent_counter, 2}});
    w.hull("c.f32", 1, 6, {{bytes_in_flight_counter, -1}});
    const FitOutcome out = w.fit();
    EXPECT_EQ(out.profile.instructions.size(), 1U);
    for (std::size_t i = 1; i < 4; ++i) EXPECT_FALSE(out.subjects[i].fit.ok);
    EXPECT_THAT(out.subjects[1].fit.reason, HasSubstr("shape_n"));
}

// Points at full occupancy: 1000 cycles to start and 0.3 a step and chain, of 8 warps with 4
// chains.
TEST(FullRates, AreTheSlopeOverDepthAndTakeNoPartInTheCurve) {
    Writer w(11, 0);
    w.hull("fma.f32", 0.25, 4, {});
    const double before = w.fit().profile.find_instruction("fma.f32")->cpi.value;
    for (const int depth : {256, 512, 1024})
        w.point("fma.f32", {4, 2, 4, depth}, 1000 + 0.3 * 8 * 4 * depth, {{"full", 1}});
    const FitOutcome out = w.fit();
    EXPECT_DOUBLE_EQ(out.profile.find_instruction("fma.f32")->cpi.value, before);
    const ParameterTable* table = table_of(out, "fma.f32", "full_occupancy");
    ASSERT_NE(table, nullptr);
    ASSERT_EQ(table->rows.size(), 1U);
    EXPECT_EQ(table->rows[0].at, 32);
    EXPECT_NEAR(table->rows[0].cpi->value, 0.3, 1e-9);
    EXPECT_THAT(table->note, HasSubstr("8 warps"));
    EXPECT_THAT(out.notes, testing::Contains(HasSubstr("full occupancy, +20.0 %")));
}

}  // namespace
}  // namespace occupipe
