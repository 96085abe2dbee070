// SPDX-License-Identifier: MIT
#include "fit/curves/line_fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "core/statistics.h"
#include "fit/solver/least_squares.h"
#include "fit/statistics.h"

namespace occupipe {
namespace {

enum Parameter : std::size_t { intercept, slope, change, bend_at, parameter_count };

constexpr double huber_constant = 1.345;  // 95 % efficient for normal errors (Huber 1981)
constexpr double bend_margin = 4;         // in quasi-AICc

// x and y are scaled to about one inside, so that the solver sees parameters of one size.
struct Scaled {
    double x = 1;
    double y = 1;
};

double hinge(double x, double at) { return std::max(0.0, x - at); }

double value_at(const std::vector<double>& q, double x) {
    return q[intercept] + q[slope] * x + q[change] * hinge(x, q[bend_at]);
}

LeastSquaresSummary fit_from(std::span<const LinePoint> points, const Scaled& unit,
                             std::vector<double> start, bool bent, double clip) {
    LeastSquaresProblem problem;
    problem.residual_count = points.size();
    problem.start = std::move(start);
    problem.fixed = {false, false, !bent, !bent};
    problem.huber = clip;
    if (bent) {
        const auto [low, high] =
            std::minmax_element(points.begin(), points.end(),
                                [](const LinePoint& a, const LinePoint& b) { return a.x < b.x; });
        problem.lower = {std::nullopt, std::nullopt, std::nullopt, low->x / unit.x};
        problem.upper = {std::nullopt, std::nullopt, std::nullopt, high->x / unit.x};
    }
    problem.residuals =
        each_by_itself([points, unit](std::size_t i, std::span<const double> q, double& residual,
                                      std::span<double> gradient) {
            const double x = points[i].x / unit.x;
            const double error = points[i].error / unit.y;
            const double beyond = hinge(x, q[bend_at]);
            residual =
                (q[intercept] + q[slope] * x + q[change] * beyond - points[i].y / unit.y) / error;
            gradient[intercept] = 1 / error;
            gradient[slope] = x / error;
            gradient[change] = beyond / error;
            gradient[bend_at] = beyond > 0 ? -q[change] / error : 0;
            return std::isfinite(residual);
        });
    return solve(problem);
}

double robust_scale(const LeastSquaresSummary& fit, double free, bool errors_known) {
    std::vector<double> away;
    for (const double r : fit.residuals) away.push_back(std::abs(r));
    std::sort(away.begin(), away.end());
    const std::size_t n = away.size();
    const double middle = n % 2 == 1 ? away[n / 2] : 0.5 * (away[n / 2 - 1] + away[n / 2]);
    const double correction =
        std::sqrt(static_cast<double>(n) / std::max(static_cast<double>(n) - free, 1.0));
    return std::max(normal_mad * middle * correction, errors_known ? 1.0 : 1e-6);
}

class LineSearch {
public:
    LineSearch(std::span<const LinePoint> points, const LineOptions& options)
        : points_(points), options_(options) {
        for (const LinePoint& p : points) {
            unit_.x = std::max(unit_.x, std::abs(p.x));
            biggest_ = std::max(biggest_, std::abs(p.y));
            xs_.insert(p.x);
        }
        unit_.y = biggest_ > 0 ? biggest_ : 1;
    }

    LineFit run() {
        LeastSquaresSummary straight = fit_from(points_, unit_, {0.5, 0.5, 0, 0}, false, 1e6);
        if (!straight.converged) return failed(straight.message);
        // A wild point tilts the first line and so hides in its own scale: scale and line in turn.
        for (int turn = 0; turn < 10; ++turn) {
            const double before = scale_;
            scale_ = robust_scale(straight, 2, options_.errors_known);
            straight = fit_from(points_, unit_, straight.parameters, false, clip());
            if (!straight.converged) return failed(straight.message);
            if (turn > 0 && std::abs(scale_ - before) < 1e-3 * before) break;
        }
        if (options_.allow_bend && xs_.size() >= 5)
            if (const auto bent = best_bend(straight)) return finished(*bent, true);
        return finished(straight, false);
    }

private:
    static LineFit failed(const std::string& message) {
        LineFit out;
        out.reason = "the fit did not converge: " + message;
        return out;
    }

    double clip() const { return huber_constant * scale_; }

    // The cost has a local minimum between any two neighbouring x: one start in each gap that
    // leaves two different x on either side.
    std::optional<LeastSquaresSummary> best_bend(const LeastSquaresSummary& straight) {
        const std::vector<double> xs(xs_.begin(), xs_.end());
        const double straight_scale = scale_;
        std::optional<LeastSquaresSummary> best;
        for (std::size_t i = 1; i + 2 < xs.size(); ++i) {
            std::vector<double> start = straight.parameters;
            start[change] = 0.1;
            start[bend_at] = 0.5 * (xs[i] + xs[i + 1]) / unit_.x;
            LeastSquaresSummary bent = fit_from(points_, unit_, std::move(start), true, clip());
            if (bent.converged && bent.covariance && (!best || bent.cost < best->cost))
                best = std::move(bent);
        }
        if (!best) return std::nullopt;
        scale_ = robust_scale(*best, 4, options_.errors_known);
        LeastSquaresSummary again = fit_from(points_, unit_, best->parameters, true, clip());
        if (again.converged && again.covariance) best = std::move(again);
        const double wide = dispersion(*best, 4);
        const auto narrow = fit_from(points_, unit_, straight.parameters, false, clip());
        const auto with = aicc(2 * best->cost / wide, 4, points_.size());
        const auto without = aicc(2 * narrow.cost / wide, 2, points_.size());
        if (with && without && *with + bend_margin < *without) return best;
        scale_ = straight_scale;
        return std::nullopt;
    }

    double dispersion(const LeastSquaresSummary& fit, std::size_t free) const {
        const double shown = huber_variance(fit.residuals, clip(), free).value_or(1.0);
        return options_.errors_known ? std::max(shown, 1.0) : std::max(shown, 1e-12);
    }

    LineFit finished(const LeastSquaresSummary& fit, bool bent) const {
        if (!fit.covariance) return failed("singular");
        const std::size_t free = bent ? 4 : 2;
        const double n = static_cast<double>(points_.size());
        const double variance = dispersion(fit, free);
        const double widen = options_.errors_known
                                 ? 1.0
                                 : interval_factor(std::max(n - static_cast<double>(free), 1.0));
        const auto estimate = [&](std::size_t i, std::size_t j, double unit) {
            const auto& c = *fit.covariance;
            const auto at = [&](std::size_t a, std::size_t b) {
                return c[a * parameter_count + b];
            };
            Estimate e;
            e.value = fit.parameters[i] * unit;
            double v = at(i, i);
            if (j != i) {  // the sum of two parameters
                e.value += fit.parameters[j] * unit;
                v += at(j, j) + 2 * at(i, j);
            }
            e.std_error = std::sqrt(std::max(v, 0.0) * variance) * widen * std::abs(unit);
            return e;
        };
        LineFit out;
        out.intercept = estimate(intercept, intercept, unit_.y);
        out.slope = estimate(slope, slope, unit_.y / unit_.x);
        if (bent)
            out.bend = LineFit::Bend{estimate(bend_at, bend_at, unit_.x),
                                     estimate(slope, change, unit_.y / unit_.x)};
        double squares = 0;
        for (std::size_t i = 0; i < points_.size(); ++i) {
            out.predicted.push_back(unit_.y * value_at(fit.parameters, points_[i].x / unit_.x));
            squares += fit.residuals[i] * fit.residuals[i] / n;
            if (points_[i].y != 0)
                out.mean_relative_error += std::abs(out.predicted[i] / points_[i].y - 1) / n;
        }
        out.residual_scale = std::sqrt(squares);
        return out;
    }

    std::span<const LinePoint> points_;
    const LineOptions& options_;
    Scaled unit_{0, 0};
    double biggest_ = 0;
    double scale_ = 1;
    std::set<double> xs_;
};

}  // namespace

LineFit fit_line(std::span<const LinePoint> points, const LineOptions& options) {
    LineFit none;
    std::set<double> xs;
    for (const LinePoint& p : points) {
        if (!std::isfinite(p.x) || !std::isfinite(p.y) || !(p.error > 0) ||
            !std::isfinite(p.error)) {
            none.reason = "a point without a finite value and error";
            return none;
        }
        xs.insert(p.x);
    }
    if (xs.size() < 3) {
        none.reason = fmt::format("{} different places, at least 3 are needed", xs.size());
        return none;
    }
    return LineSearch(points, options).run();
}

}  // namespace occupipe
