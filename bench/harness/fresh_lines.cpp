// SPDX-License-Identifier: MIT
#include "bench/harness/fresh_lines.h"

#include <algorithm>

namespace occupipe::bench {
namespace {

constexpr std::size_t gpu_line_bytes = 128;

// Of the walking row, per chain and iteration.
int walking_steps(const KernelPlan& plan, const Row& row) {
    const int second = plan.second ? plan.unroll / (plan.beta + 1) : 0;
    return &row == plan.second ? second : plan.unroll - second;
}

}  // namespace

std::optional<std::int64_t> most_fresh_iterations(const KernelPlan& plan, const TableSizes& tables,
                                                  std::int64_t warps) {
    const Row* row = walking_row(plan);
    if (!row || row->own_lines || plan.working_set_bytes > 0 ||
        tables.before_launch(plan) != CacheState::holds_nothing_of_table) {
        return std::nullopt;
    }
    const std::size_t lines =
        tables.of(plan) / (gpu_line_bytes * static_cast<std::size_t>(row->spread));
    const std::int64_t share = static_cast<std::int64_t>(lines) / (warps * plan.chains);
    const std::int64_t all = share / std::max(1, walking_steps(plan, *row));
    return std::max(all / 2, all - untimed_iterations);
}

bool keep_to_fresh_lines(KernelPlan& plan, std::array<std::int64_t, 3>& depths,
                         const TableSizes& tables, std::int64_t warps) {
    constexpr std::int64_t several = 12;  // iterations, for three depths well apart
    constexpr int shortest = 8;
    const int period = plan.second ? plan.beta + 1 : 1;
    auto most = most_fresh_iterations(plan, tables, warps);
    while (most && *most < several && plan.unroll / 2 >= std::max(shortest, period)) {
        plan.unroll = plan.unroll / 2 / period * period;
        most = most_fresh_iterations(plan, tables, warps);
    }
    if (!most) return true;
    if (*most < 3) return false;
    const std::int64_t deepest = *most * plan.unroll;
    if (depths.back() > deepest) depths = {deepest / 4, deepest / 2, deepest};
    return true;
}

}  // namespace occupipe::bench
