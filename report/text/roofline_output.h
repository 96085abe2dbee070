// SPDX-License-Identifier: MIT
// Predictions of the quantitative roofline as tables, JSON and CSV.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "analysis/roofline/roofline_predictions.h"
#include "core/kernel_parameters.h"

namespace occupipe::report {

struct RooflineCell {
    const KernelParameters* kernel = nullptr;
    const GpuProfile* device = nullptr;
    RooflineVariant variant = RooflineVariant::literal;
    analysis::RooflinePrediction prediction;
};

std::string_view model_name(RooflineVariant variant);

// Kernels with what they execute and move; then a line per kernel, device and variant.
std::string to_text(const std::vector<KernelParameters>& kernels,
                    const std::vector<RooflineCell>& cells);
std::string to_csv(const std::vector<RooflineCell>& cells);
nlohmann::ordered_json to_json(const std::vector<RooflineCell>& cells);

// What was counted of kernels that lack something for a prediction.
std::string counts_text(const std::vector<KernelParameters>& kernels);

// Two sources' counts of one kernel, metric by metric.
std::string difference_text(const KernelParameters& a, const std::string& name_a,
                            const KernelParameters& b, const std::string& name_b);

}  // namespace occupipe::report
