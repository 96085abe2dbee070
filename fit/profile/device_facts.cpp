// SPDX-License-Identifier: MIT
#include "fit/profile/device_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "core/claimed_clock.h"
#include "core/error.h"
#include "core/statistics.h"
#include "fit/curves/counters.h"
#include "fit/curves/curve.h"

namespace occupipe {
namespace {

struct Fact {
    std::string text;
    const MeasurementFile* file = nullptr;
};

[[noreturn]] void fail(const MeasurementFile& file, const std::string& key,
                       const std::string& reason) {
    throw InputError(file.path, SourcePosition{}, "context." + key, reason);
}

// The one value that all files which have the key agree on.
std::optional<Fact> agreed(std::span<const MeasurementFile> files, const std::string& key) {
    std::optional<Fact> found;
    for (const MeasurementFile& file : files) {
        const auto it = file.context.find(key);
        if (it == file.context.end() || it->second.empty()) continue;
        if (!found) {
            found = Fact{it->second, &file};
        } else if (found->text != it->second) {
            fail(file, key,
                 fmt::format("is '{}', but '{}' in {}: files of different devices cannot make one "
                             "profile",
                             it->second, found->text, found->file->path));
        }
    }
    return found;
}

double number(const Fact& fact, const std::string& key) {
    double value = 0;
    const char* const end = fact.text.data() + fact.text.size();
    const auto [stop, error] = std::from_chars(fact.text.data(), end, value);
    if (error != std::errc{} || stop != end || !std::isfinite(value) || value <= 0)
        fail(*fact.file, key, fmt::format("'{}' is not a positive number", fact.text));
    return value;
}

std::int64_t count(const Fact& fact, const std::string& key, std::int64_t limit) {
    const double value = number(fact, key);
    if (value != std::floor(value) || value > static_cast<double>(limit))
        fail(*fact.file, key, fmt::format("'{}' is not a whole number", fact.text));
    return static_cast<std::int64_t>(value);
}

int required_count(std::span<const MeasurementFile> files, const std::string& key) {
    const std::optional<Fact> fact = agreed(files, key);
    if (!fact)
        fail(files.front(), key, "is missing, and a profile needs it; measure again, or add it");
    return static_cast<int>(count(*fact, key, std::numeric_limits<int>::max()));
}

std::optional<std::int64_t> limit(std::span<const MeasurementFile> files, const std::string& key) {
    const std::optional<Fact> fact = agreed(files, key);
    if (!fact) return std::nullopt;
    return count(*fact, key, std::int64_t{1} << 52);
}

// The witnessed clock with the most others within half a percent of it, the earliest of several:
// one that the device had, not one between two.
double most_frequent(const std::vector<double>& seen, const std::vector<double>& sorted) {
    double best = seen.front();
    std::ptrdiff_t most = 0;
    for (const double clock : seen) {
        const auto near = std::ranges::upper_bound(sorted, 1.005 * clock) -
                          std::ranges::lower_bound(sorted, clock / 1.005);
        if (near <= most) continue;
        most = near;
        best = clock;
    }
    return best;
}

// What contexts claim beside the clock that rows witnessed.
void compare_claims(std::span<const MeasurementFile> files, DeviceFacts& facts) {
    constexpr double far = 2;
    for (const MeasurementFile& file : files) {
        const auto it = file.context.find("clock_hz");
        if (it == file.context.end()) continue;
        if (const auto fault = fault_of_claimed_clock(it->second)) {
            facts.notes.push_back(
                fmt::format("{}: context.clock_hz: {}; not used, as rows have "
                            "measured clocks",
                            file.path, *fault));
            continue;
        }
        const double claimed = number({it->second, &file}, "clock_hz");
        if (claimed > far * facts.clock_hz || facts.clock_hz > far * claimed)
            facts.notes.push_back(
                fmt::format("{}: context.clock_hz is {:.4g} MHz, but rows have measured {:.4g}",
                            file.path, claimed / 1e6, facts.clock_hz / 1e6));
    }
}

// More on a core than the device is said to hold: predictions would end below what was measured.
void compare_limits(std::span<const MeasurementFile> files, DeviceFacts& facts) {
    std::int64_t warps = 0;
    std::int64_t groups = 0;
    std::int64_t group_warps = 0;
    for (const MeasurementFile& file : files)
        for (const MeasurementRow& row : file.rows) {
            if (row.error || belongs_elsewhere(row)) continue;
            warps = std::max<std::int64_t>(warps, row.shape.warps());
            groups = std::max<std::int64_t>(groups, row.shape.concurrent_groups);
            group_warps = std::max<std::int64_t>(group_warps, row.shape.group_warps);
        }
    const auto compare = [&](const char* key, const std::optional<std::int64_t>& limit,
                             std::int64_t ran) {
        if (limit && *limit < ran)
            facts.notes.push_back(
                fmt::format("context.{} is {}, but rows ran with {}", key, *limit, ran));
    };
    compare("limits_warps", facts.limits.warps, warps);
    compare("limits_groups", facts.limits.groups, groups);
    compare("limits_group_warps", facts.limits.group_warps, group_warps);
}

// The clocks of the rows that are long enough to tell them, else of all.
std::vector<double> clocks_of(std::span<const MeasurementFile> files) {
    constexpr double well_told = 0.002;
    std::vector<double> all, told;
    for (const MeasurementFile& file : files) {
        const auto reference = reference_clock(file);
        for (const MeasurementRow& row : file.rows) {
            if (row.error || !row.clock_hz || !std::isfinite(*row.clock_hz) || *row.clock_hz <= 0)
                continue;
            all.push_back(*row.clock_hz);
            const bool tells =
                !reference || !row.cycles ||
                reference->interval_error_seconds * reference->hz <= well_told * *row.cycles;
            if (tells) told.push_back(*row.clock_hz);
        }
    }
    return told.empty() ? all : told;
}

// The clock that rows measured, else the one that contexts state.
void find_clock(std::span<const MeasurementFile> files, DeviceFacts& facts) {
    const std::vector<double> seen = clocks_of(files);
    if (!seen.empty()) {
        std::vector<double> sorted = seen;
        std::ranges::sort(sorted);
        facts.clock_hz = median_of_sorted(sorted);
        facts.clock_spread = (sorted.back() - sorted.front()) / facts.clock_hz;
        if (*facts.clock_spread > 0.01) {
            facts.clock_hz = most_frequent(seen, sorted);
            facts.notes.push_back(
                fmt::format("the clock moved during the measurements: {:.4g} to {:.4g} MHz; "
                            "clock_hz is the most frequent, {:.4g}",
                            sorted.front() / 1e6, sorted.back() / 1e6, facts.clock_hz / 1e6));
        }
        compare_claims(files, facts);
        return;
    }
    std::vector<double> claimed;
    for (const MeasurementFile& file : files)
        if (const auto it = file.context.find("clock_hz"); it != file.context.end()) {
            if (const auto fault = fault_of_claimed_clock(it->second))
                fail(file, "clock_hz", *fault);
            claimed.push_back(number({it->second, &file}, "clock_hz"));
        }
    if (claimed.empty())
        fail(files.front(), "clock_hz",
             "is missing, and no row has a measured clock; add the core clock in Hz");
    std::vector<double> sorted = claimed;
    std::ranges::sort(sorted);
    facts.clock_hz = most_frequent(claimed, sorted);
    if (sorted.back() > 1.01 * sorted.front())
        facts.notes.push_back(
            fmt::format("files state clocks from {:.4g} to {:.4g} MHz; clock_hz is the most "
                        "frequent, {:.4g}",
                        sorted.front() / 1e6, sorted.back() / 1e6, facts.clock_hz / 1e6));
    facts.notes.emplace_back("no row has a measured clock: clock_hz is what the device states");
}

std::string text(std::span<const MeasurementFile> files, const std::string& key) {
    const std::optional<Fact> fact = agreed(files, key);
    return fact ? fact->text : std::string{};
}

}  // namespace

DeviceFacts device_facts(std::span<const MeasurementFile> files) {
    if (files.empty()) throw InputError("no measurement files");
    DeviceFacts facts;
    facts.device.name = text(files, "device_name");
    // Older files of CPUs do not have this name yet.
    if (const std::string cpu = text(files, "cpu_name"); !cpu.empty()) facts.device.name = cpu;
    if (facts.device.name.empty())
        fail(files.front(), "device_name",
             "is missing, and a profile needs it; measure again, or add it");
    facts.device.vendor = text(files, "device_vendor");
    facts.device.architecture = text(files, "device_architecture");
    facts.device.compute_capability = text(files, "compute_capability");
    facts.backend = text(files, "backend");
    facts.cores = required_count(files, "cores");
    facts.warp_size = required_count(files, "warp_size");
    facts.limits.warps = limit(files, "limits_warps");
    facts.limits.groups = limit(files, "limits_groups");
    facts.limits.group_warps = limit(files, "limits_group_warps");
    facts.limits.registers = limit(files, "limits_registers");
    facts.limits.shared_memory_bytes = limit(files, "limits_shared_memory_bytes");
    facts.last_cache_bytes = limit(files, "l2_bytes");
    compare_limits(files, facts);
    find_clock(files, facts);
    return facts;
}

}  // namespace occupipe
