// SPDX-License-Identifier: MIT
#include "bench/harness/point_counters.h"

#include <algorithm>
#include <array>

namespace occupipe::bench {
namespace {

// Whether what is timed goes beyond the core, to what has a clock of its own.
bool leaves_core(const Row& row) {
    constexpr std::array beyond = {"atom.global", "red.global",      "barrier.grid",
                                   "cp.async",    "barrier.cluster", "st.global"};
    const auto begins = [&](const char* with) { return row.id.starts_with(with); };
    if (std::ranges::any_of(beyond, begins)) return true;
    const bool walk = row.pattern == Pattern::global_chase ||
                      row.pattern == Pattern::global_stream || row.pattern == Pattern::global_store;
    return walk && (row.table != Table::first_level || row.pattern == Pattern::global_store);
}

}  // namespace

std::map<std::string, double> point_counters(const PlannedPoint& point, int cores) {
    const MeasurementShape& shape = point.shape;
    std::map<std::string, double> counters = {
        {"group_warps", shape.group_warps}, {"concurrent_groups", shape.concurrent_groups},
        {"warps", shape.warps()},           {"chains", shape.chains},
        {"unroll", point.plan.unroll},      {"depth", static_cast<double>(shape.depth)}};
    const bool off_core =
        leaves_core(*point.plan.first) || (point.plan.second && leaves_core(*point.plan.second));
    counters["off_core"] = off_core ? 1 : 0;
    if (point.plan.second) {
        counters["beta"] = point.plan.beta;
    } else {
        const Row& row = *point.plan.first;
        if (row.order == Order::none) counters["dependent"] = 0;
        if (row.group_warps > 1) counters["warps_per_instruction"] = row.group_warps;
        for (const RowCounter& counter : row.counters) {
            if (counter.name.empty()) continue;
            const double times = counter.per_warp ? shape.warps() : 1;
            counters[std::string(counter.name)] = counter.value * times;
        }
    }
    const auto depth = static_cast<double>(shape.depth);
    switch (point.plan.first->pattern) {
        case Pattern::empty_loop:
            counters["loop_iterations"] = depth;
            break;
        case Pattern::launch:
            counters["launches"] = depth;
            break;
        case Pattern::awaited_launch:
            counters["awaited_launches"] = depth;
            break;
        case Pattern::graph_launch:
            counters["graph_launches"] = depth;
            break;
        case Pattern::launch_groups:
            counters["launch_groups"] = depth * shape.concurrent_groups * cores;
            break;
        default:
            break;
    }
    if (point.plan.working_set_bytes > 0) {
        counters["working_set_bytes"] = static_cast<double>(point.plan.working_set_bytes);
    }
    if (point.full) counters["full"] = 1;
    if (point.plan.checkpointed) counters["checkpoints"] = checkpoints;
    return counters;
}

}  // namespace occupipe::bench
