// SPDX-License-Identifier: MIT
// The reports on a run: stalls, timeline, drawing, trace, sensitivity, uncertainty.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analysis/explanation/sensitivity.h"
#include "core/error.h"
#include "core/files/files.h"
#include "report/timelines/timeline_svg.h"
#include "sim/engine/simulate.h"
#include "sim/observers/stalls.h"
#include "sim/observers/timeline.h"
#include "sim/observers/trace.h"
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

TEST(Stalls, TellABusySubsystemFromTheIssueLimitAndABarrier) {
    const Launch two{.group_warps = 2, .concurrent_groups = 1, .groups = 1};
    const Kernel one = kernel({instruction("a", "op")});
    sim::StallView subsystem;
    simulate(gpu({{"op", 4, 4}}), one, two, {}, subsystem);
    // Warp 1 waits 4 of 8 cycles for the unit, warp 0 waits for it to end the group.
    EXPECT_DOUBLE_EQ(share(subsystem, sim::WaitReason::subsystem), 4.0 / 16);
    EXPECT_DOUBLE_EQ(share(subsystem, sim::WaitReason::group), 4.0 / 16);
    EXPECT_DOUBLE_EQ(share(subsystem, sim::WaitReason::drain), 8.0 / 16);
    // A quarter of an instruction per cycle: in cycles 3 and 7; the last result is there at 11.
    sim::StallView limit;
    simulate(gpu({{"op", 1, 4}}, 0.25), one, two, {}, limit);
    EXPECT_DOUBLE_EQ(share(limit, sim::WaitReason::issue_limit), (3.0 + 7) / 22);
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
    const std::string svg = report::timeline_svg(view);
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

TEST(Trace, NamesTheSourceLineWhereTheKernelDoes) {
    Kernel lines = chain("op", 2);
    std::get<KernelInstruction>(std::get<Repeat>(lines.warps[0].instructions[0]).body[0]).at =
        "k \"1\".cu:12";
    sim::TimelineView view(100);
    simulate(gpu({{"op", 1, 5}}), lines, {}, {}, view);
    std::vector<std::string> names;
    const auto trace = nlohmann::json::parse(sim::chrome_trace(view, lines));
    for (const auto& event : trace["traceEvents"]) {
        if (event["ph"] != "X" || event["pid"] != 1) continue;
        names.push_back(event["name"]);
        EXPECT_EQ(event["args"]["source"], "k \"1\".cu:12");
    }
    EXPECT_EQ(names, (std::vector<std::string>{"a[0] k \"1\".cu:12", "a[1] k \"1\".cu:12"}));
    EXPECT_EQ(sim::chrome_trace(view).find("source"), std::string::npos);
}

// Events of one track as a viewer of the format reads them: in whole nanoseconds, one inside the
// other or apart. Returns how many cross.
int crossing_events(const nlohmann::json& trace) {
    std::map<std::pair<int, int>, std::vector<std::pair<std::int64_t, std::int64_t>>> tracks;
    for (const auto& event : trace["traceEvents"]) {
        if (event["ph"] != "X") continue;
        const auto begin = std::llround(event["ts"].get<double>() * 1000);
        const auto end =
            std::llround((event["ts"].get<double>() + event["dur"].get<double>()) * 1000);
        tracks[{event["pid"].get<int>(), event["tid"].get<int>()}].emplace_back(begin, -end);
    }
    int crossing = 0;
    for (auto& [track, events] : tracks) {
        std::sort(events.begin(), events.end());  // outer events first
        std::vector<std::int64_t> open;
        for (const auto& [begin, end] : events) {
            while (!open.empty() && open.back() <= begin) open.pop_back();
            if (!open.empty() && -end > open.back()) ++crossing;
            open.push_back(-end);
        }
    }
    return crossing;
}

TEST(Trace, HasNoEventsOfATrackThatCross) {
    // Several results of a warp are under way at once; times in thirds of a cycle.
    sim::TimelineView view(200);
    simulate(gpu({{"op", 1.0 / 3, 20.0 / 3}, {"slow", 2, 31, "mem"}}, 2),
             kernel({repeat(6, {instruction("a", "op"), instruction("m", "slow", {"a"}),
                                instruction("b", "op")})}),
             {.group_warps = 2, .concurrent_groups = 2, .groups = 3}, {}, view);
    const auto trace = nlohmann::json::parse(sim::chrome_trace(view));
    EXPECT_EQ(crossing_events(trace), 0);
    // The check itself: on one track per warp, they do cross.
    auto merged = trace;
    for (auto& event : merged["traceEvents"])
        if (event["pid"] == 1) event["tid"] = 0;
    EXPECT_GT(crossing_events(merged), 10);
}

TEST(Timeline, CountsTheIterationsOfAReplicatedLoopOn) {
    // The inner loop restarts in each iteration of the outer one, whose iterations overlap: it is
    // replicated, two streams for one instruction.
    const Kernel nested = kernel(
        {repeat(2, {instruction("a", "op"), repeat(2, {instruction("x", "op", {"a", "x@-1"})})})});
    sim::TimelineView view(1000);
    simulate(gpu({{"op", 1, 4}}), nested, {}, {}, view);
    std::vector<std::string> names = view.instance_names();
    std::sort(names.begin(), names.end());
    EXPECT_EQ(names, (std::vector<std::string>{"a[0]", "a[1]", "x[0]", "x[1]", "x[2]", "x[3]"}));
    // The same where the replicated loop stands inside another one, whose iterations do not
    // overlap.
    const Kernel three =
        kernel({repeat(3, {instruction("w", "op", {"x@-1"}),
                           repeat(2, {instruction("a", "op", {"w"}),
                                      repeat(2, {instruction("x", "op", {"a", "x@-1"})})})})});
    sim::TimelineView long_view(1000);
    simulate(gpu({{"op", 1, 4}}), three, {}, {}, long_view);
    std::set<std::string> seen;
    for (const std::string& name : long_view.instance_names()) {
        EXPECT_TRUE(seen.insert(name).second) << name;
    }
    for (int i = 0; i < 12; ++i) {
        EXPECT_TRUE(seen.contains("x[" + std::to_string(i) + "]")) << i;
    }
}

TEST(Timeline, DrawsManyWarpsInColoursOfTheirOwnWithinABoundedWidth) {
    sim::TimelineView view(5000);
    simulate(
        gpu({{"op", 1, 4}, {"slow", 8, 300, "mem"}}),
        kernel({repeat(40, {instruction("a", "op", {"m@-1"}), instruction("m", "slow", {"a"})})}),
        {.group_warps = 20, .concurrent_groups = 1, .groups = 1}, {}, view);
    const std::string svg = report::timeline_svg(view);
    const auto width = std::stod(svg.substr(svg.find("width=\"") + 7));
    EXPECT_LE(width, 2400);
    EXPECT_NE(svg.find("cut off after"), std::string::npos);
    EXPECT_NE(svg.find(">cycle<"), std::string::npos);
    std::set<std::string> colours;  // the legend's squares are the only ones 10 pixels wide
    const std::string square = "width=\"10\" height=\"10\" fill=\"";
    for (auto at = svg.find(square); at != std::string::npos; at = svg.find(square, at + 1))
        colours.insert(
            svg.substr(at + square.size(), svg.find('"', at + square.size()) - at - square.size()));
    EXPECT_EQ(colours.size(), 20U);
    for (int warp = 0; warp < 20; ++warp) {
        EXPECT_NE(svg.find(">g0 w" + std::to_string(warp) + "<"), std::string::npos) << warp;
    }
}

TEST(Sensitivity, RanksWhatBinds) {
    // Latency-bound: only Λ of the chain helps.
    const GpuProfile profile = gpu({{"op", 1, 10}, {"other", 1, 1, "sfu"}}, 4);
    Kernel mixed = chain("op", 100);
    mixed.warps[0].instructions.push_back(instruction("z", "other"));
    const auto rows = analysis::sensitivities(profile, mixed, {}, {});
    ASSERT_EQ(rows.size(), 5U);
    EXPECT_EQ(rows[0].name, "op Λ");
    EXPECT_DOUBLE_EQ(rows[0].gain, 100);
    for (std::size_t i = 1; i < rows.size(); ++i) EXPECT_EQ(rows[i].gain, 0) << rows[i].name;
}

// Two instructions that are priced by one value: its error counts once, in full, for both, and not
// as two errors that may cancel out.
TEST(Uncertainty, PricesOfOneValueVaryTogether) {
    GpuProfile profile = gpu({{"x", 1, 100}});
    profile.instructions.front().latency->std_error = 3;
    const Kernel two = kernel({instruction("a", "first"), instruction("b", "second", {"a"})});
    const analysis::Prepare prepare = [](const Kernel& told, const GpuProfile& drawn) {
        analysis::PreparedKernel ready{told, drawn};
        for (const char* name : {"first", "second"}) {
            ready.profile.instructions.push_back(drawn.instructions.front());
            ready.profile.instructions.back().name = name;
        }
        return ready;
    };
    const analysis::Uncertainty together =
        analysis::uncertainty(profile, two, {}, {}, 4000, 1, prepare);
    EXPECT_NEAR(together.median, 200, 0.5);
    EXPECT_NEAR(together.high - together.low, 2 * 1.96 * 2 * 3, 1.5);
    const analysis::PreparedKernel ready = prepare(two, profile);
    const analysis::Uncertainty apart =
        analysis::uncertainty(ready.profile, ready.kernel, {}, {}, 4000, 1);
    EXPECT_NEAR(apart.high - apart.low, 2 * 1.96 * std::sqrt(2) * 3, 1.5);
}

TEST(Uncertainty, GivesTheIntervalOfALinearPrediction) {
    // One warp: N·Λ with Λ = 10 ± 0.5, so 1000 ± 1.96 · 50 cycles.
    GpuProfile profile = gpu({{"op", 1, 10}});
    profile.instructions[0].latency->std_error = 0.5;
    const analysis::Uncertainty u =
        analysis::uncertainty(profile, chain("op", 100), {}, {}, 4000, 1);
    EXPECT_NEAR(u.median, 1000, 5);
    EXPECT_NEAR(u.low, 1000 - 98, 8);
    EXPECT_NEAR(u.high, 1000 + 98, 8);
    const analysis::Uncertainty again =
        analysis::uncertainty(profile, chain("op", 100), {}, {}, 4000, 1);
    EXPECT_EQ(again.low, u.low);
    EXPECT_EQ(again.high, u.high);
}

TEST(Uncertainty, DrawsIndependentlyForEverySeed) {
    // Few draws, so that sharing all but one would show: medians of 9 of seeds s and s+1.
    GpuProfile profile = gpu({{"op", 1, 10}});
    profile.instructions[0].latency->std_error = 0.5;
    std::vector<double> medians;
    for (std::uint64_t seed = 0; seed < 200; ++seed)
        medians.push_back(analysis::uncertainty(profile, chain("op", 100), {}, {}, 9, seed).median);
    double sum = 0;
    double neighbours = 0;
    for (const double median : medians) sum += median;
    const double mean = sum / 200;
    double squares = 0;
    for (const double median : medians) squares += (median - mean) * (median - mean);
    for (std::size_t i = 0; i + 1 < medians.size(); ++i)
        neighbours += (medians[i] - mean) * (medians[i + 1] - mean);
    EXPECT_LT(std::abs(neighbours / squares), 0.25);  // 0.9 when seeds shared draws; 1/√200 = 0.07
}

TEST(Uncertainty, SaysWhatItHeldFixed) {
    GpuProfile profile = gpu({{"op", 1, 10}, {"other", 1, 1, "sfu"}});
    profile.issue.limit = 2;
    profile.instructions[0].latency->std_error = 0.5;
    const analysis::Uncertainty u = analysis::uncertainty(profile, chain("op", 5), {}, {}, 10, 1);
    // No profile has an error of its clock.
    const std::string clock = "clock, in the times in us: 1000 MHz, whose error is unknown";
    EXPECT_EQ(u.held, (std::vector<std::string>{"op λ: 1, whose error is unknown",
                                                "issue limit: 2, whose error is unknown", clock}));
    profile.issue.limit_std_error = 0.1;
    profile.instructions[0].cpi.std_error = 0.01;
    EXPECT_EQ(analysis::uncertainty(profile, chain("op", 5), {}, {}, 10, 1).held,
              std::vector<std::string>{clock});
    // An error beside a bound is not that of the number itself.
    profile.instructions[0].latency->kind = Estimate::Kind::upper_bound;
    const analysis::Uncertainty bound =
        analysis::uncertainty(profile, chain("op", 5), {}, {}, 10, 1);
    EXPECT_EQ(bound.held,
              (std::vector<std::string>{"op Λ: 10, which is only an upper bound", clock}));
    EXPECT_EQ(bound.low, 50);
    EXPECT_EQ(bound.high, 50);
}

TEST(Uncertainty, NeedsStandardErrors) {
    EXPECT_THROW(analysis::uncertainty(gpu({{"op", 1, 10}}), chain("op", 2), {}, {}, 10, 1),
                 InputError);
    GpuProfile profile = gpu({{"op", 1, 10}});
    profile.instructions[0].cpi.std_error = 0.1;
    EXPECT_THROW(analysis::uncertainty(profile, chain("op", 2), {}, {}, 0, 1), InputError);
}

}  // namespace
}  // namespace occupipe::test
