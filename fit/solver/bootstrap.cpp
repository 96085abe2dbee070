// SPDX-License-Identifier: MIT
#include "fit/solver/bootstrap.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

namespace occupipe {
namespace {

// How much the bootstrap overstates the variance of a median of n normal values: few values have
// few distinct medians. 20,000 samples per n, seeded.
double overstatement(std::size_t n) {
    static constexpr std::array<double, 13> table{1,    1,    1,    1.22, 1.15, 1.35, 1.22,
                                                  1.32, 1.21, 1.28, 1.21, 1.26, 1.19};
    return n < table.size() ? table[n] : 1.2;
}

double resampled_median(const std::vector<double>& values, std::mt19937_64& random,
                        std::vector<double>& buffer) {
    buffer.clear();
    for (std::size_t i = 0; i < values.size(); ++i)
        buffer.push_back(values[random() % values.size()]);
    std::sort(buffer.begin(), buffer.end());
    return median_of_sorted(buffer);
}

}  // namespace

std::optional<std::vector<double>> bootstrap_errors(const Curve& curve,
                                                    const LeastSquaresSummary& fit, double clip,
                                                    const BootstrapOptions& options) {
    if (!fit.covariance) return std::nullopt;
    for (const CurvePoint& point : curve.points)
        if (point.repetitions.size() < 3) return std::nullopt;
    const std::size_t n = curve.points.size();
    const std::size_t p = fit.parameters.size();
    const auto unclipped =
        static_cast<double>(std::count_if(fit.residuals.begin(), fit.residuals.end(),
                                          [clip](double r) { return std::abs(r) <= clip; }));
    if (unclipped == 0) return std::nullopt;
    const double share = unclipped / static_cast<double>(n);

    std::mt19937_64 random(options.seed);
    std::vector<double> buffer;
    std::vector<double> pull(p);  // Jᵀψ
    std::vector<double> sum(p), squares(p);
    for (int sample = 0; sample < options.samples; ++sample) {
        std::fill(pull.begin(), pull.end(), 0.0);
        for (std::size_t i = 0; i < n; ++i) {
            const CurvePoint& point = curve.points[i];
            const double y = resampled_median(point.repetitions, random, buffer);
            const double shift = std::log(point.cycles / y) / point.log_error /
                                 std::sqrt(overstatement(point.repetitions.size()));
            const double psi = std::clamp(fit.residuals[i] + shift, -clip, clip);
            for (std::size_t k = 0; k < p; ++k) pull[k] += fit.jacobian[i * p + k] * psi;
        }
        for (std::size_t j = 0; j < p; ++j) {
            double step = 0;
            for (std::size_t k = 0; k < p; ++k) step -= (*fit.covariance)[j * p + k] * pull[k];
            sum[j] += step;
            squares[j] += step * step;
        }
    }
    const double b = options.samples;
    std::vector<double> errors(p);
    for (std::size_t j = 0; j < p; ++j)
        errors[j] = std::sqrt(std::max(squares[j] - sum[j] * sum[j] / b, 0.0) / (b - 1)) / share;
    return errors;
}

}  // namespace occupipe
