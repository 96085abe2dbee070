// SPDX-License-Identifier: MIT
#include "report/figures/quadrant_split.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "core/error.h"
#include "core/files/files.h"
#include "report/figures/label_placement.h"

namespace occupipe::report {
namespace {

GpuProfile device(const std::string& name, double fma_cpi, double load_cpi) {
    return parse_profile("format: occupipe-profile/1\ndevice: {name: " + name +
                             "}\ncores: 10\nwarp_size: 32\nclock_hz: 1e9\n"
                             "subsystems: {alu: {scope: core}, mem: {scope: core}}\ninstructions:\n"
                             "  fma.f32: {subsystem: alu, cpi: " +
                             std::to_string(fma_cpi) +
                             ", latency: 4}\n"
                             "  add.s32: {subsystem: alu, cpi: 0.5, latency: 4}\n"
                             "  ld.shared.u32: {subsystem: mem, cpi: 1, latency: 20}\n"
                             "  ld.global.f32: {subsystem: mem, cpi: " +
                             std::to_string(load_cpi) + ", latency: 400}\n",
                         "p.yaml");
}

KernelParameters kernel(const std::string& name, double intensity) {
    return {.kernel = name,
            .fp32_fma = 0,
            .fp64_fma = 0,
            .fp32 = 32e6,
            .fp64 = 0,
            .integer = 0,
            .load_store = 1e6,
            .warp_instructions = 2e6,
            .dram_read_sectors = 1e6 / intensity,
            .dram_write_sectors = 0};
}

// An arrow ends where min(T, O B) lies on the half-line: at (B, O B) or at (T/O, T).
TEST(QuadrantSplit, ArrowsEndAtThePointThatBounds) {
    const std::vector<GpuProfile> devices = {device("memory", 0.25, 32), device("compute", 8, 1)};
    const std::vector<KernelParameters> kernels = {kernel("k", 4)};
    const plot::Picture picture = quadrant_split(kernels, devices);
    ASSERT_EQ(picture.panels.size(), 1U);
    const auto& arrows = picture.panels[0].arrows;
    ASSERT_EQ(arrows.size(), 2U);
    EXPECT_DOUBLE_EQ(arrows[0].x, 40);  // 4 B · 320 GHz / 32
    EXPECT_DOUBLE_EQ(arrows[0].y, 2560);
    EXPECT_DOUBLE_EQ(arrows[0].to_x, 40);
    EXPECT_DOUBLE_EQ(arrows[0].to_y, 160);
    EXPECT_DOUBLE_EQ(arrows[1].x, 1280);
    EXPECT_DOUBLE_EQ(arrows[1].y, 80);
    EXPECT_DOUBLE_EQ(arrows[1].to_x, 20);
    EXPECT_DOUBLE_EQ(arrows[1].to_y, 80);
    for (const plot::Arrow& arrow : arrows) {
        EXPECT_GE(arrow.to_x, *picture.panels[0].x.low);
        EXPECT_GE(arrow.to_y, *picture.panels[0].y.low);
    }
}

// A half-line has the slope of the kernel's operational intensity.
TEST(QuadrantSplit, HalfLinesHaveTheKernelsIntensity) {
    const std::vector<GpuProfile> devices = {device("a", 0.25, 32), device("b", 1, 4)};
    std::vector<KernelParameters> kernels;
    for (const double intensity : {0.1, 2.0, 40.0})
        kernels.push_back(kernel("k" + std::to_string(intensity), intensity));
    const plot::Picture picture = quadrant_split(kernels, devices);
    int lines = 0;
    for (const plot::Series& series : picture.panels[0].series) {
        if (series.mark != plot::Mark::line) continue;
        const double intensity = std::array{40.0, 2.0, 0.1}[static_cast<std::size_t>(lines++)];
        for (const plot::Point& point : series.points)
            EXPECT_NEAR(point.y / point.x, intensity, 1e-9 * intensity);
    }
    EXPECT_EQ(lines, 3);
}

TEST(QuadrantSplit, NothingToDrawIsRefused) {
    const std::vector<KernelParameters> kernels = {kernel("k", 4)};
    GpuProfile poor = device("poor", 1, 1);
    std::erase_if(poor.instructions,
                  [](const InstructionTiming& one) { return one.name == "fma.f32"; });
    EXPECT_THROW(quadrant_split(kernels, std::vector{poor}), InputError);
    EXPECT_THROW(kernel_roofline(kernels, poor), InputError);
}

// Twelve devices like those that people have can all be read; so can most crowds of twelve.
TEST(QuadrantSplit, NamesOfTwelveDevicesDoNotCoverEachOther) {
    // Published memory bandwidths [GB/s] and single-precision peaks [GFLOP/s] of data sheets.
    std::vector<plot::Label> labels = {{192, 4375, "NVIDIA GeForce GTX 1060 6GB"},
                                       {448, 7465, "NVIDIA GeForce RTX 2070"},
                                       {86, 813, "NVIDIA GeForce GTX 650 Ti"},
                                       {29, 863, "NVIDIA Quadro K620"},
                                       {144, 1030, "NVIDIA Tesla C2050"},
                                       {182, 3482, "AMD Radeon R9 380"},
                                       {900, 15700, "NVIDIA Tesla V100"},
                                       {1555, 19500, "NVIDIA A100"},
                                       {3350, 66900, "NVIDIA H100"},
                                       {4800, 66900, "NVIDIA H200"},
                                       {1008, 82580, "NVIDIA GeForce RTX 4090"},
                                       {300, 30290, "NVIDIA L4"}};
    EXPECT_LT(place_labels(labels, {10, 15000, 300, 200000}), 1);  // less than a letter in all
    std::mt19937 random(5);
    int crowded = 0;
    for (int i = 0; i < 100; ++i) {
        for (plot::Label& label : labels) {
            label.x = std::exp(std::uniform_real_distribution<double>(3, 9)(random));
            label.y = std::exp(std::uniform_real_distribution<double>(6, 12)(random));
        }
        crowded += place_labels(labels, {10, 15000, 300, 200000}) > 3 ? 1 : 0;
    }
    EXPECT_LT(crowded, 50);
}

// Of two free places a name takes the one without a line through it.
TEST(QuadrantSplit, NamesKeepOffTheLinesOfKernels) {
    const LogPanel panel{1, 1000, 1, 1000, 0.012, 0.03, {1.05}};
    std::vector<plot::Label> labels = {{30, 30, "on the line"}};
    place_labels(labels, panel);
    // The line rises to the right: over it on the left, under it on the right.
    EXPECT_NE(labels[0].left, labels[0].under);
}

}  // namespace
}  // namespace occupipe::report
