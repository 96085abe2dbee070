// SPDX-License-Identifier: MIT
#include "analysis/measured/comparison_sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>

#include "bench/kernel/kernel_source.h"

namespace occupipe::analysis {
namespace {

// The mix of Lemeire et al., "Analysis of the analytical performance models for GPUs", sections
// 4.2 and 6.1: an arithmetic instruction and the special function unit's.
constexpr std::string_view first = "mul.f32";
constexpr std::string_view second = "cos.approx.f32";
constexpr std::array betas = {1, 2, 4, 8, 16, 32};
constexpr int beta_over_occupancy = 4;

constexpr std::string_view barrier = "bar.sync";
// Streaming reads; papers' profiles name theirs by another type. The first existing one is used.
constexpr std::array streams = {"ld.global.f32", "ld.global.s32", "ld.global.u32"};

// For each shape of the chains, the mix in the same shape, with depths that its period divides.
void add_occupancies(bench::SweepPlan& sweep) {
    const std::string name =
        mix_name({std::string(first), beta_over_occupancy, std::string(second)});
    std::vector<bench::PlannedPoint> mixes;
    std::set<MeasurementShape> taken;
    for (const auto& point : sweep.points) {
        if (point.plan.subject() != name) continue;
        mixes.push_back(point);
        taken.insert(point.shape);
    }
    if (mixes.empty()) return;
    const bench::KernelPlan plan = mixes.front().plan;
    const auto chains_as_measured = sweep.points;
    for (const auto& chain : chains_as_measured) {
        if (chain.plan.subject() != first || chain.shape.chains != plan.chains) continue;
        MeasurementShape shape = chain.shape;
        shape.depth = std::max<std::int64_t>(1, chain.shape.depth / plan.unroll) * plan.unroll;
        if (taken.insert(shape).second) sweep.points.push_back({plan, shape});
    }
}

}  // namespace

bench::SweepPlan comparison_sweep(const bench::Backend& backend, bool quick) {
    bench::SweepRequest request{.quick = quick};
    std::set<std::string_view> there;
    for (const auto& row : backend.rows()) there.insert(row.id);
    const auto ask = [&](std::string_view name) {
        if (there.contains(name)) request.patterns.emplace_back(name);
        return there.contains(name);
    };
    bench::SweepPlan lacking;
    if (ask(first) && ask(second)) {
        for (const int beta : betas)
            request.patterns.push_back(mix_name({std::string(first), beta, std::string(second)}));
    } else {
        lacking.skipped.push_back(
            {fmt::format("mix of {} and {}", first, second), "the device does not support both"});
    }
    if (!ask(barrier)) lacking.skipped.push_back({std::string(barrier), "the device has none"});
    if (std::ranges::none_of(streams, ask))
        lacking.skipped.push_back({"streaming reads", "the device has none"});
    bench::SweepPlan sweep;
    if (!request.patterns.empty()) sweep = bench::make_sweep(backend, request);
    sweep.skipped.insert(sweep.skipped.end(), lacking.skipped.begin(), lacking.skipped.end());
    add_occupancies(sweep);
    return sweep;
}

}  // namespace occupipe::analysis
