// SPDX-License-Identifier: MIT
#include "fit/solver/least_squares.h"

#include <ceres/ceres.h>
#include <glog/logging.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <mutex>
#include <utility>

namespace occupipe {
namespace {

// Ceres that was built with its own small logger (cmake/Portable.cmake) has nothing to set up.
#ifdef OCCUPIPE_MINIGLOG
void quiet_logging() {}
#else
// glog is Ceres' logger: without initialisation its warnings go to stderr with a banner, and a
// second initialisation aborts the process, so an embedding program's own one is respected.
void quiet_logging() {
    static std::once_flag once;
    std::call_once(once, [] {
        if (!google::IsGoogleLoggingInitialized()) google::InitGoogleLogging("occupipe");
        FLAGS_minloglevel = google::GLOG_FATAL;
        FLAGS_logtostderr = true;  // no log files in /tmp
    });
}
#endif

// The parameters that are not fixed, and the way back to the full vector.
struct FreeParameters {
    std::vector<std::size_t> index;  // free position → full position
    std::vector<double> full;

    FreeParameters(std::vector<double> parameters, const std::vector<bool>& fixed)
        : full(std::move(parameters)) {
        for (std::size_t i = 0; i < full.size(); ++i)
            if (fixed.empty() || !fixed[i]) index.push_back(i);
    }
    void expand(const double* free_values, std::vector<double>& out) const {
        out = full;
        for (std::size_t i = 0; i < index.size(); ++i) out[index[i]] = free_values[i];
    }
};

// All residuals as Ceres sees them: one block, which is far cheaper than one per residual. The loss
// is Huber's on every residual by itself, as the square root of it: r beyond the clip c becomes
// ±√(2c·|r| − c²), whose half square is the loss (Huber 1981).
class Residuals final : public ceres::CostFunction {
public:
    Residuals(const LeastSquaresProblem& problem, const FreeParameters& free)
        : problem_(problem), free_(free) {
        set_num_residuals(static_cast<int>(problem.residual_count));
        mutable_parameter_block_sizes()->push_back(static_cast<int>(free.index.size()));
    }

    bool Evaluate(double const* const* parameters, double* residuals,
                  double** jacobians) const override {
        free_.expand(parameters[0], full_);
        const bool derive = jacobians != nullptr && jacobians[0] != nullptr;
        const std::size_t columns = free_.index.size();
        derivatives_.assign(derive ? problem_.residual_count * full_.size() : 0, 0.0);
        if (!problem_.residuals(full_, {residuals, problem_.residual_count}, derivatives_))
            return false;
        for (std::size_t point = 0; point < problem_.residual_count; ++point) {
            double& r = residuals[point];
            if (!std::isfinite(r)) return false;
            const double slope = clip(r);
            if (!derive) continue;
            const double* gradient = &derivatives_[point * full_.size()];
            for (std::size_t i = 0; i < columns; ++i) {
                const double d = slope * gradient[free_.index[i]];
                if (!std::isfinite(d)) return false;
                jacobians[0][point * columns + i] = d;
            }
        }
        return true;
    }

private:
    // The root of the loss in the place of r, and its derivative.
    double clip(double& r) const {
        if (!problem_.huber || std::abs(r) <= *problem_.huber) return 1;
        const double c = *problem_.huber;
        const double root = std::sqrt(c * (2 * std::abs(r) - c));
        r = std::copysign(root, r);
        return c / root;
    }

    const LeastSquaresProblem& problem_;
    const FreeParameters& free_;
    // Solving is single-threaded, and every problem has its own.
    mutable std::vector<double> full_;
    mutable std::vector<double> derivatives_;
};

ceres::Solver::Options solver_options(const LeastSquaresOptions& options) {
    ceres::Solver::Options o;
    o.linear_solver_type = ceres::DENSE_QR;
    o.max_num_iterations = options.max_iterations;
    o.function_tolerance = options.tolerance;
    o.gradient_tolerance = options.tolerance;
    o.parameter_tolerance = options.tolerance;
    o.logging_type = ceres::SILENT;
    o.num_threads = 1;
    o.max_num_line_search_step_size_iterations = 0;  // see solve_between_bounds()
    return o;
}

// Plain residuals and derivatives at the parameters; false when the model is not defined there.
bool linearise(const LeastSquaresProblem& problem, LeastSquaresSummary& at) {
    at.residuals.assign(problem.residual_count, 0.0);
    at.jacobian.assign(problem.residual_count * at.parameters.size(), 0.0);
    if (!problem.residuals(at.parameters, at.residuals, at.jacobian)) return false;
    for (std::size_t k = 0; k < at.parameters.size() && !problem.fixed.empty(); ++k)
        for (std::size_t i = 0; i < problem.residual_count && problem.fixed[k]; ++i)
            at.jacobian[i * at.parameters.size() + k] = 0;
    return true;
}

// Jacobian of the free parameters with its columns scaled to length one, so that neither "singular"
// nor a step depends on the parameters' units.
struct ScaledJacobian {
    Eigen::MatrixXd columns;
    Eigen::VectorXd length;
};

std::optional<ScaledJacobian> scaled_jacobian(const LeastSquaresSummary& fit,
                                              const FreeParameters& free) {
    const auto n = static_cast<Eigen::Index>(fit.residuals.size());
    const auto p = static_cast<Eigen::Index>(fit.parameters.size());
    const auto k = static_cast<Eigen::Index>(free.index.size());
    using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    const Eigen::Map<const RowMajor> full(fit.jacobian.data(), n, p);
    ScaledJacobian out{Eigen::MatrixXd(n, k), Eigen::VectorXd(k)};
    for (Eigen::Index j = 0; j < k; ++j) {
        const auto column = full.col(static_cast<Eigen::Index>(free.index[j]));
        out.length[j] = column.norm();
        if (!(out.length[j] > 0) || !std::isfinite(out.length[j])) return std::nullopt;
        out.columns.col(j) = column / out.length[j];
    }
    return out;
}

// (JᵀJ)⁻¹ from the QR factors of J.
std::optional<std::vector<double>> covariance_of(const LeastSquaresSummary& fit,
                                                 const FreeParameters& free) {
    // Ratio of singular values below which a direction counts as not determined.
    constexpr double rank_tolerance = 1e-10;
    const std::optional<ScaledJacobian> j = scaled_jacobian(fit, free);
    if (!j) return std::nullopt;
    const std::size_t p = fit.parameters.size();
    const Eigen::Index k = j->columns.cols();
    const Eigen::HouseholderQR<Eigen::MatrixXd> qr(j->columns);
    const Eigen::MatrixXd r = qr.matrixQR().topRows(k).triangularView<Eigen::Upper>();
    const Eigen::VectorXd singular = Eigen::JacobiSVD<Eigen::MatrixXd>(r).singularValues();
    if (singular[k - 1] < rank_tolerance * singular[0]) return std::nullopt;
    const Eigen::MatrixXd inverse =
        r.triangularView<Eigen::Upper>().solve(Eigen::MatrixXd::Identity(k, k));
    const Eigen::MatrixXd covariance = inverse * inverse.transpose();
    std::vector<double> out(p * p, 0.0);
    for (Eigen::Index row = 0; row < k; ++row)
        for (Eigen::Index col = 0; col < k; ++col) {
            const double c = covariance(row, col) / (j->length[row] * j->length[col]);
            if (!std::isfinite(c)) return std::nullopt;
            out[free.index[row] * p + free.index[col]] = c;
        }
    return out;
}

double half_sum_of_squares(const std::vector<double>& residuals) {
    double sum = 0;
    for (const double r : residuals) sum += r * r;
    return sum / 2;
}

// Last digits: the solver stops when the cost no longer changes, which leaves the parameters right
// to half of a double's digits only. Plain Gauss-Newton steps go on while they get shorter and the
// cost stays what it is.
void refine(const LeastSquaresProblem& problem, const FreeParameters& free,
            LeastSquaresSummary& fit) {
    constexpr int most_steps = 10;
    constexpr double rounding = 1e-12;
    double last = std::numeric_limits<double>::infinity();
    for (int step = 0; step < most_steps; ++step) {
        const std::optional<ScaledJacobian> j = scaled_jacobian(fit, free);
        if (!j) return;
        const Eigen::Map<const Eigen::VectorXd> r(fit.residuals.data(), j->columns.rows());
        const Eigen::VectorXd move = j->columns.colPivHouseholderQr().solve(-r);
        if (!move.allFinite() || !(move.norm() < 0.5 * last)) return;
        last = move.norm();
        LeastSquaresSummary next = fit;
        for (std::size_t i = 0; i < free.index.size(); ++i)
            next.parameters[free.index[i]] +=
                move[static_cast<Eigen::Index>(i)] / j->length[static_cast<Eigen::Index>(i)];
        if (!linearise(problem, next)) return;
        next.cost = half_sum_of_squares(next.residuals);
        if (!(next.cost <= fit.cost * (1 + rounding))) return;
        fit = std::move(next);
    }
}

bool bounded(const LeastSquaresProblem& problem, std::size_t k) {
    return (!problem.lower.empty() && problem.lower[k]) ||
           (!problem.upper.empty() && problem.upper[k]);
}

// -1 at the lower bound, 1 at the upper one, 0 between.
int bound_at(const LeastSquaresProblem& problem, std::size_t k, double value) {
    if (!problem.lower.empty() && problem.lower[k] && value <= *problem.lower[k]) return -1;
    if (!problem.upper.empty() && problem.upper[k] && value >= *problem.upper[k]) return 1;
    return 0;
}

// The fixed parameters and those at a bound beyond which the cost falls: they stay.
std::vector<bool> staying(const LeastSquaresProblem& problem, const LeastSquaresSummary& at) {
    const std::size_t p = at.parameters.size();
    std::vector<bool> out = problem.fixed;
    out.resize(p, false);
    const double clip = problem.huber.value_or(std::numeric_limits<double>::infinity());
    for (std::size_t k = 0; k < p; ++k) {
        const int bound = bound_at(problem, k, at.parameters[k]);
        if (out[k] || bound == 0) continue;
        double slope = 0;
        for (std::size_t i = 0; i < at.residuals.size(); ++i)
            slope += std::clamp(at.residuals[i], -clip, clip) * at.jacobian[i * p + k];
        out[k] = bound * slope <= 0;
    }
    return out;
}

// Ends a solution when a parameter reaches a bound that it did not start from.
class StopAtBounds final : public ceres::IterationCallback {
public:
    StopAtBounds(const LeastSquaresProblem& problem, const FreeParameters& free,
                 const std::vector<double>& block)
        : problem_(problem), free_(free), block_(block), start_(at_bounds()) {}

    ceres::CallbackReturnType operator()(const ceres::IterationSummary&) override {
        const std::vector<int> now = at_bounds();
        for (std::size_t i = 0; i < now.size(); ++i)
            if (now[i] != 0 && now[i] != start_[i]) return ceres::SOLVER_TERMINATE_SUCCESSFULLY;
        return ceres::SOLVER_CONTINUE;
    }

private:
    std::vector<int> at_bounds() const {
        std::vector<int> out;
        for (std::size_t i = 0; i < block_.size(); ++i)
            out.push_back(bound_at(problem_, free_.index[i], block_[i]));
        return out;
    }

    const LeastSquaresProblem& problem_;
    const FreeParameters& free_;
    const std::vector<double>& block_;
    const std::vector<int> start_;
};

// From out.parameters on; true when it ended by itself and not at a new bound.
bool solve_free(const LeastSquaresProblem& problem, const FreeParameters& free,
                const LeastSquaresOptions& options, LeastSquaresSummary& out) {
    std::vector<double> block;
    for (const std::size_t i : free.index) block.push_back(out.parameters[i]);
    ceres::Problem ceres_problem;
    ceres_problem.AddResidualBlock(new Residuals(problem, free), nullptr, block.data());
    ceres::Solver::Options with = solver_options(options);
    StopAtBounds stop(problem, free, block);
    bool any = false;
    for (std::size_t i = 0; i < free.index.size(); ++i) {
        const std::size_t full = free.index[i];
        any |= bounded(problem, full);
        const int at = static_cast<int>(i);
        if (!problem.lower.empty() && problem.lower[full])
            ceres_problem.SetParameterLowerBound(block.data(), at, *problem.lower[full]);
        if (!problem.upper.empty() && problem.upper[full])
            ceres_problem.SetParameterUpperBound(block.data(), at, *problem.upper[full]);
    }
    if (any) {
        with.callbacks.push_back(&stop);
        with.update_state_every_iteration = true;
    }
    ceres::Solver::Summary summary;
    ceres::Solve(with, &ceres_problem, &summary);
    out.iterations += static_cast<int>(summary.iterations.size());
    out.message = summary.message;
    out.cost = summary.final_cost;
    out.converged = summary.IsSolutionUsable() && std::isfinite(summary.final_cost);
    if (out.converged) free.expand(block.data(), out.parameters);
    return summary.termination_type != ceres::USER_SUCCESS;
}

// Ceres' own way with bounds, to search along every step that was cut off at one, stops short of
// the minimum where a parameter stays at a bound. Here those are left out, the others are fitted,
// and which stay is asked anew.
void solve_between_bounds(const LeastSquaresProblem& problem, const LeastSquaresOptions& options,
                          LeastSquaresSummary& out) {
    constexpr int most_rounds = 20;
    std::vector<bool> stay = staying(problem, out);
    for (int round = 0; round < most_rounds; ++round) {
        const FreeParameters free(out.parameters, stay);
        if (free.index.empty()) return;  // all of them were at bounds, or came to them
        const bool ended = solve_free(problem, free, options, out);
        if (!out.converged) return;
        if (!linearise(problem, out)) {
            out.converged = false;
            out.message = "the model is not defined at the solution";
            return;
        }
        std::vector<bool> next = staying(problem, out);
        if (ended && next == stay) return;
        stay = std::move(next);
    }
}

}  // namespace

ResidualsFunction each_by_itself(ResidualFunction residual) {
    return
        [residual = std::move(residual)](std::span<const double> parameters,
                                         std::span<double> residuals, std::span<double> jacobian) {
            std::vector<double> unused(jacobian.empty() ? parameters.size() : 0);
            for (std::size_t i = 0; i < residuals.size(); ++i) {
                const std::span<double> gradient =
                    jacobian.empty() ? std::span<double>(unused)
                                     : jacobian.subspan(i * parameters.size(), parameters.size());
                if (!residual(i, parameters, residuals[i], gradient)) return false;
            }
            return true;
        };
}

LeastSquaresSummary solve(const LeastSquaresProblem& problem, const LeastSquaresOptions& options) {
    assert(problem.fixed.empty() || problem.fixed.size() == problem.start.size());
    assert(problem.lower.empty() || problem.lower.size() == problem.start.size());
    assert(problem.upper.empty() || problem.upper.size() == problem.start.size());
    quiet_logging();
    const FreeParameters free(problem.start, problem.fixed);
    LeastSquaresSummary out;
    out.parameters = problem.start;
    for (const std::size_t k : free.index) {
        double& value = out.parameters[k];
        const int bound = bound_at(problem, k, value);
        if (bound != 0) value = bound < 0 ? *problem.lower[k] : *problem.upper[k];
    }
    if (free.index.empty() || problem.residual_count < free.index.size()) {
        out.message = "fewer points than parameters";
        return out;
    }
    if (!linearise(problem, out)) {
        out.message = "the model is not defined at the start";
        return out;
    }
    out.cost = 0;
    solve_between_bounds(problem, options, out);
    if (!out.converged) return out;
    if (options.refine && !problem.huber && problem.lower.empty() && problem.upper.empty())
        refine(problem, free, out);
    if (options.want_covariance) out.covariance = covariance_of(out, free);
    return out;
}

}  // namespace occupipe
