// SPDX-License-Identifier: MIT
#include "ask/group_start.h"

#include <gtest/gtest.h>

#include "ask/answer.h"
#include "core/files/files.h"
#include "core/instruction.h"
#include "sim/models/registry.h"

namespace occupipe::analysis {
namespace {

GpuProfile profile(bool starts) {
    return parse_profile(
        std::string("format: occupipe-profile/2\ndevice: {name: made up}\ncores: 2\nwarp_size: 32\n"
                    "clock_hz: 1e9\nissue: {schedulers: 1}\n"
                    "subsystems: {alu: {scope: core}, issue-slots: {scope: core}}\n"
                    "instructions:\n"
                    "  add.f32: {subsystem: alu, cpi: 1, latency: 100, source: measured}\n") +
            (starts ? "  group.start: {subsystem: issue-slots, cpi: 1, latency: 300, source: "
                      "literature}\n"
                    : ""),
        "profile.yaml");
}

// Three instructions that wait for each other, the last of them ten times.
Kernel chain() {
    return parse_kernel(
        "format: occupipe-kernel/1\nname: chain\norder: in_order\ninstructions:\n"
        "  - {id: a, op: add.f32}\n  - {id: b, op: add.f32, after: [a]}\n"
        "  - repeat: 10\n    body:\n      - {id: c, op: add.f32, after: [b, c@-1]}\n",
        "chain.yaml");
}

double cycles(const Kernel& kernel, bool starts, const Launch& launch) {
    const Ready question = ready(loaded_kernel("chain.yaml", kernel), profile(starts), {}, {});
    return predict(told(question, launch, {}), find_model("pipeline"), {}).cycles;
}

TEST(GroupStart, EveryGroupButTheFirstWaitsForItsPlace) {
    constexpr double work = 1200;
    for (const int groups : {2, 6, 20}) {
        const Launch launch{.group_warps = 1, .concurrent_groups = 1, .groups = groups};
        const double of_core = groups / 2.0;
        EXPECT_NEAR(cycles(chain(), false, launch), of_core * work, 2);
        EXPECT_NEAR(cycles(chain(), true, launch), of_core * work + (of_core - 1) * 300, 2);
    }
}

// Other groups are at work while one waits.
TEST(GroupStart, PlacesWaitAtTheSameTime) {
    const Launch launch{.group_warps = 1, .concurrent_groups = 4, .groups = 80};
    EXPECT_NEAR(cycles(chain(), true, launch), 10 * 1200 + 9 * 300, 20);
}

TEST(GroupStart, GroupsThatAllFitWaitForNoPlace) {
    const Launch launch{.group_warps = 2, .concurrent_groups = 4, .groups = 8};
    EXPECT_EQ(cycles(chain(), true, launch), cycles(chain(), false, launch));
}

TEST(GroupStart, WhatWaitsForNothingWaitsForIt) {
    Kernel kernel = chain();
    kernel.warps.push_back(kernel.warps.front());
    for (WarpProgram& program : kernel.warps) program.share = 0.5;
    const Kernel started = with_group_start(kernel);
    EXPECT_NO_THROW(validate(started));
    for (const WarpProgram& program : started.warps) {
        ASSERT_EQ(program.instructions.size(), 4U);
        EXPECT_EQ(std::get<KernelInstruction>(program.instructions[0]).op, group_start);
        EXPECT_EQ(std::get<KernelInstruction>(program.instructions[1]).after,
                  (std::vector<Dependence>{{std::string(group_start_id), 0}}));
        EXPECT_EQ(std::get<KernelInstruction>(program.instructions[2]).after,
                  (std::vector<Dependence>{{"a", 0}}));
    }
}

}  // namespace
}  // namespace occupipe::analysis
