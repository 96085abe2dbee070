// SPDX-License-Identifier: MIT
// Volkov's occupancy roofline: WPC = min(WPC_roof, ω/Λ_app). V. Volkov, "Understanding latency
// hiding on GPUs", 2016; Lemeire et al., "Analysis of the analytical performance models for GPUs",
// equations 2 and 3.
#include "sim/models/model.h"

namespace occupipe {
Prediction predict_volkov(const Problem& problem, const ModelOptions& options) {
    const WarpLoad load = warp_load(problem);
    const Roof limit = roof(problem, load);
    const double latency_bound = resident_warps(problem) / cycles_alone(problem, options);
    const bool latency_binds = latency_bound < limit.warps_per_cycle;
    Prediction prediction =
        throughput_prediction(problem, load, latency_binds ? latency_bound : limit.warps_per_cycle);
    prediction.model = "volkov";
    prediction.limited_by = latency_binds ? "latency" : limit.limited_by;
    prediction.assumptions = {"additional warps are hidden completely by the first"};
    return prediction;
}

}  // namespace occupipe
