// SPDX-License-Identifier: MIT
#include "analysis/profilers/ncu_report.h"

#include <gtest/gtest.h>

#include "core/error.h"

namespace occupipe::analysis {
namespace {

TEST(NcuReport, OneLinePerMetric) {
    const auto kernels = parse_ncu_csv(
        "==PROF== Connected to process 1\n==PROF== Disconnected\n"
        "\"ID\",\"Kernel Name\",\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Metric "
        "Value\"\n"
        "\"0\",\"warm\",\"S\",\"smsp__inst_executed.sum\",\"inst\",\"1,081,344\"\n"
        "\"0\",\"warm\",\"S\",\"dram__bytes.sum\",\"Mbyte\",\"1.5\"\n"
        "\"1\",\"timed\",\"S\",\"smsp__inst_executed.sum\",\"inst\",\"12\"\n"
        "\"1\",\"timed\",\"S\",\"some__text\",\"\",\"n/a\"\n\n",
        "n.csv");
    ASSERT_EQ(kernels.size(), 2U);
    EXPECT_EQ(kernels[0].kernel, "warm");
    EXPECT_EQ(*find_metric(kernels[0], "inst_executed.sum"), 1081344);
    EXPECT_EQ(*find_metric(kernels[0], "bytes.sum"), 1.5e6);
    EXPECT_EQ(*find_metric(kernels[1], "inst_executed.sum"), 12);
    EXPECT_EQ(find_metric(kernels[1], "some"), nullptr);
    EXPECT_EQ(kernels[1].metrics.size(), 1U);
}

TEST(NcuReport, OneLinePerKernel) {
    const auto kernels = parse_ncu_csv(
        "\"ID\",\"Kernel Name\",\"dram__bytes.sum\",\"sm__inst_executed.sum\"\n"
        "\"\",\"\",\"Gbyte\",\"inst\"\n"
        "\"0\",\"k\",\"2\",\"1,000\"\n",
        "n.csv");
    ASSERT_EQ(kernels.size(), 1U);
    EXPECT_EQ(*find_metric(kernels[0], "bytes.sum"), 2e9);
    EXPECT_EQ(*find_metric(kernels[0], "inst_executed.sum"), 1000);
}

TEST(NcuReport, WhatIsNoReportIsRefused) {
    for (const char* text : {"", "hello\n", "\"ID\",\"Name\"\n\"0\",\"k\"\n",
                             "\"ID\",\"Kernel Name\",\"Metric Name\"\n\"0\",\"k\",\"m\"\n",
                             "\"ID\",\"Kernel Name\",\"a__b\"\n\"0\",\"k\"\n"}) {
        EXPECT_THROW(parse_ncu_csv(text, "n.csv"), InputError) << text;
    }
}

}  // namespace
}  // namespace occupipe::analysis
