// SPDX-License-Identifier: MIT
// Recorded machine code → kernels for the models: names, samples, launches.
#include "ask/kernels_in.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "bench/instructions/instruction_table.h"
#include "core/error.h"
#include "core/files/launch_files.h"
#include "extract/naming.h"
#include "extract/signature.h"
#include "isa/decode.h"
#include "sim/engine/simulate.h"
#include "sim/models/model.h"
#include "tests/sim/build.h"
#include "tests/support/thinned.h"

namespace occupipe::analysis {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int architectures[] = {75, 80, 90, 100, 120};
const fs::path folder = OCCUPIPE_SOURCE_DIR "/tests/kernels";

std::vector<fs::path> launch_files() {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(folder))
        if (entry.path().extension() == ".yaml") files.push_back(entry.path());
    std::ranges::sort(files);
    return files;
}

KernelFile recorded(const LaunchPlan& plan, int architecture) {
    return read_kernel_file((folder / fmt::format("recorded/sm_{}/{}.cubin", architecture,
                                                  fs::path(plan.source).stem().string()))
                                .string(),
                            "", {});
}

// Of no instruction in the catalogue, and known to be so: what the benchmarks have not got.
const std::set<std::string> not_in_catalogue = {
    "machine.bmsk",
    "machine.hmma",
    "machine.imma",
    "machine.fchk",
    "machine.hset2",
    "machine.hsetp2",
    "machine.sgxt",
    "machine.vabsdiff",
    "machine.vabsdiff4",
    "st.local.u32",
    "machine.syncs",
    "cvt.rni.f16.f16",
    "cvt.rn.satfinite.e4m3x2.f32",
    "cvt.rn.satfinite.e5m2x2.f32",
    "cvt.rn.f16x2.e4m3x2",
    "cvt.rn.f16x2.e5m2x2",
};

// Every instruction of every kernel, executed or not, has a name that is in the catalogue, is an
// issue slot, or is listed above.
TEST(KernelsIn, NameEveryInstructionOfAllKernels) {
    std::set<std::string> used;
    for (const int architecture : architectures)
        for (const auto& entry :
             fs::directory_iterator(folder / fmt::format("recorded/sm_{}", architecture))) {
            const KernelFile file = read_kernel_file(entry.path().string(), "", {});
            for (const isa::Kernel& kernel : file.cubin.kernels)
                for (const isa::Instruction& one : isa::decode(kernel.code, architecture)) {
                    if (one.opcode.empty()) continue;  // not read yet: recorded/gaps.txt
                    const std::string name = extract::profile_names(one).front();
                    const bool known = name == issue_slot || bench::find_row(name) != nullptr ||
                                       not_in_catalogue.contains(name);
                    EXPECT_TRUE(known) << entry.path() << " " << one.opcode << " is " << name;
                    if (not_in_catalogue.contains(name)) used.insert(name);
                }
        }
    EXPECT_EQ(used, not_in_catalogue);
}

// Hopper's measured profiles have movmatrix.trans; those of the shelf have machine.movm alone.
TEST(KernelsIn, AnOpcodeWithoutANameHasThatOfTheRowThatCountsIt) {
    isa::Instruction moved;
    moved.opcode = "MOVM";
    EXPECT_EQ(names_of({"movmatrix.trans", "machine.movm"})(moved, nullptr, false),
              "movmatrix.trans");
    EXPECT_EQ(names_of({"machine.movm"})(moved, nullptr, false), "machine.movm");
    EXPECT_EQ(names_of({})(moved, nullptr, false), "movmatrix.trans");
    isa::Instruction several;  // rows of many shapes count it
    several.opcode = "QMMA";
    EXPECT_EQ(names_of({})(several, nullptr, false), "machine.qmma");
}

// A kernel that is in order by itself is so throughout: the verdict as well as the time.
TEST(KernelsIn, OrderIsTheKernelsInAllOfThePrediction) {
    // In order, c waits behind b for a: it issues at 100, and d ends at 200 + 4. Not in order, c
    // issues once its unit is free, at 60, and d ends at 160 + 4.
    Kernel kernel =
        test::kernel({test::instruction("a", "slow"), test::instruction("b", "add", {"a"}),
                      test::instruction("c", "slow"), test::instruction("d", "add", {"c"})});
    const GpuProfile profile = test::gpu({{"slow", 60, 100, "mem"}, {"add", 1, 4}});
    const Launch launch{.group_warps = 1, .concurrent_groups = 2, .groups = 2};
    const ModelOptions in_order{.order = Order::in_order};
    const double alone = cycles_alone(Problem(profile, kernel, launch), in_order);
    EXPECT_EQ(alone, 204);
    EXPECT_EQ(cycles_alone(Problem(profile, kernel, launch), {}), 164);
    kernel.order = Order::in_order;
    EXPECT_EQ(cycles_alone(Problem(profile, kernel, launch), {}), 204);
}

// Straight-line programs may be longer than what loops may be replicated to.
TEST(KernelsIn, LongProgramsAreSimulated) {
    constexpr int length = 70'000;
    std::vector<KernelItem> items;
    for (int i = 0; i < length; ++i)
        items.push_back(test::instruction(fmt::format("i{}", i), "add"));
    Kernel kernel = test::kernel(std::move(items));
    kernel.order = Order::in_order;
    const SimulationResult run = simulate(test::gpu({{"add", 2, 6}}), kernel, Launch());
    EXPECT_EQ(run.issued, length);
    EXPECT_EQ(run.cycles, 2.0 * (length - 1) + 6);  // one each λ, and the last one's Λ
}

// Why graphs have no edges from a warp's stores to its loads of the same bytes: the assembler has
// nothing wait for a store, as one pipe does a warp's accesses in order.
TEST(KernelsIn, NothingWaitsForAStore) {
    std::uint64_t stores = 0;
    for (const int architecture : architectures)
        for (const auto& entry :
             fs::directory_iterator(folder / fmt::format("recorded/sm_{}", architecture))) {
            const KernelFile file = read_kernel_file(entry.path().string(), "", {});
            for (const isa::Kernel& kernel : file.cubin.kernels)
                for (const isa::Instruction& one : isa::decode(kernel.code, architecture)) {
                    if (one.opcode != "STS" && one.opcode != "STG" && one.opcode != "STL" &&
                        one.opcode != "ST")
                        continue;
                    ++stores;
                    EXPECT_FALSE(one.control.result_scoreboard)
                        << entry.path() << " " << one.opcode << " at " << one.address;
                }
        }
    EXPECT_GT(stores, 1000U);
    RecordProperty("stores", std::to_string(stores));
}

TEST(KernelsIn, SamplesStandForAllGroups) {
    for (const std::uint64_t groups : {1, 2, 3, 9, 10, 11, 12, 42, 4096, 1'000'003})
        for (const std::uint64_t random : {1, 2, 8, 100}) {
            extract::GroupSample sample(groups, random);
            std::set<std::uint64_t> before;
            for (int round = 0; round < 4; ++round) {
                double weight = 0;
                std::set<std::uint64_t> drawn;
                for (const extract::SampledGroup& one : sample.groups()) {
                    EXPECT_LT(one.group, groups);
                    EXPECT_TRUE(drawn.empty() || one.group > *drawn.rbegin());
                    drawn.insert(one.group);
                    weight += one.weight;
                }
                EXPECT_NEAR(weight, static_cast<double>(groups), 1e-9 * weight);
                EXPECT_TRUE(drawn.contains(0) && drawn.contains(groups - 1));
                EXPECT_TRUE(std::ranges::includes(drawn, before));
                EXPECT_GE(drawn.size(), std::min(groups, (random << round) + 2));
                EXPECT_LE(drawn.size(), std::min(groups, (random << (round + 1)) + 2));
                EXPECT_EQ(sample.all(), drawn.size() == groups);
                // In order, each drawn one for itself and its neighbours, as its weight says.
                std::uint64_t counted = 0;
                const auto watched = sample.groups();
                const auto runs = sample.runs();
                ASSERT_EQ(runs.size(), watched.size());
                for (std::size_t i = 0; i < runs.size(); ++i) {
                    EXPECT_EQ(runs[i].group, watched[i].group);
                    EXPECT_LT(std::abs(static_cast<double>(runs[i].count) - watched[i].weight), 1);
                    counted += runs[i].count;
                }
                EXPECT_EQ(counted, groups);
                before = drawn;
                const auto fresh = sample.grow();
                EXPECT_TRUE(std::ranges::is_sorted(fresh));
                for (const std::uint64_t one : fresh) EXPECT_FALSE(before.contains(one));
                EXPECT_EQ(sample.groups().size(), before.size() + fresh.size());
            }
        }
    EXPECT_EQ(extract::GroupSample(~std::uint64_t{0}, 8).groups().back().group,
              ~std::uint64_t{0} - 1);
    EXPECT_THROW(extract::GroupSample(100, 0), InputError);
}

// Groups that were executed already are not drawn later on, wherever they end in a part.
TEST(KernelsIn, ASampleGrowsBehindTheFirstGroups) {
    for (const std::uint64_t but : {1, 7, 100, 260, 900, 999}) {
        extract::GroupSample sample(1000, 4);
        std::set<std::uint64_t> before;
        for (const auto& one : sample.groups()) before.insert(one.group);
        for (int round = 0; round < 5; ++round) {
            for (const std::uint64_t one : sample.grow(but)) EXPECT_GE(one, but);
            double weight = 0;
            std::uint64_t counted = 0;
            for (const auto& one : sample.groups()) {
                EXPECT_TRUE(one.group >= but || before.contains(one.group));
                weight += one.weight;
            }
            for (const auto& one : sample.runs()) counted += one.count;
            EXPECT_NEAR(weight, 1000, 1e-9);
            EXPECT_EQ(counted, 1000U);
            EXPECT_EQ(sample.groups().size(), sample.runs().size());
        }
    }
}

// 4,096 groups of which one executes a loop: eight at random between the ends say what they cannot
// see. By hand: 1 − 0.05^(1/8) = 0.312.
TEST(KernelsIn, ASampleSaysWhatItCannotSee) {
    GroupsSeen seen{.groups = 4096,
                    .executed = 10,
                    .standard_error = std::nullopt,
                    .unseen_share = 1 - std::pow(0.05, 1.0 / 8),
                    .all_because = {}};
    EXPECT_THAT(to_text(seen),
                HasSubstr("the standard error of the instructions per warp is not known"));
    EXPECT_THAT(to_text(seen), HasSubstr("Up to 31 % of all groups may be unlike"));

    const LaunchPlan plan = read_launches(folder / "matmul.yaml");
    const KernelFile file = recorded(plan, 80);
    const KernelIn all = kernel_in(plan, file, {.sample = {}});
    EXPECT_EQ(all.seen.standard_error, 0);
    EXPECT_EQ(all.seen.unseen_share, 0);
    const KernelIn some = kernel_in(plan, file, {});
    ASSERT_LT(some.seen.executed, some.seen.groups);
    EXPECT_NEAR(some.seen.unseen_share,
                1 - std::pow(0.05, 1 / static_cast<double>(some.seen.executed - 2)), 1e-12);
    const LaunchPlan uniform = read_launches(folder / "transpose.yaml");
    const KernelIn alike =
        kernel_in(uniform, recorded(uniform, 80), {.sample = 1, .sample_instructions = 0});
    ASSERT_LT(alike.seen.executed, alike.seen.groups);
    EXPECT_FALSE(alike.seen.standard_error);
}

double instructions_per_warp(const KernelIn& in) {
    double warps = 0, instructions = 0;
    for (const extract::WarpClass& one : in.streams.classes) {
        warps += one.weight;
        instructions += one.weight * static_cast<double>(one.instructions);
    }
    return instructions / warps;
}

class KernelsInOf : public testing::TestWithParam<fs::path> {};

// The oracle is the executor's own count of the whole launch.
TEST_P(KernelsInOf, SampleHasTheInstructionsOfAll) {
    const LaunchPlan plan = read_launches(GetParam());
    for (const int architecture : {80, 120}) {
        if (!thinned::all_cases() && architecture != 80) continue;
        const KernelFile file = recorded(plan, architecture);
        KernelsInOptions options;
        for (options.step = 1;; ++options.step) {
            try {
                chosen_launch(plan, file.cubin, options);
            } catch (const InputError&) {
                break;
            }
            std::optional<KernelIn> all, sampled;
            try {
                options.sample.reset();
                all = kernel_in(plan, file, options);
                options.sample = KernelsInOptions().sample;
                sampled = kernel_in(plan, file, options);
            } catch (const InputError&) {
                continue;  // what is not executed stands in recorded/not_executed.txt
            }
            ASSERT_EQ(all->seen.executed, all->seen.groups);
            const double exact = static_cast<double>(all->execution.warp_instructions) /
                                 static_cast<double>(all->execution.warps);
            EXPECT_NEAR(instructions_per_warp(*all), exact, 1e-9 * exact);
            EXPECT_NEAR(instructions_per_warp(*sampled), exact, 0.02 * exact)
                << all->kernel().name << ", launch " << options.step << ", "
                << sampled->seen.executed << " of " << sampled->seen.groups << " groups";
        }
        EXPECT_GT(options.step, 1U);
    }
}

// λ and Λ of every op of the kernel, different ones, all exact in a few bits.
GpuProfile profile_of(const Kernel& kernel) {
    GpuProfile profile;
    profile.device.name = "test";
    profile.cores = 2;
    profile.warp_size = 32;
    profile.clock_hz = 1e9;
    profile.issue.schedulers = 4;
    profile.issue.limit = 4;
    for_each_instruction(kernel, [&](const KernelInstruction& instruction) {
        if (profile.find_instruction(instruction.op)) return;
        const std::size_t number = profile.instructions.size();
        const std::string unit = fmt::format("unit{}", number % 5);
        if (!profile.find_subsystem(unit))
            profile.subsystems.push_back(
                {unit, number % 5 < 3 ? Scope::scheduler : Scope::core, {}});
        InstructionTiming timing;
        timing.name = instruction.op;
        timing.subsystem = unit;
        timing.cpi.value = 0.5 * static_cast<double>(1 + number % 7);
        timing.latency = Estimate{.value = static_cast<double>(4 + 3 * (number % 9))};
        profile.instructions.push_back(timing);
    });
    return profile;
}

// Nothing repeated.
extract::StreamObserver::Streams flat(extract::StreamObserver::Streams streams) {
    for (extract::WarpClass& one : streams.classes) {
        std::vector<extract::FoldedItem> items;
        extract::unfold(one.stream, [&](std::uint32_t number) { items.emplace_back(number); });
        one.stream = std::move(items);
    }
    return streams;
}

// Folding changes how a kernel is written, not when anything happens.
TEST_P(KernelsInOf, FoldedAndUnfoldedTakeTheSameTime) {
    const LaunchPlan plan = read_launches(GetParam());
    for (const int architecture : {75, 90}) {
        if (!thinned::all_cases() && architecture != 90) continue;
        const KernelFile file = recorded(plan, architecture);
        KernelsInOptions options;
        options.classes = 4;
        std::optional<KernelIn> in;
        try {
            in = kernel_in(plan, file, options);
        } catch (const InputError&) {
            continue;
        }
        if (in->extracted.instructions > 5000) continue;
        std::vector<extract::GroupRun> runs;
        for (const auto& [group, warps] : in->streams.groups) runs.push_back({group, 1});
        Kernel unfolded =
            extract::extract_kernel("flat", flat(in->streams),
                                    extract::find_kernel(file.cubin, in->launch.kernel), *in->code,
                                    extract::names_known_to({}), options.classes, runs)
                .kernel;
        unfolded.order = Order::in_order;
        unfolded.launch = in->kernel().launch;
        unfolded.groups = in->kernel().groups;
        for (std::size_t i = 0; i < unfolded.warps.size(); ++i)
            unfolded.warps[i].share = in->kernel().warps[i].share;
        const GpuProfile profile = profile_of(in->kernel());
        Launch launch = *in->kernel().launch;
        launch.groups = std::min<std::int64_t>(launch.groups, 12);
        launch.concurrent_groups = std::min(launch.concurrent_groups, 4);
        const SimulationResult folded = simulate(profile, in->kernel(), launch);
        const SimulationResult one_by_one = simulate(profile, unfolded, launch);
        EXPECT_EQ(folded.cycles, one_by_one.cycles) << in->kernel().name;
        EXPECT_EQ(folded.issued, one_by_one.issued);
        EXPECT_GT(folded.issued, 0);
    }
}

// Of counts, where windows of a long stream stand for others.
double tolerance(const KernelIn& in) { return in.extracted.windows_each > 1 ? 0.03 : 0; }

// What stands for all has the instructions of all, and each class those that it executed.
TEST_P(KernelsInOf, ClassesStandForAllWarps) {
    const LaunchPlan plan = read_launches(GetParam());
    const KernelFile file = recorded(plan, 80);
    for (const std::size_t classes : {1, 3, 8, 1000}) {
        KernelsInOptions options;
        options.classes = classes;
        std::optional<KernelIn> in;
        try {
            in = kernel_in(plan, file, options);
        } catch (const InputError&) {
            return;
        }
        double shares = 0, stands_for = 0, instructions = 0;
        std::size_t taken = 0;
        for (const extract::ExtractedClass& one : in->extracted.classes) {
            shares += one.share;
            stands_for += one.stands_for;
            EXPECT_EQ(one.taken, one.stands_for > 0);
            if (!one.taken) continue;
            const double expected =
                static_cast<double>(one.instructions) + static_cast<double>(one.barriers_added);
            EXPECT_NEAR(static_cast<double>(instruction_count(in->kernel().warps[taken])), expected,
                        tolerance(*in) * expected);
            // Of a sample, the groups that are predicted have other shares than its weights.
            if (in->seen.executed == in->seen.groups) {
                EXPECT_NEAR(in->kernel().warps[taken].share, one.stands_for, 1e-9);
            }
            instructions += one.stands_for * static_cast<double>(one.instructions);
            ++taken;
        }
        EXPECT_NEAR(shares, 1, 1e-9);
        EXPECT_NEAR(stands_for, 1, 1e-9);
        EXPECT_GE(taken, 1U);
        EXPECT_LE(taken, std::min(classes, in->extracted.classes.size()));
        EXPECT_NEAR(in->extracted.kernel_instructions, instructions, 1e-9 * instructions);
        EXPECT_NEAR(in->extracted.instructions, instructions_per_warp(*in), 1e-9 * instructions);
        if (taken == in->extracted.classes.size()) {
            EXPECT_NEAR(in->extracted.kernel_instructions, in->extracted.instructions,
                        1e-9 * instructions);
            EXPECT_NEAR(in->extracted.represented, 1, 1e-9);
        }
    }
}

// What each warp of each group of the launch is predicted to execute is what the executor counted,
// where every class stands for itself; and what all models count.
TEST_P(KernelsInOf, GroupsTogetherHaveTheInstructionsOfTheLaunch) {
    const LaunchPlan plan = read_launches(GetParam());
    const KernelFile file = recorded(plan, 80);
    KernelsInOptions options;
    options.sample.reset();
    options.classes = 100'000;
    std::optional<KernelIn> in;
    try {
        in = kernel_in(plan, file, options);
    } catch (const InputError&) {
        return;
    }
    if (in->extracted.classes.size() > 1000) return;  // time
    std::vector<std::int64_t> executed;  // by program, without what is added at barriers
    for (const extract::ExtractedClass& one : in->extracted.classes)
        executed.push_back(static_cast<std::int64_t>(one.instructions));
    std::int64_t sum = 0, groups = 0;
    if (const auto& kinds = in->kernel().groups) {
        for (const GroupKinds::Run& run : kinds->order) {
            groups += run.groups;
            for (const std::int32_t program : kinds->kinds[static_cast<std::size_t>(run.kind)])
                sum += run.groups * executed[static_cast<std::size_t>(program)];
        }
        EXPECT_GT(in->kernel().warps.size(), 1U);
    } else {
        ASSERT_EQ(in->kernel().warps.size(), 1U);
        groups = static_cast<std::int64_t>(in->seen.groups);
        sum = groups * in->occupancy.group_warps * executed.front();
    }
    EXPECT_EQ(groups, static_cast<std::int64_t>(in->seen.groups));
    EXPECT_EQ(sum, static_cast<std::int64_t>(in->execution.warp_instructions));
    const double per_warp = static_cast<double>(sum) / static_cast<double>(in->execution.warps);
    if (in->extracted.barriers_changed == 0) {
        EXPECT_NEAR(warp_load(Problem(profile_of(in->kernel()), in->kernel(), *in->kernel().launch))
                        .instructions,
                    per_warp, (1e-9 + tolerance(*in)) * per_warp);
    }
}

std::string stem_of(const testing::TestParamInfo<fs::path>& one) {
    std::string name = one.param.stem().string();
    std::ranges::replace_if(
        name, [](unsigned char c) { return !std::isalnum(c); }, '_');
    return name;
}

INSTANTIATE_TEST_SUITE_P(Kernels, KernelsInOf, testing::ValuesIn(launch_files()), stem_of);

}  // namespace
}  // namespace occupipe::analysis
