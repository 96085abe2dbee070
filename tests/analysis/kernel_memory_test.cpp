// SPDX-License-Identifier: MIT
// The second round: caches in the order in which the simulator issues.
#include "analysis/kernel_memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <list>
#include <set>
#include <tuple>

#include "core/files/files.h"
#include "core/files/launch_files.h"

namespace occupipe::analysis {
namespace {

KernelIn transposed() {
    const std::string folder = OCCUPIPE_SOURCE_DIR "/tests/kernels/";
    const LaunchPlan plan = read_launches(folder + "transpose.yaml");
    KernelsInOptions options;
    options.memory_cores = 3;
    return kernel_in(plan, read_kernel_file(folder + "recorded/sm_80/transpose.cubin", "", {}),
                     options);
}

// Every op of the kernel on one unit.
GpuProfile profile_for(const Kernel& kernel, Policy policy) {
    GpuProfile profile;
    profile.device.name = "made up";
    profile.cores = 3;
    profile.warp_size = 32;
    profile.clock_hz = 1e9;
    profile.issue.policy = policy;
    profile.subsystems = {{.name = "all", .scope = Scope::core, .contention = {}}};
    std::set<std::string> ops;
    for_each_instruction(kernel, [&](const KernelInstruction& one) { ops.insert(one.op); });
    for (const std::string& op : ops) {
        InstructionTiming timing;
        timing.name = op;
        timing.subsystem = "all";
        timing.cpi.value = 2;
        timing.latency = Estimate{.value = 9};
        profile.instructions.push_back(timing);
    }
    return profile;
}

TEST(KernelMemory, TimesAreThoseOfEachWarpsInstructions) {
    const KernelIn in = transposed();
    Kernel kernel = in.kernel();
    kernel.warps.resize(1);
    kernel.warps[0].share = 1;
    const GpuProfile profile = profile_for(kernel, Policy::oldest);
    const IssueTimes times = issue_times(profile, kernel, {});
    ASSERT_EQ(times.why_not, "");
    ASSERT_EQ(times.ticks.size(), 11);  // of 32 groups on three cores
    std::set<std::int64_t> all;
    std::size_t issued = 0;
    for (const auto& group : times.ticks) {
        ASSERT_EQ(group.size(), 8);
        for (const auto& warp : group) {
            ASSERT_EQ(std::ssize(warp), instruction_count(kernel.warps[0]));
            EXPECT_TRUE(std::ranges::is_sorted(warp));
            all.insert(warp.begin(), warp.end());
            issued += warp.size();
        }
    }
    EXPECT_EQ(all.size(), issued);  // one unit: one at a time
    EXPECT_LT(times.ticks[0][0][0], times.ticks[10][7][0]);
    EXPECT_LT(times.ticks[0][0].back(), times.ticks[0][7].back());  // the oldest first

    kernel.order = Order::dataflow;
    EXPECT_NE(issue_times(profile, kernel, {}).why_not, "");
    kernel.order = Order::in_order;
    kernel.warps.push_back({.share = 0.5, .instructions = {kernel.warps[0].instructions.front()}});
    kernel.warps[0].share = 0.5;
    EXPECT_NE(issue_times(profile, kernel, {}).why_not, "");
}

// The share of the sectors read that a cache of so many lines finds, of one instruction: references
// sorted by their times, in a cache that is simulated.
double found_in(const KernelIn& in, const IssueTimes& times, std::size_t lines,
                std::size_t instruction) {
    std::vector<std::tuple<std::int64_t, std::uint64_t, std::uint64_t, unsigned, bool>> order;
    for (const extract::GroupTrace& group : in.memory->groups())
        for (const extract::LineReference& one : group.references)
            order.emplace_back(times.ticks[group.group / 3][one.warp][one.step], group.group,
                               one.line, one.sectors, one.site / 4 == instruction);
    std::ranges::stable_sort(order, [](const auto& a, const auto& b) {
        return std::tie(std::get<0>(a), std::get<1>(a)) < std::tie(std::get<0>(b), std::get<1>(b));
    });
    std::list<std::pair<std::uint64_t, unsigned>> cache;
    double found = 0, all = 0;
    for (const auto& [time, group, line, sectors, counted] : order) {
        auto place = std::ranges::find(cache, line, &std::pair<std::uint64_t, unsigned>::first);
        if (place == cache.end()) {
            if (cache.size() == lines) cache.pop_front();
            cache.emplace_back(line, 0);
        } else {
            cache.splice(cache.end(), cache, place);
        }
        for (unsigned bit = 1; bit < 16; bit *= 2) {
            if (!counted || (sectors & bit) == 0) continue;
            ++all;
            found += (cache.back().second & bit) != 0;
        }
        cache.back().second |= sectors;
    }
    return found / all;
}

TEST(KernelMemory, SecondRoundFollowsTheTimes) {
    KernelIn in = transposed();
    const Kernel first = in.kernel();
    IssueTimes times;
    const auto most = static_cast<std::size_t>(in.execution.warp_instructions);
    // Groups of a core one after the other, the last warp of each first.
    for (std::size_t group = 0; group < 11; ++group) {
        auto& warps = times.ticks.emplace_back(8);
        for (std::size_t warp = 0; warp < 8; ++warp)
            for (std::size_t step = 0; step < 400; ++step)
                warps[warp].push_back(
                    static_cast<std::int64_t>((group * 8 + 7 - warp) * most + step));
    }
    tell_memory(in, times);
    EXPECT_EQ(in.kernel().memory->order, MemoryOrder::predicted);
    std::size_t compared = 0;
    for (const WarpProgram& program : in.kernel().warps) {
        for_each_instruction(WarpProgram(program).instructions, [&](const KernelInstruction& one) {
            if (!one.memory || !one.memory->device || one.memory->sectors == 0) return;
            const std::size_t code = in.extracted.nodes[0].at(one.id).code;
            for (const std::size_t lines : {4, 32, 256, 2048}) {
                EXPECT_NEAR(share_at(*one.memory->device, static_cast<double>(lines) * 128),
                            found_in(in, times, lines, code), 0.005)
                    << one.id << ' ' << lines;
                ++compared;
            }
        });
        break;
    }
    EXPECT_GT(compared, 0);
    EXPECT_NE(in.kernel(), first);
}

}  // namespace
}  // namespace occupipe::analysis
