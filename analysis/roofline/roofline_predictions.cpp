// SPDX-License-Identifier: MIT
#include "analysis/roofline/roofline_predictions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/error.h"

namespace occupipe::analysis {
namespace {

double needed(const KernelParameters& kernel, std::optional<double> KernelParameters::*value) {
    if (kernel.*value) return *(kernel.*value);
    for (const KernelCount& count : kernel_counts())
        if (count.value == value)
            throw CountMissing(fmt::format("kernel '{}': {} ({}) is not known", kernel.kernel,
                                           count.key, count.symbol));
    throw CountMissing(fmt::format("kernel '{}': a count is not known", kernel.kernel));
}

std::string_view symbol_of(OperationKind kind) {
    switch (kind) {
        case OperationKind::fp64:
            return "T_DP";
        case OperationKind::fp32:
            return "T_SP";
        case OperationKind::integer:
            return "T_int";
    }
    return "";
}

constexpr double giga = 1e9;  // of the table's units

const Rate& rate_of(std::string_view symbol) {
    return *std::ranges::find(rates(), symbol, &Rate::symbol);
}

std::optional<double> per_second(const GpuProfile& profile, std::string_view symbol) {
    // By λ; where the curve only bounds it, as measured at full occupancy.
    auto value = value_of(rate_of(symbol), profile);
    if (!value) value = full_value_of(rate_of(symbol), profile);
    if (!value) return std::nullopt;
    return value->value * giga;
}

}  // namespace

OperationKind kind_of(const KernelParameters& kernel) {
    if (needed(kernel, &KernelParameters::fp64) > 0) return OperationKind::fp64;
    if (needed(kernel, &KernelParameters::fp32) > 0) return OperationKind::fp32;
    return OperationKind::integer;
}

RooflineWork work_of(const KernelParameters& kernel) {
    using K = KernelParameters;
    RooflineWork work;
    work.kind = kind_of(kernel);
    switch (work.kind) {
        case OperationKind::fp64:
            work.operation_instructions = needed(kernel, &K::fp64);
            work.multiply_adds = needed(kernel, &K::fp64_fma);
            break;
        case OperationKind::fp32:
            work.operation_instructions = needed(kernel, &K::fp32);
            work.multiply_adds = needed(kernel, &K::fp32_fma);
            break;
        case OperationKind::integer:
            work.operation_instructions = needed(kernel, &K::integer);
            break;
    }
    work.load_store = needed(kernel, &K::load_store);
    work.all = static_cast<double>(kernel.warp_size) * needed(kernel, &K::warp_instructions);
    constexpr double sector_bytes = 32;
    work.traffic = sector_bytes *
                   (needed(kernel, &K::dram_read_sectors) + needed(kernel, &K::dram_write_sectors));
    // Profilers collect metrics in several runs: a little more than everything can happen.
    constexpr double slack = 1e-3;
    const double parts = work.operation_instructions + work.load_store;
    if (parts > work.all * (1 + slack))
        throw InputError(fmt::format(
            "kernel '{}': M_{} + M_ldst = {:g} lane-instructions, but {} · M_inst = {:g}; one of "
            "the three was not counted for the same launches",
            kernel.kernel, to_string(work.kind), parts, kernel.warp_size, work.all));
    work.all = std::max(work.all, parts);
    if (work.all <= 0)
        throw InputError(fmt::format("kernel '{}': no instruction was executed", kernel.kernel));
    return work;
}

std::optional<double> intensity_of(const RooflineWork& work) {
    if (!work.traffic || *work.traffic <= 0) return std::nullopt;
    return useful_operations(work) / *work.traffic;
}

std::optional<double> operation_rate(const GpuProfile& profile, OperationKind kind) {
    return per_second(profile, symbol_of(kind));
}

std::optional<double> memory_rate(const GpuProfile& profile) {
    return per_second(profile, "B_mem");
}

RooflinePrediction roofline_prediction(const KernelParameters& kernel, const GpuProfile& profile,
                                       RooflineVariant variant) {
    RooflinePrediction prediction;
    prediction.work = work_of(kernel);
    const RooflineWork& work = prediction.work;
    const double other = work.all - work.operation_instructions - work.load_store;
    const auto rate = [&](std::string_view symbol, double amount) {
        const auto value = per_second(profile, symbol);
        if (value) return *value;
        if (amount > 0)
            prediction.missing.push_back(
                fmt::format("{} ({})", symbol, fmt::join(rate_of(symbol).instructions, " or ")));
        return 1.0;  // not used
    };
    RooflineRates rates{.operation = rate(symbol_of(work.kind), work.operation_instructions),
                        .load_store = rate("T_ldst", work.load_store),
                        .other = rate("T_add", other),
                        .memory = rate("B_mem", *work.traffic),
                        .issue = {}};
    if (!prediction.missing.empty()) return prediction;
    if (profile.issue.limit)
        rates.issue = *profile.issue.limit * profile.warp_size * profile.cores * profile.clock_hz;
    prediction.rates = rates;
    prediction.result = evaluate(work, rates, variant);
    const double compute = prediction.result->compute_time;
    const double memory = *prediction.result->memory_time;
    if (compute > 0 && memory > 0)
        prediction.distance_to_flip = std::min(compute, memory) / std::max(compute, memory);
    return prediction;
}

}  // namespace occupipe::analysis
