// SPDX-License-Identifier: MIT
// Output of `occupipe predict --json`, read back for comparison.
#pragma once

#include <string>
#include <vector>

namespace occupipe::analysis {

struct SavedPrediction {
    std::string model;
    int group_warps = 1;
    int concurrent_groups = 1;
    double warps_per_cycle = 0;
};

struct SavedPredictions {
    std::string kernel;
    std::vector<SavedPrediction> rows;

    std::vector<std::string> models() const;  // in the order in which they first appear
};

// Whether a text is meant to be one: a JSON map with a format of that name.
bool is_prediction(const std::string& text, const std::string& file_name);

// Throws InputError if it is not one, has a duplicate launch of a model, or an impossible number.
SavedPredictions parse_predictions(const std::string& text, const std::string& file_name);

}  // namespace occupipe::analysis
