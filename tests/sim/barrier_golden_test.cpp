// SPDX-License-Identifier: MIT
// The iterative barrier kernel (Lemeire et al., "Analysis of the analytical performance models for
// GPUs", Figures 15 and 16) for every group size, against times worked out by hand. The paper's
// measured values stand in a figure only, so that none of them is compared.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "core/files/files.h"
#include "sim/engine/simulate.h"

namespace occupipe::test {
namespace {

const std::string source = OCCUPIPE_SOURCE_DIR;
constexpr int rounds = 1024;  // as the kernel's file has it

struct Shape {
    int group_warps;
    int groups;  // concurrent
};

// Groups of 32 to 1024 threads in powers of two, as many as the core holds (Figure 16).
std::vector<Shape> shapes(const GpuProfile& profile) {
    std::vector<Shape> all;
    for (const int warps : {1, 2, 4, 8, 16, 32})
        for (int groups = 1;
             groups <= *profile.limits.groups && warps * groups <= *profile.limits.warps; ++groups)
            all.push_back({warps, groups});
    return all;
}

// λ and Λ of the computation (i) and the barrier (b), and what follows from them by hand.
struct Hand {
    double cpi_i;
    double latency_i;
    double cpi_b;
    double latency_b;

    explicit Hand(const GpuProfile& profile)
        : cpi_i(profile.find_instruction("mul.f32")->cpi.value),
          latency_i(profile.find_instruction("mul.f32")->latency->value),
          cpi_b(profile.find_instruction("bar.sync")->cpi.value),
          latency_b(profile.find_instruction("bar.sync")->latency->value) {}

    // One round of a group alone: the barriers follow the first computation at a distance of λb.
    double round(int group_warps) const {
        return latency_i + (group_warps - 1) * cpi_b + latency_b;
    }
    // All rounds. A group behaves as one instruction does on a pipeline, with T for Λ and the time
    // of its barriers for λ.
    double total(const Shape& s) const {
        const double burst = s.group_warps * cpi_b;
        const double t = round(s.group_warps);
        return s.groups * burst <= t ? rounds * t + (s.groups - 1) * burst
                                     : t - burst + rounds * s.groups * burst;
    }
};

class IterativeBarrier : public testing::TestWithParam<const char*> {
protected:
    GpuProfile profile = read_profile(source + "/profiles/" + GetParam() + ".yaml");
    const Kernel kernel = read_kernel(source + "/sim/kernels/iterative_barrier.yaml");

    double cycles(const Shape& s, const SimulationOptions& options = {}) const {
        return simulate(profile, kernel,
                        {.group_warps = s.group_warps,
                         .concurrent_groups = s.groups,
                         .groups = std::int64_t{s.groups} * profile.cores},
                        options)
            .cycles;
    }
    double performance(const Shape& s) const { return s.groups * s.group_warps / cycles(s); }
};

TEST_P(IterativeBarrier, TakesTheTimeWorkedOutByHandForEveryGroupSize) {
    // The second paper's simulator had no issue limit (its section IV.A); without one nothing but
    // the barriers is contended for.
    profile.issue.limit.reset();
    const Hand hand(profile);
    for (const Shape& s : shapes(profile))
        EXPECT_DOUBLE_EQ(cycles(s), hand.total(s)) << s.groups << " groups of " << s.group_warps;
}

TEST_P(IterativeBarrier, TakesTheTimeWorkedOutByHandForGroupsThatAreNoPowerOfTwoEither) {
    profile.issue.limit.reset();
    const Hand hand(profile);
    for (int warps = 1; warps <= 32; ++warps) {
        const auto most =
            std::min<std::int64_t>(*profile.limits.groups, *profile.limits.warps / warps);
        for (int groups = 1; groups <= most; ++groups)
            EXPECT_DOUBLE_EQ(cycles({warps, groups}), hand.total({warps, groups}))
                << groups << " groups of " << warps;
    }
}

TEST_P(IterativeBarrier, OneGroupLosesNothingToTheIssueLimitWhereSubsystemsLookForWarps) {
    // The first barrier is ready after Λi; from then on the barriers' unit takes its turn with the
    // computations that are left.
    const Hand hand(profile);
    for (const int warps : {1, 2, 4, 8, 16, 32})
        EXPECT_DOUBLE_EQ(cycles({warps, 1}), rounds * hand.round(warps)) << warps;
}

TEST_P(IterativeBarrier, OneGroupLosesToTheIssueLimitWhereWarpsLookForSubsystems) {
    // Loose round robin first lets all computations of the round through, IL per cycle, when that
    // takes longer than Λi; less than a cycle of it may fall into a window that is begun.
    const Hand hand(profile);
    for (const int warps : {1, 2, 4, 8, 16, 32}) {
        const double held = std::max(0.0, warps / *profile.issue.limit - hand.latency_i);
        const double found = cycles({warps, 1}, {.select = Select::warp});
        EXPECT_LE(found, rounds * (hand.round(warps) + held)) << warps;
        EXPECT_GE(found, rounds * hand.round(warps)) << warps;
        if (held >= 1) {
            EXPECT_GT(found, rounds * hand.round(warps)) << warps;
        }
    }
}

TEST_P(IterativeBarrier, TheIssueLimitCostsAtMostTheTimeOfTheOtherInstructions) {
    const Hand hand(profile);
    const double port = 1 / *profile.issue.limit;
    for (const Shape& s : shapes(profile)) {
        const int warps = s.groups * s.group_warps;
        const double least = std::max(hand.total(s), rounds * 2 * warps * port);
        EXPECT_GE(cycles(s), least) << s.groups << " groups of " << s.group_warps;
        EXPECT_LE(cycles(s), hand.total(s) + rounds * warps * port)
            << s.groups << " groups of " << s.group_warps;
    }
}

TEST_P(IterativeBarrier, IsHighlyInfluencedByTheGroupSize) {
    // The paper's words on Figure 16. By hand, where the barriers are not yet the bottleneck, the
    // same warps in one group are slower by T(w)/T(1).
    const Hand hand(profile);
    const double single = performance({1, 8});
    double last = single;
    for (const int warps : {2, 4, 8}) {
        const double now = performance({warps, 8 / warps});
        EXPECT_LT(now, last) << warps;
        last = now;
    }
    EXPECT_NEAR(single / last, hand.round(8) / hand.round(1), 0.001);
}

INSTANTIATE_TEST_SUITE_P(
    Papers, IterativeBarrier,
    testing::Values("nvidia-tesla-c2050", "nvidia-gtx-1060", "nvidia-gtx-650-ti"),
    [](const auto& gpu) {
        return std::string(gpu.index == 0 ? "Fermi" : gpu.index == 1 ? "Pascal" : "Kepler");
    });

TEST(IterativeBarrierShapes, OfFermiAreAsManyAsThePaperRan) {
    // Cornelis & Lemeire, section IV.A: 34 combinations for 18 warp counts.
    const auto all = shapes(read_profile(source + "/profiles/nvidia-tesla-c2050.yaml"));
    std::set<int> counts;
    for (const Shape& s : all) counts.insert(s.group_warps * s.groups);
    EXPECT_EQ(all.size(), 34U);
    EXPECT_EQ(counts.size(), 18U);
}

}  // namespace
}  // namespace occupipe::test
