// SPDX-License-Identifier: MIT
// Algorithm 1 of Cornelis & Lemeire, "The Pipeline Performance Model", against its equation 1, the
// reference, and times worked out by hand.
#include "sim/reference/algorithm_1.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/error.h"
#include "sim/reference/simulate_reference.h"
#include "tests/sim/build.h"
#include "tests/sim/random_case.h"

namespace occupipe::test {
namespace {

Launch warps_at_once(int warps) {
    return {.group_warps = 1, .concurrent_groups = warps, .groups = warps};
}

TEST(Algorithm1, FollowsEquation1OnEveryTableIIBenchmarkOfWholeCycles) {
    struct Row {
        double cpi, latency;
    };
    constexpr int n = 20;
    for (const Row& row : {Row{1, 18}, Row{8, 40}, Row{4, 58}, Row{23, 521}, Row{12, 378}})
        for (const int warps : {1, 2, 5, 20, 32, 48}) {
            const GpuProfile profile = gpu({{"x", row.cpi, row.latency}});
            const double ridge = row.latency / row.cpi;
            const double expected = warps <= ridge ? n * row.latency + (warps - 1) * row.cpi
                                                   : row.latency + (n * warps - 1) * row.cpi;
            EXPECT_EQ(simulate_algorithm_1(profile, chain("x", n), warps_at_once(warps)).cycles,
                      expected)
                << row.cpi << " / " << row.latency << " at " << warps;
        }
}

// A search that always begins at the oldest warp is not the paper's: with 20 warps of additions on
// Fermi, 18 fill the pipeline and the last two come after them, 721 cycles instead of equation 1's
// 417, while Table II has a mean error of 2.79 %.
TEST(Algorithm1, ASearchFromTheFirstWarpLeavesEquation1) {
    const GpuProfile profile = gpu({{"x", 1, 18}});
    EXPECT_EQ(simulate_algorithm_1(profile, chain("x", 20), warps_at_once(20)).cycles, 18 + 399);
    // Warp 1 issues its last at 19 · 18; warps 19 and 20 begin 18 cycles later, one after the
    // other.
    EXPECT_EQ(
        simulate_algorithm_1(profile, chain("x", 20), warps_at_once(20), Search::first).cycles,
        19 * 18 + 18 + 20 * 18 + 1);
}

// a on alu: λ 1, Λ 1.5. b on sfu: λ 2, Λ 3, after a. The sfu looks at 0, 1 and 2, while a is there
// at 1.5: b issues at 2 and ends at 5, in our definition at 1.5 and 4.5.
TEST(Algorithm1, APipelineThatIdledLooksAgainAtWholeCycles) {
    const GpuProfile profile = gpu({{"a", 1, 1.5, "alu"}, {"b", 2, 3, "sfu"}});
    const Kernel pair = kernel({instruction("a", "a"), instruction("b", "b", {"a"})});
    EXPECT_EQ(simulate_algorithm_1(profile, pair, {}).cycles, 5);
    EXPECT_EQ(simulate_reference(profile, pair, {}).cycles, 4.5);
}

// Fermi's addition and Pascal's, four warps of two: 0.25 a pipeline that was busy needs no look.
TEST(Algorithm1, ABusyPipelineIssuesAtFractionsOfACycle) {
    const GpuProfile profile = gpu({{"x", 0.25, 6}});
    EXPECT_EQ(simulate_algorithm_1(profile, chain("x", 1), warps_at_once(4)).cycles, 0.75 + 6);
}

TEST(Algorithm1, IgnoresTheIssueLimit) {
    const GpuProfile profile = gpu({{"a", 1, 1, "alu"}, {"b", 1, 1, "sfu"}}, 1);
    const Kernel both = kernel({instruction("a", "a"), instruction("b", "b")});
    EXPECT_EQ(simulate_algorithm_1(profile, both, {}).cycles, 1);
    EXPECT_EQ(simulate_reference(profile, both, {}).cycles, 2);
}

// Random kernels with groups, loops, barriers, stores and diverging warps.
TEST(Algorithm1, EqualsTheReferenceWithWholeCyclesAndNoIssueLimit) {
    int compared = 0;
    for (std::uint64_t seed = 1; seed <= 600; ++seed) {
        Case c = random_case(seed);
        c.profile.issue.limit.reset();
        c.profile.issue.schedulers = 1;
        for (Subsystem& subsystem : c.profile.subsystems) subsystem.contention.reset();
        for (InstructionTiming& timing : c.profile.instructions) {
            timing.cpi.value = std::ceil(timing.cpi.value);
            if (timing.latency)
                timing.latency->value =
                    std::max(timing.cpi.value, std::ceil(timing.latency->value));
            timing.latency_growth.reset();
        }
        const auto [search, policy] = seed % 2 == 0 ? std::pair(Search::in_turn, Policy::lrr)
                                                    : std::pair(Search::first, Policy::oldest);
        c.options = {.policy = policy, .select = Select::subsystem, .order = Order::dataflow};
        std::optional<SimulationResult> expected;
        try {
            expected = simulate_reference(c.profile, c.kernel, c.launch, c.options);
        } catch (const InputError&) {
            EXPECT_THROW(simulate_algorithm_1(c.profile, c.kernel, c.launch, search), InputError)
                << "seed " << seed;
            continue;
        }
        const SimulationResult found = simulate_algorithm_1(c.profile, c.kernel, c.launch, search);
        ASSERT_EQ(found.cycles, expected->cycles) << "seed " << seed << '\n' << describe(c);
        ASSERT_EQ(found.issued, expected->issued) << "seed " << seed;
        ++compared;
    }
    EXPECT_GT(compared, 500);
}

TEST(Algorithm1, ABarrierThatNotAllWarpsReachIsADeadlockAndNotAnEndlessPoll) {
    GpuProfile profile = gpu({{"x", 1, 4}, {"bar.sync", 1, 4, "barrier"}});
    profile.find_instruction("bar.sync")->kind = InstructionKind::barrier;
    Kernel uneven;
    uneven.name = "uneven";
    uneven.warps.push_back({0.5, {instruction("b", "bar.sync")}});
    uneven.warps.push_back({0.5, {instruction("x", "x")}});
    EXPECT_THROW(simulate_algorithm_1(profile, uneven, {.group_warps = 2}), InputError);
}

TEST(Algorithm1, RefusesWhatItDoesNotHave) {
    EXPECT_THROW(simulate_algorithm_1(gpu({{"x", 1, 4}}, std::nullopt, 2), chain("x", 2), {}),
                 InputError);
    GpuProfile contended = gpu({{"x", 1, 4}});
    contended.subsystems[0].contention = Estimate{.value = 0.5};
    EXPECT_THROW(simulate_algorithm_1(contended, chain("x", 2), {}), InputError);
}

}  // namespace
}  // namespace occupipe::test
