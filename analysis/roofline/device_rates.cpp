// SPDX-License-Identifier: MIT
#include "analysis/roofline/device_rates.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/error.h"

namespace occupipe::analysis {
namespace {

std::optional<RateValue> scaled(const Estimate& estimate, double factor, bool inverse,
                                std::string_view from) {
    if (!(estimate.value > 0) || !estimate.identifiable()) return std::nullopt;
    const double value = inverse ? factor / estimate.value : factor * estimate.value;
    RateValue result{value, std::nullopt, std::string(from)};
    if (estimate.std_error) result.std_error = value * *estimate.std_error / estimate.value;
    return result;
}

}  // namespace

// Symbols: quantitative roofline (Konstantinidis and Cotronis, Table 3; a multiply-add counts as
// two operations), AutoMatch (equations 1-5). Peaks in the manner of the Empirical Roofline Tool
// are the best measured rate of a kind. Published tables have multiplications alone, which use the
// units of multiply-adds, and loads of integers; they stand in where the others are missing.
const std::vector<Rate>& rates() {
    using enum Quantity;
    static const std::vector<Rate> all = {
        {"T_SP",
         "single-precision multiply-adds",
         throughput,
         {"fma.f32", "mul.f32"},
         2,
         "GFLOP/s"},
        {"T_DP",
         "double-precision multiply-adds",
         throughput,
         {"fma.f64", "mul.f64"},
         2,
         "GFLOP/s"},
        {"T_int", "integer multiply-adds", throughput, {"mad.s32"}, 2, "GIOP/s"},
        {"T_HP",
         "half-precision multiply-adds, two per lane",
         throughput,
         {"fma.f16x2"},
         4,
         "GFLOP/s"},
        {"T_SP4",
         "single precision, vectors of four per lane",
         throughput,
         {"fma.f32x4"},
         8,
         "GFLOP/s"},
        {"T_DP2",
         "double precision, vectors of two per lane",
         throughput,
         {"fma.f64x2"},
         4,
         "GFLOP/s"},
        {"T_add", "integer additions", throughput, {"add.s32"}, 1, "GIOP/s"},
        {"T_ldst",
         "loads from shared memory",
         throughput,
         {"ld.shared.u32", "ld.shared.f32", "ld.shared.s32"},
         1,
         "GOP/s"},
        {"B_mem",
         "streaming from global memory",
         throughput,
         {"ld.global.f32", "ld.global.u32", "ld.global.s32"},
         4,
         "GB/s"},
        {"B_mem128", "the same, 128 bits per lane", throughput, {"ld.global.v4.f32"}, 16, "GB/s"},
        {"beta_f",
         "fast memory: loads that the second-level cache holds",
         throughput,
         {"ld.global.l2.f32", "ld.global.l2.u32"},
         4,
         "GB/s"},
        {"beta_s",
         "slow memory: streaming from global memory",
         throughput,
         {"ld.global.f32", "ld.global.u32"},
         4,
         "GB/s"},
        {"alpha_f",
         "latency of fast memory (pointer chase in the second-level cache)",
         latency,
         {"ld.global.l2.u32"},
         0,
         "ns"},
        {"alpha_s",
         "latency of slow memory (pointer chase beyond the caches)",
         latency,
         {"ld.global.u32"},
         0,
         "ns"},
        {"pi_0 n_p", "double-precision peak (AutoMatch's)", throughput, {"fma.f64"}, 2, "GFLOP/s"},
        {"s_0", "global synchronisation through the host", launch, {"launch.awaited"}, 0, "us"},
    };
    return all;
}

namespace {

std::optional<RateValue> throughput_of(const GpuProfile& profile, const InstructionTiming& timing,
                                       const Estimate& cpi, double amount) {
    const double lanes = static_cast<double>(profile.cores) * profile.warp_size;
    const Estimate per_core = cpi.times(1.0 / profile.copies(timing.subsystem));
    return scaled(per_core, lanes * amount * profile.clock_hz * 1e-9, true, timing.name);
}

}  // namespace

std::optional<RateValue> device_throughput(const GpuProfile& profile, std::string_view instruction,
                                           double amount) {
    const InstructionTiming* timing = profile.find_instruction(instruction);
    if (!timing) return std::nullopt;
    return throughput_of(profile, *timing, timing->cpi, amount);
}

std::optional<RateValue> value_of(const Rate& rate, const GpuProfile& profile) {
    if (rate.quantity == Quantity::launch) {
        const auto& launch = profile.overheads.awaited_launch_seconds;
        return launch ? scaled(*launch, 1e6, false, "launch.awaited") : std::nullopt;
    }
    for (const std::string_view name : rate.instructions) {
        const InstructionTiming* timing = profile.find_instruction(name);
        if (!timing) continue;
        if (rate.quantity == Quantity::latency) {
            if (!timing->latency) continue;
            return scaled(*timing->latency, 1e9 / profile.clock_hz, false, name);
        }
        return device_throughput(profile, name, rate.amount);
    }
    return std::nullopt;
}

std::optional<RateValue> full_value_of(const Rate& rate, const GpuProfile& profile) {
    if (rate.quantity != Quantity::throughput) return std::nullopt;
    for (const std::string_view name : rate.instructions) {
        const InstructionTiming* timing = profile.find_instruction(name);
        if (!timing) continue;
        const auto table =
            std::ranges::find(timing->tables, "full_occupancy", &ParameterTable::over);
        if (table == timing->tables.end() || !table->rows.back().cpi) return std::nullopt;
        return throughput_of(profile, *timing, *table->rows.back().cpi, rate.amount);
    }
    return std::nullopt;
}

GpuProfile with_rate(GpuProfile profile, std::string_view symbol, double value) {
    const auto rate = std::ranges::find(rates(), symbol, &Rate::symbol);
    if (rate == rates().end() || rate->quantity != Quantity::throughput) {
        std::vector<std::string_view> known;
        for (const Rate& one : rates())
            if (one.quantity == Quantity::throughput) known.push_back(one.symbol);
        throw InputError(
            fmt::format("rate {}: no such rate; there are {}", symbol, fmt::join(known, ", ")));
    }
    if (!std::isfinite(value) || value <= 0)
        throw InputError(fmt::format("rate {}: is not a positive number", symbol));
    if (const auto has = value_of(*rate, profile))
        throw InputError(fmt::format("rate {}: {} has it: {:.4g} {}, from {}", symbol,
                                     profile.device.name, has->value, rate->unit, has->from));
    const std::string_view name = rate->instructions.front();
    std::erase_if(profile.instructions,
                  [&](const InstructionTiming& one) { return one.name == name; });
    constexpr const char* subsystem = "given";
    if (!profile.find_subsystem(subsystem))
        profile.subsystems.push_back({subsystem, Scope::core, std::nullopt});
    const double lanes = static_cast<double>(profile.cores) * profile.warp_size;
    InstructionTiming timing;
    timing.name = name;
    timing.subsystem = subsystem;
    timing.cpi.value = lanes * rate->amount * profile.clock_hz * 1e-9 / value;
    timing.latency_unknown = "only a rate was given";
    timing.source = Source::vendor;
    timing.reference = fmt::format("rate {}={:g} {}", symbol, value, rate->unit);
    profile.instructions.push_back(std::move(timing));
    return profile;
}

std::vector<std::string> rate_warnings(const GpuProfile& profile) {
    constexpr double most_apart = 0.05;
    std::vector<std::string> warnings;
    std::set<std::string> said;  // instructions; several rates may be of one
    for (const Rate& rate : rates()) {
        const auto derived = value_of(rate, profile);
        const auto measured = full_value_of(rate, profile);
        if (!derived || !measured) continue;
        const double apart = measured->value / derived->value - 1;
        if (std::abs(apart) > most_apart && said.insert(derived->from).second)
            warnings.push_back(fmt::format(
                "{}: {:.4g} {} as measured at full occupancy, but {:.4g} by λ of {}: {:+.1f} %",
                rate.symbol, measured->value, rate.unit, derived->value, derived->from,
                100 * apart));
    }
    if (profile.warp_size == 1)
        warnings.push_back(fmt::format(
            "a lane of {} is one work-item on a core: T_SP, T_DP, T_int and T_add are scalar "
            "rates, not the peak of its vector units",
            profile.device.name));
    return warnings;
}

}  // namespace occupipe::analysis
