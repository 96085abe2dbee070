// SPDX-License-Identifier: MIT
// The quantitative roofline: time from nine counts of a kernel and six rates of a device.
//   evaluate({.operations_kind = fp32, .operations = 1e9, …}, {.operation = 6.5e12, …}).seconds
// E. Konstantinidis and Y. Cotronis, "A quantitative roofline model for GPU kernel performance
// estimation using micro-benchmarks and hardware metric profiling", 2017; formulas 2 to 19 of
// E. Konstantinidis' thesis summary, whose numbers the comments give.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "sim/models/model.h"

namespace occupipe {

// K_type: what counts as useful operations.
enum class OperationKind : std::uint8_t { fp64, fp32, integer };
std::string_view to_string(OperationKind kind);

// Of a launch, a warp, or anything else; all in the same unit. Lanes that executed an instruction.
struct RooflineWork {
    OperationKind kind = OperationKind::fp32;
    double operation_instructions = 0;  // I_ops (8)
    double multiply_adds = 0;           // among them; not for integer
    double load_store = 0;              // M_ldst
    double all = 0;                     // I_total (9), idle lanes too
    std::optional<double> traffic;      // W_traf (3) [bytes]; absent: not known
};

// W_comp (2): a multiply-add counts twice, an integer instruction always once.
double useful_operations(const RooflineWork& work);

// Per second, per cycle, or anything else; all in the same unit.
struct RooflineRates {
    double operation = 0;          // T_op (10): a multiply-add counts as two
    double load_store = 0;         // T_ldst [lane-instructions]
    double other = 0;              // T_add [lane-instructions]
    std::optional<double> memory;  // B_mem [bytes]
    std::optional<double> issue;   // of all lane-instructions; for `overlapped` alone
};

struct RooflineResult {
    double operations = 0;    // W_comp (2)
    double compute_time = 0;  // where memory does not bound
    std::optional<double> memory_time;
    double time = 0;  // the greater of them
    bool memory_bound = false;
    // Shares 0 … 1; absent where there are no useful operations.
    std::optional<double> mix_efficiency;          // E_mix (4)
    std::optional<double> instruction_efficiency;  // E_instr (17)
    std::optional<double> adjusted_rate;           // T'_op (18)
    // Time that each part of the instructions takes by itself; compute_time is their sum, or the
    // greatest of them where they overlap.
    double operation_time = 0;
    double load_store_time = 0;
    double other_time = 0;
    double issue_time = 0;  // only where they overlap and the rate is known
};

enum class RooflineVariant : std::uint8_t {
    literal,     // units take turns: their times add up (formula 17's assumption)
    overlapped,  // units work side by side: the slowest counts, and the issue limit
};

// 2 I_ops/T_op + M_ldst/T_ldst + M_other/T_add, which formulas 2 to 18 fold to, against
// W_traf/B_mem. Throws InputError where `all` is less than the sum of its parts.
RooflineResult evaluate(const RooflineWork& work, const RooflineRates& rates,
                        RooflineVariant variant = RooflineVariant::literal);

// On a graph: lanes are all those of its warps, rates those of the profile, of one core.
Prediction predict_quantitative_roofline(const Problem& problem, const ModelOptions& options);
Prediction predict_quantitative_roofline_units(const Problem& problem, const ModelOptions& options);

}  // namespace occupipe
