// SPDX-License-Identifier: MIT
// The roofline over warps: only throughputs count. Williams et al., "Roofline: an insightful visual
// performance model", 2009; WPC_roof = min(min_s 1/load_s, IL/n) as in
// docs/background/pipeline-model.md.
#include "sim/models/model.h"

namespace occupipe {

Prediction predict_roofline(const Problem& problem, const ModelOptions&) {
    const WarpLoad load = warp_load(problem);
    const Roof limit = roof(problem, load);
    Prediction prediction = throughput_prediction(problem, load, limit.warps_per_cycle);
    prediction.model = "roofline";
    prediction.limited_by = limit.limited_by;
    prediction.assumptions = {"every latency is hidden, whatever the occupancy"};
    return prediction;
}

}  // namespace occupipe
