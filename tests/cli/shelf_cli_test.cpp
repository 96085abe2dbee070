// SPDX-License-Identifier: MIT
// Profiles from published figures, as a user asks for them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/files/files.h"
#include "tests/support/run_program.h"

namespace occupipe::cli::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(ShelfByName, PredictsWithoutUseAndSaysWhatItRestsOn) {
    const auto run = run_program({"predict", "saxpy", "--profile", "A100", "--json"});
    ASSERT_EQ(run.exit_code, 0) << run.err;
    EXPECT_THAT(run.out, AllOf(HasSubstr("NVIDIA A100-SXM4-40GB"),
                               HasSubstr("assembled from published figures, not measured")));
    EXPECT_EQ(run_program({"predict", "sim/kernels/example.yaml", "--profile", "h100", "--use",
                           "compute=fma.f32", "--use", "memory=ld.global.s32"})
                  .exit_code,
              0);
}

TEST(ShelfByName, ADataSheetIsAProfile) {
    const auto run = run_program({"predict", "saxpy", "--profile",
                                  "sm_86:cores=46,clock_hz=1.77e9,dram=448e9,l2=4MiB,name=mine"});
    ASSERT_EQ(run.exit_code, 0) << run.err;
    EXPECT_THAT(run.out, HasSubstr("saxpy on mine"));
    const auto bad =
        run_program({"predict", "saxpy", "--profile", "sm_86:cores=46,clock_hz=1.77e9,dram=448e9"});
    EXPECT_EQ(bad.exit_code, 2);
    EXPECT_THAT(bad.err, HasSubstr("l2: is missing"));
}

TEST(ShelfByName, ListTellsHowProfilesWereMade) {
    const auto run = run_program({"list", "profiles", "--json"});
    ASSERT_EQ(run.exit_code, 0) << run.err;
    int cards = 0;
    for (const auto& one : nlohmann::json::parse(run.out)) {
        if (!one.contains("name")) continue;
        ++cards;
        EXPECT_EQ(one["made"], "published");
        EXPECT_TRUE(one.contains("worst_error") && one.contains("year")) << one.dump();
    }
    EXPECT_GE(cards, 35);
    EXPECT_THAT(run.out, HasSubstr("shelf:rtx-2070"));
}

TEST(ShelfByName, TablesAndExplanationsNameSources) {
    const auto table = run_program({"table", "a100", "h100", "rtx-4090"});
    ASSERT_EQ(table.exit_code, 0) << table.err;
    EXPECT_THAT(table.out, HasSubstr("| fma.f32 "));
    const auto two = run_program({"compare", "a100", "h100"});
    EXPECT_EQ(two.exit_code, 0) << two.err;
    const auto explained = run_program({"explain", "ld.shared.u32", "--profile", "a100"});
    ASSERT_EQ(explained.exit_code, 0) << explained.err;
    EXPECT_THAT(explained.out,
                AllOf(HasSubstr("published for compute capability 8.0"), HasSubstr("sun-2023")));
}

// What was measured stays, the rest is the shelf's.
TEST(ShelfByName, AMeasurementReplacesWhatItMeasured) {
    const std::string folder = ::testing::TempDir();
    const std::string mine = folder + "/shelf-mine.yaml", out = folder + "/shelf-out.yaml";
    write_text_file(mine,
                    "format: occupipe-profile/1\n"
                    "device: {name: here, compute_capability: \"8.0\"}\n"
                    "cores: 108\nwarp_size: 32\nclock_hz: 1.3e9\n"
                    "subsystems: {alu: {scope: core}}\n"
                    "instructions:\n"
                    "  fma.f32: {subsystem: alu, cpi: 0.51, latency: 4.2, source: measured}\n",
                    Overwrite::yes);
    const auto run = run_program({"fit", "--merge", mine, "a100", "-o", out, "--force"});
    ASSERT_EQ(run.exit_code, 0) << run.err;
    EXPECT_THAT(run.out, AllOf(HasSubstr("measured: fma.f32\n"), HasSubstr("ld.shared.u32")));
    const GpuProfile made = read_profile(out);
    EXPECT_EQ(made.cpi_per_core(*made.find_instruction("fma.f32")).value, 0.51);
    EXPECT_EQ(made.clock_hz, 1.3e9);
    EXPECT_EQ(made.cpi_per_core(*made.find_instruction("mul.f32")).value, 0.5);
    EXPECT_EQ(made.find_instruction("mul.f32")->source, Source::vendor);
}

}  // namespace
}  // namespace occupipe::cli::testing
