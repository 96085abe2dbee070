// SPDX-License-Identifier: MIT
#include "ask/instruction_fetch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ask/shipped_files.h"
#include "core/files/files.h"

namespace occupipe::analysis {
namespace {

using testing::HasSubstr;

Kernel with_code(Reuse code) {
    Kernel kernel = read_kernel(shipped_kernel("saxpy"));
    kernel.code = std::move(code);
    kernel.launch = {.group_warps = 8, .concurrent_groups = 4, .groups = 10000};
    return kernel;
}

GpuProfile with_cache(std::optional<double> bytes, std::optional<double> bytes_per_cycle) {
    GpuProfile profile = named_profile("rtx-2080-ti");
    profile.instruction_cache = {
        .bytes = bytes, .bytes_per_cycle = bytes_per_cycle, .reference = {}};
    return profile;
}

TEST(InstructionFetch, BytesFromBeyondTheCacheLimitTheIssue) {
    // Half of 96 KiB is not found in 48 KiB: 8 bytes an instruction.
    GpuProfile profile = with_cache(49152, 12);
    const Notes notes = limit_by_fetch(with_code({{98304, 1}}), profile);
    EXPECT_DOUBLE_EQ(*profile.issue.limit, 1.5);
    ASSERT_EQ(notes.size(), 1U);
    EXPECT_THAT(text(notes.front()), HasSubstr("at most 1.50 warp-instructions"));
}

TEST(InstructionFetch, WhatFitsCostsNothing) {
    for (const Reuse& code : {Reuse{}, Reuse{{49152, 1}}, Reuse{{32768, 0.99}, {65536, 1}}}) {
        GpuProfile profile = with_cache(49152, 12);
        const GpuProfile before = profile;
        EXPECT_TRUE(limit_by_fetch(with_code(code), profile).empty());
        EXPECT_EQ(profile, before);
    }
}

TEST(InstructionFetch, CodeThatIsExecutedOnceDoesNotComeAgain) {
    GpuProfile profile = with_cache(49152, 12);
    const GpuProfile before = profile;
    Kernel kernel = with_code({{98304, 1}});
    kernel.launch->groups = std::int64_t{4} * profile.cores;
    EXPECT_TRUE(limit_by_fetch(kernel, profile).empty());
    EXPECT_EQ(profile, before);
}

// One warp has one scheduler, which gets all that is fetched.
TEST(InstructionFetch, SchedulersWithoutWarpsTakeNoShare) {
    Kernel kernel = with_code({{98304, 1}});
    kernel.launch->group_warps = kernel.launch->concurrent_groups = 1;
    GpuProfile profile = with_cache(49152, 12);
    profile.issue.limit = 8;
    limit_by_fetch(kernel, profile);
    EXPECT_DOUBLE_EQ(*profile.issue.limit, 6);
}

TEST(InstructionFetch, ANarrowerIssueStays) {
    GpuProfile profile = with_cache(49152, 12);
    profile.issue.limit = 1;
    EXPECT_TRUE(limit_by_fetch(with_code({{98304, 1}}), profile).empty());
    EXPECT_EQ(*profile.issue.limit, 1);
}

TEST(InstructionFetch, AnUnknownRateIsSaidAndCostsNothing) {
    GpuProfile profile = with_cache(49152, std::nullopt);
    const GpuProfile before = profile;
    const Notes notes = limit_by_fetch(with_code({{98304, 1}}), profile);
    ASSERT_EQ(notes.size(), 1U);
    EXPECT_THAT(text(notes.front()), HasSubstr("not known"));
    EXPECT_EQ(profile, before);
    profile = with_cache(std::nullopt, std::nullopt);
    EXPECT_TRUE(limit_by_fetch(with_code({{98304, 1}}), profile).empty());
}

// What was published of a GeForce RTX 2080 Ti, from which its two numbers are.
TEST(InstructionFetch, TuringReachesWhatItsCountersSay) {
    const GpuProfile card = named_profile("rtx-2080-ti");
    for (const auto& [kib, reached] : {std::pair{96, 1.5}, {200, 1.0}}) {
        GpuProfile profile = card;
        limit_by_fetch(with_code({{kib * 1024, 1}}), profile);
        EXPECT_NEAR(*profile.issue.limit, reached, 0.05) << kib;
    }
}

TEST(InstructionFetch, KernelFilesKeepTheirCode) {
    const Kernel kernel = with_code({{32768, 0.25}, {98304, 1}});
    EXPECT_EQ(parse_kernel(format_kernel(kernel), "again"), kernel);
    EXPECT_THROW(parse_kernel("code: [[2, 0.5], [1, 1]]\n" + format_kernel(with_code({})), "bad"),
                 InputError);
}

}  // namespace
}  // namespace occupipe::analysis
