// SPDX-License-Identifier: MIT
#include "sim/problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "core/error.h"

namespace occupipe {

GpuFacts facts_of(const GpuProfile& profile) {
    GpuFacts gpu{.name = profile.device.name,
                 .cores = profile.cores,
                 .warp_size = profile.warp_size,
                 .clock_hz = profile.clock_hz,
                 .launch_seconds = {},
                 .group_seconds = {},
                 .issue = profile.issue,
                 .subsystems = profile.subsystems,
                 .references = {}};
    if (const auto& launch = profile.kernel_overhead()) gpu.launch_seconds = launch->value;
    if (const auto& group = profile.overheads.group_seconds; group && group->identifiable())
        gpu.group_seconds = group->value;
    for (const std::string_view name : reference_instructions()) {
        const InstructionTiming* timing = profile.find_instruction(name);
        if (timing != nullptr && timing->cpi.identifiable())
            gpu.references.push_back(
                {name, profile.cpi_per_core(*timing).value, timing->subsystem});
    }
    return gpu;
}

namespace {

std::vector<OpTiming> timings_of(const GpuProfile& profile, const ResolvedKernel& kernel) {
    std::vector<OpTiming> timings;
    for (const ResolvedKernel::Op& op : kernel.ops) {
        const InstructionTiming* timing = profile.find_instruction(op.name);
        if (timing == nullptr)
            throw InputError(
                "kernel '" + kernel.name + "'", op.where, "op",
                fmt::format("profile '{}' has no instruction '{}'", profile.device.name, op.name));
        const auto value = [](const std::optional<Estimate>& estimate) {
            return estimate ? std::optional(estimate->value) : std::nullopt;
        };
        const Subsystem* subsystem = profile.find_subsystem(timing->subsystem);
        timings.push_back(
            {.kind = op.kind.value_or(timing->effective_kind()),
             .subsystem = static_cast<std::size_t>(subsystem - profile.subsystems.data()),
             .cpi = timing->cpi.value,
             .latency = value(timing->latency),
             .latency_unknown = timing->latency_unknown,
             .latency_growth = value(timing->latency_growth)});
    }
    return timings;
}

void require(bool good, const ResolvedKernel::Op& op, const char* what, double value) {
    if (!good) throw InputError(fmt::format("{} {}: {:g} is out of range", op.name, what, value));
}

bool positive(double value) { return value > 0 && std::isfinite(value); }

}  // namespace

std::span<const std::string_view> reference_instructions() {
    static constexpr std::array<std::string_view, 8> names = {
        "fma.f64",       "fma.f32", "mad.s32",       "ld.shared.u32",
        "ld.shared.f32", "add.s32", "ld.global.f32", "ld.global.u32"};
    return names;
}

const ReferenceRate* GpuFacts::find_reference(std::string_view instruction) const {
    const auto found = std::ranges::find(references, instruction, &ReferenceRate::name);
    return found == references.end() ? nullptr : &*found;
}

Problem::Problem(const GpuProfile& profile, const Kernel& kernel, const Launch& launch) {
    validate(profile);
    kernel_ = std::make_shared<const ResolvedKernel>(resolve(kernel));
    timings_ = std::make_shared<const std::vector<OpTiming>>(timings_of(profile, *kernel_));
    gpu_ = std::make_shared<const GpuFacts>(facts_of(profile));
    *this = at(launch);
}

Problem Problem::at(const Launch& launch) const {
    sim::validate(launch);
    Problem other = *this;
    other.launch_ = launch;
    other.groups_ = std::make_shared<const sim::LaunchGroups>(*kernel_, launch);
    return other;
}

Problem Problem::with(GpuFacts gpu, std::vector<OpTiming> timings) const {
    if (timings.size() != kernel_->ops.size())
        throw InputError(
            fmt::format("{} timings for {} instructions", timings.size(), kernel_->ops.size()));
    for (std::size_t i = 0; i < timings.size(); ++i) {
        const OpTiming& one = timings[i];
        const ResolvedKernel::Op& op = kernel_->ops[i];
        require(positive(one.cpi), op, "λ", one.cpi);
        if (one.latency) require(positive(*one.latency), op, "Λ", *one.latency);
        const double growth = one.latency_growth.value_or(0);
        require(growth >= 0 && std::isfinite(growth), op, "h", growth);
    }
    if (gpu.issue.limit && !positive(*gpu.issue.limit))
        throw InputError(fmt::format("issue limit: {:g} is out of range", *gpu.issue.limit));
    for (const Subsystem& one : gpu.subsystems)
        if (one.contention && !(one.contention->value >= 0 && one.contention->value < 1))
            throw InputError(fmt::format("{} contention: {:g} is out of range", one.name,
                                         one.contention->value));
    Problem other = *this;
    other.gpu_ = std::make_shared<const GpuFacts>(std::move(gpu));
    other.timings_ = std::make_shared<const std::vector<OpTiming>>(std::move(timings));
    return other;
}

Problem Problem::with_counts(const std::vector<std::vector<std::int64_t>>& counts) const {
    ResolvedKernel kernel = *kernel_;
    for (std::size_t p = 0; p < counts.size(); ++p)
        for (std::size_t l = 0; l < counts[p].size(); ++l)
            kernel.programs[p].loops[l].count = counts[p][l];
    Problem other = *this;
    other.kernel_ = std::make_shared<const ResolvedKernel>(std::move(kernel));
    return other;
}

Problem Problem::one_warp(ResolvedProgram program) const {
    std::vector<std::int32_t> used;
    ResolvedKernel kernel = occupipe::alone(*kernel_, std::move(program), used);
    std::vector<OpTiming> timings;
    for (const std::int32_t op : used) timings.push_back((*timings_)[static_cast<std::size_t>(op)]);
    Problem other = *this;
    other.kernel_ = std::make_shared<const ResolvedKernel>(std::move(kernel));
    other.timings_ = std::make_shared<const std::vector<OpTiming>>(std::move(timings));
    return other.at(Launch());
}

Problem Problem::alone(std::size_t program) const { return one_warp(kernel_->programs[program]); }

Problem Problem::alone(std::size_t program, std::int32_t loop, std::int32_t first,
                       std::int32_t last) const {
    Problem part = one_warp(part_of(kernel_->programs[program], loop, first, last));
    ResolvedKernel kernel = *part.kernel_;
    kernel.name = "block";
    kernel.order.reset();
    part.kernel_ = std::make_shared<const ResolvedKernel>(std::move(kernel));
    return part;
}

}  // namespace occupipe
