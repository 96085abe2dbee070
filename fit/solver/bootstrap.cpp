// SPDX-License-Identifier: MIT
#include "fit/solver/bootstrap.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <span>

#include "core/statistics.h"

namespace occupipe {
namespace {

// How much the bootstrap overstates the variance of a median of n normal values: few values have
// few distinct medians. 20,000 samples per n, seeded.
double overstatement(std::size_t n) {
    static constexpr std::array<double, 13> table{1,    1,    1,    1.22, 1.15, 1.35, 1.22,
                                                  1.32, 1.21, 1.28, 1.21, 1.26, 1.19};
    return n < table.size() ? table[n] : 1.2;
}

// The median of values drawn with replacement. Of an odd number n of values it is one of them,
// which can be drawn by itself: the m-th smallest or a smaller one where most of n draws are.
class ResampledMedian {
public:
    // Of ascending values; the logarithm is monotonic, so that theirs serve as well.
    double operator()(std::span<const double> ascending, std::mt19937_64& random) {
        const std::size_t n = ascending.size();
        if (n % 2 == 1 && n < cumulative_.size()) {
            const std::vector<double>& at_most = cumulative(n);
            constexpr double whole = 0x1p-53;
            const double u = static_cast<double>(random() >> 11U) * whole;
            std::size_t m = 0;
            while (m + 1 < n && u >= at_most[m]) ++m;
            return ascending[m];
        }
        buffer_.clear();
        for (std::size_t i = 0; i < n; ++i) buffer_.push_back(ascending[random() % n]);
        std::ranges::sort(buffer_);
        return median_of_sorted(buffer_);
    }

private:
    // By m: the probability that more than half of n draws are among the m + 1 smallest of n.
    const std::vector<double>& cumulative(std::size_t n) {
        std::vector<double>& out = cumulative_[n];
        if (!out.empty()) return out;
        for (std::size_t m = 0; m < n; ++m) {
            const double p = static_cast<double>(m + 1) / static_cast<double>(n);
            double sum = 0;
            double ways = 1;  // n over k
            for (std::size_t k = 0; k <= n; ++k) {
                if (2 * k > n)
                    sum += ways * std::pow(p, k) * std::pow(1 - p, static_cast<double>(n - k));
                ways *= static_cast<double>(n - k) / static_cast<double>(k + 1);
            }
            out.push_back(sum);
        }
        return out;
    }

    std::array<std::vector<double>, 32> cumulative_;
    std::vector<double> buffer_;
};

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

    // What a point's ψ moves each free parameter by.
    std::vector<std::size_t> free;
    for (std::size_t j = 0; j < p; ++j)
        if ((*fit.covariance)[j * p + j] > 0) free.push_back(j);
    const std::size_t columns = free.size();
    std::vector<double> influence(n * columns);
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < columns; ++j)
            for (const std::size_t k : free)
                influence[i * columns + j] -=
                    (*fit.covariance)[free[j] * p + k] * fit.jacobian[i * p + k];
    // Residuals that each repetition would have; ascending as these are.
    std::vector<std::vector<double>> shifted(n);
    for (std::size_t i = 0; i < n; ++i) {
        const CurvePoint& point = curve.points[i];
        const double scale =
            1 / (point.log_error * std::sqrt(overstatement(point.repetitions.size())));
        for (auto y = point.repetitions.rbegin(); y != point.repetitions.rend(); ++y)
            shifted[i].push_back(fit.residuals[i] + std::log(point.cycles / *y) * scale);
    }
    std::mt19937_64 random(options.seed);
    ResampledMedian resampled;
    std::vector<double> step(columns);
    std::vector<double> sum(p), squares(p);
    for (int sample = 0; sample < options.samples; ++sample) {
        std::ranges::fill(step, 0.0);
        for (std::size_t i = 0; i < n; ++i) {
            const double psi = std::clamp(resampled(shifted[i], random), -clip, clip);
            for (std::size_t j = 0; j < columns; ++j) step[j] += influence[i * columns + j] * psi;
        }
        for (std::size_t j = 0; j < columns; ++j) {
            sum[free[j]] += step[j];
            squares[free[j]] += step[j] * step[j];
        }
    }
    const double b = options.samples;
    std::vector<double> errors(p);
    for (std::size_t j = 0; j < p; ++j)
        errors[j] = std::sqrt(std::max(squares[j] - sum[j] * sum[j] / b, 0.0) / (b - 1)) / share;
    return errors;
}

}  // namespace occupipe
