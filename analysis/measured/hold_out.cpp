// SPDX-License-Identifier: MIT
#include "analysis/measured/hold_out.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "core/error.h"

namespace occupipe::analysis {
namespace {

bool holds(const Annotation& tree, const std::string& text) {
    return tree.text.find(text) != std::string::npos ||
           std::ranges::any_of(tree.items, [&](const auto& item) { return holds(item, text); }) ||
           std::ranges::any_of(tree.entries,
                               [&](const auto& entry) { return holds(entry.value, text); });
}

MeasurementShape without_depth(MeasurementShape shape) {
    shape.depth = 1;
    return shape;
}

// measurement_name() ends with the depth.
std::string shape_name(const std::string& subject, const MeasurementShape& shape) {
    const std::string name = measurement_name(subject, shape);
    return name.substr(0, name.rfind('/'));
}

std::optional<std::size_t> every_of(const std::string& which) {
    constexpr std::string_view prefix = "every:";
    if (!which.starts_with(prefix)) return std::nullopt;
    std::size_t every = 0;
    const char* const end = which.data() + which.size();
    const auto [stop, fault] = std::from_chars(which.data() + prefix.size(), end, every);
    if (fault != std::errc{} || stop != end || every < 2)
        throw InputError(
            fmt::format("'{}': which shapes to hold out: N in every:N is a number from 2", which));
    return every;
}

bool matches(const std::string& patterns, const std::string& name) {
    // A mix's name holds a comma of its own, and a star that a pattern may write as one.
    std::string pattern;
    int nesting = 0;
    for (const char c : patterns + ",") {
        nesting += c == '(' ? 1 : c == ')' ? -1 : 0;
        if (c != ',' || nesting > 0) {
            pattern += c;
            continue;
        }
        if (fnmatch(pattern.c_str(), name.c_str(), 0) == 0) return true;
        pattern.clear();
    }
    return false;
}

}  // namespace

bool in_sample(const GpuProfile& profile, const MeasurementFile& file) {
    return !file.content_hash.empty() && holds(profile.provenance, file.content_hash);
}

HoldOut hold_out(const MeasurementFile& file, const std::string& which) {
    const auto every = every_of(which);
    std::map<std::string, std::set<MeasurementShape>> shapes;
    for (const MeasurementRow& row : file.rows)
        shapes[row.subject].insert(without_depth(row.shape));
    HoldOut out{.rest = file, .held = file};
    std::set<std::string> held;
    for (const auto& [subject, all] : shapes) {
        std::size_t place = 0;
        for (const MeasurementShape& shape : all) {
            const std::string name = shape_name(subject, shape);
            ++out.shapes;
            if (every ? place % *every == *every / 2 : matches(which, name)) held.insert(name);
            ++place;
        }
    }
    out.held_shapes = static_cast<int>(held.size());
    if (out.held_shapes == 0 || out.held_shapes == out.shapes)
        throw InputError(
            file.path, {}, "benchmarks",
            fmt::format("'{}' holds out {} of the {} shapes", which, out.held_shapes, out.shapes));
    const auto is_held = [&](const MeasurementRow& row) {
        return held.contains(shape_name(row.subject, row.shape));
    };
    std::erase_if(out.rest.rows, is_held);
    std::erase_if(out.held.rows, [&](const MeasurementRow& row) { return !is_held(row); });
    return out;
}

}  // namespace occupipe::analysis
