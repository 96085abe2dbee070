// SPDX-License-Identifier: MIT
#include "fit/laws/fit_contention.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/statistics.h"
#include "fit/solver/contention_problem.h"
#include "fit/solver/jackknife.h"
#include "fit/solver/least_squares.h"
#include "fit/statistics.h"

namespace occupipe {
namespace {

LeastSquaresSummary fit_law(std::span<const OccupancyPoint> points, ContentionLaw law,
                            std::vector<double> start, double clip) {
    LeastSquaresProblem problem;
    problem.residual_count = points.size();
    problem.start = std::move(start);
    problem.fixed = {false, false, law == ContentionLaw::none, law != ContentionLaw::linear_round};
    problem.lower = {std::nullopt, std::nullopt, 0.0, 0.0};
    // h·B = 1 would mean a latency that grows as fast as the work: no ridge at all.
    problem.upper = {std::nullopt, std::nullopt, 0.99, 0.5};
    problem.huber = clip;
    problem.residuals = contention_residuals(points);
    return solve(problem);
}

std::vector<double> start_of(std::span<const OccupancyPoint> points, ContentionLaw law,
                             double share) {
    const auto by_throughput = [](const OccupancyPoint& a, const OccupancyPoint& b) {
        return a.throughput < b.throughput;
    };
    const auto by_warps = [](const OccupancyPoint& a, const OccupancyPoint& b) {
        return a.warps < b.warps;
    };
    const double most = std::max_element(points.begin(), points.end(), by_throughput)->throughput;
    const OccupancyPoint& first = *std::min_element(points.begin(), points.end(), by_warps);
    const double unloaded =
        std::max(first.warps * most / first.throughput - share * first.warps, 0.1 * first.warps);
    return {std::log(most), std::log(unloaded), share,
            law == ContentionLaw::linear_round ? 0.1 : 0.0};
}

// The ridge makes local minima, one for every point it may lie at: several starts.
LeastSquaresSummary fit_from_starts(std::span<const OccupancyPoint> points, ContentionLaw law,
                                    double clip) {
    LeastSquaresSummary best;
    for (const double share : {0.0, 0.2, 0.4, 0.6}) {
        if (share > 0 && law == ContentionLaw::none) break;
        LeastSquaresSummary fit = fit_law(points, law, start_of(points, law, share), clip);
        if (fit.converged && (!best.converged || fit.cost < best.cost)) best = std::move(fit);
    }
    return best;
}

double ridge_of(const LeastSquaresSummary& fit) {
    return std::exp(fit.parameters[log_unloaded]) / (1 - fit.parameters[growth]);
}

// At 1.345 robust standard deviations of the side of the ridge that scatters more: plateaus repeat
// to the last digit, and what scatters on the other side alone tells Λ0.
double robust_clip(std::span<const OccupancyPoint> points, const LeastSquaresSummary& fit) {
    constexpr std::size_t fewest = 3;
    std::array<std::vector<double>, 2> away;
    for (std::size_t i = 0; i < points.size(); ++i)
        away[points[i].warps < ridge_of(fit) ? 0 : 1].push_back(std::abs(fit.residuals[i]));
    double scale = 1e-4;
    for (std::vector<double>& side : away)
        if (side.size() >= fewest) scale = std::max(scale, normal_mad * median(std::move(side)));
    return 1.345 * scale;
}

// A plateau that no point reaches is an extrapolation, a bow that none shows likewise.
void mark_bounds(std::span<const OccupancyPoint> points, ContentionLawFit& out) {
    const auto [low, high] = std::minmax_element(
        points.begin(), points.end(),
        [](const OccupancyPoint& a, const OccupancyPoint& b) { return a.warps < b.warps; });
    const double ridge = out.unloaded.value / (1 - out.growth.value);
    if (high->warps < ridge) {
        Estimate bound;
        for (const OccupancyPoint& p : points) bound.value = std::max(bound.value, p.throughput);
        bound.kind = Estimate::Kind::lower_bound;
        bound.note = "the highest throughput seen; no plateau was reached";
        out.saturated = bound;
    }
    if (low->warps > ridge) {
        Estimate bound{.kind = Estimate::Kind::upper_bound, .note = "saturated at every point"};
        bound.value = low->warps;
        out.unloaded = bound;
        bound.value = 1;
        out.growth = bound;
    }
}

void fill_estimates(const LeastSquaresSummary& fit, double clip, std::size_t free,
                    ContentionLawFit& out) {
    const double n = static_cast<double>(fit.residuals.size());
    const double variance = huber_variance(fit.residuals, clip, free).value_or(0);
    const double widen = interval_factor(std::max(n - static_cast<double>(free), 1.0));
    // Leaving out point by point knows about structure; a single pooled variance does not.
    std::vector<std::size_t> each(fit.residuals.size());
    std::iota(each.begin(), each.end(), std::size_t{0});
    const auto jackknife = jackknife_errors(fit, each, clip);
    const auto estimate = [&](ContentionParameter parameter, double value, double scale) {
        Estimate e;
        e.value = value;
        if (fit.covariance && variance > 0)
            e.std_error =
                scale * widen *
                std::sqrt((*fit.covariance)[parameter * contention_parameter_count + parameter] *
                          variance);
        if (e.std_error && jackknife)
            e.std_error = std::max(*e.std_error, scale * (*jackknife)[parameter]);
        return e;
    };
    const double saturated = std::exp(fit.parameters[log_saturated]);
    const double unloaded = std::exp(fit.parameters[log_unloaded]);
    out.saturated = estimate(log_saturated, saturated, saturated);
    out.unloaded = estimate(log_unloaded, unloaded, unloaded);
    out.growth = estimate(growth, fit.parameters[growth], 1);
    out.knee = estimate(knee, fit.parameters[knee], 1);
}

ContentionLawFit fit_one(std::span<const OccupancyPoint> points, ContentionLaw law) {
    constexpr std::array<std::size_t, contention_law_count> free{2, 3, 4};
    const std::size_t k = free[static_cast<std::size_t>(law)];
    const double n = static_cast<double>(points.size());
    ContentionLawFit out;
    // First without clipping anything.
    LeastSquaresSummary fit = fit_from_starts(points, law, 1.0);
    if (!fit.converged) return out;
    const double clip = robust_clip(points, fit);
    fit = fit_from_starts(points, law, clip);
    if (!fit.converged) return out;
    out.ok = true;
    double robust = 0;
    for (std::size_t i = 0; i < points.size(); ++i) {
        out.predicted.push_back(contention_throughput(fit.parameters, points[i].warps));
        out.mean_relative_error += std::abs(out.predicted[i] / points[i].throughput - 1) / n;
        robust += std::pow(std::clamp(fit.residuals[i], -clip, clip), 2);
    }
    // Unknown variance: n·log(σ̂²) in the place of twice the log likelihood; σ counts as a
    // parameter. A fit to a part in ten thousand is as good as one can tell.
    out.criterion = aicc(n * std::log(std::max(robust / n, 1e-8)), k + 1, points.size());
    fill_estimates(fit, clip, k, out);
    mark_bounds(points, out);
    return out;
}

}  // namespace

std::string_view to_string(ContentionLaw law) {
    switch (law) {
        case ContentionLaw::none:
            return "constant latency";
        case ContentionLaw::linear:
            return "latency grows with warps";
        case ContentionLaw::linear_round:
            break;
    }
    return "latency grows with warps, round knee";
}

ContentionFit fit_contention(std::span<const OccupancyPoint> points) {
    ContentionFit out;
    if (points.size() < 4) {
        out.reason = fmt::format("{} points, at least 4 are needed", points.size());
        return out;
    }
    const bool usable = std::all_of(points.begin(), points.end(), [](const OccupancyPoint& p) {
        return std::isfinite(p.warps) && p.warps > 0 && std::isfinite(p.throughput) &&
               p.throughput > 0;
    });
    if (!usable) {
        out.reason = "warps and throughputs must be positive and finite";
        return out;
    }
    bool any = false;
    for (std::size_t law = 0; law < contention_law_count; ++law) {
        out.laws[law] = fit_one(points, static_cast<ContentionLaw>(law));
        const ContentionLawFit& fit = out.laws[law];
        if (!fit.ok || !fit.criterion) continue;
        if (!any || *fit.criterion < *out.chosen().criterion)
            out.best = static_cast<ContentionLaw>(law);
        any = true;
    }
    if (!any) out.reason = "no law could be fitted";
    return out;
}

}  // namespace occupipe
