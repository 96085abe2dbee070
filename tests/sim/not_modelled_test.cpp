// SPDX-License-Identifier: MIT
// The numbered list of docs/background/pipeline-model.md, "What is not modelled": each deviation
// from hardware is shown to exist. When one of these fails, the model has learnt something and the
// list must say so.
#include <gtest/gtest.h>

#include <string>

#include "sim/engine/simulate.h"
#include "sim/models/registry.h"
#include "tests/sim/build.h"

namespace occupipe::test {
namespace {

double cycles(const GpuProfile& profile, const Kernel& kernel, const Launch& launch = {},
              const SimulationOptions& options = {}) {
    return simulate(profile, kernel, launch, options).cycles;
}

TEST(NotModelled, N1InstructionFetchAndCaches) {
    const GpuProfile profile = gpu({{"op", 1, 4}});
    std::vector<KernelItem> straight = {instruction("n0", "op")};
    for (int i = 1; i < 20'000; ++i)
        straight.push_back(
            instruction("n" + std::to_string(i), "op", {"n" + std::to_string(i - 1)}));
    EXPECT_EQ(cycles(profile, kernel(straight)), cycles(profile, chain("op", 20'000)));
}

TEST(NotModelled, N2ABoundedWindowOfInstructions) {
    // dataflow: the load at the end issues at once, ten thousand instructions ahead.
    const GpuProfile profile = gpu({{"op", 1, 4}, {"ld.a", 1, 30'000, "mem"}});
    Kernel late = chain("op", 10'000);
    late.warps[0].instructions.push_back(instruction("l", "ld.a"));
    EXPECT_EQ(cycles(profile, late), 40'000);
    EXPECT_EQ(cycles(profile, late, {}, {.order = Order::in_order}), 9'999 * 4 + 30'000);
}

TEST(NotModelled, N3ALimitOnOutstandingLoads) {
    const Kernel loads = kernel({repeat(5000, {instruction("l", "ld.a")})});
    EXPECT_EQ(cycles(gpu({{"ld.a", 1, 400, "mem"}}), loads), 4999 + 400);
}

TEST(NotModelled, N4ARoundedRidge) {
    // Up to Λ/λ warps, another one costs λ once, not at every load.
    GpuProfile profile = gpu({{"ld.a", 10, 400, "mem"}});
    for (int warps = 2; warps <= 40; ++warps)
        EXPECT_EQ(cycles(profile, chain("ld.a", 50), {warps, 1, 1}),
                  cycles(profile, chain("ld.a", 50), {warps - 1, 1, 1}) + 10);
    // With contention the ridge moves, here to (400 − 5)/(10 − 5) warps, and stays sharp.
    profile.subsystems[0].contention = Estimate{.value = 0.5};
    const auto period = [&](int warps) {
        return (cycles(profile, chain("ld.a", 600), {warps, 1, 1}) -
                cycles(profile, chain("ld.a", 300), {warps, 1, 1})) /
               300;
    };
    EXPECT_EQ(period(78), 395 + 78 * 5);
    EXPECT_EQ(period(79), 790);
    EXPECT_EQ(period(80), 800);
}

TEST(NotModelled, N5Caches) {
    // The same load in every iteration takes Λ every time.
    EXPECT_EQ(cycles(gpu({{"ld.a", 1, 400, "mem"}}), chain("ld.a", 100)), 100 * 400);
}

TEST(NotModelled, N6RegistersAndSharedMemory) {
    GpuProfile profile = gpu({{"op", 1, 4}});
    const double free = cycles(profile, chain("op", 10), {32, 2, 2});
    profile.limits.registers = 1;
    profile.limits.shared_memory_bytes = 1;
    EXPECT_EQ(cycles(profile, chain("op", 10), {32, 2, 2}), free);
}

TEST(NotModelled, N7TheCostOfStartingAKernelOrAGroup) {
    const GpuProfile profile = gpu({{"op", 1, 4}});
    EXPECT_EQ(cycles(profile, chain("op", 1)), 4);
    EXPECT_EQ(cycles(profile, chain("op", 1), {1, 1, 1000}), 4000);
}

TEST(NotModelled, N8InfluenceOfOneCoreOnAnother) {
    GpuProfile profile = gpu({{"ld.a", 10, 400, "mem"}});
    const double one = cycles(profile, chain("ld.a", 50), {8, 1, 4});
    profile.cores = 100;
    EXPECT_EQ(cycles(profile, chain("ld.a", 50), {8, 1, 400}), one);
}

TEST(NotModelled, N9AClockThatChanges) {
    const GpuProfile profile = gpu({{"op", 1, 4}});
    for (const std::int64_t n : {1, 1'000'000})
        EXPECT_DOUBLE_EQ(find_model("pipeline").predict(profile, chain("op", n), {}, {}).seconds,
                         static_cast<double>(n) * 4 / profile.clock_hz);
}

TEST(NotModelled, N10OperandsAndRegisterBanks) {
    // Two operands from one producer or from two: the same.
    const GpuProfile profile = gpu({{"op", 1, 4}});
    EXPECT_EQ(cycles(profile, kernel({instruction("a", "op"), instruction("b", "op"),
                                      instruction("c", "op", {"a", "b"})})),
              cycles(profile, kernel({instruction("a", "op"), instruction("b", "op"),
                                      instruction("c", "op", {"b"})})));
}

TEST(NotModelled, N11WarpsThatMoveBetweenSchedulersOrLoadThemUnevenly) {
    // Five warps on four schedulers: the fifth always shares with the first.
    GpuProfile profile = gpu({{"op", 4, 4}}, std::nullopt, 4);
    profile.subsystems[0].scope = Scope::scheduler;
    EXPECT_EQ(cycles(profile, chain("op", 100), {5, 1, 1}),
              cycles(profile, chain("op", 100), {8, 1, 1}));
}

TEST(NotModelled, N12DivergenceThatDependsOnData) {
    // Shares are the same in every group, whatever the number of groups.
    const GpuProfile profile = gpu({{"op", 1, 4}});
    Kernel divergent;
    divergent.name = "divergent";
    divergent.warps.push_back({0.5, chain("op", 10).warps[0].instructions});
    divergent.warps.push_back({0.5, chain("op", 1000).warps[0].instructions});
    const double one = cycles(profile, divergent, {2, 1, 1});
    EXPECT_EQ(cycles(profile, divergent, {2, 1, 50}), 50 * one);
}

}  // namespace
}  // namespace occupipe::test
