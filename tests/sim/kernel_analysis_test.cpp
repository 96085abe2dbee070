// SPDX-License-Identifier: MIT
// What the models derive from a kernel, against numbers worked out by hand.
#include "sim/models/kernel_analysis.h"

#include <gtest/gtest.h>

#include "sim/engine/time_limit.h"
#include "tests/sim/build.h"

namespace occupipe::test {
namespace {

// λ_comp 1, Λ_comp 4, λ_mem 2, Λ_mem 6, as in the analysis paper's example.
GpuProfile example_gpu() {
    return gpu({{"add", 1, 4, "alu"},
                {"ld.x", 2, 6, "mem"},
                {"st.x", 2, 6, "mem"},
                {"bar.sync", 1, 3, "alu"}});
}

WorkFlow flow_of(const Kernel& kernel) { return work_flow(Problem(example_gpu(), kernel, {}), 0); }

TEST(WorkFlow, CutsBlocksAtAccessesAndTimesThemAlone) {
    const WorkFlow flow =
        flow_of(kernel({instruction("c1", "add"), instruction("c2", "add"),
                        instruction("m1", "ld.x", {"c1", "c2"}), instruction("c3", "add", {"m1"}),
                        instruction("c4", "add", {"c3"}), instruction("m2", "ld.x", {"c4"})}));
    ASSERT_EQ(flow.nodes.size(), 4U);
    EXPECT_EQ(flow.nodes[0].instructions, 2);
    EXPECT_EQ(flow.nodes[0].alone, 5);  // the second issues at 1
    EXPECT_EQ(flow.nodes[1].alone, 6);
    EXPECT_EQ(flow.nodes[1].block_before, 0);
    EXPECT_EQ(flow.nodes[2].alone, 8);  // one after the other
    EXPECT_EQ(flow.nodes[2].waits, (std::vector<WorkNode::Wait>{{0, -1}}));
    EXPECT_EQ(flow.nodes[3].block_before, 2);
}

TEST(WorkFlow, CutsABlockBeforeAComputationThatWaitsForAnotherAccess) {
    const WorkFlow flow =
        flow_of(kernel({instruction("m1", "ld.x"), instruction("m2", "ld.x"),
                        instruction("a", "add", {"m1"}), instruction("b", "add", {"a"}),
                        instruction("c", "add", {"b", "m2"}), instruction("d", "add", {"m2"})}));
    ASSERT_EQ(flow.nodes.size(), 4U);
    EXPECT_EQ(flow.nodes[2].instructions, 2);
    EXPECT_EQ(flow.nodes[3].instructions, 2);
    EXPECT_EQ(flow.nodes[3].alone, 5);  // c and d do not depend on each other
}

TEST(WorkFlow, TakesALoopOfComputationsIntoTheBlock) {
    const WorkFlow flow = flow_of(
        kernel({instruction("a", "add"), repeat(100, {instruction("b", "add", {"a", "b@-1"})}),
                instruction("s", "st.x", {"b"})}));
    ASSERT_EQ(flow.nodes.size(), 2U);
    EXPECT_EQ(flow.nodes[0].instructions, 101);
    EXPECT_EQ(flow.nodes[0].alone, 404);
    EXPECT_EQ(flow.nodes[1].latency, 2);  // a store that nothing waits for counts with λ
    EXPECT_FALSE(flow.nodes[1].waited);
}

TEST(IntervalWalk, EndsAnIntervalWhereAResultIsMissing) {
    const Walk walk = interval_walk(
        flow_of(kernel({instruction("c1", "add"), instruction("c2", "add"),
                        instruction("m1", "ld.x", {"c1", "c2"}), instruction("c3", "add", {"m1"}),
                        instruction("c4", "add", {"c3"}), instruction("m2", "ld.x", {"c4"})})));
    EXPECT_EQ(walk.cycles, 16);  // Λ_app without the computations' latencies: 4·1 + 2·6
    EXPECT_EQ(walk.intervals, (std::vector<Interval>{{2, 6, 1, 1}, {2, 6, 1, 1}}));
}

TEST(IntervalWalk, LetsIndependentComputationsShortenTheStall) {
    const Walk walk =
        interval_walk(flow_of(kernel({instruction("m", "ld.x"), instruction("a", "add"),
                                      instruction("b", "add"), instruction("c", "add", {"m"})})));
    EXPECT_EQ(walk.intervals, (std::vector<Interval>{{2, 4, 1, 1}, {1, 0, 0, 1}}));
}

TEST(IntervalWalk, SpacesAccessesByTheirCpi) {
    const Walk walk = interval_walk(flow_of(kernel({repeat(5, {instruction("m", "ld.x")})})));
    EXPECT_EQ(walk.cycles, 4 * 2 + 6);
}

TEST(IntervalWalk, TreatsALongLoopLikeItsReplica) {
    // Waits for the load of the iteration before, so that the first iteration differs.
    const auto body = [](std::int64_t count) {
        return kernel({instruction("p", "ld.x"), instruction("q", "add", {"p"}),
                       repeat(count, {instruction("a", "add", {"m@-1"}),
                                      repeat(3, {instruction("m", "ld.x", {"a"})}),
                                      instruction("b", "add", {"a"})}),
                       instruction("z", "add", {"m"})});
    };
    const auto sums = [](const Walk& walk) {
        Interval sum{0, 0, 0, 0};
        for (const Interval& interval : walk.intervals) {
            sum.instructions += interval.times * interval.instructions;
            sum.stall += interval.times * interval.stall;
            sum.accesses += interval.times * interval.accesses;
            sum.times += interval.times;
        }
        return sum;
    };
    // Per iteration: a, three loads at 2 each with b beside the first, a's wait: 1 + 4 + 6.
    const Walk small = interval_walk(flow_of(body(7)));
    const Walk large = interval_walk(flow_of(body(1'000'000'007)));
    EXPECT_DOUBLE_EQ(large.cycles - small.cycles, 1e9 * 11);
    EXPECT_EQ(sums(large).instructions, 2 * 1'000'000'007.0 + 2);
    EXPECT_EQ(sums(large).accesses, 3 * 1'000'000'007.0 + 1);
    EXPECT_DOUBLE_EQ(sums(large).stall + sums(large).instructions, large.cycles);
}

TEST(IntervalWalk, CountsAnEndlessStretchWithoutStalls) {
    const Walk walk = interval_walk(
        flow_of(kernel({repeat(1'000'000'000, {instruction("a", "add"), instruction("s", "st.x"),
                                               instruction("b", "add")})})));
    ASSERT_EQ(walk.intervals.size(), 1U);
    EXPECT_EQ(walk.intervals[0].instructions, 2e9);
    EXPECT_EQ(walk.intervals[0].accesses, 1e9);
}

TEST(Analysis, CountsPerWarpAndWeighsDivergingWarps) {
    Kernel diverging = kernel({repeat(10, {instruction("a", "add"), instruction("m", "ld.x")})});
    diverging.warps[0].share = 0.25;
    diverging.warps.push_back({0.75, {instruction("s", "st.x"), instruction("b", "bar.sync")}});
    const KernelAnalysis analysis = analyse(
        Problem(example_gpu(), diverging, {.group_warps = 4, .concurrent_groups = 2, .groups = 2}));
    EXPECT_EQ(analysis.warps, 8);
    EXPECT_DOUBLE_EQ(analysis.totals.computations, 0.25 * 10 + 0.75);
    EXPECT_DOUBLE_EQ(analysis.totals.accesses, 0.25 * 10 + 0.75);
    EXPECT_DOUBLE_EQ(analysis.totals.barriers, 0.75);
    EXPECT_DOUBLE_EQ(analysis.totals.mem_cpi, 2 * 3.25);
    EXPECT_DOUBLE_EQ(analysis.totals.mem_latency, 6 * 2.5 + 2 * 0.75);
    EXPECT_EQ(analysis.totals.comp_subsystem, "alu");
    EXPECT_EQ(analysis.totals.mem_subsystem, "mem");
}

// A block alone is simulated, too.
TEST(KernelAnalysis, EndsAtTheLimitsOfSimulations) {
    const Kernel one = kernel({instruction("a", "add"), instruction("m", "ld.x", {"a"})});
    int asked = 0;
    ModelOptions options;
    options.checkpoint = [&](const RunProgress&) { ++asked; };
    analyse(Problem(example_gpu(), one, {}), options);
    EXPECT_EQ(asked, 1);
    options.checkpoint = time_limit(-1);
    EXPECT_THROW(analyse(Problem(example_gpu(), one, {}), options), LimitReached);
    options.checkpoint = time_limit();
    EXPECT_NO_THROW(analyse(Problem(example_gpu(), one, {}), options));
}

}  // namespace
}  // namespace occupipe::test
