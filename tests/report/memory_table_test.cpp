// SPDX-License-Identifier: MIT
#include "report/text/memory_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

namespace occupipe::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Loads of shared memory that take 1, 2, … cycles, as unrolled code has them.
analysis::PricedMemory loads(int count) {
    analysis::PricedMemory memory;
    for (int i = 1; i <= count; ++i) {
        analysis::MemoryRow row;
        row.id = "lds." + std::to_string(1000 + i);
        row.op = "ld.shared.u32";
        row.executions = 1;
        row.use.bytes = 128;
        row.use.passes = row.use.least_passes = 1;
        row.cpi = Estimate{.value = static_cast<double>(i)};
        memory.rows.push_back(row);
    }
    return memory;
}

TEST(MemoryTable, ShowsWhatTakesTheTimeAndCountsTheRest) {
    Prediction prediction;
    prediction.warps_per_cycle = 1e-3;
    const std::string text = memory_table(loads(40), &prediction);
    EXPECT_THAT(text, HasSubstr("lds.1040"));
    EXPECT_THAT(text, HasSubstr("lds.1017"));
    EXPECT_THAT(text, Not(HasSubstr("lds.1016")));
    EXPECT_THAT(text, HasSubstr("\nand 16 more; --json has all"));
    EXPECT_EQ(memory_json(loads(40), &prediction)["instructions"].size(), 40U);
}

TEST(MemoryTable, ShowsAFewWhole) {
    const std::string text = memory_table(loads(24), nullptr);
    EXPECT_THAT(text, HasSubstr("lds.1001"));
    EXPECT_THAT(text, Not(HasSubstr("--json has all")));
}

}  // namespace
}  // namespace occupipe::report
