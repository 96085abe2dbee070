// SPDX-License-Identifier: MIT
// `selfcheck`: the page, its formats and exit codes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "core/files/files.h"
#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"

namespace occupipe::cli::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

namespace fs = std::filesystem;

std::string source(const std::string& path) {
    return std::string(OCCUPIPE_SOURCE_DIR) + "/" + path;
}

std::string turing() { return source("profiles/nvidia-rtx-2070.yaml"); }

class SelfCheckCommand : public ::testing::Test {
protected:
    std::string file(const std::string& name) const { return (folder_ / name).string(); }

    test::TemporaryFolder own_;
    const fs::path& folder_ = own_.path;
};

TEST_F(SelfCheckCommand, WritesAPageWithTheMostSuspiciousFirst) {
    const auto run = run_program({"selfcheck", turing()});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_THAT(run.out, AllOf(HasSubstr("# Self-check of NVIDIA GeForce RTX 2070"),
                               HasSubstr("1. **serious**"), HasSubstr("`mul.s32`: λ is 50 % below"),
                               HasSubstr("## What agrees"), HasSubstr("## Not compared"),
                               HasSubstr("`cuda-guide`: NVIDIA")));
    EXPECT_LT(run.out.find("issue limit"), run.out.find("`mul.s32`"));
    EXPECT_EQ(run_program({"selfcheck", turing(), "--strict"}).exit_code, 1);
}

TEST_F(SelfCheckCommand, ASoundCpuProfileIsNotSerious) {
    const auto run =
        run_program({"selfcheck", source("results/cpu-amd-zen4-pocl/profile-quick.yaml"),
                     source("results/cpu-amd-zen4-pocl/2026-11-21-quick.json")});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_THAT(run.out, AllOf(HasSubstr("0 serious"), HasSubstr("no compute capability"),
                               Not(HasSubstr("OpenCL C has no bfloat16"))));
}

TEST_F(SelfCheckCommand, OneCauseInManyRowsIsOneFinding) {
    const std::vector<std::string> words = {
        "selfcheck", source("results/cpu-intel-xeon-pocl/profile-quick.yaml"),
        source("results/cpu-intel-xeon-pocl/2026-11-23-quick.json")};
    const auto count = [](const std::string& text, const std::string& part) {
        std::size_t n = 0;
        for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++n;
        return n;
    };
    const std::string clock = "measured at another clock than the other rows";
    const auto page = run_program(words);
    EXPECT_EQ(page.exit_code, 0) << page.err;
    EXPECT_EQ(count(page.out, clock), 1U);
    // The rows are named all the same, and each is an entry for programs.
    auto json = words;
    json.push_back("--json");
    const std::size_t rows = count(run_program(json).out, clock);
    EXPECT_GT(rows, 50U);
    EXPECT_NE(page.out.find(" and " + std::to_string(rows - 1) + " others: " + clock),
              std::string::npos)
        << page.out.substr(0, 2000);
    EXPECT_NE(page.out.find("fma.f32*16,xor.b32) ("), std::string::npos);
}

TEST_F(SelfCheckCommand, WritesHtmlAndJson) {
    const auto html = run_program({"selfcheck", turing(), "-o", file("page.html")});
    EXPECT_EQ(html.exit_code, 0) << html.err;
    EXPECT_THAT(
        read_text_file(file("page.html")),
        AllOf(HasSubstr("<!DOCTYPE html>"), HasSubstr("class=\"serious\""), HasSubstr("</html>")));
    const auto again = run_program({"selfcheck", turing(), "-o", file("page.html")});
    EXPECT_EQ(again.exit_code, 2);
    const auto json = run_program({"selfcheck", turing(), "--json"});
    EXPECT_THAT(json.out, AllOf(HasSubstr("\"occupipe-selfcheck/1\""), HasSubstr("\"severity\""),
                                Not(HasSubstr("null"))));
}

TEST_F(SelfCheckCommand, ReadsReceiptsAndTheProfilersOutput) {
    fs::create_directory(folder_ / "receipts");
    write_text_file(file("receipts/mul.f32.txt"),
                    "mul.f32 chains:1 unroll:128 for sm_75\n  the assembler counts 5 cycles from "
                    "step to step\n  ok\n",
                    Overwrite::no);
    write_text_file(file("ncu.csv"),
                    "\"ID\",\"Kernel Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n"
                    "\"0\",\"k\",\"smsp__inst_executed.sum\",\"inst\",\"1,000\"\n",
                    Overwrite::no);
    const std::string point = "mul.f32/group_warps:4/concurrent_groups:2/chains:1/depth:1024";
    const auto run = run_program({"selfcheck", turing(), "--receipts", file("receipts"), "--ncu",
                                  point + "=" + file("ncu.csv")});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_THAT(run.out, AllOf(HasSubstr("`mul.f32`: Λ is below the 5 cycles"),
                               HasSubstr("fewer instructions were executed")));
}

TEST_F(SelfCheckCommand, FurtherPublishedFiguresCount) {
    write_text_file(
        file("more.yaml"),
        "format: occupipe-published/1\nsources:\n"
        "  mine: {title: T, authors: A, where: W, method: M}\nlatency:\n"
        "  - {capability: [\"7.5\"], source: mine, instructions: [div.f32], cycles: 99}\n",
        Overwrite::no);
    const auto run = run_program({"selfcheck", turing(), "--published", file("more.yaml")});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_THAT(run.out, AllOf(HasSubstr("`div.f32`: Λ is 87.4 % below"), HasSubstr("`mine`: A")));
}

TEST_F(SelfCheckCommand, BadInputIsRefused) {
    const std::string ncu = "mul.f32/group_warps:4/chains:1/depth:9=" + turing();
    const std::vector<std::vector<std::string>> bad = {
        {"selfcheck", source("results/cpu-amd-zen4-pocl/2026-11-21-quick.json")},
        {"selfcheck", turing(), "--receipts", "/nonexistent"},
        {"selfcheck", turing(), "--ncu", ncu},
        {"selfcheck", turing(), "--ncu", "point"},
        {"selfcheck", turing(), "--published", turing()},
    };
    for (const auto& arguments : bad) {
        const auto run = run_program(arguments);
        EXPECT_EQ(run.exit_code, 2) << arguments.back() << run.err;
        EXPECT_EQ(run.out, "");
    }
}

}  // namespace
}  // namespace occupipe::cli::testing
