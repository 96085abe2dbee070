// SPDX-License-Identifier: MIT
// Both simulators against times that can be worked out by hand.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/files/files.h"
#include "sim/engine/simulate.h"
#include "sim/models/registry.h"
#include "sim/reference/simulate_reference.h"
#include "tests/sim/build.h"

namespace occupipe::test {
namespace {

double cycles(const GpuProfile& profile, const Kernel& kernel, const Launch& launch,
              const SimulationOptions& options = {}) {
    const SimulationResult fast = simulate(profile, kernel, launch, options);
    EXPECT_EQ(fast.ticks, simulate_reference(profile, kernel, launch, options).ticks);
    return fast.cycles;
}

// t(W) of docs/background/pipeline-model.md, "The boat hull".
double boat_hull(double cpi, double latency, int n, int warps) {
    return warps <= latency / cpi ? n * latency + (warps - 1) * cpi
                                  : latency + (double{1} * n * warps - 1) * cpi;
}

TEST(BoatHull, HoldsForEveryNumberOfWarps) {
    const double timings[][2] = {{1, 18},   {0.25, 6}, {0.375, 6}, {1, 5.25},  {1.125, 20},
                                 {12, 345}, {7.5, 2},  {0.3, 1},   {2.5, 2.5}, {0.75, 2.0}};
    for (const auto& [cpi, latency] : timings)
        for (const int n : {1, 2, 7})
            for (int warps = 1; warps <= 40; ++warps)
                EXPECT_DOUBLE_EQ(
                    cycles(gpu({{"op", cpi, latency}}), chain("op", n),
                           {.group_warps = warps, .concurrent_groups = 1, .groups = 1}),
                    boat_hull(cpi, latency, n, warps))
                    << fmt::format("λ {} Λ {} N {} W {}", cpi, latency, n, warps);
}

TEST(BoatHull, HoldsWithAnIssueLimitOfAtLeastWhatThePipelineTakesInACycle) {
    for (const auto& [cpi, latency] : {std::pair(1.0, 18.0), {0.25, 6.0}, {0.375, 6.0}, {0.4, 5.2}})
        for (const double limit : {1.0, 2.0, 3.0, 3.5, 4.0, 7.25}) {
            if (std::floor(limit) < std::ceil(1 / cpi)) continue;
            for (int warps = 1; warps <= 40; ++warps)
                EXPECT_DOUBLE_EQ(cycles(gpu({{"op", cpi, latency}}, limit), chain("op", 7),
                                        {.group_warps = warps}),
                                 boat_hull(cpi, latency, 7, warps))
                    << fmt::format("λ {} Λ {} IL {} W {}", cpi, latency, limit, warps);
        }
}

TEST(BoatHull, HoldsForLongChainsOnManyGroups) {
    for (const int groups : {1, 3, 24, 25, 64})
        EXPECT_DOUBLE_EQ(simulate(gpu({{"op", 0.25, 6}}), chain("op", 4096),
                                  {.group_warps = 1, .concurrent_groups = groups, .groups = groups})
                             .cycles,
                         boat_hull(0.25, 6, 4096, groups));
}

// More than a machine word has bits: of warps, of instructions, of what one instruction waits for.
TEST(BoatHull, HoldsForMoreThan64Warps) {
    for (const int groups : {65, 128, 200})
        EXPECT_DOUBLE_EQ(cycles(gpu({{"op", 0.25, 6}}), chain("op", 20),
                                {.group_warps = 1, .concurrent_groups = groups, .groups = groups}),
                         boat_hull(0.25, 6, 20, groups));
}

TEST(KnownAnswer, MoreThan64InstructionsInOneLoop) {
    std::vector<KernelItem> body = {instruction("i0", "op", {"i69@-1"})};
    for (int i = 1; i < 70; ++i)
        body.push_back(instruction(fmt::format("i{}", i), "op", {fmt::format("i{}", i - 1)}));
    EXPECT_DOUBLE_EQ(cycles(gpu({{"op", 0.5, 6}}), kernel({repeat(3, body)}), {.group_warps = 5}),
                     boat_hull(0.5, 6, 210, 5));
}

TEST(KnownAnswer, WaitsForTwelveResults) {
    // The loads issue at 0, 1, …, 11; the last result is there at 21.
    std::vector<KernelItem> items;
    std::vector<std::string> loads;
    for (int i = 0; i < 12; ++i) {
        loads.push_back(fmt::format("l{}", i));
        items.push_back(instruction(loads.back(), "ld.a"));
    }
    items.push_back(instruction("sum", "add", loads));
    EXPECT_EQ(cycles(gpu({{"ld.a", 1, 10, "mem"}, {"add", 1, 5}}), kernel(items), {}), 11 + 10 + 5);
}

TEST(KnownAnswer, ProducerRunsFarAheadOfItsUser) {
    // One result per cycle for a user that takes three: results wait, two thirds of all in the end.
    const GpuProfile profile = gpu({{"p", 1, 1}, {"u", 3, 3, "slow"}});
    const auto loop = [](std::int64_t count) {
        return kernel(
            {repeat(count, {instruction("a", "p", {"a@-1"}), instruction("b", "u", {"a"})})});
    };
    EXPECT_EQ(cycles(profile, loop(300), {}), 1 + 3 * 300);
    for (const bool detect_periods : {false, true})
        EXPECT_EQ(simulate(profile, loop(200'000), {}, {.detect_periods = detect_periods}).cycles,
                  1 + 3 * 200'000);
    EXPECT_EQ(simulate(profile, loop(4'000'000'000), {}).cycles, 1.0 + 3.0 * 4'000'000'000);
}

TEST(KnownAnswer, ADependenceGoesBackAsManyIterationsAsItSays) {
    // Two chains in turn: twice as fast as one, up to the pipeline's throughput.
    const GpuProfile profile = gpu({{"op", 1, 6}});
    const auto back = [](const std::string& after, std::int64_t count) {
        return kernel({repeat(count, {instruction("a", "op", {after})})});
    };
    EXPECT_EQ(cycles(profile, back("a@-1", 12), {}), 12 * 6);
    EXPECT_EQ(cycles(profile, back("a@-2", 12), {}), 6 * 6 + 1);
    EXPECT_EQ(cycles(profile, back("a@-3", 12), {}), 4 * 6 + 2);
    EXPECT_EQ(cycles(profile, back("a@-6", 12), {}), 11 + 6);
    // As far back as the loop is long, or farther: nothing.
    EXPECT_EQ(cycles(profile, back("a@-12", 12), {}), 11 + 6);
    EXPECT_EQ(cycles(profile, back("a@-4000000000", 12), {}), 11 + 6);
    // In huge loops, too.
    const SimulationResult huge = simulate(profile, back("a@-3", 3'000'000'000), {});
    EXPECT_EQ(huge.cycles, 1e9 * 6 + 2);
    EXPECT_LT(huge.simulated, 1000);
    // An inner loop starts anew.
    const Kernel twice = kernel({repeat(5, {repeat(4, {instruction("a", "op", {"a@-2"})}),
                                            instruction("b", "op", {"a", "b@-1"})})});
    for (const Order order : {Order::in_order, Order::dataflow})
        cycles(profile, twice, {.group_warps = 3}, {.order = order});  // both alike
}

TEST(KnownAnswer, SaxpyOfOneWarp) {
    // Cornelis & Lemeire: cycles = Λ_index + Λ_mem + λ_mem + Λ_fmadd + λ_mem.
    const GpuProfile profile = gpu({{"index", 2, 18, "alu"},
                                    {"ld.x", 23, 475, "mem"},
                                    {"fma", 1, 17, "alu"},
                                    {"st.y", 23, 475, "mem"}});
    const Kernel saxpy =
        kernel({instruction("i", "index"), instruction("x", "ld.x", {"i"}),
                instruction("y", "ld.x", {"i"}), instruction("z", "fma", {"x", "y"}),
                instruction("s", "st.y", {"z"})});
    EXPECT_EQ(cycles(profile, saxpy, {}), 18 + 475 + 23 + 17 + 23);
}

TEST(KnownAnswer, ExampleKernelOfTheAnalysisPaper) {
    const std::string folder = OCCUPIPE_SOURCE_DIR "/sim/kernels/";
    const Kernel example = read_kernel(folder + "example.yaml");
    const GpuProfile profile = read_profile(folder + "example_gpu.yaml");
    EXPECT_EQ(cycles(profile, example, {}), 25);  // Λ_app
    const auto wpc = [&](const char* model, int warps) {
        const Launch launch{.group_warps = 1, .concurrent_groups = warps, .groups = warps};
        return find_model(model).predict(profile, example, launch, {}).warps_per_cycle;
    };
    EXPECT_EQ(wpc("roofline", 1), 0.25);
    EXPECT_EQ(wpc("volkov", 1), 1.0 / 25);
    EXPECT_LT(wpc("volkov", 6), 0.25);
    EXPECT_EQ(wpc("volkov", 7), 0.25);  // the peak
    // The simulation stays below Volkov's upper bound.
    for (int warps = 1; warps <= 10; ++warps)
        EXPECT_LE(wpc("pipeline", warps), wpc("volkov", warps)) << warps;
}

// Figures 8 and 9 of the analysis paper: the example kernel with 1, 2, 4 and 10 warps.
std::vector<double> example_cycles(std::optional<double> limit, const SimulationOptions& options) {
    const std::string folder = OCCUPIPE_SOURCE_DIR "/sim/kernels/";
    const Kernel example = read_kernel(folder + "example.yaml");
    GpuProfile profile = read_profile(folder + "example_gpu.yaml");
    profile.issue.limit = limit;
    std::vector<double> found;
    for (const int warps : {1, 2, 4, 10})
        found.push_back(cycles(profile, example,
                               {.group_warps = 1, .concurrent_groups = warps, .groups = warps},
                               options));
    return found;
}

using Cycles = std::vector<double>;

TEST(KnownAnswer, Figures8And9HoldForBothSelectionsAndOrders) {
    for (const Select select : {Select::subsystem, Select::warp})
        for (const Order order : {Order::dataflow, Order::in_order})
            for (const auto limit : {std::optional<double>(), std::optional(2.0)})
                EXPECT_EQ(example_cycles(limit,
                                         {.policy = Policy::lrr, .select = select, .order = order}),
                          (Cycles{25, 28, 35, 58}));
}

TEST(KnownAnswer, Figures8And9WithOneInstructionPerCycle) {
    EXPECT_EQ(example_cycles(1, {.select = Select::subsystem}), (Cycles{25, 28, 36, 68}));
    EXPECT_EQ(example_cycles(1, {.select = Select::warp}), (Cycles{25, 28, 36, 77}));
}

TEST(KnownAnswer, Figures8And9WithTheOtherPolicies) {
    const auto by = [](Policy policy, Select select) {
        return example_cycles({}, {.policy = policy, .select = select});
    };
    EXPECT_EQ(by(Policy::gto, Select::subsystem), (Cycles{25, 27, 32, 63}));
    EXPECT_EQ(by(Policy::gto, Select::warp), (Cycles{25, 27, 32, 61}));
    EXPECT_EQ(by(Policy::oldest, Select::subsystem), (Cycles{25, 27, 32, 59}));
    EXPECT_EQ(by(Policy::oldest, Select::warp), (Cycles{25, 27, 32, 59}));
}

// IL = 2 over four schedulers: each may issue in every second cycle, so that Λ = 5 becomes 6 for
// all but the last of 8 instructions. Schedulers 0 and 1 begin in cycle 0, 2 and 3 in cycle 1.
TEST(KnownAnswer, AFractionalShareOfTheIssueLimitLengthensLatencyAndDelaysTheFirstIssue) {
    GpuProfile profile = gpu({{"op", 1, 5}}, 2, 4);
    profile.subsystems[0].scope = Scope::scheduler;
    EXPECT_EQ(cycles(profile, chain("op", 8), {.group_warps = 1}), 7 * 6 + 5);
    EXPECT_EQ(cycles(profile, chain("op", 8), {.group_warps = 2}), 7 * 6 + 5);
    EXPECT_EQ(cycles(profile, chain("op", 8), {.group_warps = 3}), 1 + 7 * 6 + 5);
    profile.issue.limit = 4;
    EXPECT_EQ(cycles(profile, chain("op", 8), {.group_warps = 3}), 8 * 5);
}

TEST(KnownAnswer, OnlyTheBarrierBinds) {
    // Each round: Λ of the instruction, the barriers of W warps spaced by λ, Λ of the barrier. The
    // instructions of the next round start together and leave their unit λ apart, as the barriers
    // do, whose λ is longer.
    const GpuProfile profile = gpu({{"op", 0.25, 6, "alu"}, {"bar.sync", 2.25, 70, "bar"}});
    const int rounds = 5;
    const int warps = 8;
    const Kernel rounds_kernel = kernel(
        {repeat(rounds, {instruction("a", "op", {"b@-1"}), instruction("b", "bar.sync", {"a"})})});
    EXPECT_EQ(
        cycles(profile, rounds_kernel, {.group_warps = warps, .concurrent_groups = 1, .groups = 1}),
        rounds * (6 + (warps - 1) * 2.25 + 70));
}

TEST(KnownAnswer, ABarrierWaitsForTheSlowestWarpOfItsGroupOnly) {
    // Two groups of one warp each never wait for one another.
    const GpuProfile profile = gpu({{"op", 1, 4, "alu"}, {"bar.sync", 1, 10, "bar"}});
    const Kernel one = kernel({instruction("a", "op"), instruction("b", "bar.sync", {"a"})});
    EXPECT_EQ(cycles(profile, one, {.group_warps = 1, .concurrent_groups = 2, .groups = 2}),
              1 + 4 + 10);
    EXPECT_EQ(cycles(profile, one, {.group_warps = 2, .concurrent_groups = 1, .groups = 1}),
              1 + 4 + 10);
}

TEST(KnownAnswer, DivergentWarpsMeetAtTheNthBarrier) {
    const GpuProfile profile =
        gpu({{"fast", 1, 2, "alu"}, {"slow", 1, 50, "mem"}, {"bar.sync", 1, 10, "bar"}});
    Kernel divergent;
    divergent.name = "divergent";
    divergent.warps.push_back({0.5,
                               {instruction("a", "fast"), instruction("b", "bar.sync", {"a"}),
                                instruction("c", "fast", {"b"})}});
    divergent.warps.push_back(
        {0.5, {instruction("x", "slow"), instruction("y", "bar.sync", {"x"})}});
    EXPECT_EQ(cycles(profile, divergent, {.group_warps = 2, .concurrent_groups = 1, .groups = 1}),
              50 + 10 + 2);
}

TEST(KnownAnswer, AStoreEndsItsWarpAtIssueButAUserWaitsForItsLatency) {
    const GpuProfile profile = gpu({{"st.a", 3, 100, "mem"}, {"op", 1, 4}});
    EXPECT_EQ(cycles(profile, kernel({instruction("s", "st.a")}), {}), 3);
    EXPECT_EQ(
        cycles(profile, kernel({instruction("s", "st.a"), instruction("a", "op", {"s"})}), {}),
        104);
}

TEST(KnownAnswer, AFreedSlotTakesTheNextGroupAtOnce) {
    const GpuProfile profile = gpu({{"op", 1, 10}});
    const Launch launch{.group_warps = 1, .concurrent_groups = 2, .groups = 5};
    // 0 and 1 start at 0 and 1, end at 10 and 11; 2 and 3 follow; 4 starts at 20.
    EXPECT_EQ(cycles(profile, kernel({instruction("a", "op")}), launch), 30);
}

TEST(KnownAnswer, TheBusiestCoreRunsTheGroupsRoundedUp) {
    GpuProfile profile = gpu({{"op", 1, 10}});
    profile.cores = 4;
    const Launch launch{.group_warps = 1, .concurrent_groups = 1, .groups = 9};
    EXPECT_EQ(cycles(profile, kernel({instruction("a", "op")}), launch), 30);
}

TEST(KnownAnswer, TheIssueLimitHoldsForAllSubsystemsTogether) {
    // Half an instruction per cycle: one in cycle 1, the other in cycle 3.
    const GpuProfile profile = gpu({{"a", 1, 5, "alu"}, {"m", 1, 5, "mem"}}, 0.5);
    const Kernel pair = kernel({instruction("x", "a"), instruction("y", "m")});
    EXPECT_EQ(cycles(profile, pair, {}), 3 + 5);
    // It is a window, no spacing: two per cycle may issue at the same time.
    EXPECT_EQ(cycles(gpu({{"a", 1, 5, "alu"}, {"m", 1, 5, "mem"}}, 2), pair, {}), 5);
}

TEST(KnownAnswer, ASubsystemThatAllSchedulersShareGoesRound) {
    // One unit of λ = 1 for four warps on as many schedulers, each a chain with Λ = 2: all want it
    // whenever it is free, so that each gets it every fourth cycle. A fixed order would leave the
    // last with nothing until the first is through.
    const GpuProfile profile = gpu({{"op", 1, 2}}, std::nullopt, 4);
    EXPECT_EQ(cycles(profile, chain("op", 5), {.group_warps = 4}), 2 + (5 * 4 - 1));
}

TEST(KnownAnswer, ASubsystemLooksForAWarpWhereAWarpWouldLookForASubsystem) {
    // IL = 1, warp 0: a then m; warp 1 alike. At 1 both m of warp 0 and a of warp 1 are ready. The
    // scheduler issued to alu last, so mem goes first; the warps' ring says warp 1's a.
    const GpuProfile profile = gpu({{"a", 1, 1, "alu"}, {"m", 10, 10, "mem"}}, 1);
    const Kernel pair = kernel({instruction("x", "a"), instruction("y", "m", {"x"})});
    EXPECT_EQ(cycles(profile, pair, {.group_warps = 2}, {.select = Select::subsystem}), 1 + 2 * 10);
    EXPECT_EQ(cycles(profile, pair, {.group_warps = 2}, {.select = Select::warp}), 2 + 2 * 10);
}

TEST(KnownAnswer, SchedulersIssueSideBySide) {
    // λ = 1 per scheduler on four of them is λ = 0.25 per core for warps spread evenly; the fifth
    // warp shares a scheduler with the first.
    GpuProfile profile = gpu({{"op", 1, 4}}, std::nullopt, 4);
    profile.subsystems[0].scope = Scope::scheduler;
    const auto time = [&](int warps) {
        return cycles(profile, chain("op", 3),
                      {.group_warps = warps, .concurrent_groups = 1, .groups = 1});
    };
    EXPECT_EQ(time(1), 12);
    EXPECT_EQ(time(4), 12);
    EXPECT_EQ(time(5), 13);
    EXPECT_EQ(time(16), 3 * 4 + 3);
    EXPECT_EQ(time(17), 4 + (3 * 5 - 1));
}

TEST(KnownAnswer, EachSchedulerHasItsOwnWindow) {
    // IL = 2 over two schedulers: each issues one instruction per cycle.
    const GpuProfile profile = gpu({{"a", 0.5, 5, "alu"}, {"m", 0.5, 5, "mem"}}, 2, 2);
    const Kernel pair = kernel({instruction("x", "a"), instruction("y", "m")});
    EXPECT_EQ(cycles(profile, pair, {.group_warps = 1, .concurrent_groups = 1, .groups = 1}),
              1 + 5);
    // Both schedulers want the one alu first: the second takes it half a cycle later.
    EXPECT_EQ(cycles(profile, pair, {.group_warps = 2, .concurrent_groups = 1, .groups = 1}),
              1.0 + 5);
}

TEST(KnownAnswer, BusyTimesEndWithTheRun) {
    const GpuProfile profile = gpu({{"op", 8, 2}});
    const SimulationResult result = simulate(profile, kernel({instruction("a", "op")}), {});
    EXPECT_EQ(result.cycles, 2);
    ASSERT_EQ(result.bounds.size(), 1U);
    EXPECT_EQ(result.bounds[0].utilisation, 1);
}

}  // namespace
}  // namespace occupipe::test
