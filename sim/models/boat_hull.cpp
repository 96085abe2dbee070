// SPDX-License-Identifier: MIT
// The Boat Hull model: a roofline whose roofs are those of the kernel's class. C. Nugteren and
// H. Corporaal, "The boat hull model", 2012; Lemeire et al., "Analysis of the analytical
// performance models for GPUs", section 2.1. The class is taken from the kernel: one computational
// roof for its mix of computations, one memory roof for its mix of accesses.

#include "sim/models/kernel_analysis.h"

namespace occupipe {

Prediction predict_boat_hull(const Problem& problem, const ModelOptions& options) {
    const KernelAnalysis analysis = analyse(problem, options);
    const WarpTotals& totals = analysis.totals;
    const bool memory_bound = totals.mem_cpi > totals.comp_cpi;
    const double cycles = analysis.warps * (memory_bound ? totals.mem_cpi : totals.comp_cpi);
    Prediction prediction = run_prediction(
        problem, analysis, cycles, memory_bound ? totals.mem_subsystem : totals.comp_subsystem);
    prediction.model = "boat-hull";
    prediction.values = {{"compute-bound", analysis.warps * totals.comp_cpi},
                         {"memory-bound", analysis.warps * totals.mem_cpi}};
    prediction.assumptions = {
        "every latency is hidden; the class is the kernel's own mix of instructions; all "
        "computations share one subsystem, all accesses another"};
    return prediction;
}

}  // namespace occupipe
