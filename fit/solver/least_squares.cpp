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

    explicit FreeParameters(const LeastSquaresProblem& problem) : full(problem.start) {
        for (std::size_t i = 0; i < full.size(); ++i)
            if (problem.fixed.empty() || !problem.fixed[i]) index.push_back(i);
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
        : problem_(problem), free_(free), gradient_(free.full.size()) {
        set_num_residuals(static_cast<int>(problem.residual_count));
        mutable_parameter_block_sizes()->push_back(static_cast<int>(free.index.size()));
    }

    bool Evaluate(double const* const* parameters, double* residuals,
                  double** jacobians) const override {
        free_.expand(parameters[0], full_);
        const bool derive = jacobians != nullptr && jacobians[0] != nullptr;
        const std::size_t columns = free_.index.size();
        for (std::size_t point = 0; point < problem_.residual_count; ++point) {
            std::span<double> gradient;
            if (derive) {
                std::ranges::fill(gradient_, 0.0);
                gradient = gradient_;
            }
            double& r = residuals[point];
            if (!problem_.residual(point, full_, r, gradient)) return false;
            if (!std::isfinite(r)) return false;
            const double slope = clip(r);
            if (!derive) continue;
            for (std::size_t i = 0; i < columns; ++i) {
                const double d = slope * gradient_[free_.index[i]];
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
    mutable std::vector<double> gradient_;
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
    return o;
}

// Plain residuals and derivatives at the solution; false when the model is not defined there.
bool linearise(const LeastSquaresProblem& problem, const FreeParameters& free,
               LeastSquaresSummary& summary) {
    const std::size_t p = summary.parameters.size();
    summary.residuals.assign(problem.residual_count, 0.0);
    summary.jacobian.assign(problem.residual_count * p, 0.0);
    std::vector<double> gradient(p);
    for (std::size_t i = 0; i < problem.residual_count; ++i) {
        gradient.assign(p, 0.0);
        if (!problem.residual(i, summary.parameters, summary.residuals[i], gradient)) return false;
        for (const std::size_t j : free.index) summary.jacobian[i * p + j] = gradient[j];
    }
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
        if (!linearise(problem, free, next)) return;
        next.cost = half_sum_of_squares(next.residuals);
        if (!(next.cost <= fit.cost * (1 + rounding))) return;
        fit = std::move(next);
    }
}

}  // namespace

LeastSquaresSummary solve(const LeastSquaresProblem& problem, const LeastSquaresOptions& options) {
    assert(problem.fixed.empty() || problem.fixed.size() == problem.start.size());
    assert(problem.lower.empty() || problem.lower.size() == problem.start.size());
    assert(problem.upper.empty() || problem.upper.size() == problem.start.size());
    quiet_logging();
    const FreeParameters free(problem);
    LeastSquaresSummary out;
    out.parameters = problem.start;
    if (free.index.empty() || problem.residual_count < free.index.size()) {
        out.message = "fewer points than parameters";
        return out;
    }
    std::vector<double> block;
    for (const std::size_t i : free.index) block.push_back(problem.start[i]);

    ceres::Problem ceres_problem;
    ceres_problem.AddResidualBlock(new Residuals(problem, free), nullptr, block.data());
    for (std::size_t i = 0; i < free.index.size(); ++i) {
        const std::size_t full = free.index[i];
        const int at = static_cast<int>(i);
        if (!problem.lower.empty() && problem.lower[full])
            ceres_problem.SetParameterLowerBound(block.data(), at, *problem.lower[full]);
        if (!problem.upper.empty() && problem.upper[full])
            ceres_problem.SetParameterUpperBound(block.data(), at, *problem.upper[full]);
    }

    ceres::Solver::Summary summary;
    ceres::Solve(solver_options(options), &ceres_problem, &summary);
    out.iterations = static_cast<int>(summary.iterations.size());
    out.message = summary.message;
    out.cost = summary.final_cost;
    out.converged = summary.IsSolutionUsable() && std::isfinite(summary.final_cost);
    if (!out.converged) return out;
    free.expand(block.data(), out.parameters);
    if (!linearise(problem, free, out)) {
        out.converged = false;
        out.message = "the model is not defined at the solution";
        return out;
    }
    if (options.refine && !problem.huber && problem.lower.empty() && problem.upper.empty())
        refine(problem, free, out);
    if (options.want_covariance) out.covariance = covariance_of(out, free);
    return out;
}

}  // namespace occupipe
