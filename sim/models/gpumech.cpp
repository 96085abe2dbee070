// SPDX-License-Identifier: MIT
// GPUMech: J. Huang et al., "GPUMech: GPU performance modeling technique based on interval
// analysis", 2014, equations 9-16 with the misprints of 7, 15 and 16 put right; Lemeire et al.,
// "Analysis of the analytical performance models for GPUs", section 2.5, also for the corrected
// round robin. As there, contention for MSHRs and DRAM is left out.
#include "sim/models/gpumech.h"

#include <algorithm>

namespace occupipe {
namespace {

enum class Variant { rr, rr_corrected, gto };

double not_hidden(Variant variant, const Interval& interval, const IntervalSums& sums, double slot,
                  double warps) {
    const double others = warps - 1;
    switch (variant) {
        case Variant::rr:  // eq. 11; an interval without instructions has none to hide
            return sums.issue_probability() * others * std::max(interval.instructions - 1, 0.0);
        case Variant::rr_corrected: {  // Lemeire et al., section 2.5.1
            const double hidden =
                std::min({interval.stall / slot, others, others * interval.instructions});
            return others * interval.instructions - hidden;
        }
        case Variant::gto:
            break;
    }
    return not_hidden_gto(interval, sums, slot, warps);
}

Prediction predict(const Problem& problem, const ModelOptions& options, Variant variant) {
    const KernelAnalysis analysis = analyse(problem, options);
    double cycles = 0;
    double probability = 0;
    double intervals = 0;
    for (const auto& program : analysis.programs) {
        const Walk walk = interval_walk(program.flow);
        const double slot = slot_cycles(program.flow);
        const IntervalSums sums = interval_sums(walk, slot);
        for (const Interval& interval : walk.intervals)
            cycles += program.share * interval.times *
                      (slot * (interval.instructions +
                               not_hidden(variant, interval, sums, slot, analysis.warps)) +
                       interval.stall);
        probability += program.share * sums.issue_probability();
        intervals += program.share * sums.count;
    }
    Prediction prediction = run_prediction(problem, analysis, cycles);
    prediction.values = {{"issue probability", probability}, {"intervals", intervals}};
    prediction.assumptions = {
        "latencies of computations and the memory's throughput are ignored; barriers cost as "
        "much as a computation"};
    return prediction;
}

}  // namespace

double IntervalSums::issue_probability() const { return instructions / (instructions + stalls); }

double slot_cycles(const WorkFlow& flow) {
    double instructions = 0;
    double cycles = 0;
    for (const WorkNode& node : flow.nodes) {
        if (node.kind == InstructionKind::load || node.kind == InstructionKind::store) continue;
        instructions += node.times * node.instructions;
        cycles += node.times * node.cpi;
    }
    return instructions > 0 ? cycles / instructions : 1;
}

IntervalSums interval_sums(const Walk& walk, double slot) {
    IntervalSums sums;
    for (const Interval& interval : walk.intervals) {
        sums.instructions += interval.times * interval.instructions;
        sums.stalls += interval.times * interval.stall / slot;
        sums.count += interval.times;
    }
    return sums;
}

double not_hidden_gto(const Interval& interval, const IntervalSums& sums, double slot,
                      double warps) {
    const double stall = interval.stall / slot;
    // Without a stall nothing can hide behind it: all other warps' instructions count.
    const double probability = stall == 0 ? 1 : std::min(sums.issue_probability() * stall, 1.0);
    return std::max(probability * sums.mean_instructions() * (warps - 1) - stall, 0.0);
}

Prediction predict_gpumech_rr(const Problem& problem, const ModelOptions& options) {
    Prediction prediction = predict(problem, options, Variant::rr);
    prediction.model = "gpumech-rr";
    return prediction;
}

Prediction predict_gpumech_rr_corrected(const Problem& problem, const ModelOptions& options) {
    Prediction prediction = predict(problem, options, Variant::rr_corrected);
    prediction.model = "gpumech-rr-corrected";
    return prediction;
}

Prediction predict_gpumech_gto(const Problem& problem, const ModelOptions& options) {
    Prediction prediction = predict(problem, options, Variant::gto);
    prediction.model = "gpumech-gto";
    return prediction;
}

}  // namespace occupipe
