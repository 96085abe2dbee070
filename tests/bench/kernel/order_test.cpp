// SPDX-License-Identifier: MIT
#include "bench/kernel/order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "bench/kernel/estimate.h"
#include "bench/offline/architecture.h"

namespace occupipe::bench {
namespace {

SweepPlan quick_hopper() {
    const auto backend = open_architecture("sm_90", {}, {}, KernelUse::launched);
    return make_sweep(*backend, {.patterns = {}, .quick = true});
}

std::string_view block_name(const char* id) {
    const Row* row = find_row(id);
    return order_blocks().at(block_of({.first = row}));
}

TEST(Order, EveryPointOnceAndBlockAfterBlock) {
    const SweepPlan sweep = quick_hopper();
    const auto order = measuring_order(sweep);
    EXPECT_EQ(std::set(order.begin(), order.end()).size(), sweep.points.size());
    EXPECT_TRUE(std::ranges::is_sorted(
        order, {}, [](const PlannedPoint* point) { return block_of(point->plan); }));
    EXPECT_EQ(order.front()->plan.second, nullptr);
    EXPECT_NE(order.back()->plan.second, nullptr);  // mixes come last
    EXPECT_EQ(measuring_order(sweep), order);
}

TEST(Order, PointsOfABlockAreShuffled) {
    const SweepPlan sweep = quick_hopper();
    const auto order = measuring_order(sweep);
    int changes = 0;
    for (std::size_t i = 1; i < 200; ++i) {
        changes += order[i]->plan.subject() != order[i - 1]->plan.subject() ? 1 : 0;
    }
    EXPECT_GT(changes, 100);
}

TEST(Order, RowsFindTheirBlockByRule) {
    EXPECT_EQ(block_name("fma.f32"), "basic");
    EXPECT_EQ(block_name("ld.global.u32"), "memory levels");
    EXPECT_EQ(block_name("ld.global.l2.u32.line"), "memory levels");
    EXPECT_EQ(block_name("ld.global.u32.working_set"), "memory levels");
    EXPECT_EQ(block_name("rsqrt.approx.f32"), "special functions");
    EXPECT_EQ(block_name("wgmma.m64n256k16.f32.f16"), "matrix");
    EXPECT_EQ(block_name("sqrt.f64"), "floating point");
    EXPECT_EQ(block_name("popc.b32"), "integers");
    EXPECT_EQ(block_name("fma.bf16x2"), "half precision");
    EXPECT_EQ(block_name("fma.f32.body8192"), "other memory, synchronisation, launches, loops");
    EXPECT_EQ(block_name("ld.shared.u32.conflict8"),
              "other memory, synchronisation, launches, loops");
}

TEST(Order, EveryBlockOfTheOrderHasItsRows) {
    const SweepPlan sweep = quick_hopper();
    std::set<std::size_t> found;
    for (const PlannedPoint& point : sweep.points) found.insert(block_of(point.plan));
    EXPECT_EQ(found.size(), order_blocks().size());
}

TEST(Estimate, SaysWhatIsToBeDoneAndIsSilentOfTimesThatItCannotKnow) {
    const SweepPlan sweep = quick_hopper();
    const auto backend = open_architecture("sm_90", {}, {}, KernelUse::launched);
    DeviceFacts facts = backend->facts();
    const auto here = estimate(facts, sweep, KernelsAre::compiled_here);
    const auto brought = estimate(facts, sweep, KernelsAre::brought_along);
    std::size_t points = 0;
    for (std::size_t i = 0; i < here.size(); ++i) {
        points += here[i].points;
        EXPECT_GT(here[i].seconds.value_or(0), brought[i].seconds.value_or(0)) << here[i].name;
    }
    EXPECT_EQ(points, sweep.points.size());
    facts.cpu = true;
    EXPECT_FALSE(estimate(facts, sweep, KernelsAre::compiled_here).front().seconds);
}

}  // namespace
}  // namespace occupipe::bench
