// SPDX-License-Identifier: MIT
// The program where no answer comes in time: exit codes, what it says, how Ctrl-C ends it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"

namespace occupipe::cli {
namespace {

using test::TemporaryFolder;
using ::testing::HasSubstr;
using testing::ProgramRun;
using testing::run_program;
using testing::run_program_until;

constexpr const char* gtx = "profiles/nvidia-gtx-1060.yaml";

// 3,000 instructions, each once.
std::string straight(const TemporaryFolder& folder) {
    const std::string path = (folder.path / "straight.yaml").string();
    std::ofstream file(path);
    file << "format: occupipe-kernel/1\nname: straight\ninstructions:\n";
    for (int i = 0; i < 3000; ++i) file << "  - {id: n" << i << ", op: fma.f32}\n";
    return path;
}

TEST(Limit, InInstructionsEndsWithItsOwnExitCode) {
    const TemporaryFolder folder;
    const std::string kernel = straight(folder);
    for (const std::string order : {"dataflow", "in_order"}) {
        const ProgramRun run =
            run_program({"predict", kernel, "--profile", gtx, "--limit", "2999", "--order", order});
        EXPECT_EQ(run.exit_code, 4);
        EXPECT_EQ(run.out, "");
        EXPECT_THAT(run.err, HasSubstr("no answer after 2999 instructions"));
        EXPECT_THAT(run.err, HasSubstr("of 3e+03 instructions (1e+02 %), 0 of 1 groups"));
        EXPECT_THAT(run.err, HasSubstr("--limit"));
        EXPECT_EQ(
            run_program({"predict", kernel, "--profile", gtx, "--limit", "3000", "--order", order})
                .exit_code,
            0);
    }
}

TEST(Limit, HoldsForEachModelThatSimulates) {
    const TemporaryFolder folder;
    const ProgramRun run = run_program(
        {"predict", straight(folder), "--profile", gtx, "--limit", "2999", "--model", "all"});
    EXPECT_EQ(run.exit_code, 4);
    EXPECT_THAT(run.err, HasSubstr("no answer after 2999 instructions"));
}

TEST(Limit, InSecondsCountsForTheWholeCommand) {
    const std::string cpu = "results/cpu-amd-zen4-pocl/";
    for (const std::vector<std::string>& command :
         {std::vector<std::string>{"predict", "sim/kernels/mix.yaml", "--profile", gtx},
          {"compare", cpu + "2026-11-21-quick.json", "--profile", cpu + "profile-quick.yaml"}}) {
        std::vector<std::string> limited = command;
        limited.insert(limited.end(), {"--limit", "0.000001s"});
        const ProgramRun run = run_program(limited);
        EXPECT_EQ(run.exit_code, 4) << command[0];
        EXPECT_THAT(run.err, HasSubstr("no answer after 1e-06 s")) << command[0];
        EXPECT_EQ(run.out, "") << command[0];
    }
}

TEST(Limit, OfTwoVersionsNamesTheDrawsThatWereAskedFor) {
    const ProgramRun run =
        run_program({"compare", "sim/kernels/mix.yaml", "sim/kernels/saxpy.yaml", "--profile",
                     "a100", "--uncertainty", "1000", "--limit", "0.05s"});
    EXPECT_EQ(run.exit_code, 4);
    EXPECT_THAT(run.err, HasSubstr("or a lower --uncertainty"));
}

TEST(Limit, IsRefusedWhereItIsNoNumber) {
    for (const std::string bad :
         {"0", "0s", "-1", "-1s", "s", "1m", "many", "nans", "infs", "1.5"}) {
        const ProgramRun run =
            run_program({"predict", "sim/kernels/mix.yaml", "--profile", gtx, "--limit=" + bad});
        EXPECT_EQ(run.exit_code, 2) << bad;
        EXPECT_THAT(run.err, HasSubstr("--limit")) << bad;
    }
}

// bodies with gto does not come back to the same state soon enough.
TEST(Estimate, IsMarkedInTextJsonAndCsv) {
    const std::vector<std::string> command = {"predict",   "sim/kernels/bodies.yaml",
                                              "--profile", gtx,
                                              "--policy",  "gto",
                                              "--order",   "in_order",
                                              "--groups",  "10000000",
                                              "--limit",   "40000000",
                                              "--estimate"};
    const auto print = [&](std::vector<std::string> more) {
        more.insert(more.begin(), command.begin(), command.end());
        const ProgramRun run = run_program(more);
        EXPECT_EQ(run.exit_code, 0) << run.err;
        return run.out;
    };
    const std::string text = print({});
    EXPECT_THAT(text, HasSubstr("~"));
    EXPECT_THAT(text, HasSubstr("+-"));
    EXPECT_THAT(text, HasSubstr("an estimate"));
    const auto json = nlohmann::json::parse(print({"--json"}));
    EXPECT_GT(json["predictions"][0]["estimate"]["error"].get<double>(), 0);
    EXPECT_THAT(json["predictions"][0]["assumptions"].dump(), HasSubstr("an estimate"));
    EXPECT_THAT(print({"--csv"}), HasSubstr(",estimate_error\n"));
}

// Of more than 200 million instructions.
TEST(Estimate, IsTheAnswerToALongRunUnlessALimitIsAskedFor) {
    const TemporaryFolder folder;
    const std::string kernel = (folder.path / "uneven.yaml").string();
    std::ofstream(kernel) << R"(format: occupipe-kernel/1
name: uneven
order: in_order
warps:
  - share: 0.5
    instructions:
      - repeat: 40000
        body: [{id: a, op: fma.f32, after: [a@-1]}, {id: b, op: ld.shared.s32, after: [a]}]
  - share: 0.5
    instructions:
      - repeat: 30000
        body: [{id: a, op: fma.f32, after: [a@-1]}, {id: b, op: ld.shared.s32, after: [a]}]
launch: {group_warps: 4, concurrent_groups: 4, groups: 8000}
groups:
  kinds: [[0, 0, 0, 0], [1, 1, 1, 1]]
  order: [[0, 1], [1, 1]]
)";
    const std::vector<std::string> command = {"predict", kernel, "--profile", gtx};
    const ProgramRun run = run_program(command);
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_THAT(run.out, HasSubstr("an estimate"));
    std::vector<std::string> limited = command;
    limited.insert(limited.end(), {"--limit", "10000000"});
    EXPECT_EQ(run_program(limited).exit_code, 4);
}

TEST(Estimate, IsNotAdvisedWhereItWasAskedFor) {
    std::vector<std::string> command = {"predict",   "sim/kernels/bodies.yaml",
                                        "--profile", gtx,
                                        "--policy",  "gto",
                                        "--groups",  "10000000",
                                        "--limit",   "1000"};
    const ProgramRun without = run_program(command);
    EXPECT_EQ(without.exit_code, 4) << without.err;
    EXPECT_THAT(without.err, HasSubstr("or --estimate"));
    std::vector<std::string> shown = command;
    shown.emplace_back("--stalls");
    EXPECT_THAT(run_program(shown).err, HasSubstr("or a higher --limit."));
    command.emplace_back("--estimate");
    const ProgramRun with = run_program(command);
    EXPECT_EQ(with.exit_code, 4) << with.err;
    EXPECT_THAT(with.err, HasSubstr("or a higher --limit."));
}

TEST(Estimate, IsNotWhatAnExactAnswerIsCalled) {
    const ProgramRun run =
        run_program({"predict", "sim/kernels/mix.yaml", "--profile", gtx, "--estimate", "--json"});
    EXPECT_EQ(run.exit_code, 0);
    EXPECT_FALSE(nlohmann::json::parse(run.out)["predictions"][0].contains("estimate"));
}

// With --stalls nothing is skipped, which takes for ever here.
TEST(CtrlC, IsAnsweredWithWhereTheRunStands) {
    const ProgramRun run =
        run_program_until({"predict", "sim/kernels/mix.yaml", "--profile", gtx, "--groups",
                           "1000000000", "--stalls", "--limit", "600s"},
                          {}, " s: ");  // progress, two seconds after the start
    EXPECT_EQ(run.exit_code, 130);
    EXPECT_EQ(run.out, "");
    EXPECT_THAT(run.err, HasSubstr("interrupted after"));
    EXPECT_THAT(run.err, HasSubstr("groups"));
    EXPECT_THAT(run.err, HasSubstr(" s: "));
}

}  // namespace
}  // namespace occupipe::cli
