// SPDX-License-Identifier: MIT
// One launch as a command line or a sweep describes it: "--grid 64,64 --block 256 --args '…'".
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "core/launch_plan.h"

namespace occupipe::analysis {

struct LaunchText {
    std::string kernel;     // empty: the only one in the file
    std::string grid;       // "4096", "64,64", "64x64x2"
    std::string block;      // the same, of threads
    std::string arguments;  // as parse_arguments() takes them
    std::uint32_t shared_bytes = 0;
};

// A plan of this launch; all of its buffers are checked in the end. Throws InputError that names
// --grid, --block or --args.
LaunchPlan described_launch(const LaunchText& text);

// One to three whole numbers from 1 to `most`. Throws InputError that names the option.
std::array<std::uint32_t, 3> extents(const std::string& option, const std::string& text,
                                     const std::array<std::uint32_t, 3>& most);

// Throws InputError where a group has more threads than any GPU takes; `said`: as asked for.
void require_group(const std::array<std::uint32_t, 3>& block, const std::string& said);

}  // namespace occupipe::analysis
