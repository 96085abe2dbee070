// SPDX-License-Identifier: MIT
// The reports on a run: stalls, timeline, drawing, trace, sensitivity, uncertainty.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/files.h"
#include "sim/sensitivity.h"
#include "sim/simulate.h"
#include "sim/views/stalls.h"
#include "sim/views/timeline.h"
#include "sim/views/trace.h"
#include "tests/sim/build.h"
#include "tests/sim/random_case.h"

namespace occupipe::test {
namespace {

double share(const sim::StallView& view, sim::WaitReason reason) {
    double sum = 0;
    for (const sim::StallRow& row : view.rows())
        if (row.reason == reason) sum += row.share;
    return sum;
}

const Kernel& example() {
    static const Kernel kernel = read_kernel(OCCUPIPE_SOURCE_DIR "/sim/kernels/example.yaml");
    return kernel;
}

const GpuProfile& example_gpu() {
    static const GpuProfile gpu = read_profile(OCCUPIPE_SOURCE_DIR "/sim/kernels/example_gpu.yaml");
    return gpu;
}

TEST(Stalls, SumToTheWholeRunOnRandomCases) {
    for (std::uint64_t seed = 7'000'000; seed < 7'000'500; ++seed) {
        const Case c = random_case(seed, {.divergence = false});
        sim::StallView view;
        const SimulationResult seen = simulate(c.profile, c.kernel, c.launch, c.options, view);
        double sum = 0;
        for (const sim::StallRow& row : view.rows()) {
            EXPECT_GT(row.share, 0);
            sum += row.share;
        }
        EXPECT_NEAR(sum, 1, 1e-9) << describe(c);
        // Looking on changes nothing.
        EXPECT_EQ(seen.ticks, simulate(c.profile, c.kernel, c.launch, c.options).ticks);
    }
}

TEST(Stalls, OfOneWarpAloneAreDependences) {
    // N·Λ: each but the first waits for the one before; the last result is awaited, too.
    sim::StallView view;
    simulate(gpu({{"op", 1, 5}}), chain("op", 10), {}, {}, view);
    EXPECT_DOUBLE_EQ(share(view, sim::WaitReason::dependence), 0.9);
    EXPECT_DOUBLE_EQ(share(view, sim::WaitReason::drain), 0.1);
    EXPECT_EQ(view.rows()[0].waiting, "a (op)");
    EXPECT_EQ(view.rows()[0].on, "a (op)");
}

TEST(Stalls, TellABusySubsystemFromABusyPortAndABarrier) {
    const Launch two{.group_warps = 2, .concurrent_groups = 1, .groups = 1};
    const Kernel one = kernel({instruction("a", "op")});
    sim::StallView subsystem;
    simulate(gpu({{"op", 4, 4}}), one, two, {}, subsystem);
    // Warp 1 waits 4 of 8 cycles for the unit, warp 0 waits for it to end the group.
    EXPECT_DOUBLE_EQ(share(subsystem, sim::WaitReason::subsystem), 4.0 / 16);
    EXPECT_DOUBLE_EQ(share(subsystem, sim::WaitReason::group), 4.0 / 16);
    EXPECT_DOUBLE_EQ(share(subsystem, sim::WaitReason::drain), 8.0 / 16);
    sim::StallView port;
    simulate(gpu({{"op", 1, 4}}, 0.25), one, two, {}, port);
    EXPECT_DOUBLE_EQ(share(port, sim::WaitReason::port), 4.0 / 16);
    sim::StallView barrier;
    simulate(gpu({{"op", 1, 4}, {"bar.sync", 1, 6, "bar"}}),
             kernel({instruction("b", "bar.sync"), instruction("a", "op", {"b"})}), two, {},
             barrier);
    EXPECT_GT(share(barrier, sim::WaitReason::barrier), 0.4);
}

TEST(Stalls, CountPlacesThatNoGroupIsLeftFor) {
    // Three groups on two places: the second place is empty for the last 10 of 20 cycles (less λ).
    sim::StallView view;
    simulate(gpu({{"op", 1, 10}}), kernel({instruction("a", "op")}),
             {.group_warps = 1, .concurrent_groups = 2, .groups = 3}, {}, view);
    EXPECT_DOUBLE_EQ(share(view, sim::WaitReason::empty), 9.0 / 40);
}

TEST(Timeline, ShowsTheExampleKernelAsInTheAnalysisPaper) {
    sim::TimelineView view(28);
    simulate(example_gpu(), example(), {}, {}, view);
    EXPECT_EQ(sim::timeline_text(view),
              "          |....:....|....:....|....:..  one column per cycle, | every ten\n"
              "g0 w0 c1  D===E\n"
              "g0 w0 c2   D===E\n"
              "g0 w0 m1       D=====E\n"
              "g0 w0 c3             D===E\n"
              "g0 w0 c4                 D===E\n"
              "g0 w0 m2                     D=====E\n");
}

TEST(Timeline, KnowsWhenABarrierOpens) {
    sim::TimelineView view(20);
    simulate(gpu({{"op", 1, 5}, {"bar.sync", 1, 3, "bar"}}),
             kernel({instruction("a", "op"), instruction("b", "bar.sync", {"a"})}),
             {.group_warps = 2, .concurrent_groups = 1, .groups = 1}, {}, view);
    for (const auto& entry : view.entries())
        if (entry.stream == 1) {
            EXPECT_EQ(entry.completed, 6 + 3) << "warp " << entry.warp;
        }
}

TEST(Timeline, DrawsABarPerInstructionAndAnArrowPerWait) {
    sim::TimelineView view(100);
    simulate(example_gpu(), example(), {}, {}, view);
    const std::string svg = sim::timeline_svg(view);
    const auto count = [&](const std::string& what) {
        int found = 0;
        for (auto at = svg.find(what); at != std::string::npos; at = svg.find(what, at + 1))
            ++found;
        return found;
    };
    EXPECT_EQ(count("<title>"), 6);
    EXPECT_EQ(count("marker-end"), 4);  // c2→m1, m1→c3, c3→c4, c4→m2
    EXPECT_EQ(svg.find("nan"), std::string::npos);
}

TEST(Trace, IsJsonWithAnEventPerInstructionAndTrack) {
    sim::TimelineView view(100);
    simulate(example_gpu(), example(), {.group_warps = 1, .concurrent_groups = 2, .groups = 2}, {},
             view);
    const auto trace = nlohmann::json::parse(sim::chrome_trace(view));
    int bars = 0;
    for (const auto& event : trace["traceEvents"]) {
        if (event["ph"] != "X") continue;
        ++bars;
        EXPECT_GT(event["dur"].get<double>(), 0);
    }
    EXPECT_EQ(bars, 2 * 2 * 6);
}

TEST(Sensitivity, RanksWhatBinds) {
    // Latency-bound: only Λ of the chain helps.
    const GpuProfile profile = gpu({{"op", 1, 10}, {"other", 1, 1, "sfu"}}, 4);
    Kernel mixed = chain("op", 100);
    mixed.warps[0].instructions.push_back(instruction("z", "other"));
    const auto rows = sensitivities(profile, mixed, {}, {});
    ASSERT_EQ(rows.size(), 5U);
    EXPECT_EQ(rows[0].name, "op Λ");
    EXPECT_DOUBLE_EQ(rows[0].gain, 100);
    for (std::size_t i = 1; i < rows.size(); ++i) EXPECT_EQ(rows[i].gain, 0) << rows[i].name;
}

TEST(Uncertainty, GivesTheIntervalOfALinearPrediction) {
    // One warp: N·Λ with Λ = 10 ± 0.5, so 1000 ± 1.96 · 50 cycles.
    GpuProfile profile = gpu({{"op", 1, 10}});
    profile.instructions[0].latency.std_error = 0.5;
    const Uncertainty u = uncertainty(profile, chain("op", 100), {}, {}, 4000, 1);
    EXPECT_NEAR(u.median, 1000, 5);
    EXPECT_NEAR(u.low, 1000 - 98, 8);
    EXPECT_NEAR(u.high, 1000 + 98, 8);
    const Uncertainty again = uncertainty(profile, chain("op", 100), {}, {}, 4000, 1);
    EXPECT_EQ(again.low, u.low);
    EXPECT_EQ(again.high, u.high);
}

TEST(Uncertainty, NeedsStandardErrors) {
    EXPECT_THROW(uncertainty(gpu({{"op", 1, 10}}), chain("op", 2), {}, {}, 10, 1), InputError);
    GpuProfile profile = gpu({{"op", 1, 10}});
    profile.instructions[0].cpi.std_error = 0.1;
    EXPECT_THROW(uncertainty(profile, chain("op", 2), {}, {}, 0, 1), InputError);
}

}  // namespace
}  // namespace occupipe::test
