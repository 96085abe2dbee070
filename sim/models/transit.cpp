// SPDX-License-Identifier: MIT
// Transit and X-model: ω warps divide into k at the memory and x = ω − k that compute; the
// throughput is where the memory's supply f(k) and the computations' demand g(x) cross. A. Li et
// al., "Transit", 2015, and "X: a comprehensive analytic model for parallel machines", 2016;
// Lemeire et al., "Analysis of the analytical performance models for GPUs", section 2.2.1, whose
// equations 9 and 10 have their subscripts exchanged (docs/background/analytical-models.md).

#include <algorithm>

#include "sim/models/kernel_analysis.h"

namespace occupipe {
namespace {

// WPC over the warps that are there: min(1/load, warps/latency).
struct OccupancyRoofline {
    double load = 0;     // Σλ of one warp [cycles]
    double latency = 0;  // ΣΛ of one warp [cycles]

    double at(double warps) const { return std::min(1 / load, warps / latency); }
};

struct Crossing {
    double memory_warps = 0;  // k
    double warps_per_cycle = 0;
};

// f(k) never falls and g(ω − k) never rises with k, so their difference changes its sign once.
Crossing cross(const OccupancyRoofline& memory, const OccupancyRoofline& compute, double warps) {
    double low = 0;
    double high = warps;
    // Each halving gains a bit of the 53 that a double has.
    for (int i = 0; i < 60; ++i) {
        const double k = (low + high) / 2;
        (memory.at(k) < compute.at(warps - k) ? low : high) = k;
    }
    return {high, std::min(memory.at(high), compute.at(warps - low))};
}

Prediction predict(const Problem& problem, const ModelOptions& options,
                   const MemoryBehaviour& cache) {
    validate(cache);
    const KernelAnalysis analysis = analyse(problem, options);
    const WarpTotals& totals = analysis.totals;
    const OccupancyRoofline compute{totals.busiest_comp_cpi, totals.comp_latency};
    // X-model: hits wait less and do not use the memory's bandwidth.
    const OccupancyRoofline memory{(1 - cache.hit_rate) * totals.busiest_mem_cpi,
                                   (1 - cache.hit_rate) * totals.mem_latency +
                                       cache.hit_rate * cache.hit_latency * totals.accesses};
    Crossing crossing;
    if (totals.accesses == 0)
        crossing = {0, compute.at(analysis.warps)};
    else if (totals.computations == 0)
        crossing = {analysis.warps, memory.at(analysis.warps)};
    else
        crossing = cross(memory, compute, analysis.warps);
    const double throughput = crossing.warps_per_cycle;
    std::string limit = "latency";
    if (totals.accesses > 0 && throughput * memory.load >= 1 - 1e-9)
        limit = totals.mem_subsystem;
    else if (totals.computations > 0 && throughput * compute.load >= 1 - 1e-9)
        limit = totals.comp_subsystem;
    Prediction prediction = run_prediction(problem, analysis, analysis.warps / throughput, limit);
    prediction.values = {{"warps at the memory", crossing.memory_warps},
                         {"warps that compute", analysis.warps - crossing.memory_warps}};
    prediction.assumptions = {"no ILP; computations and accesses on subsystems of their own"};
    return prediction;
}

}  // namespace

Prediction predict_transit(const Problem& problem, const ModelOptions& options) {
    Prediction prediction = predict(problem, options, {});
    prediction.model = "transit";
    return prediction;
}

Prediction predict_x_model(const Problem& problem, const ModelOptions& options) {
    Prediction prediction = predict(problem, options, options.memory);
    prediction.model = "x-model";
    prediction.values.push_back({"hit rate", options.memory.hit_rate});
    prediction.assumptions.emplace_back(
        options.memory.hit_rate == 0 ? "no access hits the cache: the same as transit"
                                     : "the hit rate does not depend on the number of warps");
    return prediction;
}

}  // namespace occupipe
