// SPDX-License-Identifier: MIT
// Which graph stands for a measured row.
#include "analysis/measured/measured_graph.h"

#include <gtest/gtest.h>

#include "analysis/measured/comparison.h"
#include "core/error.h"
#include "sim/engine/simulate.h"
#include "tests/sim/build.h"

namespace occupipe::analysis {
namespace {

GpuProfile profile() {
    return test::gpu({{"fma.f32", 0.25, 4},
                      {"add.f32", 0.25, 4},
                      {"mul.f32", 0.25, 4},
                      {"ld.shared.u32", 1, 29, "mem"},
                      {"ld.global.f32", 2, 500, "mem"}});
}

MeasurementFile file_of(const std::string& backend, const std::string& subject,
                        std::map<std::string, double> counters = {}) {
    MeasurementFile file;
    if (!backend.empty()) file.context["backend"] = backend;
    MeasurementRow row;
    row.subject = subject;
    row.shape.depth = 1024;
    row.cycles = 1;
    row.counters = std::move(counters);
    file.rows.push_back(row);
    return file;
}

double predicted(const MeasurementFile& file) {
    const GpuProfile device = profile();
    const MeasuredGraphs graphs(device);
    const MeasuredPoint point = measured_points(file).at(0);
    return simulate(graphs.profile(), graphs.graph(point.kernel, point.shape), {1, 1, 1}).cycles;
}

TEST(MeasuredGraph, AMixOfTwoTypesIsPredictedAsTwoChains) {
    // 512 of each: the loads' chain alone, not both in turn. "carried": a dump's kernels.
    for (const char* backend : {"cuda", "carried"}) {
        EXPECT_EQ(predicted(file_of(backend, "mix(fma.f32*1,ld.shared.u32)")), 512 * 29) << backend;
        EXPECT_EQ(predicted(file_of(backend, "mix(fma.f32*1,mul.f32)")), 1024 * 4) << backend;
    }
}

TEST(MeasuredGraph, AForeignFilesMixIsOneChainAsTheFormatSays) {
    EXPECT_EQ(predicted(file_of("", "mix(fma.f32*1,ld.shared.u32)")), 512 * (4 + 29));
    EXPECT_EQ(predicted(file_of("model", "mix(fma.f32*1,ld.shared.u32)")), 512 * (4 + 29));
}

TEST(MeasuredGraph, NothingWaitsForAStreamsLoad) {
    // Before: a chain, 1024 * 500. The additions behind the loads are the chain.
    EXPECT_EQ(predicted(file_of("cuda", "ld.global.f32")), 500 + 1024 * 4);
    EXPECT_EQ(predicted(file_of("carried", "ld.global.f32")), 500 + 1024 * 4);
    EXPECT_EQ(predicted(file_of("", "ld.global.f32", {{"dependent", 0}})), 1023 * 2 + 500);
    EXPECT_EQ(predicted(file_of("", "ld.global.f32")), 1023 * 2 + 500);  // as `fit` takes it
    EXPECT_EQ(predicted(file_of("", "ld.global.f32", {{"dependent", 1}})), 1024 * 500);
}

TEST(MeasuredGraph, TheLoopStandsInTheGraphWhereTheProfileHasItsInstructions) {
    const MeasurementFile file = file_of("cuda", "fma.f32", {{"unroll", 64}});
    const MeasuredPoint point = measured_points(file).at(0);
    GpuProfile device = profile();
    EXPECT_EQ(MeasuredGraphs(device).loop_form(point.kernel), LoopForm::none);
    for (const char* name : {loop_count, loop_compare, loop_branch}) {
        InstructionTiming timing = *device.find_instruction("fma.f32");
        timing.name = name;
        device.instructions.push_back(timing);
    }
    const MeasuredGraphs graphs(device);
    ASSERT_EQ(graphs.loop_form(point.kernel), LoopForm::instructions);
    MeasurementShape full = point.shape;
    full.group_warps = 32;
    const Launch launch{32, 1, 1};
    const double with = simulate(graphs.profile(), graphs.graph(point.kernel, full), launch).cycles;
    // At full throughput an iteration is 67 instructions instead of 64.
    EXPECT_NEAR(with / (1024 * 32 * 0.25), 67.0 / 64, 0.001);
}

TEST(MeasuredGraph, AdditionsDoNotWaitForLoadsOfUnknownLatency) {
    GpuProfile device = profile();
    device.find_instruction("ld.global.f32")->latency.reset();
    device.find_instruction("ld.global.f32")->latency_unknown = nothing_waited;
    const MeasuredGraphs graphs(device);
    const MeasuredPoint point = measured_points(file_of("cuda", "ld.global.f32")).at(0);
    const Kernel graph = graphs.graph(point.kernel, point.shape);
    EXPECT_EQ(simulate(graphs.profile(), graph, {1, 1, 1}).cycles, 1024 * 4);
}

// With what `fit` found of two loop bodies: 3 instructions of 0.25 cycles in an iteration.
TEST(MeasuredGraph, TheLoopCostsWhatTheProfileSays) {
    GpuProfile device = profile();
    device.find_instruction("fma.f32")->loop_cpi = Estimate{.value = 0.75};
    device.find_instruction("fma.f32")->loop_latency = Estimate{.value = 6};
    const MeasuredGraphs graphs(device);
    for (const int chains : {1, 2}) {
        MeasurementFile file = file_of("cuda", "fma.f32", {{"unroll", 64}});
        file.rows[0].shape.chains = chains;
        const MeasuredPoint point = measured_points(file).at(0);
        ASSERT_EQ(graphs.loop_form(point.kernel), LoopForm::costs);
        const Kernel graph = graphs.graph(point.kernel, point.shape);
        const double iterations = 1024 / 64;
        const double alone = simulate(graphs.profile(), graph, {1, 1, 1}).cycles;
        EXPECT_NEAR(alone, iterations * (64 * 4 + 6), 1) << chains;
        const double full = simulate(graphs.profile(), graph, {32, 1, 1}).cycles;
        const double expected = iterations * 32 * (64 * 0.25 * chains + 0.75);
        EXPECT_NEAR(full / expected, 1, 0.005) << chains;
    }
}

TEST(MeasuredGraph, KernelsThatOnlyLaunchHaveNoLoop) {
    const MeasurementFile file = file_of("cuda", "launch");
    EXPECT_FALSE(measured_points(file).at(0).kernel.counted_loop);
}

}  // namespace
}  // namespace occupipe::analysis
