// SPDX-License-Identifier: MIT
#include "ask/memory/warp_latencies.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "core/files/files.h"
#include "sim/launch_groups.h"

namespace occupipe::analysis {
namespace {

GpuProfile profile() {
    return parse_profile(
        "format: occupipe-profile/2\ndevice: {name: made up}\ncores: 4\nwarp_size: 32\n"
        "clock_hz: 1e9\nissue: {schedulers: 1}\n"
        "subsystems: {mem: {scope: core}, alu: {scope: core}, barrier: {scope: core}}\n"
        "instructions:\n"
        "  load: {subsystem: mem, cpi: 1, latency: 200, kind: load, source: measured}\n"
        "  add.f32: {subsystem: alu, cpi: 1, latency: 4, source: measured}\n"
        "  bar.sync: {subsystem: barrier, cpi: 1, latency: 10, source: measured}\n",
        "profile.yaml");
}

Kernel kernel_of(const std::string& instructions, const std::string& more = {}) {
    return parse_kernel(
        "format: occupipe-kernel/1\nname: k\n"
        "launch: {group_warps: 8, concurrent_groups: 2, groups: 16}\n" +
            more + "instructions:\n" + instructions,
        "k.yaml");
}

const std::string loaded = "  - {id: a, op: load}\n";

// Λ of the load in each program.
std::vector<double> latencies(const Kernel& kernel, const GpuProfile& timed) {
    std::vector<double> found;
    for (const WarpProgram& program : kernel.warps)
        for_each_instruction(program.instructions, [&](const KernelInstruction& one) {
            if (one.op.starts_with("load"))
                found.push_back(timed.find_instruction(one.op)->latency->value);
        });
    return found;
}

double mean(const std::vector<double>& values) {
    double sum = 0;
    for (const double value : values) sum += value;
    return sum / static_cast<double>(values.size());
}

TEST(WarpLatencies, EachWarpHasTheLatencyOfItsPartOfTheExecutions) {
    Kernel kernel = kernel_of(loaded);
    GpuProfile timed = profile();
    vary_latencies(kernel, timed, {{"load", {{0.75, {100}}, {0.25, {500}}}}}, 8);
    std::vector<double> of = latencies(kernel, timed);
    std::ranges::sort(of);
    EXPECT_EQ(of, (std::vector<double>{100, 100, 100, 100, 100, 100, 500, 500}));
    for (const WarpProgram& program : kernel.warps) EXPECT_EQ(program.share, 0.125);
}

// Whatever the size of a group, in equal parts.
TEST(WarpLatencies, TheMeanStays) {
    for (const double share : {0.05, 0.3, 0.55})
        for (const int group_warps : {2, 5, 8, 12, 32}) {
            Kernel kernel = kernel_of(loaded);
            GpuProfile timed = profile();
            vary_latencies(kernel, timed,
                           {{"load", {{0.2, {30}}, {0.8 - share, {200}}, {share, {600}}}}},
                           group_warps);
            const std::vector<double> of = latencies(kernel, timed);
            EXPECT_EQ(of.size(), group_warps == 12 ? 6U : std::min(group_warps, 8));
            EXPECT_NEAR(mean(of), 0.2 * 30 + (0.8 - share) * 200 + share * 600, 1e-9);
            EXPECT_GT(std::ranges::max(of), 200);
            for (const WarpProgram& program : kernel.warps)
                EXPECT_EQ(program.share, 1.0 / static_cast<double>(of.size()));
        }
}

TEST(WarpLatencies, OneWarpAndNumbersThatHaveNoPartsKeepTheMean) {
    for (const int group_warps : {1, 11, 31}) {
        Kernel kernel = kernel_of(loaded);
        GpuProfile timed = profile();
        vary_latencies(kernel, timed, {{"load", {{0.5, {100}}, {0.5, {300}}}}}, group_warps);
        EXPECT_EQ(kernel, kernel_of(loaded));
    }
}

// 13/16 and 3/16 of eight warps are seven and one, and stay so.
TEST(WarpLatencies, ProgramsKeepTheirWarps) {
    Kernel kernel = kernel_of(loaded);
    kernel.warps.front().share = 0.8125;
    kernel.warps.push_back(kernel.warps.front());
    kernel.warps.back().share = 0.1875;
    GpuProfile timed = profile();
    vary_latencies(kernel, timed, {{"load", {{0.5, {100}}, {0.5, {300}}}}}, 8);
    ASSERT_EQ(kernel.warps.size(), 8U);
    const std::vector<int> of = sim::assign_programs(kernel, 8);
    EXPECT_EQ(std::ranges::count(of, 7), 1);
}

TEST(WarpLatencies, ALoopWithoutABarrierKeepsTheMean) {
    const std::string add = "  - {id: b, op: add.f32, after: [a]}\n";
    const auto loop = [](const std::string& body) { return "  - repeat: 10\n    body:\n" + body; };
    const Kernel without = kernel_of(loop("    " + loaded + "    " + add));
    Kernel kernel = without;
    GpuProfile timed = profile();
    const std::map<std::string, LatencyParts> parts = {{"load", {{0.5, {100}}, {0.5, {300}}}}};
    vary_latencies(kernel, timed, parts, 8);
    EXPECT_EQ(kernel, without);
    EXPECT_EQ(timed, profile());
    kernel = kernel_of(
        loop("    " + loaded + "    " + add + "      - {id: c, op: bar.sync, after: [b]}\n"));
    vary_latencies(kernel, timed, parts, 8);
    EXPECT_EQ(kernel.warps.size(), 8U);
}

TEST(WarpLatencies, SlowWarpsOfOneLoadAreNotThoseOfTheNext) {
    Kernel kernel = kernel_of(loaded + "  - {id: b, op: load, after: [a]}\n");
    GpuProfile timed = profile();
    vary_latencies(kernel, timed, {{"load", {{0.5, {100}}, {0.5, {300}}}}}, 8);
    const std::vector<double> of = latencies(kernel, timed);
    int unlike = 0;
    for (std::size_t i = 0; i < of.size(); i += 2) unlike += of[i] != of[i + 1];
    EXPECT_GT(unlike, 2);
}

TEST(WarpLatencies, GroupsThatDifferKeepTheirPrograms) {
    Kernel kernel = kernel_of(loaded);
    kernel.warps.front().share = 0.5;
    kernel.warps.push_back(kernel.warps.front());
    kernel.groups = GroupKinds{.kinds = {{0, 0, 0, 0, 1, 1, 1, 1}, {1, 1, 1, 1, 1, 1, 1, 1}},
                               .order = {{0, 15}, {1, 1}}};
    GpuProfile timed = profile();
    vary_latencies(kernel, timed, {{"load", {{0.5, {100}}, {0.5, {300}}}}}, 8);
    EXPECT_EQ(kernel.warps.size(), 8U);
    EXPECT_EQ(kernel.groups->kinds[0], (std::vector<std::int32_t>{0, 1, 2, 3, 4, 5, 6, 7}));
    EXPECT_EQ(kernel.groups->kinds[1], (std::vector<std::int32_t>{4, 5, 6, 7, 4, 5, 6, 7}));
    EXPECT_NO_THROW(validate(kernel));
}

TEST(WarpLatencies, LevelsThatTakeTheSameMakeNoDifference) {
    const Kernel before = kernel_of(loaded);
    Kernel kernel = before;
    GpuProfile timed = profile();
    vary_latencies(kernel, timed, {{"load", {{0.5, {200}}, {0.5, {204}}}}}, 8);
    EXPECT_EQ(kernel, before);
}

}  // namespace
}  // namespace occupipe::analysis
