// SPDX-License-Identifier: MIT
// Small timelines, worked out by hand, that tell the policies and orders apart.
#include <gtest/gtest.h>

#include "sim/engine/simulate.h"
#include "sim/reference/simulate_reference.h"
#include "tests/sim/build.h"

namespace occupipe::test {
namespace {

double cycles(const GpuProfile& profile, const Kernel& kernel, const Launch& launch, Policy policy,
              Order order = Order::dataflow) {
    const SimulationOptions options{.policy = policy, .order = order};
    const SimulationResult fast = simulate(profile, kernel, launch, options);
    EXPECT_EQ(fast.ticks, simulate_reference(profile, kernel, launch, options).ticks);
    return fast.cycles;
}

// Three independent instructions on the alu (λ 1), then a long one (λ 1, Λ 20) that waits for the
// last of them (Λ 2). Two warps.
const GpuProfile& two_units() {
    static const GpuProfile profile = gpu({{"op", 1, 2, "alu"}, {"ld.a", 1, 20, "mem"}});
    return profile;
}

Kernel three_then_load() {
    return kernel({instruction("a", "op"), instruction("b", "op"), instruction("c", "op"),
                   instruction("l", "ld.a", {"c"})});
}

TEST(Policy, DecidesWhoseSlotIsFreedFirst) {
    // Groups of one warp, two at once, three in all. oldest and gto: group 0 ends at 2+2+20 = 24,
    // group 1 issues at 3 4 5 and ends at 27. Group 2 issues at 24 25 26, loads at 28, ends at 48.
    const Launch launch{1, 2, 3};
    EXPECT_EQ(cycles(two_units(), three_then_load(), launch, Policy::oldest), 48);
    EXPECT_EQ(cycles(two_units(), three_then_load(), launch, Policy::gto), 48);
    // lrr: group 0 issues at 0 2 4, loads at 6 and ends at 26; group 2 loads at 30, ends at 50.
    EXPECT_EQ(cycles(two_units(), three_then_load(), launch, Policy::lrr), 50);
}

TEST(Policy, GreedyStaysWithItsWarpWhereOldestReturns) {
    // Warp 0: p, then q after p, then a load after q. Warp 1: five independent instructions.
    const GpuProfile profile = gpu({{"op", 1, 3, "alu"}, {"ld.a", 1, 20, "mem"}});
    Kernel uneven;
    uneven.name = "uneven";
    uneven.warps.push_back(
        {0.5,
         {instruction("p", "op"), instruction("q", "op", {"p"}), instruction("l", "ld.a", {"q"})}});
    uneven.warps.push_back({0.5,
                            {instruction("v", "op"), instruction("w", "op"), instruction("x", "op"),
                             instruction("y", "op"), instruction("z", "op")}});
    // p@0 v@1 w@2; at 3 q is ready: oldest returns to it, l@6. lrr: its ring comes round to it.
    EXPECT_EQ(cycles(profile, uneven, {2, 1, 1}, Policy::oldest), 26);
    EXPECT_EQ(cycles(profile, uneven, {2, 1, 1}, Policy::lrr), 26);
    // gto: v w x y z at 1…5, then q@6, l@9.
    EXPECT_EQ(cycles(profile, uneven, {2, 1, 1}, Policy::gto), 29);
}

TEST(Order, InOrderWaitsBehindAStalledInstruction) {
    // l, its user u, and an independent a. dataflow issues a at 1 beside the load; in order it
    // follows u.
    const GpuProfile profile = gpu({{"op", 1, 4, "alu"}, {"ld.a", 1, 20, "mem"}});
    const Kernel stalled =
        kernel({instruction("l", "ld.a"), instruction("u", "op", {"l"}), instruction("a", "op")});
    EXPECT_EQ(cycles(profile, stalled, {}, Policy::lrr, Order::dataflow), 24);
    EXPECT_EQ(cycles(profile, stalled, {}, Policy::lrr, Order::in_order), 25);
}

TEST(Order, DataflowTakesTheLowestProgramIndex) {
    // At 20 both the user of the load and the third link of the chain are ready; the user comes
    // first in the program, and the chain ends later for it.
    const GpuProfile profile = gpu({{"op", 3, 10, "alu"}, {"ld.a", 1, 20, "mem"}});
    const Kernel two =
        kernel({instruction("l", "ld.a"), instruction("u", "op", {"l"}), instruction("c1", "op"),
                instruction("c2", "op", {"c1"}), instruction("c3", "op", {"c2"})});
    // c1@0, c2@10, u@20, c3@23 → 33.
    EXPECT_EQ(cycles(profile, two, {}, Policy::lrr), 33);
}

TEST(Order, DataflowKeepsProgramOrderAmongIterations) {
    // The loads of all iterations are ready at once and run ahead; the adds wait for them. Where an
    // add of iteration i and a load of iteration j > i compete, the add goes first.
    const GpuProfile profile = gpu({{"op", 2, 3, "alu"}, {"ld.a", 1, 4, "alu"}});
    const Kernel loop =
        kernel({repeat(3, {instruction("l", "ld.a"), instruction("u", "op", {"l"})})});
    // l0@0 l1@1 l2@2, u0@4 u1@6 u2@8 → 11.
    EXPECT_EQ(cycles(profile, loop, {}, Policy::lrr), 11);
}

TEST(Order, IsTheKernelsWhereNothingElseIsSaid) {
    // In order the second load waits behind the addition.
    const GpuProfile profile = gpu({{"op", 1, 2, "alu"}, {"ld.a", 1, 10, "mem"}});
    Kernel k = test::kernel(
        {instruction("l", "ld.a"), instruction("u", "op", {"l"}), instruction("m", "ld.a")});
    const auto ticks = [&](std::optional<Order> order) {
        const SimulationOptions options{.order = order};
        const std::int64_t found = simulate(profile, k, {}, options).ticks;
        EXPECT_EQ(simulate_reference(profile, k, {}, options).ticks, found);
        return found;
    };
    EXPECT_EQ(ticks({}), ticks(Order::dataflow));
    const std::int64_t dataflow = ticks({});
    k.order = Order::in_order;
    EXPECT_GT(ticks({}), dataflow);
    EXPECT_EQ(ticks({}), ticks(Order::in_order));
    EXPECT_EQ(ticks(Order::dataflow), dataflow);
}

TEST(Names, ParseOnlyWhatThereIs) {
    EXPECT_EQ(parse_policy("gto"), Policy::gto);
    EXPECT_EQ(parse_policy("GTO"), std::nullopt);
    EXPECT_EQ(parse_order("in_order"), Order::in_order);
    EXPECT_EQ(parse_order(""), std::nullopt);
}

}  // namespace
}  // namespace occupipe::test
