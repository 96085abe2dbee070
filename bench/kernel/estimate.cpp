// SPDX-License-Identifier: MIT
#include "bench/kernel/estimate.h"

#include <algorithm>
#include <set>
#include <string>

#include "bench/kernel/order.h"
#include "bench/offline/kernel_name.h"

namespace occupipe::bench {
namespace {

// Host time of one sample: the calls, the stamps and results read back and checked. Of a whole
// quick sweep against a pretended driver; transfers over a real bus come on top.
constexpr double host_seconds = 1.4e-3;
// The witness kernel runs this long after each sample.
constexpr double witness_seconds = 0.5e-3;
// NVRTC's time for one kernel: much the same for each, and so much per step of the loop's body.
constexpr double compile_seconds = 0.02;
constexpr double compile_seconds_per_step = 0.65e-3;
constexpr double assumed_clock_hz = 1.5e9;
// Launches without a timed loop: a few microseconds each.
constexpr double seconds_per_empty_launch = 5e-6;

// Cycles from step to step, of the right order only.
double cycles_per_step(const Row& row) {
    const double cycles = facts_of(row.pattern).cycles;
    if (cycles > 0) return cycles;
    if (row.pattern == Pattern::chain) {
        return (row.order == Order::waits ? 500.0 : 6.0) * row.sass_length;
    }
    return row.table == Table::beyond_caches ? 700 : row.table == Table::second_level ? 300 : 40;
}

double launch_seconds(const PlannedPoint& point) {
    const Row& row = *point.plan.first;
    const auto depth = static_cast<double>(point.shape.depth);
    if (measures_launches(row.pattern)) return depth * seconds_per_empty_launch;
    double cycles = cycles_per_step(row);
    if (point.plan.second) cycles = std::max(cycles, cycles_per_step(*point.plan.second));
    return depth * cycles / assumed_clock_hz;
}

}  // namespace

std::vector<BlockEstimate> estimate(const DeviceFacts& facts, const SweepPlan& sweep,
                                    KernelsAre kernels) {
    std::vector<BlockEstimate> all;
    for (const std::string_view name : order_blocks()) all.push_back({.name = name});
    const bool known = !facts.cpu && !facts.model;
    std::set<std::string> compiled;
    for (const PlannedPoint& point : sweep.points) {
        BlockEstimate& block = all[block_of(point.plan)];
        ++block.points;
        double seconds =
            sweep.repetitions * (host_seconds + witness_seconds + launch_seconds(point));
        if (compiled.insert(point.plan.subject() + kernel_name(point.plan)).second) {
            ++block.kernels;
            if (kernels == KernelsAre::compiled_here) {
                seconds += compile_seconds +
                           compile_seconds_per_step * point.plan.unroll * point.plan.chains;
            }
        }
        if (known) block.seconds = block.seconds.value_or(0) + seconds;
    }
    std::erase_if(all, [](const BlockEstimate& block) { return block.points == 0; });
    return all;
}

}  // namespace occupipe::bench
