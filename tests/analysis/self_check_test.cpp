// SPDX-License-Identifier: MIT
// Planted faults in a profile as a Hopper GPU would have it: each is found, and stands first.
#include "analysis/device/self_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "core/error.h"
#include "core/files/files.h"

namespace occupipe::analysis {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Estimate value(double value, double relative_error = 0.002) {
    return {.value = value, .std_error = relative_error * value, .note = {}};
}

constexpr double h200_clock = 1.98e9;

// λ per core, whatever the scope.
void add(GpuProfile& p, const std::string& name, const std::string& subsystem, double cpi,
         double latency) {
    InstructionTiming t;
    t.name = name;
    t.subsystem = subsystem;
    t.cpi = value(cpi * p.copies(subsystem));
    t.latency = value(latency);
    t.source = Source::measured;
    p.instructions.push_back(t);
}

// Numbers as published for Hopper, λ of what every scheduler has its own of per scheduler.
GpuProfile hopper(const std::string& backend = "cuda") {
    GpuProfile p;
    p.device = {"NVIDIA H200", "NVIDIA", "Hopper", "9.0"};
    p.cores = 132;
    p.warp_size = 32;
    p.clock_hz = h200_clock;
    p.issue = {4, 0.01, 4};
    p.subsystems = {{"fma", Scope::scheduler},
                    {"alu", Scope::scheduler},
                    {"fp64", Scope::scheduler},
                    {"xu", Scope::scheduler},
                    {"mem", Scope::core}};
    add(p, "fma.f32", "fma", 0.25, 4);
    add(p, "mad.s32", "fma", 0.5, 4);
    add(p, "add.s32", "alu", 0.5, 4);
    add(p, "fma.f64", "fp64", 0.5, 8);
    add(p, "rcp.approx.ftz.f32", "xu", 2, 18);
    add(p, "shfl.sync.idx.b32", "mem", 1, 24);
    add(p, "ld.shared.u32", "mem", 1, 29.5);
    add(p, "ld.global.l1.u32", "mem", 1, 33);
    add(p, "ld.global.l2.u32", "mem", 4, 268);
    add(p, "ld.global.u32", "mem", 32, 640);
    // 32 lanes of 16 bytes on 132 cores: 4.3 TB/s
    add(p, "ld.global.v4.f32", "mem", 32 * 16 * 132 * h200_clock / 4.3e12, 40);
    p.instructions.back().latency->kind = Estimate::Kind::lower_bound;
    Annotation name;
    name.text = backend;
    p.provenance.entries.emplace_back("backend", name);
    return p;
}

InstructionTiming& find(GpuProfile& p, const std::string& name) {
    InstructionTiming* const t = p.find_instruction(name);
    if (t == nullptr) throw std::runtime_error("no " + name);
    return *t;
}

void scale(Estimate& e, double factor) { e = e.times(factor); }

const CountedLatencies counted = {
    {"fma.f32", {4, 4, 4}}, {"fma.f64", {8, 8, 8}}, {"mad.s32", {4, 4, 4}}};

MeasurementFile rows_at(const std::vector<std::pair<std::string, double>>& clocks) {
    MeasurementFile file;
    file.path = "m.json";
    file.context = {{"device_name", "NVIDIA H200"}, {"backend", "cuda"}};
    for (const auto& [subject, clock] : clocks)
        for (int repetition = 0; repetition < 3; ++repetition) {
            MeasurementRow row;
            row.subject = subject;
            row.repetition = repetition;
            row.clock_hz = clock;
            row.cycles = 1000;
            file.rows.push_back(row);
        }
    return file;
}

MeasurementFile steady_rows(double clock = h200_clock) {
    std::vector<std::pair<std::string, double>> rows;
    for (const InstructionTiming& t : hopper().instructions) rows.emplace_back(t.name, clock);
    return rows_at(rows);
}

std::string listed(const SelfCheck& check) {
    std::string text;
    for (const Finding& f : check.findings)
        text += std::to_string(f.severity) + " " + f.subject + ": " + f.meaning + "\n";
    return text;
}

void expect_first(const SelfCheck& check, Check kind, const std::string& subject) {
    ASSERT_FALSE(check.findings.empty());
    EXPECT_EQ(check.findings[0].check, kind) << listed(check);
    EXPECT_EQ(check.findings[0].subject, subject) << listed(check);
}

TEST(SelfCheckClean, AHopperLikeProfileHasNothingSeriousAndNothingSuspicious) {
    const GpuProfile p = hopper();
    const GpuProfile other = hopper("opencl");
    const std::vector files = {steady_rows()};
    const SelfCheck check = self_check(
        {.profile = p, .measurements = files, .others = std::span(&other, 1), .counted = counted});
    EXPECT_THAT(check.findings, IsEmpty()) << listed(check);
    EXPECT_EQ(check.serious(), 0U);
    for (const Check kind : {Check::throughput, Check::latency, Check::counted_latency,
                             Check::backends, Check::memory_bandwidth, Check::memory_order,
                             Check::issue_limit, Check::clock, Check::missing})
        EXPECT_THAT(check.agreements, Contains(Field(&Compared::check, kind))) << to_string(kind);
}

// Plain arithmetic of 1,000 cycles and a law that misses by a third passed without a word.
TEST(SelfCheckDoubts, ValuesThatTheirOwnFitDoubtsAreSuspicious) {
    GpuProfile p = hopper();
    add_doubt(*p.instructions[0].latency, {Doubt::Kind::law_misses, 0.33});
    const SelfCheck check = self_check({.profile = p});
    expect_first(check, Check::doubts, "");
    EXPECT_EQ(check.findings[0].level(), Level::suspicious);
    EXPECT_THAT(check.findings[0].explanation, HasSubstr(p.instructions[0].name));
}

// λ of one scheduler's copy is 1 cycle, the core's is 0.25: not +300 %.
TEST(SelfCheckUnit, LambdaIsComparedPerCoreWhateverTheScope) {
    const GpuProfile p = hopper();
    EXPECT_EQ(p.find_instruction("fma.f32")->cpi.value, 1);
    const SelfCheck check = self_check({.profile = p});
    for (const Compared& one : check.agreements) {
        if (one.check != Check::throughput || one.subject != "fma.f32") continue;
        EXPECT_DOUBLE_EQ(one.measured->value, 0.25);
        EXPECT_EQ(one.per_scheduler, 1);
        EXPECT_EQ(*one.reference, (std::pair{0.25, 0.25}));
        return;
    }
    ADD_FAILURE() << "fma.f32 was not compared";
}

TEST(SelfCheckPlanted, LambdaTooLowIsSeriousAndFirst) {
    GpuProfile p = hopper();
    scale(find(p, "add.s32").cpi, 0.75);
    const SelfCheck check = self_check({.profile = p, .counted = counted});
    expect_first(check, Check::throughput, "add.s32");
    EXPECT_EQ(check.findings[0].level(), Level::serious);
    EXPECT_THAT(check.findings[0].meaning, HasSubstr("25 % below"));
    EXPECT_NEAR(*check.findings[0].relative, -0.25, 1e-9);
}

TEST(SelfCheckPlanted, LambdaBelowTheIssueWidthIsPhysicallyImpossible) {
    GpuProfile p = hopper();
    scale(find(p, "fma.f32").cpi, 0.75);
    const SelfCheck check = self_check({.profile = p});
    expect_first(check, Check::physics, "fma.f32");
}

TEST(SelfCheckPlanted, TheLambdaOfOneSchedulerInPlaceOfTheCoresIsNamed) {
    GpuProfile p = hopper();
    for (Subsystem& s : p.subsystems) s.scope = Scope::core;  // λ 1 now stands for the core
    const SelfCheck check = self_check({.profile = p});
    EXPECT_THAT(check.findings,
                Contains(AllOf(Field(&Finding::subject, "fma.f32"),
                               Field(&Finding::explanation, HasSubstr("number of schedulers")))));
}

TEST(SelfCheckPlanted, LatencyBelowTheAssemblersCount) {
    GpuProfile p = hopper();
    scale(*find(p, "fma.f64").latency, 0.9);
    const SelfCheck check = self_check({.profile = p, .counted = counted});
    expect_first(check, Check::counted_latency, "fma.f64");
    EXPECT_EQ(check.findings[0].level(), Level::serious);
}

TEST(SelfCheckPlanted, LatencyAboveTheAssemblersCountIsOnlyANotice) {
    GpuProfile p = hopper();
    scale(*find(p, "fma.f64").latency, 1.3);
    const SelfCheck check = self_check({.profile = p, .counted = counted});
    // Others published it, too, and are contradicted first.
    EXPECT_THAT(check.findings, Contains(AllOf(Field(&Finding::check, Check::counted_latency),
                                               Field(&Finding::subject, "fma.f64"))));
    for (const Finding& one : check.findings) EXPECT_NE(one.level(), Level::serious);
}

// Steps of 6 and of 10 cycles in turn: a Λ of 7 is above the least, and impossible all the same.
TEST(SelfCheckPlanted, LatencyBelowTheMeanOfTheAssemblersCounts) {
    GpuProfile p = hopper();
    find(p, "fma.f64").latency = value(7);
    const SelfCheck check = self_check({.profile = p, .counted = {{"fma.f64", {6, 10, 8}}}});
    expect_first(check, Check::counted_latency, "fma.f64");
}

TEST(SelfCheckPlanted, ASecondLevelThatAnswersBeforeTheFirst) {
    GpuProfile p = hopper();
    find(p, "ld.global.l2.u32").latency = value(30);
    const SelfCheck check = self_check({.profile = p, .counted = counted});
    expect_first(check, Check::memory_order, "ld.global.l2.u32");
    EXPECT_EQ(check.findings[0].level(), Level::serious);
}

TEST(SelfCheckPlanted, LevelsOfTheWorkingSetOutOfOrder) {
    GpuProfile p = hopper();
    p.memory_levels = {{"ld.global.u32.working_set", value(300), 1024, 2048, 1.0},
                       {"ld.global.u32.working_set", value(40), 4096, 8192, {}}};
    const SelfCheck check = self_check({.profile = p});
    ASSERT_FALSE(check.findings.empty());
    EXPECT_EQ(check.findings[0].check, Check::memory_order);
}

TEST(SelfCheckPlanted, OpenClTenPercentOff) {
    const GpuProfile p = hopper();
    GpuProfile other = hopper("opencl");
    scale(find(other, "rcp.approx.ftz.f32").cpi, 1.1);
    const SelfCheck check =
        self_check({.profile = p, .others = std::span(&other, 1), .counted = counted});
    expect_first(check, Check::backends, "rcp.approx.ftz.f32");
    EXPECT_NE(check.findings[0].level(), Level::notice);
    EXPECT_THAT(check.findings[0].meaning, AllOf(HasSubstr("cuda"), HasSubstr("opencl")));
}

// λ per scheduler here, per core there: the same hardware.
TEST(SelfCheckPlanted, AnotherScopeInTheOtherBackendIsNoDifference) {
    const GpuProfile p = hopper();
    GpuProfile other = hopper("opencl");
    for (InstructionTiming& t : other.instructions) t.cpi = other.cpi_per_core(t);
    for (Subsystem& s : other.subsystems) s.scope = Scope::core;
    const SelfCheck check = self_check({.profile = p, .others = std::span(&other, 1)});
    EXPECT_THAT(check.findings, IsEmpty()) << listed(check);
}

TEST(SelfCheckPlanted, AnIssueLimitBelowTheThroughput) {
    GpuProfile p = hopper();
    p.issue.limit = 3;
    const SelfCheck check = self_check({.profile = p, .counted = counted});
    expect_first(check, Check::issue_limit, "");
    EXPECT_EQ(check.findings[0].level(), Level::serious);
}

TEST(SelfCheckPlanted, MoreBandwidthThanTheDataSheetHas) {
    GpuProfile p = hopper();
    scale(find(p, "ld.global.v4.f32").cpi, 0.8);  // 5.4 TB/s
    const SelfCheck check = self_check({.profile = p, .counted = counted});
    expect_first(check, Check::memory_bandwidth, "ld.global.v4.f32");
    EXPECT_EQ(check.findings[0].level(), Level::serious);
    EXPECT_NEAR(check.findings[0].measured->value, 4300 / 0.8, 1);
}

TEST(SelfCheckPlanted, TheBusOfTheMeasurementFileCountsWhereNothingIsPublished) {
    GpuProfile p = hopper();
    p.device.name = "NVIDIA Something";
    MeasurementFile file = steady_rows();
    file.context["memory_clock_hz"] = "3201000000";
    file.context["memory_bus_bits"] = "6144";  // 4.917 TB/s
    scale(find(p, "ld.global.v4.f32").cpi, 0.8);
    const SelfCheck check = self_check({.profile = p, .measurements = std::span(&file, 1)});
    expect_first(check, Check::memory_bandwidth, "ld.global.v4.f32");
}

TEST(SelfCheckPlanted, PublishedLatencyIsARangeOfSources) {
    GpuProfile p = hopper();
    find(p, "ld.shared.u32").latency = value(40);
    const SelfCheck check = self_check({.profile = p, .counted = counted});
    expect_first(check, Check::latency, "ld.shared.u32");
    EXPECT_THAT(check.findings[0].source, HasSubstr("luo-2024, Table IV, H800 PCIe"));
}

TEST(SelfCheckPlanted, ARowAtAnotherClock) {
    const GpuProfile p = hopper();
    MeasurementFile file = steady_rows();
    for (MeasurementRow& row : file.rows)
        if (row.subject == "ld.global.u32") row.clock_hz = 345e6;
    const SelfCheck check =
        self_check({.profile = p, .measurements = std::span(&file, 1), .counted = counted});
    expect_first(check, Check::clock, "ld.global.u32");
}

TEST(SelfCheckPlanted, AClockThatTheRowsDidNotWitness) {
    const GpuProfile p = hopper();
    const MeasurementFile file = steady_rows(1.7e9);
    const SelfCheck check = self_check({.profile = p, .measurements = std::span(&file, 1)});
    expect_first(check, Check::clock, "");
}

TEST(SelfCheckPlanted, AbsentRowsAreNamedWithTheReason) {
    const GpuProfile p = hopper();
    MeasurementFile file = steady_rows();
    file.context["not_measured.mma.m16n8k16.f16.f16"] = "does not fit";
    file.context["not_measured.add.f8"] = "no such unit";  // not expected: not missed
    file.rows.push_back(file.rows.front());
    file.rows.back().subject = "popc.b32";
    file.rows.push_back(file.rows.front());
    file.rows.back().subject = "clz.b32";
    file.rows.back().error = "timed out";
    file.rows.push_back(file.rows.front());
    file.rows.back().subject = "launch";  // no instruction
    file.rows.back().counters["launches"] = 4;
    const SelfCheck check = self_check({.profile = p,
                                        .measurements = std::span(&file, 1),
                                        .expected = {"fma.f32", "mma.m16n8k16.f16.f16", "vote"}});
    expect_first(check, Check::missing, "");
    EXPECT_EQ(check.findings[0].level(), Level::notice);
    EXPECT_EQ(check.findings[0].explanation,
              "Absent: clz.b32 (timed out); mma.m16n8k16.f16.f16 (does not fit); popc.b32 "
              "(measured, not fitted); vote.");
}

TEST(SelfCheckPlanted, FewerInstructionsExecutedThanTheRowClaims) {
    const GpuProfile p = hopper();
    NcuPoint point{"fma.f32", {4, 2, 1, 1024}, {"kernel", {}}};
    point.kernel.metrics["smsp__inst_executed.sum"] = 1024.0 * 8 * 132 * 1.1;
    EXPECT_THAT(self_check({.profile = p, .profiled = std::span(&point, 1)}).findings, IsEmpty());
    point.kernel.metrics["smsp__inst_executed.sum"] = 1024.0 * 8 * 132 * 0.5;
    const SelfCheck check = self_check({.profile = p, .profiled = std::span(&point, 1)});
    expect_first(check, Check::profiler, "fma.f32");
    EXPECT_EQ(check.findings[0].level(), Level::serious);
}

TEST(SelfCheckBounds, ABoundIsNoContradictionUnlessItExcludesTheReference) {
    GpuProfile p = hopper();
    Estimate& latency = *find(p, "ld.shared.u32").latency;
    latency = {.value = 200, .std_error = {}, .kind = Estimate::Kind::upper_bound, .note = ""};
    EXPECT_THAT(self_check({.profile = p}).findings, IsEmpty());
    latency.value = 10;
    EXPECT_EQ(self_check({.profile = p}).findings.at(0).subject, "ld.shared.u32");
    latency = {.value = 10, .std_error = {}, .kind = Estimate::Kind::lower_bound, .note = ""};
    EXPECT_THAT(self_check({.profile = p}).findings, IsEmpty());
    latency.value = 200;
    EXPECT_EQ(self_check({.profile = p}).findings.at(0).subject, "ld.shared.u32");
}

// The papers' tables have a Λ of two cycles and integer multiplications that look merged; nothing
// in them is impossible.
TEST(SelfCheckLiterature, ProfilesOfThePapersHaveNothingImpossible) {
    for (const char* name : {"nvidia-tesla-c2050", "nvidia-gtx-650-ti", "nvidia-quadro-k620",
                             "nvidia-gtx-1060", "nvidia-rtx-2070", "amd-r9-380"}) {
        const GpuProfile p =
            read_profile(std::string(OCCUPIPE_SOURCE_DIR) + "/profiles/" + name + ".yaml");
        const SelfCheck check = self_check({.profile = p});
        for (const Finding& f : check.findings)
            EXPECT_NE(f.check, Check::physics) << name << " " << f.subject << ": " << f.meaning;
    }
    const GpuProfile turing =
        read_profile(std::string(OCCUPIPE_SOURCE_DIR) + "/profiles/nvidia-rtx-2070.yaml");
    const SelfCheck check = self_check({.profile = turing});
    EXPECT_THAT(check.findings,
                Contains(AllOf(Field(&Finding::subject, "mul.s32"),
                               Field(&Finding::check, Check::throughput),
                               Field(&Finding::explanation, HasSubstr("Exactly half")))))
        << listed(check);
    // The paper's issue limit of 2 beside its own λ of 0.25.
    EXPECT_EQ(check.findings.at(0).check, Check::issue_limit);
}

TEST(CountedLatency, IsReadFromContextAndReceipts) {
    MeasurementFile file;
    file.path = "m.json";
    file.context = {{"counted_latency.fma.f32", "4"}, {"counted_latency.add.f16x2", "6 to 10"}};
    EXPECT_EQ(counted_latencies(file),
              (CountedLatencies{{"fma.f32", {4, 4, 4}}, {"add.f16x2", {6, 10, 6}}}));
    for (const char* bad :
         {"", "four", "0", "4.5", "6 to", "10 to 6", "4 to 5 to 6", "-4", "99999999999999999999"}) {
        file.context["counted_latency.fma.f32"] = bad;
        EXPECT_THROW(counted_latencies(file), InputError) << bad;
    }
    const std::string head = "fma.f32 chains:1 unroll:128 for sm_90 by NVRTC 13.0\n  fma.f32: …\n";
    const auto one =
        counted_latency_of_receipt(head + "  the assembler counts 4 cycles from step to step\n");
    ASSERT_TRUE(one);
    EXPECT_EQ(one->first, "fma.f32");
    EXPECT_EQ(one->second, (CountedLatency{4, 4, 4}));
    EXPECT_EQ(counted_latency_of_receipt(
                  head + "  the assembler counts 6 to 10 cycles from step to step\n")
                  ->second,
              (CountedLatency{6, 10, 6}));
    const auto uneven = counted_latency_of_receipt(
        head + "  the assembler counts from step to step: 6 (64 times), 10 (64 times) cycles\n");
    ASSERT_TRUE(uneven);
    EXPECT_EQ(uneven->second, (CountedLatency{6, 10, 8}));
    EXPECT_FALSE(counted_latency_of_receipt(
        head + "  the assembler counts from step to step: 6 (0 times) cycles\n"));
    EXPECT_FALSE(counted_latency_of_receipt(head + "  ok\n"));
    EXPECT_FALSE(counted_latency_of_receipt(
        "fma.f32 chains:4 unroll:128\n  the assembler counts 4 cycles from step to step\n"));
    EXPECT_FALSE(counted_latency_of_receipt(
        "mix(fma.f32*8,cos.approx.f32) chains:1 unroll:9\n  the assembler counts 4 cycles\n"));
}

TEST(AccessBytes, AreInTheName) {
    EXPECT_EQ(access_bytes("ld.global.v4.f32"), 16);
    EXPECT_EQ(access_bytes("ld.global.f32"), 4);
    EXPECT_EQ(access_bytes("ld.global.l1.v2.u64"), 16);
    EXPECT_EQ(access_bytes("st.global.u32"), 4);
    EXPECT_EQ(access_bytes("bar.sync"), std::nullopt);
}

}  // namespace
}  // namespace occupipe::analysis
