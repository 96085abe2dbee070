// SPDX-License-Identifier: MIT
// docs/background/gpus.md: every profile of profiles/, a row.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "ask/shipped_files.h"
#include "core/files/files.h"
#include "tests/papers/made.h"

namespace occupipe::papers {
namespace {

// The first of a column's names that the profile has.
struct Column {
    std::string_view heading;
    std::vector<std::string_view> names;
};

std::string sources(const GpuProfile& profile) {
    std::map<std::string_view, int> counts;
    for (const InstructionTiming& timing : profile.instructions) ++counts[to_string(timing.source)];
    std::string text;
    for (const auto& [source, count] : counts)
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, source);
    return text;
}

std::string value(const Estimate& estimate) {
    const std::string_view sign = estimate.kind == Estimate::Kind::upper_bound   ? "≤ "
                                  : estimate.kind == Estimate::Kind::lower_bound ? "≥ "
                                                                                 : "";
    return fmt::format("{}{:.4g}", sign, estimate.value);
}

}  // namespace

Made gpu_table(const std::filesystem::path& root) {
    const std::vector<Column> columns = {{"fma.f32", {"fma.f32"}},
                                         {"fma.f64 or mul.f64", {"fma.f64", "mul.f64"}},
                                         {"cos.approx.f32", {"cos.approx.f32"}},
                                         {"ld.shared", {"ld.shared.u32", "ld.shared.s32"}},
                                         {"ld.global", {"ld.global.u32", "ld.global.s32"}},
                                         {"bar.sync", {"bar.sync"}}};
    std::vector<std::pair<std::string, std::vector<std::string>>> rows;  // by device
    for (const std::filesystem::path& path : analysis::yaml_files(root / "profiles")) {
        const GpuProfile profile = read_profile(path);
        std::vector<std::string> cells = {
            fmt::format("[{}](../../profiles/{})", profile.device.name, path.filename().string()),
            profile.device.architecture.empty() ? "–" : profile.device.architecture,
            std::to_string(profile.cores), fmt::format("{:.0f}", profile.clock_hz / 1e6),
            sources(profile)};
        for (const Column& column : columns) {
            const InstructionTiming* found = nullptr;
            for (const std::string_view name : column.names)
                if (!found) found = profile.find_instruction(std::string(name));
            cells.push_back(found ? fmt::format("{} / {}{}", value(profile.cpi_per_core(*found)),
                                                found->latency ? value(*found->latency) : "?",
                                                found->source == Source::assumed ? " (a)" : "")
                                  : "–");
        }
        rows.emplace_back(profile.device.vendor + profile.device.name, std::move(cells));
    }
    std::ranges::sort(rows);
    std::vector<std::string> header = {"device", "architecture", "cores", "clock [MHz]",
                                       "instructions"};
    for (const Column& column : columns) header.push_back(fmt::format("`{}`", column.heading));
    std::vector<std::vector<std::string>> cells;
    for (auto& [name, row] : rows) cells.push_back(std::move(row));
    return {table(header, cells)};
}

}  // namespace occupipe::papers
