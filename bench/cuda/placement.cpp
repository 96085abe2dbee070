// SPDX-License-Identifier: MIT
#include "bench/cuda/placement.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "bench/harness/device_errors.h"
#include "core/error.h"
#include "core/running_warps.h"
#include "core/statistics.h"

namespace occupipe::bench {
namespace {

// Shared memory is handed out in units of at most this many bytes (Volta and Turing 256, Ampere
// and later 128).
constexpr std::int64_t unit_bytes = 256;
constexpr std::int64_t smallest_unit_bytes = 128;

// A clock from fewer steps of the global timer than this would be uncertain by more than 1 %.
constexpr double least_ticks = 100;

void check_limit(std::int64_t wanted, std::int64_t limit, const char* what) {
    if (wanted > limit) {
        throw DeviceError(
            fmt::format("CUDA: {} {} requested, but the GPU holds {}", wanted, what, limit));
    }
}

struct CoreTimes {
    std::size_t groups = 0;
    std::size_t newest_group = SIZE_MAX;
    std::uint64_t first_start = UINT64_MAX;
    std::uint64_t last_start = 0;
    std::uint64_t last_stop = 0;
    std::vector<WarpStamp> warps;
};

std::map<std::uint32_t, CoreTimes> by_core(std::span<const WarpStamp> stamps, int group_warps) {
    std::map<std::uint32_t, CoreTimes> cores;
    for (std::size_t i = 0; i < stamps.size(); ++i) {
        const WarpStamp& stamp = stamps[i];
        if (stamp.start == 0 || stamp.stop <= stamp.start) {
            throw DeviceError(fmt::format("CUDA: warp {} wrote no times: it did not finish", i));
        }
        CoreTimes& core = cores[stamp.core];
        core.warps.push_back(stamp);
        // A group's warps stand together, and a group runs on one core.
        const std::size_t group = i / static_cast<std::size_t>(group_warps);
        if (group != core.newest_group) ++core.groups;
        core.newest_group = group;
        core.first_start = std::min(core.first_start, stamp.start);
        core.last_start = std::max(core.last_start, stamp.start);
        core.last_stop = std::max(core.last_stop, stamp.stop);
    }
    return cores;
}

void check_residency(const std::map<std::uint32_t, CoreTimes>& cores, const MeasurementShape& shape,
                     int expected_cores) {
    std::size_t fewest = SIZE_MAX;
    std::size_t most = 0;
    for (const auto& [number, core] : cores) {
        fewest = std::min(fewest, core.groups);
        most = std::max(most, core.groups);
    }
    const auto wanted = static_cast<std::size_t>(shape.concurrent_groups);
    const bool all = cores.size() == static_cast<std::size_t>(expected_cores);
    if (all && fewest == wanted && most == wanted) return;
    throw TransientDeviceError(
        fmt::format("CUDA: groups were not placed as requested: {} on each of {} cores expected, "
                    "{} to {} on {} "
                    "cores seen",
                    shape.concurrent_groups, expected_cores, fewest, most, cores.size()));
}

// Most warps of a core that were in the timed part at one moment.
int warps_together(const CoreTimes& core) {
    std::vector<std::pair<std::uint64_t, int>> changes;
    changes.reserve(2 * core.warps.size());
    for (const WarpStamp& warp : core.warps) {
        changes.emplace_back(warp.start, 1);
        changes.emplace_back(warp.stop, -1);
    }
    std::ranges::sort(changes);  // of one moment, those that stop come first
    int now = 0;
    int most = 0;
    for (const auto& [moment, change] : changes) most = std::max(most, now += change);
    return most;
}

// Warps on the fullest scheduler: a warp belongs to scheduler %warpid mod schedulers, as on every
// NVIDIA GPU since Kepler that was looked at. Absent where two warps of the core say that they sit
// in one slot: then %warpid does not number the slots.
std::optional<int> busiest_scheduler(const CoreTimes& core, int schedulers) {
    std::vector<std::uint32_t> slots;
    std::vector<int> warps(static_cast<std::size_t>(schedulers));
    for (const WarpStamp& warp : core.warps) {
        slots.push_back(warp.slot);
        ++warps[warp.slot % warps.size()];
    }
    std::ranges::sort(slots);
    if (std::ranges::adjacent_find(slots) != slots.end()) return std::nullopt;
    return *std::ranges::max_element(warps);
}

// The middle one, of an even number the larger: a number that some core really had.
template <typename T>
T middle(std::vector<T> values) {
    std::ranges::sort(values);
    return values[values.size() / 2];
}

void count_residency(const std::map<std::uint32_t, CoreTimes>& cores, std::optional<int> schedulers,
                     Observation& observation) {
    std::vector<int> together;
    std::vector<int> busiest;
    for (const auto& [number, core] : cores) {
        together.push_back(warps_together(core));
        if (!schedulers) continue;
        if (const auto warps = busiest_scheduler(core, *schedulers)) busiest.push_back(*warps);
    }
    observation.counters["achieved_warps"] = middle(together);
    if (busiest.size() == cores.size()) {
        observation.counters["busiest_scheduler_warps"] = middle(busiest);
    }
}

// A checkpoint's reading has 32 bits: it lies behind the start by less than 2³² cycles. Throws
// DeviceError when a warp's readings do not ascend.
WarpTimes times_of(const WarpStamp& warp, std::uint64_t origin) {
    WarpTimes times{.start = static_cast<double>(warp.start - origin),
                    .checkpoints = {},
                    .stop = static_cast<double>(warp.stop - origin)};
    for (const std::uint32_t reading : warp.checkpoints) {
        const std::uint32_t since = reading - static_cast<std::uint32_t>(warp.start);
        times.checkpoints.push_back(times.start + since);
    }
    std::vector<double> all = {times.start};
    all.insert(all.end(), times.checkpoints.begin(), times.checkpoints.end());
    all.push_back(times.stop);
    if (std::ranges::adjacent_find(all, std::ranges::greater_equal()) != all.end()) {
        throw DeviceError("CUDA: the clock readings of a warp's checkpoints do not ascend");
    }
    return times;
}

// Starts and stops of the warps of the core whose cycles are the median's, the oldest first: by
// their slots, which the hardware deals out in the order of arrival where nothing has left yet.
void count_stops(const std::map<std::uint32_t, CoreTimes>& cores, std::optional<int> schedulers,
                 double median_cycles, std::optional<double> instructions,
                 Observation& observation) {
    const auto distance = [&](const auto& entry) {
        const CoreTimes& core = entry.second;
        return std::abs(static_cast<double>(core.last_stop - core.first_start) - median_cycles);
    };
    const CoreTimes& core = std::ranges::min_element(cores, {}, distance)->second;
    std::vector<WarpStamp> warps = core.warps;
    std::ranges::stable_sort(warps, {}, &WarpStamp::slot);
    const auto same = [](const WarpStamp& a, const WarpStamp& b) { return a.slot == b.slot; };
    const bool numbered = std::ranges::adjacent_find(warps, same) == warps.end();
    std::vector<double> starts;
    std::vector<double> stops;
    std::vector<int> scheduler_of;
    for (const WarpStamp& warp : warps) {
        starts.push_back(static_cast<double>(warp.start - core.first_start));
        stops.push_back(static_cast<double>(warp.stop - core.first_start));
        const auto k = static_cast<std::uint32_t>(numbered ? schedulers.value_or(1) : 1);
        scheduler_of.push_back(static_cast<int>(warp.slot % k));
    }
    if (instructions) {
        for (const auto& [number, other] : cores)
            for (const WarpStamp& warp : other.warps) times_of(warp, other.first_start);
        std::vector<WarpTimes> times;
        for (const WarpStamp& warp : warps) times.push_back(times_of(warp, core.first_start));
        observation.counters.merge(window_counters(times, *instructions));
    }
    // The row's cycles are the median over the cores; this core's may lie beside it.
    const double cycles = static_cast<double>(core.last_stop - core.first_start);
    for (const auto& [name, value] : running_counters(starts, stops, scheduler_of)) {
        const bool time = name.starts_with("running_");
        observation.counters[name] = time ? value / cycles * median_cycles : value;
    }
}

}  // namespace

// CUDA C++ Programming Guide, appendix "Compute Capabilities", section "Architecture" of each:
// "4 warp schedulers" for 7.x, 8.x, 9.0, 10.0 and 12.0.
std::optional<int> schedulers_per_core(int major) {
    switch (major) {
        case 7:
        case 8:
        case 9:
        case 10:
        case 12:
            return 4;
        default:
            return std::nullopt;
    }
}

std::int64_t dynamic_shared_bytes(const CoreLimits& limits, const MeasurementShape& shape,
                                  std::int64_t static_bytes, std::int64_t needed_bytes) {
    check_limit(shape.group_warps, limits.group_warps, "warps per group");
    check_limit(shape.concurrent_groups, limits.groups, "groups per core");
    check_limit(shape.warps(), limits.warps, "warps per core");
    const std::int64_t share =
        limits.shared_bytes / shape.concurrent_groups / unit_bytes * unit_bytes;
    const std::int64_t room =
        std::min(share - limits.reserved_shared_bytes, limits.group_shared_bytes) - static_bytes;
    check_limit(needed_bytes, std::max<std::int64_t>(room, 0), "bytes of shared memory per group");
    return room;
}

std::optional<std::int64_t> shared_bytes_for_residency(
    std::int64_t bytes, std::int64_t needed, std::int64_t most, int wanted,
    const std::function<int(std::int64_t bytes)>& resident) {
    int groups = resident(bytes);
    while (groups > wanted && bytes < most) {
        bytes = std::min(bytes + smallest_unit_bytes, most);
        groups = resident(bytes);
    }
    if (groups == wanted) return bytes;
    // Fewer: is it the shared memory that is short?
    if (groups > wanted || bytes == needed || resident(needed) < wanted) return std::nullopt;
    while (groups < wanted && bytes > needed) {
        bytes = std::max(bytes - smallest_unit_bytes, needed);
        groups = resident(bytes);
    }
    return groups == wanted ? std::optional(bytes) : std::nullopt;
}

Observation evaluate_stamps(const StampHeader& header, std::span<const WarpStamp> stamps,
                            const MeasurementShape& shape, int cores, double tick_ns,
                            std::optional<int> schedulers,
                            std::optional<double> checkpointed_instructions) {
    if (header.missed > 0) {
        throw TransientDeviceError(fmt::format(
            "CUDA: {} of {} groups waited for the common start in vain: they were not resident "
            "together",
            header.missed, stamps.size() / static_cast<std::size_t>(shape.group_warps)));
    }
    const std::map<std::uint32_t, CoreTimes> seen = by_core(stamps, shape.group_warps);
    check_residency(seen, shape, cores);
    std::vector<double> cycles;
    std::vector<double> skews;
    std::vector<double> clocks;
    for (const auto& [number, core] : seen) {
        cycles.push_back(static_cast<double>(core.last_stop - core.first_start));
        skews.push_back(static_cast<double>(core.last_start - core.first_start));
    }
    for (const WarpStamp& warp : stamps) {
        if (warp.wall_stop == 0 || tick_ns <= 0) continue;
        const double nanoseconds = static_cast<std::uint32_t>(warp.wall_stop) - warp.wall_before;
        const bool went_back = nanoseconds > 0x1p31;
        if (went_back || nanoseconds < least_ticks * tick_ns) continue;
        const std::uint32_t waited = static_cast<std::uint32_t>(warp.start) - warp.clock_before;
        const auto clock_cycles = static_cast<double>(warp.stop - warp.start) + waited;
        clocks.push_back(clock_cycles / nanoseconds * 1e9);
    }
    Observation observation;
    observation.cycles = median(cycles);
    std::vector<double> ordered = cycles;
    std::ranges::sort(ordered);
    observation.counters["core_cycles_q1"] = ordered[ordered.size() / 4];
    observation.counters["core_cycles_q3"] = ordered[ordered.size() - 1 - ordered.size() / 4];
    observation.counters["cycles_min"] = *std::ranges::min_element(cycles);
    observation.counters["cycles_max"] = *std::ranges::max_element(cycles);
    observation.counters["start_skew_cycles"] = median(skews);
    if (header.late > 0) {
        observation.counters["late_groups"] = static_cast<double>(header.late);
    }
    observation.counters["cores_used"] = static_cast<double>(seen.size());
    count_residency(seen, schedulers, observation);
    count_stops(seen, schedulers, *observation.cycles, checkpointed_instructions, observation);
    if (!clocks.empty()) observation.clock_hz = median(clocks);
    return observation;
}

}  // namespace occupipe::bench
