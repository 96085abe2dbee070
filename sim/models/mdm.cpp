// SPDX-License-Identifier: MIT
// MDM: GPUMech with the queue of memory-divergent accesses. L. Wang et al., "Modeling emerging
// memory-divergent GPU applications", 2019, and "MDM: the GPU memory divergence model", 2020; the
// two queues as in the authors' program (contention_NoC_modeling() of
// wanglu1991/MDM-functional-simulator, interval_warp_model_E_dram_sensitivity.py).

#include "sim/models/gpumech.h"

namespace occupipe {
namespace {

// `ahead`: the share of what all warps send in its interval that a request waits for.
Prediction predict(const Problem& problem, const ModelOptions& options, double ahead) {
    validate(options.memory);
    const KernelAnalysis analysis = analyse(problem, options);
    const WarpTotals& totals = analysis.totals;
    const double service =
        totals.accesses > 0 ? totals.cpi_of_mem() * options.memory.requests_per_access : 0;
    double cycles = 0;
    double queue = 0;
    for (const auto& program : analysis.programs) {
        const Walk walk = interval_walk(program.flow);
        const double slot = slot_cycles(program.flow);
        const IntervalSums sums = interval_sums(walk, slot);
        for (const Interval& interval : walk.intervals) {
            const double waiting = ahead * analysis.warps * interval.accesses * service;
            const double issued =
                interval.instructions + not_hidden_gto(interval, sums, slot, analysis.warps);
            cycles += program.share * interval.times * (slot * issued + interval.stall + waiting);
            queue += program.share * interval.times * waiting;
        }
    }
    Prediction prediction = run_prediction(problem, analysis, cycles);
    prediction.values = {{"queueing cycles per run", queue},
                         {"requests per access", options.memory.requests_per_access}};
    prediction.assumptions = {
        "no limit on outstanding requests (MSHRs), as profiles have none; latencies of "
        "computations are not seen"};
    if (options.memory.requests_per_access == 1)
        prediction.assumptions.emplace_back("every access is one request");
    return prediction;
}

}  // namespace

Prediction predict_mdm(const Problem& problem, const ModelOptions& options) {
    Prediction prediction = predict(problem, options, 0.5);
    prediction.model = "mdm";
    return prediction;
}

Prediction predict_mdm_divergent(const Problem& problem, const ModelOptions& options) {
    Prediction prediction = predict(problem, options, 1);
    prediction.model = "mdm-divergent";
    return prediction;
}

}  // namespace occupipe
