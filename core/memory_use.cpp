// SPDX-License-Identifier: MIT
#include "core/memory_use.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace occupipe {

double share_at(const Reuse& reuse, double bytes) {
    double share = 0;
    for (const ReusePoint& point : reuse) {
        if (static_cast<double>(point.bytes) > bytes) break;
        share = point.share;
    }
    return share;
}

double share_beyond(const Reuse& reuse, double bytes) {
    double beyond = 0, before = 0;
    for (const ReusePoint& point : reuse) {
        beyond +=
            (point.share - before) * std::max(0.0, 1 - bytes / static_cast<double>(point.bytes));
        before = point.share;
    }
    return beyond;
}

std::optional<std::string> fault_of(const Reuse& reuse) {
    const ReusePoint* before = nullptr;
    for (const ReusePoint& point : reuse) {
        if (point.bytes < 1 || !(point.share > 0 && point.share <= 1))
            return fmt::format(
                "[{}, {}]: bytes must be at least 1 and the share above 0 and at most 1",
                point.bytes, point.share);
        if (before && (point.bytes <= before->bytes || point.share <= before->share))
            return fmt::format("[{}, {}]: both must be above those of the entry before it",
                               point.bytes, point.share);
        before = &point;
    }
    return std::nullopt;
}

std::string_view to_string(MemoryOrder order) {
    return order == MemoryOrder::round_robin ? "round_robin" : "predicted";
}

std::optional<MemoryFault> fault_of(const MemoryUse& use) {
    const auto amount = [](const char* key, double value) -> std::optional<MemoryFault> {
        if (std::isfinite(value) && value >= 0) return std::nullopt;
        return MemoryFault{key,
                           fmt::format("must be a finite number of at least 0, not {}", value)};
    };
    const auto least = [](const char* key, double value,
                          double least_value) -> std::optional<MemoryFault> {
        if (value >= least_value) return std::nullopt;
        return MemoryFault{
            key, fmt::format("{} is less than the least possible, {}", value, least_value)};
    };
    // What the models divide by.
    const auto present = [](const char* key, double value, const char* of,
                            double of_value) -> std::optional<MemoryFault> {
        if (of_value == 0 || value > 0) return std::nullopt;
        return MemoryFault{key, fmt::format("must be above 0, as '{}' is", of)};
    };
    const auto reuse = [](const char* key,
                          const std::optional<Reuse>& points) -> std::optional<MemoryFault> {
        if (points)
            if (const auto reason = fault_of(*points)) return MemoryFault{key, *reason};
        return std::nullopt;
    };
    std::optional<MemoryFault> fault;
    const bool faulty =
        (fault = amount("bytes", use.bytes)) || (fault = amount("sectors", use.sectors)) ||
        (fault = amount("least_sectors", use.least_sectors)) ||
        (fault = amount("lines", use.lines.value_or(0))) ||
        (fault = amount("bank_passes", use.bank_passes.value_or(0))) ||
        (fault = amount("merged", use.merged.value_or(0))) ||
        (fault = amount("places", use.places.value_or(0))) ||
        (fault = amount("group_places", use.group_places.value_or(0))) ||
        (fault = amount("same_address", use.same_address.value_or(0))) ||
        (fault = amount("hottest", use.hottest.value_or(0))) ||
        (fault = amount("passes", use.passes)) ||
        (fault = amount("least_passes", use.least_passes)) ||
        (fault = least("sectors", use.sectors, use.least_sectors)) ||
        (fault = least("sectors", use.sectors, use.lines.value_or(0))) ||
        (fault = least("sectors", use.sectors, use.merged.value_or(0))) ||
        (use.bank_passes && (fault = present("sectors", use.sectors, "bank_passes", 1))) ||
        (fault = least("passes", use.passes, use.least_passes)) ||
        (fault = present("bytes", use.bytes, "sectors", use.sectors)) ||
        (fault = present("bytes", use.bytes, "passes", use.passes)) ||
        (fault = present("least_passes", use.least_passes, "passes", use.passes)) ||
        (fault = reuse("core", use.core)) || (fault = reuse("device", use.device)) ||
        (fault = reuse("written", use.written)) ||
        (fault = reuse("core_requests", use.core_requests)) ||
        (fault = reuse("device_requests", use.device_requests));
    return faulty ? fault : std::nullopt;
}

}  // namespace occupipe
