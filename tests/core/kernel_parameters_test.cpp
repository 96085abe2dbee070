// SPDX-License-Identifier: MIT
#include "core/kernel_parameters.h"

#include <gtest/gtest.h>

#include <string>

#include "core/error.h"

namespace occupipe {
namespace {

const std::string good =
    "format: occupipe-kernel-parameters/1\n"
    "kernels:\n"
    "  - kernel: void sgemm<32>(float*, int)\n"
    "    device: Tesla K40c (0)\n"
    "    origin: nvprof\n"
    "    launches: 3\n"
    "    fp32_fma: 1.07e9\n"
    "    fp64_fma: 0\n"
    "    load_store: 72000000.5\n"
    "    warp_instructions: 48000000\n"
    "    fp32: 1.08e9\n"
    "    fp64: 0\n"
    "    integer: 3e8\n"
    "    dram_read_sectors: 1000000\n"
    "    dram_write_sectors: 131072\n"
    "  - kernel: partly\n"
    "    warp_size: 64\n"
    "    fp64: 5\n"
    "    seconds: 0.001\n";

TEST(KernelParameters, EveryKeyArrives) {
    const auto kernels = parse_kernel_parameters(good, "k.yaml");
    ASSERT_EQ(kernels.size(), 2U);
    EXPECT_EQ(kernels[0].kernel, "void sgemm<32>(float*, int)");
    EXPECT_EQ(kernels[0].device, "Tesla K40c (0)");
    EXPECT_EQ(kernels[0].origin, "nvprof");
    EXPECT_EQ(kernels[0].launches, 3);
    EXPECT_EQ(kernels[0].warp_size, 32);
    EXPECT_EQ(kernels[0].fp32_fma, 1.07e9);
    EXPECT_EQ(kernels[0].fp64_fma, 0);
    EXPECT_EQ(kernels[0].load_store, 72000000.5);
    EXPECT_EQ(kernels[0].warp_instructions, 48e6);
    EXPECT_EQ(kernels[0].fp32, 1.08e9);
    EXPECT_EQ(kernels[0].fp64, 0);
    EXPECT_EQ(kernels[0].integer, 3e8);
    EXPECT_EQ(kernels[0].dram_read_sectors, 1e6);
    EXPECT_EQ(kernels[0].dram_write_sectors, 131072);
    EXPECT_FALSE(kernels[0].l2_sectors.has_value());
    EXPECT_EQ(kernels[1].warp_size, 64);
    EXPECT_FALSE(kernels[1].fp32.has_value());  // not counted is not zero
    EXPECT_EQ(kernels[1].seconds, 0.001);
}

TEST(KernelParameters, WhatIsWrittenReadsBack) {
    const auto kernels = parse_kernel_parameters(good, "k.yaml");
    const std::string text = format_kernel_parameters(kernels);
    EXPECT_EQ(parse_kernel_parameters(text, "again.yaml"), kernels) << text;
}

TEST(KernelParameters, RefusalsNameLineAndKey) {
    struct Bad {
        const char* from;
        const char* to;
        const char* where;
        const char* why;
    };
    const Bad all[] = {
        {"parameters/1", "parameters/2", "k.yaml:1", "unknown format"},
        {"fp32: 1.08e9", "fp32: -1", "k.yaml:11", "kernels[0].fp32"},
        {"fp32: 1.08e9", "fp32: .nan", "k.yaml:11", "fp32"},
        {"fp32: 1.08e9", "fp32: many", "k.yaml:11", "fp32"},
        {"fp32: 1.08e9", "fp32: 1.06e9", "k.yaml:7", "more than fp32"},
        {"fp32: 1.08e9", "fp32: 1e308", "k.yaml:11", "1e30"},
        {"fp64: 5", "fp65: 5", "k.yaml:18", "unknown key"},
        {"warp_size: 64", "warp_size: 0", "k.yaml:17", "warp_size"},
        {"launches: 3", "launches: 0.5", "k.yaml:6", "launches"},
        {"kernel: partly", "device: x", "k.yaml:16", "kernel"},
        {"kernel: partly", "kernel: ''", "k.yaml:16", "must not be empty"},
    };
    for (const Bad& bad : all) {
        std::string text = good;
        const std::size_t at = text.find(bad.from);
        ASSERT_NE(at, std::string::npos) << bad.from;
        text.replace(at, std::string(bad.from).size(), bad.to);
        try {
            parse_kernel_parameters(text, "k.yaml");
            ADD_FAILURE() << bad.to << " was read";
        } catch (const InputError& error) {
            EXPECT_NE(std::string(error.what()).find(bad.where), std::string::npos)
                << bad.to << ": " << error.what();
            EXPECT_NE(std::string(error.what()).find(bad.why), std::string::npos)
                << bad.to << ": " << error.what();
        }
    }
    EXPECT_THROW(
        parse_kernel_parameters("format: occupipe-kernel-parameters/1\nkernels: []\n", "k"),
        InputError);
}

}  // namespace
}  // namespace occupipe
