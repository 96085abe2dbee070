// SPDX-License-Identifier: MIT
// Published curves of latency against working set (D. Ernst, github.com/te42kyfo/gpu-benches,
// gpu-latency/h100_pcie.txt and l40.txt: a pointer chase of one warp): a chase over the same
// working sets, recorded, put through the caches and priced, has their plateaus.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "ask/memory/memory_pricing.h"
#include "extract/memory_trace.h"

namespace occupipe::analysis {
namespace {

struct Point {
    std::uint64_t kib;
    double cycles;
};

struct Gpu {
    std::string capability;
    double second_level;             // bytes, NVIDIA's specification
    std::array<double, 3> plateaus;  // the file's Λ at its smallest, middle and largest sizes
    std::vector<Point> points;
};

constexpr double mib = 1024 * 1024;

const std::vector<Gpu> gpus = {
    {.capability = "9.0",  // H100 PCIe
     .second_level = 50 * mib,
     .plateaus = {34.2, 265.5, 658.4},
     .points = {{18, 34.2},
                {118, 34.6},
                {177, 34.7},
                {216, 34.8},
                {354, 264.0},
                {1029, 265.6},
                {9299, 265.5},
                {125'026, 649.9}}},
    {.capability = "8.9",  // L40
     .second_level = 96 * mib,
     .plateaus = {36.0, 276.5, 631.9},
     .points = {{14, 36.1},
                {61, 36.3},
                {84, 36.3},
                {157, 276.6},
                {8192, 276.5},
                {48'092, 279.8},
                {90'119, 282.9},
                {185'030, 630.4}}},
};

// Λ of a load that goes over so many lines for the second time.
double latency_of(const Gpu& gpu, std::uint64_t lines) {
    extract::MemoryTrace trace({false, false});
    auto observer = trace.begin(0);
    for (std::uint64_t i = 0; i < 2 * lines; ++i) {
        std::array<std::uint64_t, 32> addresses{};
        for (std::uint64_t lane = 0; lane < 32; ++lane)
            addresses[lane] = i % lines * 128 + lane * 4;
        const std::size_t instruction = i / lines;
        const isa::Executed step{static_cast<std::uint32_t>(instruction), isa::all_lanes};
        observer->steps(0, {&step, 1});
        observer->access(0, instruction,
                         {.bytes = 4, .active = isa::all_lanes, .addresses = addresses.data()});
    }
    trace.end(0, std::move(observer));

    Kernel kernel;
    kernel.name = "chase";
    kernel.memory = MemoryContext{.cores = 100};
    const std::vector<bool> passes(2, false);
    KernelInstruction load;
    load.id = "x";
    load.op = "ld.global.u32";
    load.memory = memory_use(trace, reuse_of(trace, *kernel.memory, passes), passes, 1);
    kernel.warps.push_back({.share = 1, .instructions = {load}});

    GpuProfile profile;
    profile.device = {.name = "published", .compute_capability = gpu.capability};
    profile.cores = 100;
    profile.subsystems = {{.name = "memory", .scope = Scope::core, .contention = {}}};
    const std::array names = {"ld.global.l1.u32", "ld.global.l2.u32", "ld.global.u32"};
    for (std::size_t i = 0; i < names.size(); ++i) {
        InstructionTiming row;
        row.name = names[i];
        row.subsystem = "memory";
        row.cpi.value = 1;
        row.source = Source::literature;
        row.latency = Estimate{.value = gpu.plateaus[i]};
        profile.instructions.push_back(row);
    }
    const PricedMemory priced = price_memory(kernel, profile, MemoryPricing::per_access,
                                             {{"l2", {gpu.second_level, "published"}}});
    return priced.rows.at(0).latency.value().value;
}

TEST(WorkingSetCurve, PlateausAreThePublishedOnes) {
    for (const Gpu& gpu : gpus)
        for (const Point& point : gpu.points)
            EXPECT_NEAR(latency_of(gpu, point.kib * 8), point.cycles, 0.03 * point.cycles)
                << gpu.capability << ' ' << point.kib << " KiB";
}

// The published curves rise over a range of sizes, the model's at once (docs/background/memory.md).
TEST(WorkingSetCurve, TheModelHasCliffs) {
    EXPECT_DOUBLE_EQ(latency_of(gpus[0], 256 * 8), 34.2);   // published: 134 at 239 KiB
    EXPECT_DOUBLE_EQ(latency_of(gpus[0], 288 * 8), 265.5);  // 237 at 291 KiB
}

}  // namespace
}  // namespace occupipe::analysis
