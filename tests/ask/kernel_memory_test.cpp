// SPDX-License-Identifier: MIT
// The second round: caches in the order in which the simulator issues.
#include "ask/kernel_memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <list>
#include <memory>
#include <set>
#include <string>
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

// What each global access of the kernel's most frequent warps asks for and finds.
std::vector<MemoryUse> uses_of(const KernelIn& in) {
    std::vector<MemoryUse> uses;
    for (const KernelItem& item : in.kernel().warps.front().instructions)
        if (const auto* const one = std::get_if<KernelInstruction>(&item))
            if (one->memory) uses.push_back(*one->memory);
    return uses;
}

// A stream finds nothing, wherever it is looked at.
TEST(KernelMemory, TheFirstGroupsTellOfALongLaunch) {
    const std::string folder = OCCUPIPE_SOURCE_DIR "/tests/kernels/";
    const LaunchPlan plan = read_launches(folder + "saxpy.yaml");
    const KernelFile file = read_kernel_file(folder + "recorded/sm_80/saxpy.cubin", "", {});
    KernelsInOptions options;
    options.memory_cores = 3;
    const KernelIn whole = kernel_in(plan, file, options);
    EXPECT_EQ(whole.memory_groups, 391U);
    EXPECT_EQ(whole.executed_groups, 391U);
    options.memory_instructions = 10'000;
    const KernelIn part = kernel_in(plan, file, options);
    const std::uint64_t of_group = whole.execution.warp_instructions / 391;
    EXPECT_NEAR(static_cast<double>(part.memory_groups), 10'000.0 / static_cast<double>(of_group),
                1.5);
    EXPECT_GT(part.executed_groups, part.memory_groups);
    EXPECT_LE(part.executed_groups, part.memory_groups + 66);
    EXPECT_EQ(part.kernel().launch, whole.kernel().launch);
    // The last group, which is not full, counts for more in fewer groups.
    const auto some = uses_of(part), all = uses_of(whole);
    ASSERT_EQ(some.size(), 3U);
    ASSERT_EQ(all.size(), 3U);
    for (std::size_t i = 0; i < some.size(); ++i) {
        EXPECT_NEAR(some[i].bytes, all[i].bytes, 0.01 * all[i].bytes);
        EXPECT_NEAR(some[i].sectors, all[i].sectors, 0.01 * all[i].sectors);
        EXPECT_EQ(some[i].core, all[i].core);
        EXPECT_EQ(some[i].device, all[i].device);
        EXPECT_EQ(some[i].written, all[i].written);
    }
    EXPECT_TRUE(std::ranges::any_of(part.assumptions, [](const Note& note) {
        return note.sentence.find("of 391 groups: the others are taken to find as much") !=
               std::string::npos;
    }));
    // At least a group for each core, unless that takes too long; all where all were asked for.
    options.memory_instructions = 1;
    EXPECT_EQ(kernel_in(plan, file, options).memory_groups, 3U);
    options.most_memory_instructions = of_group * 5 / 2;
    options.least_memory_groups = 1;
    EXPECT_EQ(kernel_in(plan, file, options).memory_groups, 2U);
    options.most_memory_instructions = 1;
    EXPECT_EQ(kernel_in(plan, file, options).memory_groups, 1U);
    options.sample.reset();
    EXPECT_EQ(kernel_in(plan, file, options).memory_groups, 391U);
    // The only group is the first one.
    LaunchPlan one = plan;
    std::get<KernelLaunch>(one.steps.front()).grid = {1, 1, 1};
    options = {};
    options.memory_cores = 3;
    EXPECT_EQ(to_text(kernel_in(one, file, options).seen), "its one group was executed");
}

// So many groups are looked at as take the instructions, whatever the first group executes.
TEST(KernelMemory, AFirstGroupThatIsUnlikeTheOthersDoesNotSayHowMany) {
    const std::string folder = OCCUPIPE_SOURCE_DIR "/tests/kernels/";
    const KernelFile file = read_kernel_file(folder + "recorded/sm_80/spmv.cubin", "", {});
    LaunchPlan plan = read_launches(folder + "spmv.yaml");
    plan.steps.erase(plan.steps.begin(), plan.steps.begin() + 2);  // spmv_warp: 256 groups, 4 rows
    const auto looked_at = [&](int first, int others) {
        BufferFill rows{.kind = BufferFill::Kind::values};
        for (int row = 0; row < 1024; ++row) {
            rows.listed.emplace_back("0");
            rows.listed.push_back(std::to_string(row < 4 ? first : others));
        }
        plan.buffers.front().fill = rows;
        KernelsInOptions options;
        options.memory_cores = 3;
        options.memory_instructions = 50'000;
        return kernel_in(plan, file, options).memory_groups;
    };
    const std::uint64_t alike = looked_at(3200, 3200);
    EXPECT_GT(alike, 5U);
    EXPECT_LT(alike, 50U);
    EXPECT_EQ(looked_at(0, 3200), alike);
    EXPECT_EQ(looked_at(16'000, 3200), alike);
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
        for (std::size_t i = 0; i < group.references.size(); ++i) {
            const extract::LineReference& one = group.references[i];
            const extract::Issue& by = group.issues[i];
            order.emplace_back(times.ticks[group.group / 3][by.warp][by.step], group.group,
                               one.line, one.sectors(),
                               one.site() % in.memory->first_sites() / 4 == instruction);
        }
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

// 64 groups of 8 warps, each of which goes 8 times over 32 KiB of its own, one instruction; made
// known for 8 groups at once on each of 4 cores.
KernelIn tiles() {
    constexpr std::uint64_t groups = 64, warps = 8, rounds = 8, lines = 256;
    KernelIn in;
    in.seen = {.groups = groups, .executed = groups, .standard_error = 0, .all_because = {}};
    in.occupancy.group_warps = warps;
    in.occupancy.groups = 8;
    in.code = std::make_shared<std::vector<isa::Instruction>>(1);
    in.memory = std::make_shared<extract::MemoryTrace>(std::vector<bool>(1, false));
    for (std::uint64_t group = 0; group < groups; ++group) {
        auto observer = in.memory->begin(group);
        for (std::uint64_t i = 0; i < rounds * lines; ++i) {
            std::array<std::uint64_t, 32> addresses{};
            for (std::uint64_t lane = 0; lane < 32; ++lane)
                addresses[lane] = (group * lines + i % lines) * 128 + lane * 4;
            const auto warp = static_cast<std::uint32_t>(i % warps);
            const isa::Executed step{.active = isa::all_lanes};
            observer->steps(warp, {&step, 1});
            observer->access(warp, 0,
                             {.bytes = 4, .active = isa::all_lanes, .addresses = addresses.data()});
        }
        in.memory->end(group, std::move(observer));
    }
    Kernel& kernel = in.extracted.kernel;
    KernelInstruction load;
    load.id = "x";
    load.op = "ld.global.u32";
    kernel.warps = {
        {.share = 1, .instructions = {Repeat{.count = rounds * lines / warps, .body = {load}}}}};
    kernel.launch = Launch{.group_warps = warps, .concurrent_groups = 8, .groups = groups};
    kernel.memory = MemoryContext{.cores = 4, .concurrent_groups = 8};
    in.extracted.nodes = {{{"x", extract::StreamInstruction{.code = 0, .active = 32}}}};
    tell_memory(in);
    return in;
}

MemoryUse only_use(Kernel kernel) {
    std::optional<MemoryUse> use;
    for_each_instruction(kernel.warps.front().instructions,
                         [&](const KernelInstruction& one) { use = one.memory; });
    return use.value();
}

// Caches of whole groups' 32 KiB: 7 of 8 rounds find everything where all groups at once fit, and
// where they do not, LRU finds nothing.
TEST(KernelMemory, ReuseIsThatOfTheLaunch) {
    constexpr double kib = 1024;
    const KernelIn in = tiles();
    const auto found = [&](const Launch& launch, int cores, double bytes) {
        std::vector<std::string> said;
        const Kernel kernel = with_memory(in, in.kernel(), launch, cores, said);
        EXPECT_EQ(kernel.memory->concurrent_groups, launch.concurrent_groups);
        EXPECT_EQ(kernel.memory->cores, cores);
        EXPECT_TRUE(said.empty());
        return share_at(only_use(kernel).core.value(), bytes);
    };
    EXPECT_EQ(share_at(*only_use(in.kernel()).core, 128 * kib), 0);
    EXPECT_EQ(share_at(*only_use(in.kernel()).core, 256 * kib), 0.875);
    for (const int at_once : {1, 2, 4, 8, 16})
        for (const int fitting : {1, 2, 3, 4, 5, 8, 16})
            EXPECT_EQ(found({.group_warps = 8, .concurrent_groups = at_once, .groups = 64}, 4,
                            fitting * 32 * kib),
                      fitting < at_once ? 0 : 0.875)
                << at_once << ' ' << fitting;
    // Eight might be at once, but a core gets but one of four, two of eight.
    EXPECT_EQ(found({.group_warps = 8, .concurrent_groups = 8, .groups = 4}, 4, 32 * kib), 0.875);
    EXPECT_EQ(found({.group_warps = 8, .concurrent_groups = 8, .groups = 8}, 4, 32 * kib), 0);
    EXPECT_EQ(found({.group_warps = 8, .concurrent_groups = 8, .groups = 8}, 8, 32 * kib), 0.875);
}

TEST(KernelMemory, SaysWhichLaunchesItCannotFollow) {
    const KernelIn in = tiles();
    std::vector<std::string> said;
    with_memory(in, in.kernel(), {.group_warps = 8, .concurrent_groups = 8, .groups = 65}, 4, said);
    ASSERT_EQ(said.size(), 1);
    EXPECT_NE(said[0].find("the 64 groups that were executed, the launch has 65"), said[0].npos);
    said.clear();
    const Kernel halves = with_memory(
        in, in.kernel(), {.group_warps = 4, .concurrent_groups = 2, .groups = 128}, 4, said);
    ASSERT_EQ(said.size(), 1);
    EXPECT_NE(said[0].find("the launch has groups of 4"), said[0].npos);
    EXPECT_EQ(halves.memory->concurrent_groups, 1);
}

// Classes of 4-warp groups: 63 of 64 warps execute 418 instructions, the last one 40018.
TEST(KernelsIn, WarnOfWarpsThatNoGroupHas) {
    KernelIn in;
    in.seen = {.groups = 16, .executed = 16, .standard_error = 0, .all_because = {}};
    in.occupancy.group_warps = 4;
    in.extracted.classes = {{.share = 63.0 / 64, .instructions = 418, .taken = true},
                            {.share = 1.0 / 64, .instructions = 40018, .taken = true}};
    in.extracted.kernel.warps = {{.share = 63.0 / 64, .instructions = {}},
                                 {.share = 1.0 / 64, .instructions = {}}};
    const auto absent = longest_absent(in, 4);
    ASSERT_TRUE(absent);
    EXPECT_EQ(absent->number, 2U);
    EXPECT_EQ(absent->instructions, 40018U);
    EXPECT_FALSE(longest_absent(in, 64));

    GpuProfile profile;
    profile.issue = {.limit = 4, .limit_std_error = {}, .schedulers = 4};
    const Launch launch{.group_warps = 4, .concurrent_groups = 16, .groups = 16};
    EXPECT_NE(shorter_than_absent(in, profile, launch, 40017).find("at least 40018 cycles"),
              std::string::npos);
    EXPECT_EQ(shorter_than_absent(in, profile, launch, 40018), "");
    profile.issue.limit = 8;  // two a cycle
    EXPECT_EQ(shorter_than_absent(in, profile, launch, 20009), "");
    EXPECT_NE(shorter_than_absent(in, profile, launch, 20008), "");
    // Of fewer groups, none may have such a warp.
    EXPECT_EQ(shorter_than_absent(in, profile, {.group_warps = 4, .groups = 15}, 1), "");
}

}  // namespace
}  // namespace occupipe::analysis
