// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "core/prediction.h"

namespace occupipe::report {

// Predictions of one kernel on one GPU, for printing.
struct PredictionSet {
    std::string kernel;   // its name
    std::string profile;  // its file
    std::string device;   // the GPU's name
    std::vector<Prediction> predictions;
};

nlohmann::ordered_json to_json(const PredictionSet& set);  // occupipe-prediction/1
std::string to_csv(const PredictionSet& set);
std::string to_text(const PredictionSet& set);

}  // namespace occupipe::report
