// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "core/files/files.h"
#include "core/files/launch_files.h"

namespace occupipe {
namespace {

// The fenced blocks of a language in docs/file-formats.md, in order.
std::vector<std::string> blocks(const std::string& language) {
    const std::string text =
        read_text_file(std::filesystem::path(OCCUPIPE_SOURCE_DIR) / "docs" / "file-formats.md");
    const std::string fence = "```" + language + "\n";
    std::vector<std::string> found;
    for (auto at = text.find(fence); at != std::string::npos; at = text.find(fence, at + 1)) {
        const auto begin = at + fence.size();
        found.push_back(text.substr(begin, text.find("```", begin) - begin));
    }
    return found;
}

TEST(Documentation, ItsExamplesAreValidFiles) {
    const auto yaml = blocks("yaml");
    ASSERT_EQ(yaml.size(), 4U);  // the last: parameters of the roofline
    const GpuProfile profile = parse_profile(yaml[0], "profile example");
    EXPECT_EQ(profile.instructions.size(), 2U);
    const Kernel kernel = parse_kernel(yaml[1], "kernel example");
    EXPECT_EQ(instruction_count(kernel.warps.front()), 67);
    const LaunchPlan plan = parse_launches(yaml[2], "launch example");
    EXPECT_EQ(launch_count(plan), 11U);
    const MeasurementFile file = parse_measurements(blocks("json").at(0), "measurement example");
    EXPECT_EQ(file.rows.front().cycles, 6190);
    // The numbers of the row agree with each other: cycles / clock is the time, to a few percent.
    EXPECT_NEAR(*file.rows.front().cycles / *file.rows.front().clock_hz, file.rows.front().seconds,
                0.05 * file.rows.front().seconds);
}

}  // namespace
}  // namespace occupipe
