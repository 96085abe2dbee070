// SPDX-License-Identifier: MIT
// Measured points compared with predicted ones.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/benchmark_kernel.h"
#include "core/measurement.h"

namespace occupipe::analysis {

// The subject of rows over all kernels.
inline constexpr const char* everything = "all";

struct MeasuredPoint {
    std::string subject;
    MeasurementShape shape;
    double cycles = 0;  // median over the repetitions
    // What was executed, for points of measurements (not of predictions).
    BenchmarkKernel kernel = {};
};

// The points of a file that have cycles, in a fixed order. Failed rows are left out.
std::vector<MeasuredPoint> measured_points(const MeasurementFile& file);

// One predictor's cycles for each point; absent if it cannot predict the point.
struct Predictor {
    std::string name;
    std::vector<std::optional<double>> cycles;
};

struct Accuracy {
    std::string subject;  // `everything` for the whole file
    std::string predictor;
    // Within the subject: those that predict more points first, of these the smaller MAPE; equal
    // ones share the better rank.
    int rank = 1;
    int points = 0;                    // that it predicts
    int of_points = 0;                 // of the subject
    std::optional<double> mape;        // [%]
    std::optional<double> mape_shape;  // [%], over curves of three or more occupancies
    // Over the points that every predictor of the subject's rows predicts; absent without any.
    int common_points = 0;
    std::optional<double> common_mape;  // [%]
};

// Per subject and for the whole file, the best predictor first. A predictor without a point of a
// subject has no row there. A curve is the points of one
// subject with equal chains and depth.
std::vector<Accuracy> accuracies(const std::vector<MeasuredPoint>& points,
                                 const std::vector<Predictor>& predictors);

}  // namespace occupipe::analysis
