// SPDX-License-Identifier: MIT
// Skipping repetitions: it happens, and where the exact outcome has a closed form it is met.
#include <gtest/gtest.h>

#include "core/files/files.h"
#include "sim/engine/simulate.h"
#include "tests/sim/build.h"

namespace occupipe::test {
namespace {

// A million iterations, a hundred thousand groups.
constexpr std::int64_t iterations = 1'000'000;
constexpr std::int64_t groups = 100'000;

TEST(Periods, AnswerHugeRunsFromAFewThousandInstructions) {
    const GpuProfile profile = gpu({{"op", 0.25, 6}});
    const SimulationResult result = simulate(profile, chain("op", iterations), {8, 1, groups});
    // Latency-bound: each group takes t(8) = N·Λ + 7·λ.
    const double expected = groups * (iterations * 6 + 7 * 0.25);
    EXPECT_EQ(result.cycles, expected);
    EXPECT_EQ(result.issued, groups * iterations * 8);
    EXPECT_LT(result.simulated, 2000);
    EXPECT_DOUBLE_EQ(result.bounds[0].utilisation, groups * iterations * 8 * 0.25 / expected);
}

TEST(Periods, HoldForNestedLoopsWithBarriers) {
    Kernel tiled = read_kernel(OCCUPIPE_SOURCE_DIR "/sim/kernels/matmul_tiled.yaml");
    std::get<Repeat>(tiled.warps[0].instructions[1]).count = iterations;
    const GpuProfile profile = read_profile(OCCUPIPE_SOURCE_DIR "/profiles/nvidia-gtx-1060.yaml");
    for (const Policy policy : {Policy::lrr, Policy::gto, Policy::oldest}) {
        SimulationOptions options{.policy = policy, .order = Order::in_order};
        const auto cycles = [&](std::int64_t count, bool detect) {
            std::get<Repeat>(tiled.warps[0].instructions[1]).count = count;
            options.detect_periods = detect;
            const SimulationResult result =
                simulate(profile, tiled, {8, 1, 10 * (count == iterations ? groups : 1)}, options);
            if (count == iterations) {
                EXPECT_LT(result.simulated, 40'000);
            }
            return result.cycles;
        };
        // The time grows by the same amount with each iteration once the pattern has settled.
        const double settled = cycles(300, false);
        const double slope = (cycles(600, false) - settled) / 300;
        EXPECT_DOUBLE_EQ(cycles(iterations, true), groups * (settled + slope * (iterations - 300)));
    }
}

TEST(Periods, HoldWhereOneStreamRunsAheadOfAnother) {
    // Loads (λ 2) do not wait for the multiply-adds (Λ 5) that use them: the distance grows with
    // every iteration, until the loads are done. The chain of multiply-adds sets the time.
    const GpuProfile profile = gpu({{"ld.a", 2, 9, "mem"}, {"fma", 1, 5, "alu"}});
    const Kernel ahead = kernel(
        {repeat(iterations, {instruction("x", "ld.a"), instruction("a", "fma", {"x", "a@-1"})})});
    const SimulationResult result = simulate(profile, ahead, {});
    EXPECT_EQ(result.cycles, 9 + 5 * iterations);
    EXPECT_LT(result.simulated, 2000);
}

// Nothing waits for the stores, so that nobody counts how many have completed.
TEST(Periods, HoldWhereALoopStores) {
    const GpuProfile profile = gpu({{"ld.a", 2, 9, "mem"}, {"st.a", 3, 20, "store"}});
    KernelItem store = instruction("s", "st.a", {"x"});
    std::get<KernelInstruction>(store).kind = InstructionKind::store;
    const auto storing = [&](std::int64_t count) {
        return kernel({repeat(count, {instruction("x", "ld.a", {"x@-1"}), store})});
    };
    for (const Order order : {Order::dataflow, Order::in_order}) {
        SimulationOptions options{.order = order};
        const SimulationResult result = simulate(profile, storing(iterations), {}, options);
        // A chain of loads, and the last store counts as finished after λ.
        EXPECT_EQ(result.cycles, 9 * iterations + 3);
        EXPECT_LT(result.simulated, 2000);
        for (const Policy policy : {Policy::lrr, Policy::gto, Policy::oldest}) {
            options.policy = policy;
            options.detect_periods = true;
            const SimulationResult skipped = simulate(profile, storing(5'000), {3, 2, 4}, options);
            options.detect_periods = false;
            const SimulationResult full = simulate(profile, storing(5'000), {3, 2, 4}, options);
            EXPECT_LT(skipped.simulated, full.simulated / 10);
            EXPECT_EQ(skipped.ticks, full.ticks);
            EXPECT_EQ(skipped.bounds, full.bounds);
        }
    }
}

TEST(Periods, AreFoundWhereTheFirstWarpHasStoppedLooping) {
    // The first program's warps wait at the barrier for those of the second.
    const GpuProfile profile = gpu({{"op", 1, 4}, {"bar.sync", 1, 2}});
    Kernel diverging = kernel(
        {repeat(10, {instruction("a", "op", {"a@-1"})}), instruction("end", "bar.sync", {"a"})});
    diverging.warps.push_back(diverging.warps[0]);
    std::get<Repeat>(diverging.warps[1].instructions[0]).count = iterations;
    for (WarpProgram& program : diverging.warps) program.share = 0.5;
    for (const Order order : {Order::dataflow, Order::in_order}) {
        const SimulationOptions options{.order = order, .max_simulated = 20'000};
        const SimulationResult result = simulate(profile, diverging, {2, 1, groups}, options);
        // The second warp begins a cycle after the first.
        EXPECT_EQ(result.cycles, groups * (1 + 4 * iterations + 2));
    }
}

TEST(Periods, HoldForLoopsSixDeep) {
    std::vector<KernelItem> body = {instruction("a", "op", {"a@-1"})};
    for (int depth = 0; depth < 6; ++depth) body = {repeat(depth == 0 ? iterations : 2, body)};
    const GpuProfile profile = gpu({{"op", 1, 4}});
    for (const Order order : {Order::dataflow, Order::in_order}) {
        const SimulationOptions options{.order = order, .max_simulated = 20'000};
        const SimulationResult result = simulate(profile, kernel(body), {}, options);
        EXPECT_EQ(result.issued, 32 * iterations);
    }
}

TEST(Periods, AreNotLookedForWhenSwitchedOff) {
    const SimulationOptions options{.detect_periods = false};
    const SimulationResult result = simulate(gpu({{"op", 1, 4}}), chain("op", 5000), {}, options);
    EXPECT_EQ(result.simulated, 5000);
}

}  // namespace
}  // namespace occupipe::test
