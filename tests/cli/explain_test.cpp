// SPDX-License-Identifier: MIT
// `explain INSTRUCTION` and `list instructions` as a user runs them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "core/files/files.h"
#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"

namespace occupipe::cli::testing {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// What a device cannot run comes before the first progress: a screen of it would hide that.
TEST(Measure, FewReasonsAreSaidAndManyAreCounted) {
    const auto said = [](std::vector<std::string> words) {
        words.insert(words.begin(), {"measure", "--device", "opencl:0.0", "--dry-run"});
        const auto run = run_program(words);
        std::istringstream lines(run.err);
        std::vector<std::string> found;
        for (std::string line; std::getline(lines, line);)
            if (line.starts_with("not measured: ")) found.push_back(line);
        return std::pair(run.exit_code, found);
    };
    const auto [code, one] = said({"--instructions", "bar.warp.sync,fma.f32"});
    if (code == 3) GTEST_SKIP() << "no OpenCL device";
    EXPECT_THAT(one, ElementsAre(HasSubstr("bar.warp.sync: OpenCL C 1.2 has barriers of")));
    EXPECT_THAT(said({"--quick"}).second,
                ElementsAre(ContainsRegex("not measured: [0-9]+ instructions that opencl:0.0 "
                                          "cannot run; .*list instructions --device opencl:0.0")));
}

TEST(Explain, AMixIsExplainedByItsLawsAndALaunchInSeconds) {
    const auto mix = run_program({"explain", "mix(fma.f32*8,ld.global.f32)"});
    ASSERT_EQ(mix.exit_code, 0) << mix.err;
    EXPECT_THAT(mix.out, AllOf(HasSubstr("8 instructions of fma.f32, then one of ld.global.f32"),
                               HasSubstr("its own chains"), HasSubstr("issue limit")));
    EXPECT_THAT(run_program({"explain", "mix(fma.f32*8,mul.f32)"}).out,
                HasSubstr("one dependent chain"));
    EXPECT_EQ(run_program({"explain", "mix(fma.f32*8,nothing)"}).exit_code, 2);
    const auto launch = run_program({"explain", "launch.graph"});
    ASSERT_EQ(launch.exit_code, 0) << launch.err;
    EXPECT_THAT(launch.out, AllOf(HasSubstr("in seconds"), Not(HasSubstr("Λ"))));
    EXPECT_EQ(run_program({"measure", "--device", "opencl:0.0", "--instructions", "launch.graph",
                           "-o", "/tmp/never.json"})
                  .exit_code,
              3);
}

TEST(Explain, SaysMeaningMethodCountingAndLimits) {
    const auto run = run_program({"explain", "fma.f32"});
    ASSERT_EQ(run.exit_code, 0) << run.err;
    EXPECT_THAT(run.out, AllOf(HasSubstr("chained through the multiplicand"),
                               HasSubstr("What the number means"), HasSubstr("a = 0.5, b = 0.75"),
                               HasSubstr("fma.rn.f32 in PTX and FFMA in machine code"),
                               HasSubstr("What it does not say"), Not(HasSubstr("kernel text"))));
}

TEST(Explain, ShowsTheProfilesValueWithItsError) {
    const auto run =
        run_program({"explain", "fma.f32", "--profile", "profiles/nvidia-gtx-1060.yaml"});
    ASSERT_EQ(run.exit_code, 0) << run.err;
    EXPECT_THAT(run.out, AllOf(HasSubstr("profiles/nvidia-gtx-1060.yaml"), HasSubstr("λ 0.25 "),
                               HasSubstr("source literature")));
}

TEST(Explain, SaysWhichTermMadeAnErrorLarge) {
    const test::TemporaryFolder folder;
    const std::string profile = (folder.path / "p.yaml").string();
    write_text_file(profile,
                    "format: occupipe-profile/1\ndevice: {name: a}\ncores: 1\nwarp_size: 32\n"
                    "clock_hz: 1e9\nissue: {schedulers: 4}\nsubsystems: {alu: {scope: scheduler}}\n"
                    "instructions:\n  fma.f32: {subsystem: alu, cpi: {value: 1, std_error: 0.5, "
                    "error_terms: {scatter: 0.3, loop_control: 0.4}}, latency: 4}\n",
                    Overwrite::no);
    const auto run = run_program({"explain", "fma.f32", "--profile", profile});
    ASSERT_EQ(run.exit_code, 0) << run.err;
    EXPECT_THAT(run.out, AllOf(HasSubstr("  error of λ: loop control 0.1 (64 %), scatter 0.075 "
                                         "(36 %)\n"),
                               Not(HasSubstr("error of Λ"))));
}

// Nothing waited for the loads of a stream: no command shows a Λ, and none reckons with one.
TEST(Explain, ALatencyThatNobodyMeasuredStandsNowhere) {
    const std::string profile = "results/cpu-amd-zen4-pocl/profile.yaml";
    const auto explained = run_program({"explain", "ld.global.f32", "--profile", profile});
    ASSERT_EQ(explained.exit_code, 0) << explained.err;
    EXPECT_THAT(explained.out,
                AllOf(HasSubstr("Λ not measured: the instructions do not depend on each other"),
                      Not(ContainsRegex("Λ [≤≥]? ?[0-9]"))));
    const auto table = run_program({"table", profile});
    EXPECT_THAT(table.out, AllOf(ContainsRegex("\\| ld.global.f32 +\\| +0.547 / \\? "),
                                 HasSubstr("?: Λ was not measured")));
    const test::TemporaryFolder folder;
    const std::string kernel = (folder.path / "k.yaml").string();
    write_text_file(kernel,
                    "format: occupipe-kernel/1\nname: k\ninstructions:\n"
                    "  - {id: l, op: ld.global.f32}\n  - {id: a, op: add.f32, after: [l]}\n",
                    Overwrite::no);
    const auto predicted = run_program({"predict", kernel, "--profile", profile});
    EXPECT_EQ(predicted.exit_code, 2);
    EXPECT_EQ(predicted.out, "");
    EXPECT_THAT(predicted.err, HasSubstr("a waits for l: the latency of ld.global.f32 is needed"));
}

TEST(Explain, SaysWhatABackendCannotAndWhy) {
    const auto run = run_program({"explain", "abs.f32"});
    ASSERT_EQ(run.exit_code, 0) << run.err;
    EXPECT_THAT(run.out, HasSubstr("not measured: a modifier of another"));
}

TEST(Explain, AnUnknownNameGetsNearOnes) {
    const auto run = run_program({"explain", "fma.f23"});
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_EQ(run.out, "");
    EXPECT_THAT(run.err, AllOf(HasSubstr("fma.f23"), HasSubstr("near: fma.f32")));
    const auto far = run_program({"explain", "qqqqqqqqqqqq"});
    EXPECT_EQ(far.exit_code, 2);
    EXPECT_THAT(far.err, Not(HasSubstr("near:")));
}

TEST(Explain, BadWordsAreRefused) {
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{"explain"},
          {"explain", "fma.f32", "--profile", "nowhere.yaml"},
          {"explain", "bar.sync", "--device", "gpu0"},
          {"explain", "fma.f32", "--arch", "90"},
          {"explain", "brev.b32", "--profile", "profiles/nvidia-gtx-1060.yaml"}}) {
        const auto run = run_program(words);
        EXPECT_EQ(run.exit_code, 2) << words.back();
        EXPECT_EQ(run.out, "") << words.back();
        EXPECT_FALSE(run.err.empty()) << words.back();
    }
}

TEST(Explain, WithNvrtcHiddenItSaysWhyNothingWasCounted) {
    const auto run =
        run_program({"explain", "fma.f32", "--arch", "sm_90"}, {"OCCUPIPE_NVRTC=none"});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_THAT(run.out, HasSubstr("not counted here: no NVRTC to compile with"));
}

TEST(Version, SaysWhichNvrtcIsUsed) {
    const auto hidden = run_program({"--version"}, {"OCCUPIPE_NVRTC=none"});
    EXPECT_EQ(hidden.exit_code, 0);
    EXPECT_THAT(hidden.out, HasSubstr("\nno NVRTC: not searched"));
    const auto wrong = run_program({"--version"}, {"OCCUPIPE_NVRTC=/nowhere/libnvrtc.so.13"});
    EXPECT_EQ(wrong.exit_code, 0);
    EXPECT_THAT(wrong.out, HasSubstr("\nno NVRTC: libnvrtc.so not found: /nowhere/"));
    if (!program_has_nvrtc()) GTEST_SKIP() << no_nvrtc;
    EXPECT_THAT(run_program({"--version"}).out, ContainsRegex("\nNVRTC 1[0-9.]+: /.*libnvrtc"));
}

#if OCCUPIPE_OPENCL
bool have_pocl() {
    return run_program({"explain", "fma.f32", "--device", "opencl:0.0"}).exit_code == 0;
}

TEST(Explain, CountsOnTheSpotAndPrintsTheKernel) {
    if (!have_pocl()) GTEST_SKIP() << "no OpenCL device";
    const auto run = run_program({"explain", "popc.b64", "--device", "opencl:0.0", "--source"});
    ASSERT_EQ(run.exit_code, 0) << run.err;
    EXPECT_THAT(run.out, AllOf(HasSubstr("x0 = popcount(x0); FENCE_64(x0);"),
                               HasSubstr("#define FENCE_64(x)"), Not(HasSubstr("By CUDA"))));
#if defined(__x86_64__)
    EXPECT_THAT(run.out, HasSubstr("128 of popcntq? in the timed loop, expected 128"));
    const auto library = run_program({"explain", "sin.approx.f32", "--device", "opencl:0.0"});
    EXPECT_THAT(library.out, HasSubstr("the count is NOT PROVED: PoCL uses a longer library"));
#endif
}

TEST(ListInstructions, HasSeventyAndMoreOnACpuAndAReasonForEachOther) {
    if (!have_pocl()) GTEST_SKIP() << "no OpenCL device";
    const auto run = run_program({"list", "instructions", "--device", "opencl:0.0", "--json"});
    ASSERT_EQ(run.exit_code, 0) << run.err;
    std::size_t measurable = 0;
    for (const auto& entry : nlohmann::json::parse(run.out)) {
        const auto& here = entry.at("devices").at("opencl:0.0");
        measurable += here.at("measurable").get<bool>();
        EXPECT_EQ(here.contains("reason"), !here.at("measurable").get<bool>()) << entry;
        EXPECT_FALSE(entry.at("meaning").get<std::string>().empty()) << entry;
    }
    EXPECT_GE(measurable, 70u);
    const std::map<std::string, std::size_t> at_least = {
        {"sm_75", 200}, {"sm_80", 240},  {"sm_86", 240}, {"sm_89", 240},
        {"sm_90", 320}, {"sm_100", 275}, {"sm_120", 265}};
    for (const auto& [architecture, rows] : at_least) {
        const auto cuda = run_program({"list", "instructions", "--arch", architecture, "--json"});
        ASSERT_EQ(cuda.exit_code, 0) << cuda.err;
        std::size_t compiled = 0;
        for (const auto& entry : nlohmann::json::parse(cuda.out)) {
            const auto& on = entry.at("architectures").at(architecture);
            compiled += on.at("measurable").get<bool>();
            EXPECT_EQ(on.contains("reason"), !on.at("measurable").get<bool>()) << entry;
        }
        EXPECT_GE(compiled, rows) << architecture;
    }
    EXPECT_EQ(run_program({"list", "instructions", "--arch", "sm_1"}).exit_code, 2);
    const auto text = run_program({"list", "instructions", "--device", "opencl:0.0"});
    EXPECT_THAT(text.out, AllOf(HasSubstr("Conversions\n"), HasSubstr(" measurable, ")));
}
#endif

}  // namespace
}  // namespace occupipe::cli::testing
