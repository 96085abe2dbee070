// SPDX-License-Identifier: MIT
// Launches whose groups differ, and stall counts: closed forms, and the reference.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <queue>
#include <random>
#include <set>
#include <string_view>

#include "core/error.h"
#include "sim/engine/engine.h"
#include "sim/engine/in_order_engine.h"
#include "sim/engine/simulate.h"
#include "sim/machine/core_layout.h"
#include "sim/models/model.h"
#include "sim/models/registry.h"
#include "sim/observers/stalls.h"
#include "sim/reference/simulate_reference.h"
#include "tests/sim/build.h"
#include "tests/sim/random_case.h"
#include "tests/support/thinned.h"

namespace occupipe::test {
namespace {

using ::testing::HasSubstr;

// Programs of `lengths` dependent additions.
Kernel chains(const std::vector<std::int64_t>& lengths) {
    Kernel made{.name = "chains"};
    for (const std::int64_t n : lengths) {
        made.warps.push_back(chain("add", n).warps.front());
        made.warps.back().share = 1.0 / static_cast<double>(lengths.size());
    }
    return made;
}

// One warp a group, group n of program `programs[n]`.
Kernel with_groups(Kernel made, const std::vector<std::int32_t>& programs) {
    made.groups.emplace();
    for (std::int32_t p = 0; p < static_cast<std::int32_t>(made.warps.size()); ++p)
        made.groups->kinds.push_back({p});
    for (const std::int32_t p : programs) made.groups->order.push_back({p, 1});
    made.launch = Launch{.groups = static_cast<std::int64_t>(programs.size())};
    return made;
}

GpuProfile adder(int cores) {
    GpuProfile profile = gpu({{"add", 1, 4}});
    profile.cores = cores;
    return profile;
}

// The end of jobs that are begun in order, each by whoever is free first.
double list_schedule(const std::vector<double>& jobs, int places) {
    std::priority_queue<double, std::vector<double>, std::greater<>> free;
    for (int i = 0; i < places; ++i) free.push(0);
    double end = 0;
    for (const double job : jobs) {
        const double done = free.top() + job;
        free.pop();
        free.push(done);
        end = std::max(end, done);
    }
    return end;
}

// Few warps, so that they never meet in a unit: each group takes the time that it takes alone.
TEST(Groups, OfTheirOwnLengthsAreListScheduled) {
    std::mt19937_64 random(18);
    const std::vector<std::int64_t> lengths = {1, 7, 30, 200, 5'000};
    for (int round = 0; round < 40; ++round) {
        const int cores = 1 + static_cast<int>(random() % 7);
        std::vector<std::int32_t> programs;
        std::vector<double> jobs;
        const std::size_t groups = 1 + random() % 40;
        for (std::size_t i = 0; i < groups; ++i) {
            // Long ones are rare.
            const auto p =
                static_cast<std::int32_t>(std::min({random() % 5, random() % 5, random() % 5}));
            programs.push_back(p);
            jobs.push_back(4.0 * static_cast<double>(lengths[static_cast<std::size_t>(p)]));
        }
        const Kernel kernel = with_groups(chains(lengths), programs);
        const SimulationResult run = simulate(adder(cores), kernel, *kernel.launch);
        EXPECT_EQ(run.cycles, list_schedule(jobs, cores)) << "round " << round;
    }
}

// One group of 10,000 iterations among 63 of 100: the launch lasts as long as that one, wherever it
// stands, and a mixture of equal groups would be far from it.
TEST(Groups, TheLongOneLastsAsLongAsItDoes) {
    for (const std::size_t where : {0, 7, 63}) {
        std::vector<std::int32_t> programs(64, 0);
        programs[where] = 1;
        const Kernel kernel = with_groups(chains({100, 10'000}), programs);
        const SimulationResult run = simulate(adder(4), kernel, *kernel.launch);
        // Waves of four before it.
        EXPECT_EQ(run.cycles, 4.0 * (10'000 + 100 * static_cast<double>(where / 4)));
        Kernel alike = kernel;
        alike.groups.reset();
        EXPECT_LT(simulate(adder(4), alike, *kernel.launch).cycles, 0.8 * run.cycles);
        const Prediction prediction =
            find_model("pipeline").predict(adder(4), kernel, *kernel.launch, {});
        EXPECT_EQ(prediction.cycles, run.cycles);
        EXPECT_EQ(prediction.limited_by, "latency");
        EXPECT_EQ(prediction.groups_per_core, static_cast<std::int64_t>(where / 4) + 1);
    }
}

// Cores with equal groups are simulated once.
TEST(Groups, EqualCoresCostLittle) {
    std::vector<std::int32_t> programs(10'000, 0);
    programs.back() = 1;
    const Kernel kernel = with_groups(chains({100, 300}), programs);
    const SimulationResult run = simulate(adder(100), kernel, *kernel.launch);
    EXPECT_EQ(run.cycles, 4.0 * (99 * 100 + 300));
    EXPECT_EQ(run.groups, 100);
    EXPECT_LE(run.simulated, 2 * 100 * 100 + 300);
}

// More groups than the order tells begin it again, fewer are its first ones.
TEST(Groups, TheOrderBeginsAgain) {
    Kernel kernel = with_groups(chains({10, 1'000, 20}), {0, 1, 2, 2, 0});
    const auto cycles = [&](std::int64_t groups) {
        return simulate(adder(1), kernel, {.groups = groups}).cycles;
    };
    EXPECT_EQ(cycles(1), 4 * 10);
    EXPECT_EQ(cycles(2), 4 * 1'010);
    EXPECT_EQ(cycles(5), 4 * 1'060);
    EXPECT_EQ(cycles(7), 4 * (1'060 + 1'010));
    std::vector<std::int32_t> naive;
    for (int i = 0; i < 12; ++i) naive.push_back(std::array{0, 1, 2, 2, 0}[i % 5]);
    const sim::LaunchGroups groups(kernel, {.groups = 12});
    std::vector<double> shares(3);
    for (std::size_t i = 0; i < naive.size(); ++i) {
        EXPECT_EQ(groups.kinds()[groups.kind_of(static_cast<std::int64_t>(i))].front(), naive[i]);
        shares[static_cast<std::size_t>(naive[i])] += 1.0 / 12;
    }
    for (std::size_t p = 0; p < 3; ++p) EXPECT_NEAR(groups.program_shares()[p], shares[p], 1e-12);
    EXPECT_THROW(simulate(adder(1), kernel, {.group_warps = 2}), InputError);
}

// Each warp at its place: with two schedulers, every second warp is the other's.
TEST(Groups, WarpsKeepTheirPlaces) {
    Kernel kernel = chains({100, 1});
    GpuProfile profile = gpu({{"add", 4, 4}}, std::nullopt, 2);
    profile.subsystems.front().scope = Scope::scheduler;
    kernel.groups = GroupKinds{.kinds = {{0, 1, 0, 1}}, .order = {{0, 1}}};
    kernel.launch = Launch{.group_warps = 4};
    // Both long warps on one unit that takes 4 cycles each time.
    EXPECT_EQ(simulate(profile, kernel, *kernel.launch).cycles, 800);
    kernel.groups->kinds = {{0, 0, 1, 1}};
    EXPECT_EQ(simulate(profile, kernel, *kernel.launch).cycles, 404);
}

// The programs of several random cases in groups of random kinds, on the GPU of the first.
Case random_groups(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    const CaseShape shape{.max_executed = 30, .max_groups = 12};
    Case made = random_case(seed, shape);
    for (std::uint64_t more = random() % 3; more > 0; --more)
        made.kernel.warps.push_back(random_case(seed * 7 + more, shape).kernel.warps.front());
    for (WarpProgram& program : made.kernel.warps)
        program.share = 1.0 / static_cast<double>(made.kernel.warps.size());
    GroupKinds groups;
    for (std::uint64_t kind = 0; kind < 1 + random() % 4; ++kind) {
        groups.kinds.emplace_back();
        // Often one program for all, so that barriers agree.
        const bool mixed = random() % 3 == 0;
        auto program = static_cast<std::int32_t>(random() % made.kernel.warps.size());
        for (int warp = 0; warp < made.launch.group_warps; ++warp) {
            if (mixed) program = static_cast<std::int32_t>(random() % made.kernel.warps.size());
            groups.kinds.back().push_back(program);
        }
    }
    for (std::uint64_t run = 0; run < 1 + random() % 5; ++run)
        groups.order.push_back({static_cast<std::int32_t>(random() % groups.kinds.size()),
                                static_cast<std::int64_t>(1 + random() % 3)});
    made.kernel.groups = groups;
    made.kernel.launch = made.launch;
    made.profile.cores = 1 + static_cast<int>(random() % 4);
    return made;
}

struct Outcome {
    std::optional<SimulationResult> result;
    std::string refused;
};

template <typename Simulator>
Outcome outcome(const Case& c, const Simulator& simulator) {
    try {
        return {simulator(c.profile, c.kernel, c.launch, c.options), ""};
    } catch (const InputError& error) {
        return {std::nullopt, error.what()};
    }
}

void expect_same(const Case& c, std::uint64_t seed) {
    const Outcome fast = outcome(c, [](const auto&... all) { return simulate(all...); });
    if (fast.refused.find("must depend on the one before") != std::string::npos) return;
    const Outcome slow = outcome(c, [](const auto&... all) { return simulate_reference(all...); });
    const Outcome seen = outcome(c, [](const auto&... all) {
        sim::StallView view;
        SimulationResult result = simulate(all..., view);
        // The waits of all places are the whole time.
        std::int64_t ticks = 0;
        for (const sim::InstructionWait& wait : view.waits()) ticks += wait.ticks;
        EXPECT_EQ(ticks, result.ticks * view.layout().warps());
        return result;
    });
    ASSERT_EQ(fast.result.has_value(), slow.result.has_value())
        << "seed " << seed << " " << fast.refused << slow.refused << describe(c);
    ASSERT_EQ(seen.result.has_value(), slow.result.has_value()) << "seed " << seed;
    if (!slow.result) return;
    for (const SimulationResult& result : {*fast.result, *seen.result}) {
        EXPECT_EQ(result.ticks, slow.result->ticks) << "seed " << seed << describe(c);
        EXPECT_EQ(result.issued, slow.result->issued) << "seed " << seed;
        EXPECT_EQ(result.groups, slow.result->groups) << "seed " << seed;
        EXPECT_EQ(result.bounds, slow.result->bounds) << "seed " << seed;
    }
}

TEST(Groups, ThatDifferAreAsInTheReference) {
    int simulated = 0;
    for (const std::uint64_t seed : thinned::seeds(1, 4'000, 8)) {
        const Case c = random_groups(seed);
        expect_same(c, seed);
        simulated += outcome(c, [](const auto&... all) { return simulate(all...); }).result ? 1 : 0;
        if (::testing::Test::HasFailure()) return;
    }
    EXPECT_GT(simulated, thinned::all_cases() ? 2'000 : 250);
}

// More than 64 warps, or streams, are another engine's.
TEST(Groups, ThatDifferAreAsInTheReferenceInEveryEngine) {
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
        Case c = random_groups(seed);
        c.launch.concurrent_groups = 64 / c.launch.group_warps + 1;
        c.profile.cores = 2;
        c.launch.groups = 3 * c.launch.concurrent_groups;
        expect_same(c, seed);
        if (::testing::Test::HasFailure()) return;
    }
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        Case c = random_groups(seed);
        for (WarpProgram& program : c.kernel.warps)
            for (int i = 0; i < 64; ++i)
                program.instructions.push_back(instruction(fmt::format("more{}", i), "add"));
        expect_same(c, seed);
        if (::testing::Test::HasFailure()) return;
    }
}

// Long programs, in order, with many warps: the vector loop, where the processor has vectors.
TEST(Groups, OfLongProgramsAreAsInTheReference) {
    const int cases = thinned::all_cases() ? 8 : 1;
    int compared = 0;
    for (std::uint64_t seed = 1; compared < cases; ++seed) {
        ASSERT_LT(seed, 500);
        std::mt19937_64 random(seed);
        Case c = random_groups(seed);
        c.options.order = Order::in_order;
        c.profile.cores = 1;
        c.profile.issue.schedulers = thinned::all_cases() ? 1 + static_cast<int>(seed % 3) : 1;
        const int warps = std::min(64, 16 * c.profile.issue.schedulers + c.launch.group_warps);
        c.launch.concurrent_groups = warps / c.launch.group_warps;
        c.launch.groups = c.launch.concurrent_groups + 2;
        for (WarpProgram& program : c.kernel.warps)
            for (int i = 0; i < 256; ++i)
                program.instructions.push_back(instruction(
                    fmt::format("more{}", i), "add",
                    i < 3 ? std::vector<std::string>{}
                          : std::vector<std::string>{fmt::format("more{}", i - 1 - random() % 3)}));
        try {
            const sim::CoreLayout layout =
                sim::build_layout(Problem(c.profile, c.kernel, c.launch), c.options);
            if (layout.kinds.size() < 2 || !sim::InOrderEngine::can_run(layout) ||
                !sim::InOrderEngine::fits_lanes(layout))
                continue;
        } catch (const InputError&) {
            continue;
        }
        ++compared;
        expect_same(c, seed);
        if (::testing::Test::HasFailure()) return;
    }
}

Kernel stalling(const std::vector<int>& counts) {
    std::vector<KernelItem> items;
    for (std::size_t i = 0; i < counts.size(); ++i) {
        items.push_back(instruction(fmt::format("i{}", i), "add"));
        if (counts[i] > 0) std::get<KernelInstruction>(items.back()).stall = counts[i];
    }
    Kernel made = kernel(std::move(items));
    made.order = Order::in_order;
    return made;
}

// Nothing waits for a result: λ apart without stall counts, and apart by these where they are
// longer; the last one's ends nothing.
TEST(StallCounts, KeepAWarpsIssuesApart) {
    const GpuProfile profile = gpu({{"add", 2, 10}});
    const Kernel kernel = stalling({5, 0, 1, 15, 7, 15});
    EXPECT_EQ(simulate(profile, kernel, Launch()).cycles, 5 * 2 + 10);
    EXPECT_EQ(simulate(profile, kernel, Launch(), {.stall_counts = true}).cycles,
              5 + 2 + 2 + 15 + 7 + 10);
    // Another warp issues meanwhile: three of each fit side by side.
    EXPECT_EQ(
        simulate(profile, stalling({6, 6, 6}), {.group_warps = 3}, {.stall_counts = true}).cycles,
        6 * 2 + 2 * 2 + 10);
    EXPECT_THROW(
        simulate(profile, kernel, Launch(), {.order = Order::dataflow, .stall_counts = true}),
        InputError);
}

TEST(StallCounts, AreAReasonToWait) {
    const GpuProfile profile = gpu({{"add", 2, 10}});
    sim::StallView view;
    const SimulationResult run =
        simulate(profile, stalling({9, 9, 0}), Launch(), {.stall_counts = true}, view);
    std::int64_t stalled = 0;
    for (const sim::InstructionWait& wait : view.waits())
        if (wait.reason == sim::WaitReason::stall) stalled += wait.ticks;
    EXPECT_EQ(run.scale.to_cycles(stalled), 18);
}

// With and without loops that recur, and groups that differ.
TEST(StallCounts, AreHeededAsInTheReference) {
    std::mt19937_64 random(4);
    const auto add = [&](const auto& self, std::vector<KernelItem>& items) -> void {
        for (KernelItem& item : items) {
            if (auto* loop = std::get_if<Repeat>(&item))
                self(self, loop->body);
            else if (random() % 2 == 0)
                std::get<KernelInstruction>(item).stall = 1 + static_cast<int>(random() % 15);
        }
    };
    for (const std::uint64_t seed : thinned::seeds(1, 3'000, 6)) {
        Case c = seed % 2 == 0 ? random_groups(seed) : random_case(seed, {.max_count = 8});
        for (WarpProgram& program : c.kernel.warps) add(add, program.instructions);
        c.options.order = Order::in_order;
        c.options.stall_counts = true;
        expect_same(c, seed);
        if (::testing::Test::HasFailure()) return;
    }
}

// Loops whose iterations recur are skipped, and come out as if they were not.
TEST(StallCounts, LoopsThatRecurAreSkipped) {
    Kernel looped = kernel(
        {repeat(100'000, {instruction("a", "add", {"b@-1"}), instruction("b", "add", {"a"})})});
    looped.order = Order::in_order;
    auto& body = std::get<Repeat>(looped.warps.front().instructions.front()).body;
    std::get<KernelInstruction>(body.front()).stall = 15;
    const SimulationResult run =
        simulate(gpu({{"add", 1, 4}}), looped, Launch(), {.stall_counts = true});
    EXPECT_EQ(run.cycles, 100'000 * (15 + 4));
    EXPECT_LT(run.simulated, 10'000);
}

}  // namespace
}  // namespace occupipe::test
