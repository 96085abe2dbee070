// SPDX-License-Identifier: MIT
// `table --published` on the papers' profiles, where both numbers are known.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/files/files.h"
#include "tests/support/run_program.h"

namespace occupipe::cli::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string profile(const std::string& name) {
    return std::string(OCCUPIPE_SOURCE_DIR) + "/profiles/" + name + ".yaml";
}

TEST(Published, ThroughputIsSetBesideLambdaByComputeCapability) {
    const auto turing = run_program({"table", profile("nvidia-rtx-2070"), "--published"});
    ASSERT_EQ(turing.exit_code, 0) << turing.err;
    // 64 results per cycle: a warp of 32 takes half a cycle. Table 5 has half of that for integers.
    EXPECT_THAT(
        turing.out,
        AllOf(
            HasSubstr("compute capability 7.5"),
            HasSubstr("| mul.f32        |        0.5 |                64 |        0.5 |  +0.0 % |"),
            HasSubstr("| mul.s32        |       0.25 |                64 |        0.5 | -50.0 % |"),
            HasSubstr("2 of 4 agree within 3 %"), Not(HasSubstr("bar.sync"))));
    EXPECT_THAT(run_program({"table", profile("nvidia-tesla-c2050"), "--published"}).out,
                HasSubstr("6 of 6 agree within 3 %"));
}

// Every scheduler has its own unit: its λ is 2, the core's 0.5, as the table says.
TEST(Published, LambdaIsTheCoresWhateverTheScope) {
    std::string text = read_text_file(profile("nvidia-rtx-2070"));
    const auto replace = [&](const std::string& from, const std::string& to) {
        const std::size_t at = text.find(from);
        ASSERT_NE(at, std::string::npos) << from;
        text.replace(at, from.size(), to);
    };
    replace("schedulers: 1", "schedulers: 4");
    replace("alu: {scope: core}", "alu: {scope: scheduler}");
    replace("mul.f32:\n    subsystem: alu\n    cpi: 0.5",
            "mul.f32:\n    subsystem: alu\n    cpi: 2");
    const std::string path = ::testing::TempDir() + "per_scheduler.yaml";
    write_text_file(path, text, Overwrite::yes);
    const auto turing = run_program({"table", path, "--published"});
    ASSERT_EQ(turing.exit_code, 0) << turing.err;
    EXPECT_THAT(turing.out, AllOf(HasSubstr("0.5 (2 per scheduler)"), HasSubstr("+0.0 %"),
                                  HasSubstr("2 of 4 agree within 3 %")));
}

TEST(Published, AGpuThatIsNotInTheTableIsNamed) {
    const auto amd = run_program({"table", profile("amd-r9-380"), "--published"});
    EXPECT_EQ(amd.exit_code, 0);
    EXPECT_EQ(amd.out, "");
    EXPECT_THAT(amd.err, HasSubstr("AMD Radeon R9 380: no published throughput is known"));
}

TEST(Published, OnlyMarkdownIsWritten) {
    const auto csv =
        run_program({"table", profile("nvidia-rtx-2070"), "--published", "--format", "csv"});
    EXPECT_EQ(csv.exit_code, 2);
    EXPECT_THAT(csv.err, AllOf(HasSubstr("--published"), HasSubstr("--format")));
}

}  // namespace
}  // namespace occupipe::cli::testing
