// SPDX-License-Identifier: MIT
#include "fit/solver/hull_problem.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>

namespace occupipe {
namespace {

// Points in any order of depths, with two bodies, and start skews that differ within a place.
Curve curve_with_everything(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> uniform;
    Curve curve;
    for (int warps = 1; warps <= 33; warps += 4)
        for (const int depth : {256, 512})
            for (const int body : {16, 64}) {
                CurvePoint p;
                p.shape = {1, warps, 1 + warps % 2, depth};
                p.body = body;
                p.busiest = warps % 3 == 0 ? (warps + 3) / 4 + 1 : 0;
                p.skew = warps % 5 == 0 ? 0 : 40 * uniform(random);
                p.place = uniform(random) - 0.5;
                p.cycles = std::max(20.0, 1.0 * warps * p.shape.chains) * depth;
                p.cycles *= 1 + 0.1 * uniform(random);
                p.repetitions = {p.cycles};
                p.log_error = 0.005 + 0.01 * uniform(random);
                curve.points.push_back(p);
            }
    return curve;
}

std::vector<HullVariant> variants() {
    std::vector<HullVariant> out;
    for (const Regime regime : {Regime::both, Regime::latency_only, Regime::throughput_only})
        for (int terms = 0; terms < 32; ++terms) {
            HullVariant v{.regime = regime};
            v.schedulers = (terms & 1) != 0 ? 4 : 1;
            v.ports = (terms & 1) != 0 && (terms & 2) != 0;
            v.group_overhead = v.skew = (terms & 4) != 0;
            v.contention = v.loop = (terms & 8) != 0;
            v.knee = v.drift = (terms & 16) != 0 && regime == Regime::both;
            out.push_back(v);
        }
    return out;
}

std::vector<double> somewhere(const HullProblem& problem, const HullVariant& variant) {
    std::vector<double> q = problem.start(variant);
    q[log_cpi] = 0.1;
    q[log_latency] = 3.1;
    q[group_overhead_part] = 0.001;
    q[loop_latency_part] = 0.2;
    q[loop_cpi_part] = 0.3;
    q[contention_part] = variant.contention ? 0.004 : 0;
    q[skew_part] = 0.4;
    q[drift_part] = 0.01;
    return q;
}

struct Evaluated {
    std::vector<double> residuals;
    std::vector<double> jacobian;

    Evaluated(const LeastSquaresProblem& problem, const std::vector<double>& q)
        : residuals(problem.residual_count), jacobian(problem.residual_count * q.size()) {
        EXPECT_TRUE(problem.residuals(q, residuals, jacobian));
    }
};

TEST(HullProblem, PlacesGiveWhatPointsDoOneByOne) {
    for (const InstructionKind kind : {InstructionKind::compute, InstructionKind::barrier}) {
        const Curve curve = curve_with_everything(1);
        const HullProblem problem(curve, kind, {});
        for (const HullVariant& variant : variants()) {
            const std::vector<double> q = somewhere(problem, variant);
            const Evaluated all(problem.problem(variant, q, {}), q);
            for (std::size_t i = 0; i < curve.points.size(); ++i) {
                const CurvePoint& p = curve.points[i];
                const double one =
                    std::log(problem.predicted_cycles(variant, q, i) / p.cycles) / p.log_error;
                EXPECT_NEAR(all.residuals[i], one, 1e-9 * (1 + std::abs(one)));
            }
        }
    }
}

TEST(HullProblem, DerivativesAreThoseOfSmallDifferences) {
    constexpr double step = 1e-6;
    const Curve curve = curve_with_everything(2);
    const HullProblem problem(curve, InstructionKind::compute, {});
    for (const HullVariant& variant : variants()) {
        const std::vector<double> q = somewhere(problem, variant);
        const LeastSquaresProblem squares = problem.problem(variant, q, {});
        const Evaluated here(squares, q);
        for (std::size_t k = 0; k < hull_parameter_count; ++k) {
            if (squares.fixed[k]) continue;
            std::vector<double> less = q;
            std::vector<double> more = q;
            less[k] -= step;
            more[k] += step;
            const Evaluated before(squares, less);
            const Evaluated after(squares, more);
            for (std::size_t i = 0; i < curve.points.size(); ++i) {
                const double slope = (after.residuals[i] - before.residuals[i]) / (2 * step);
                EXPECT_NEAR(here.jacobian[i * q.size() + k], slope, 1e-3 + 1e-5 * std::abs(slope))
                    << "parameter " << k << " of point " << i;
            }
        }
    }
}

// The start skew's share ends at one of its bounds in every other curve: fits that stop before the
// minimum there give λ and Λ as the search happened to leave them.
TEST(HullProblem, AFreeSkewIsFittedToTheMinimum) {
    std::mt19937_64 random(3);
    std::normal_distribution<double> normal;
    int at_bounds = 0;
    for (int n = 0; n < 20; ++n) {
        Curve curve;
        for (int warps = 1; warps <= 63; warps += 2)
            for (const int depth : {512, 1024, 2048}) {
                CurvePoint p;
                p.shape = {1, warps, 1, depth};
                p.skew = 20;
                const double period = std::max(6.0, 0.25 * warps);
                p.cycles = (300 + period * depth) * (1 + 0.01 * normal(random));
                p.repetitions = {p.cycles};
                p.log_error = 0.01;
                curve.points.push_back(p);
            }
        const HullProblem problem(curve, InstructionKind::compute, {});
        HullVariant variant;
        variant.skew = variant.group_overhead = true;
        const LeastSquaresSummary fit =
            solve(problem.problem(variant, problem.start(variant), 1.345), {.tolerance = 1e-13});
        ASSERT_TRUE(fit.converged);
        const double share = fit.parameters[skew_part];
        at_bounds += share == 0 || share == 1;
        for (const HullParameter k :
             {log_cpi, log_latency, overhead_part, group_overhead_part, skew_part}) {
            if (k == skew_part && (share == 0 || share == 1)) continue;
            double gradient = 0;
            double length = 0;
            for (std::size_t i = 0; i < fit.residuals.size(); ++i) {
                const double slope = fit.jacobian[i * hull_parameter_count + k];
                gradient += slope * std::clamp(fit.residuals[i], -1.345, 1.345);
                length += slope * slope;
            }
            EXPECT_NEAR(gradient / std::sqrt(length), 0, 1e-4) << "parameter " << k;
        }
    }
    EXPECT_GE(at_bounds, 5);
}

}  // namespace
}  // namespace occupipe
