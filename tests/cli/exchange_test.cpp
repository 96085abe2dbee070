// SPDX-License-Identifier: MIT
// `export` and `import` through the program.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "core/files/files.h"
#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"

namespace occupipe::test {
namespace {

using cli::testing::ProgramRun;
using cli::testing::run_program;
using ::testing::HasSubstr;

class Exchange : public ::testing::Test {
protected:
    std::string at(const std::string& name) const { return (work.path / name).string(); }
    std::string written(const std::string& name, const std::string& text) const {
        std::ofstream(at(name)) << text;
        return at(name);
    }
    TemporaryFolder work;
};

TEST_F(Exchange, AConfigurationBesideAProfile) {
    const ProgramRun out = run_program(
        {"export", "accelsim", "rtx-2070", "--units", "int=4,sp=4", "-o", at("rtx.config")});
    ASSERT_EQ(out.exit_code, 0) << out.err;
    EXPECT_THAT(out.err, HasSubstr("no -gpgpu_l1_latency"));
    const ProgramRun in = run_program({"import", "accelsim", at("rtx.config"), "--clock-hz",
                                       "1410e6", "-o", at("simulator.yaml")});
    ASSERT_EQ(in.exit_code, 0) << in.err;
    const ProgramRun checked = run_program({"check", at("simulator.yaml")});
    EXPECT_EQ(checked.exit_code, 0) << checked.out << checked.err;
    const ProgramRun diff = run_program({"diff", "rtx-2070", at("simulator.yaml"), "--all"});
    ASSERT_EQ(diff.exit_code, 0) << diff.err;
    EXPECT_THAT(diff.out, HasSubstr("mul.f32 λ: 0.5 -> 0.5: same"));
    EXPECT_THAT(diff.out, HasSubstr("mul.f64 λ: 19 -> 19: same"));
    EXPECT_THAT(diff.out, HasSubstr("mul.f64 Λ: 45 -> 45: same"));
    // Four units of double precision: 76 cycles of each, and Λ is not below.
    EXPECT_THAT(run_program({"export", "accelsim", "rtx-2070", "--units", "4"}).out,
                HasSubstr("\n-trace_opcode_latency_initiation_dp 76,76\n"));
    for (const char* units : {"0", "65", "4x", "sp=4,", "sp=4,5", "sp=0", "fp=4", "sp=4,sp=4"}) {
        const ProgramRun bad = run_program({"export", "accelsim", "rtx-2070", "--units", units});
        EXPECT_EQ(bad.exit_code, 2) << units;
        EXPECT_THAT(bad.err, HasSubstr("--given units: '")) << units;
    }
    // Without --force nothing is replaced.
    EXPECT_EQ(run_program({"export", "gem5", "rtx-2070", "-o", at("rtx.config")}).exit_code, 2);
    EXPECT_EQ(
        run_program({"import", "accelsim", at("rtx.config"), "-o", at("rtx.config"), "--force"})
            .exit_code,
        2);
}

TEST_F(Exchange, FormatsToStdout) {
    for (const char* format : {"accelsim", "ppt-gpu", "gem5", "osaca", "osaca-csv"}) {
        const ProgramRun run = run_program({"export", format, "gtx-1060"});
        EXPECT_EQ(run.exit_code, 0) << format << run.err;
        EXPECT_FALSE(run.out.empty()) << format;
        EXPECT_FALSE(run.err.empty()) << format;
    }
    EXPECT_EQ(run_program({"export", "excel", "gtx-1060"}).exit_code, 2);
}

// Plateaus of gpu-latency/h100_pcie.txt become memory levels.
TEST_F(Exchange, AChaseBecomesMemoryLevels) {
    std::string text;
    const auto row = [&](double kb, const char* ms, const char* cycles) {
        text += fmt::format("  1000000  1755 {:.0f} {} {}\n", kb, ms, cycles);
    };
    for (int i = 1; i <= 20; ++i)
        row(10 * i, i % 2 == 0 ? "19.5" : "19.4", i % 2 == 0 ? "34.2" : "34.1");
    for (int i = 1; i <= 20; ++i)
        row(300 + 900 * i, i % 2 == 0 ? "151.3" : "151.2", i % 2 == 0 ? "265.5" : "265.4");
    const ProgramRun in =
        run_program({"import", "gpu-latency", written("h100.txt", text), "--cores", "114",
                     "--warp-size", "32", "-o", at("h100.json")});
    ASSERT_EQ(in.exit_code, 0) << in.err;
    EXPECT_THAT(in.err, HasSubstr("supports memory_levels of a profile alone"));
    EXPECT_EQ(run_program({"check", at("h100.json")}).exit_code, 0);
}

// What no core starts is a warning of import, and of check where a profile has it.
TEST_F(Exchange, RatesThatCannotBe) {
    const std::string log =
        written("fast.log",
                "Platform: Example\n  Device: Chip A\n    Compute units   : 8\n\n"
                "    Single-precision compute (GFLOPS)\n      float   : 107000.00\n");
    const ProgramRun in = run_program({"import", "clpeak", log, "--warp-size", "32", "--clock-hz",
                                       "1300e6", "-o", at("fast.yaml")});
    ASSERT_EQ(in.exit_code, 0) << in.err;
    EXPECT_THAT(in.err, HasSubstr("warning: fma.f32: λ would be at most 0.00622, 160.8 warps"));
    EXPECT_EQ(read_profile(at("fast.yaml")).find_instruction("fma.f32"), nullptr);
    EXPECT_EQ(run_program({"check", at("fast.yaml")}).exit_code, 0);
    const ProgramRun checked = run_program(
        {"check", written("p.yaml",
                          "format: occupipe-profile/1\ndevice: {name: a}\ncores: 8\nwarp_size: "
                          "32\nclock_hz: 1.3e9\nsubsystems: {alu: {}}\ninstructions: {fma.f32: "
                          "{subsystem: alu, cpi: 0.0062, latency: 4}}\n")});
    EXPECT_EQ(checked.exit_code, 0) << checked.err;
    EXPECT_THAT(checked.err, HasSubstr("warning: instructions.fma.f32: λ = 0.0062"));
    // The number of a device is of formats that have several.
    const ProgramRun nth = run_program({"import", "gpu-latency", log, "--nth", "2", "-o", at("x")});
    EXPECT_EQ(nth.exit_code, 2);
    EXPECT_THAT(nth.err, HasSubstr("a file of gpu-latency is of one device"));
}

TEST_F(Exchange, RefusalsHaveFileLineAndKey) {
    const ProgramRun run = run_program(
        {"import", "accelsim", written("g.config", "-gpgpu_n_clusters 0\n"), "-o", at("p.yaml")});
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_THAT(run.err, HasSubstr("g.config:1:1: -gpgpu_n_clusters: '0'"));
    EXPECT_EQ(run_program({"import", "mt4g", at("a"), at("b"), "-o", at("p")}).exit_code, 2);
    const ProgramRun named =
        run_program({"import", "gpu-latency", written("h100.txt", "1000000 1755 1 19.5 34.2\n"),
                     "--name", "a\xff", "-o", at("n.json")});
    EXPECT_EQ(named.exit_code, 2);
    EXPECT_THAT(named.err, HasSubstr("--given name:1:2: is not UTF-8 text"));
}

}  // namespace
}  // namespace occupipe::test
