// SPDX-License-Identifier: MIT
#include "analysis/device_rates.h"

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
// are the best measured rate of a kind.
const std::vector<Rate>& rates() {
    using enum Quantity;
    static const std::vector<Rate> all = {
        {"T_SP", "single-precision multiply-adds", throughput, {"fma.f32"}, 2, "GFLOP/s"},
        {"T_DP", "double-precision multiply-adds", throughput, {"fma.f64"}, 2, "GFLOP/s"},
        {"T_int", "integer multiply-adds", throughput, {"mad.s32"}, 2, "GIOP/s"},
        {"T_add", "integer additions", throughput, {"add.s32"}, 1, "GIOP/s"},
        {"T_ldst",
         "loads from shared memory",
         throughput,
         {"ld.shared.u32", "ld.shared.f32"},
         1,
         "GOP/s"},
        {"B_mem",
         "streaming from global memory",
         throughput,
         {"ld.global.f32", "ld.global.u32"},
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

std::optional<RateValue> device_throughput(const GpuProfile& profile, std::string_view instruction,
                                           double amount) {
    const InstructionTiming* timing = profile.find_instruction(instruction);
    if (!timing) return std::nullopt;
    const double lanes = static_cast<double>(profile.cores) * profile.warp_size;
    return scaled(profile.cpi_per_core(*timing), lanes * amount * profile.clock_hz * 1e-9, true,
                  instruction);
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

}  // namespace occupipe::analysis
