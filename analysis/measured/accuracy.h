// SPDX-License-Identifier: MIT
// How far a model is from reality over a curve of occupancies (docs/background/pipeline-model.md,
// "Accuracy").
#pragma once

#include <optional>
#include <span>

namespace occupipe::analysis {

struct AccuracyPoint {
    double warps = 0;      // ω
    double real = 0;       // WPC measured [warps/cycle], positive
    double predicted = 0;  // WPC of the model
};

// 100/n · Σ |predicted − real| / real [%]; nullopt without points.
std::optional<double> mape(std::span<const AccuracyPoint> curve);

// The same after subtracting the least-squares line through (ω, predicted − real): what
// remains is a wrong shape rather than a wrong level [%]. nullopt below three different
// occupancies, where a line leaves nothing.
std::optional<double> mape_shape(std::span<const AccuracyPoint> curve);

}  // namespace occupipe::analysis
