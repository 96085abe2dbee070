// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "core/files/files.h"
#include "core/files/launch_files.h"
#include "core/kernel_parameters.h"

namespace occupipe {
namespace {

// The fenced blocks of a language in docs/reference/file-formats/, in order of pages.
std::vector<std::string> blocks(const std::string& language) {
    std::vector<std::filesystem::path> pages;
    for (const auto& entry : std::filesystem::directory_iterator(
             std::filesystem::path(OCCUPIPE_SOURCE_DIR) / "docs" / "reference" / "file-formats"))
        pages.push_back(entry.path());
    std::ranges::sort(pages);
    const std::string fence = "```" + language + "\n";
    std::vector<std::string> found;
    for (const std::filesystem::path& page : pages) {
        const std::string text = read_text_file(page);
        for (auto at = text.find(fence); at != std::string::npos; at = text.find(fence, at + 1)) {
            const auto begin = at + fence.size();
            found.push_back(text.substr(begin, text.find("```", begin) - begin));
        }
    }
    return found;
}

// The one that begins so.
std::string yaml_example(const std::string& beginning) {
    for (const std::string& block : blocks("yaml"))
        if (block.starts_with(beginning)) return block;
    ADD_FAILURE() << "no example begins with " << beginning;
    return {};
}

TEST(Documentation, ItsExamplesAreValidFiles) {
    const GpuProfile profile = parse_profile(yaml_example("format: occupipe-profile/"), "profile");
    EXPECT_EQ(profile.instructions.size(), 2U);
    const Kernel kernel = parse_kernel(yaml_example("format: occupipe-kernel/"), "kernel");
    EXPECT_EQ(instruction_count(kernel.warps.front()), 67);
    EXPECT_EQ(parse_kernel_parameters(yaml_example("format: occupipe-kernel-parameters/"), "counts")
                  .size(),
              1U);
    const LaunchPlan plan = parse_launches(yaml_example("occupipe_launches:"), "launches");
    EXPECT_EQ(launch_count(plan), 11U);
    const MeasurementFile file = parse_measurements(blocks("json").at(0), "measurement example");
    EXPECT_EQ(file.rows.front().cycles, 6190);
    // The numbers of the row agree with each other: cycles / clock is the time, to a few percent.
    EXPECT_NEAR(*file.rows.front().cycles / *file.rows.front().clock_hz, file.rows.front().seconds,
                0.05 * file.rows.front().seconds);
}

}  // namespace
}  // namespace occupipe
