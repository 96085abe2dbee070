// SPDX-License-Identifier: MIT
#include "ask/launch_text.h"

#include <fmt/format.h>

#include <charconv>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "core/files/launch_files.h"

namespace occupipe::analysis {

std::array<std::uint32_t, 3> extents(const std::string& option, const std::string& text,
                                     const std::array<std::uint32_t, 3>& most) {
    std::array<std::uint32_t, 3> result = {1, 1, 1};
    std::size_t place = 0;
    const char* at = text.data();
    const char* const end = at + text.size();
    for (;;) {
        std::uint32_t value = 0;
        const auto [next, fault] = std::from_chars(at, end, value);
        if (place == 3 || fault != std::errc() || value < 1)
            throw InputError(fmt::format(
                "{} {}: expected one to three whole numbers of at least 1, such as 4096 or 64,64",
                option, text));
        if (value > most[place])
            throw InputError(fmt::format("{} {}: {} is at most {}", option, text,
                                         std::string_view("xyz").substr(place, 1), most[place]));
        result[place++] = value;
        if (next == end) return result;
        if (*next != ',' && *next != 'x')
            throw InputError(fmt::format(
                "{} {}: expected one to three whole numbers of at least 1, such as 4096 or 64,64",
                option, text));
        at = next + 1;
    }
}

void require_group(const std::array<std::uint32_t, 3>& block, const std::string& said) {
    const std::uint64_t threads = std::uint64_t{block[0]} * block[1] * block[2];
    if (threads > most_group_threads)
        throw InputError(fmt::format("--block {}: {} threads; a group has at most {}", said,
                                     threads, most_group_threads));
}

LaunchPlan described_launch(const LaunchText& text) {
    LaunchPlan plan;
    KernelLaunch launch;
    launch.kernel = text.kernel;
    launch.grid = extents("--grid", text.grid, most_grid);
    launch.block = extents("--block", text.block, most_block);
    require_group(launch.block, text.block);
    launch.shared_bytes = text.shared_bytes;
    try {
        launch.arguments = parse_arguments(text.arguments, plan);
    } catch (const InputError& error) {
        throw InputError(fmt::format("--args: {}", error.what()));
    }
    for (const BufferPlan& buffer : plan.buffers) {
        BufferCheck check;
        check.buffer = buffer.name;
        plan.checks.push_back(check);
    }
    plan.steps.emplace_back(std::move(launch));
    return plan;
}

}  // namespace occupipe::analysis
