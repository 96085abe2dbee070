// SPDX-License-Identifier: MIT
// A comparison as text, CSV and JSON (docs/reference/file-formats/).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "analysis/measured/comparison.h"

namespace occupipe::report {

struct Comparison {
    std::string reference;        // the file, or the device, that all are compared with
    std::string profile;          // empty without models
    std::string against;          // empty without a second file
    bool measured = true;         // false: the reference is a prediction
    std::string reference_model;  // then: whose
    bool in_sample = false;       // the profile was fitted to the reference
    std::string held_out;  // "24 of 120 shapes, every:5": the points; the profile is of the rest
    std::string loop;      // how the loop around the steps is reckoned with; may be empty
    std::vector<analysis::MeasuredPoint> points;
    std::vector<analysis::Predictor> predictors;
    std::vector<analysis::Accuracy> rows;
};

// "105", or "51 of 105" where a model has no prediction for the others: its means are without them.
std::string point_count(const analysis::Accuracy& row);

// The ranking over all kernels first, then a line per kernel.
std::string to_text(const Comparison& comparison);
std::string to_csv(const Comparison& comparison);
nlohmann::ordered_json to_json(const Comparison& comparison);

}  // namespace occupipe::report
