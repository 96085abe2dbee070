// SPDX-License-Identifier: MIT
// The queue that makes latency grow with load (docs/background/pipeline-model.md, "Contention").
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "core/error.h"
#include "sim/engine/simulate.h"
#include "sim/reference/simulate_reference.h"
#include "tests/sim/build.h"

namespace occupipe::test {
namespace {

GpuProfile memory(double cpi, double latency, double contention) {
    GpuProfile profile = gpu({{"ld.a", cpi, latency, "mem"}, {"fma", 0.25, 6, "alu"}});
    profile.subsystems[0].contention = Estimate{.value = contention};
    return profile;
}

double throughput(const GpuProfile& profile, const Kernel& streaming, int warps) {
    const SimulationResult run = simulate(profile, streaming, {1, warps, warps});
    return static_cast<double>(run.issued) / run.cycles;
}

TEST(Contention, AStreamingKernelFollowsTheLaw) {
    // X = min(w / (Λ0 + h·w), B) with Λ0 = Λ − h and h = contention · λ.
    for (const double contention : {0.1, 0.4, 0.6})
        for (const double cpi : {2.0, 12.0}) {
            const GpuProfile profile = memory(cpi, 378, contention);
            const double h = contention * cpi;
            for (int warps = 1; warps <= 256; warps += warps < 40 ? 1 : 24) {
                const double law = std::min(warps / (378 - h + h * warps), 1 / cpi);
                EXPECT_NEAR(throughput(profile, chain("ld.a", 3000), warps), law, 0.01 * law)
                    << warps << " warps, λ " << cpi << ", contention " << contention;
            }
        }
}

TEST(Contention, SeveralLoadsOfOneWarpCountLikeSeveralWarps) {
    const GpuProfile profile = memory(12, 378, 0.5);
    const Kernel two = kernel(
        {repeat(2000, {instruction("a", "ld.a", {"a@-1"}), instruction("b", "ld.a", {"b@-1"})})});
    for (const int warps : {1, 5, 10})
        EXPECT_NEAR(throughput(profile, two, warps),
                    throughput(profile, chain("ld.a", 4000), 2 * warps),
                    0.01 * throughput(profile, two, warps));
}

TEST(Contention, OnlyWhatIsOutstandingIsWaitedFor) {
    // Two loads: the second issues at 1 and waits for the first, or at 100 and for none.
    const GpuProfile profile = memory(1, 40, 0.5);
    EXPECT_EQ(
        simulate(profile, kernel({instruction("a", "ld.a"), instruction("b", "ld.a")}), {}).cycles,
        1 + 40 + 0.5);
    EXPECT_EQ(
        simulate(profile, kernel({instruction("a", "ld.a"), instruction("b", "ld.a", {"a"})}), {})
            .cycles,
        80);
}

TEST(Contention, OneWaitsForALongRequestLongerThanForAShortOne) {
    GpuProfile profile = gpu({{"ld.wide", 8, 40, "mem"}, {"ld.a", 1, 40, "mem"}});
    profile.subsystems[0].contention = Estimate{.value = 0.5};
    const auto second_after = [&](const std::string& first) {
        return simulate(profile, kernel({instruction("a", first), instruction("b", "ld.a")}), {})
            .cycles;
    };
    EXPECT_EQ(second_after("ld.wide"), 8 + 40 + 4);
    EXPECT_EQ(second_after("ld.a"), 1 + 40 + 0.5);
}

TEST(Contention, ComputationThatHidesLatencyThinsTheQueue) {
    // Between two loads each warp computes for 600 cycles: fewer loads are outstanding at once, so
    // that twenty warps get along as if there were no queue, to a few per cent; loading without a
    // pause, they take over a third longer.
    const Kernel mixed = kernel({repeat(300, {instruction("x", "ld.a", {"s@-1"}),
                                              repeat(100, {instruction("y", "fma", {"x", "y@-1"})}),
                                              instruction("s", "fma", {"y"})})});
    const auto slowdown = [](const Kernel& k) {
        return simulate(memory(12, 378, 0.6), k, {1, 20, 20}, {.order = Order::in_order}).cycles /
               simulate(memory(12, 378, 0), k, {1, 20, 20}, {.order = Order::in_order}).cycles;
    };
    EXPECT_LT(slowdown(mixed), 1.10);
    EXPECT_GT(slowdown(chain("ld.a", 1000)), 1.33);
}

TEST(Contention, CopiesOfASubsystemHaveQueuesOfTheirOwn) {
    GpuProfile profile = memory(1, 40, 0.5);
    profile.issue.schedulers = 2;
    profile.subsystems[0].scope = Scope::scheduler;
    EXPECT_EQ(simulate(profile, chain("ld.a", 1), {2, 1, 1}).cycles, 40);
    profile.subsystems[0].scope = Scope::core;
    EXPECT_EQ(simulate(profile, chain("ld.a", 1), {2, 1, 1}).cycles, 1 + 40 + 0.5);
    // A growth was measured with warps on all schedulers: half of them are in each copy.
    profile.subsystems[0].scope = Scope::scheduler;
    profile.find_instruction("ld.a")->latency_growth = Estimate{.value = 0.25};
    EXPECT_EQ(simulate(profile, chain("ld.a", 1), {4, 1, 1}).cycles, 1 + 40 + 2 * 0.25);
}

TEST(Contention, PeriodsAreFoundWithIt) {
    const SimulationResult run =
        simulate(memory(12, 378, 0.5), chain("ld.a", 1'000'000), {8, 1, 100});
    EXPECT_LT(run.simulated, 5000);
    EXPECT_EQ(run.issued, 800'000'000);
}

TEST(Contention, AMeasuredGrowthTakesThePlaceOfTheShare) {
    const Kernel two = kernel({instruction("a", "ld.a"), instruction("b", "ld.a")});
    GpuProfile profile = memory(12, 378, 0.5);
    profile.find_instruction("ld.a")->latency_growth = Estimate{.value = 2};
    EXPECT_EQ(simulate(profile, two, {}).cycles, 12 + 378 + 2);
    profile.subsystems[0].contention.reset();
    EXPECT_EQ(simulate(profile, two, {}).cycles, 12 + 378 + 2);
    // A growth as large as λ would never end.
    profile.find_instruction("ld.a")->latency_growth = Estimate{.value = 12};
    EXPECT_EQ(simulate(profile, two, {}).cycles, 12 + 378 + 0.99 * 12);
}

TEST(Contention, EveryInstructionOfTheSubsystemWaitsForTheQueue) {
    // ld.a has a growth, ld.b has none: it adds nothing to the queue but waits in it. The growth is
    // what ld.a adds, 0.5; ld.b issues at 1 and its result comes at 1 + 40 + 0.5 if it waits.
    GpuProfile profile = gpu({{"ld.a", 1, 40, "mem"}, {"ld.b", 1, 40, "mem"}});
    profile.find_instruction("ld.a")->latency_growth = Estimate{.value = 0.5};
    const auto cycles = [&](const std::string& first, const std::string& second) {
        const Kernel two = kernel({instruction("a", first), instruction("b", second)});
        const SimulationResult fast = simulate(profile, two, {});
        EXPECT_EQ(fast.ticks, simulate_reference(profile, two, {}).ticks);
        return fast.cycles;
    };
    EXPECT_EQ(cycles("ld.a", "ld.b"), 1 + 40 + 0.5);
    EXPECT_EQ(cycles("ld.b", "ld.a"), 1 + 40);
    EXPECT_EQ(cycles("ld.b", "ld.b"), 1 + 40);
    EXPECT_EQ(cycles("ld.a", "ld.a"), 1 + 40 + 0.5);
}

TEST(Contention, OfTheWholeServiceTimeOrMoreIsRefused) {
    for (const double share : {1.0, -0.1})
        EXPECT_THROW(simulate(memory(12, 378, share), chain("ld.a", 1), {}), InputError);
}

}  // namespace
}  // namespace occupipe::test
