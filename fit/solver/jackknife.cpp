// SPDX-License-Identifier: MIT
#include "fit/solver/jackknife.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "fit/statistics.h"

namespace occupipe {
namespace {

// Share of a parameter's information that has to stay when a cluster goes; below, the cluster alone
// determines it, and leaving it out says nothing about its error.
constexpr double least_information = 1e-3;

}  // namespace

std::optional<std::vector<double>> jackknife_errors(const LeastSquaresSummary& fit,
                                                    std::span<const std::size_t> cluster,
                                                    double clip) {
    if (!fit.covariance || cluster.empty()) return std::nullopt;
    const std::size_t p = fit.parameters.size();
    std::vector<std::size_t> free;
    for (std::size_t k = 0; k < p; ++k)
        if ((*fit.covariance)[k * p + k] > 0) free.push_back(k);
    const std::size_t clusters = *std::ranges::max_element(cluster) + 1;
    if (clusters < free.size() + 2) return std::nullopt;

    const auto m = static_cast<Eigen::Index>(free.size());
    // Columns of length one: overheads and logarithms are of different orders.
    Eigen::VectorXd length = Eigen::VectorXd::Zero(m);
    for (std::size_t i = 0; i < fit.residuals.size(); ++i)
        for (Eigen::Index k = 0; k < m; ++k)
            length[k] += std::pow(fit.jacobian[i * p + free[static_cast<std::size_t>(k)]], 2);
    length = length.cwiseSqrt();
    // A clipped residual pulls, but no longer resists: the curvature of Huber's loss is that of the
    // others alone, everywhere alike (Huber 1981, section 7.6).
    const auto resisting =
        std::ranges::count_if(fit.residuals, [clip](double r) { return std::abs(r) <= clip; });
    if (resisting == 0) return std::nullopt;
    const double unclipped =
        static_cast<double>(resisting) / static_cast<double>(fit.residuals.size());
    std::vector<Eigen::MatrixXd> information(clusters, Eigen::MatrixXd::Zero(m, m));
    std::vector<Eigen::VectorXd> score(clusters, Eigen::VectorXd::Zero(m));
    for (std::size_t i = 0; i < fit.residuals.size(); ++i) {
        Eigen::VectorXd row(m);
        for (Eigen::Index k = 0; k < m; ++k)
            row[k] = fit.jacobian[i * p + free[static_cast<std::size_t>(k)]] / length[k];
        information[cluster[i]] += unclipped * row * row.transpose();
        score[cluster[i]] += std::clamp(fit.residuals[i], -clip, clip) * row;
    }
    Eigen::MatrixXd all = Eigen::MatrixXd::Zero(m, m);
    for (const Eigen::MatrixXd& one : information) all += one;
    const Eigen::MatrixXd whole = all.ldlt().solve(Eigen::MatrixXd::Identity(m, m));

    Eigen::VectorXd squares = Eigen::VectorXd::Zero(m);
    // What each cluster's part in a parameter's variance is expected to be, and its square.
    Eigen::VectorXd expected = Eigen::VectorXd::Zero(m);
    Eigen::VectorXd expected_squares = Eigen::VectorXd::Zero(m);
    for (std::size_t g = 0; g < clusters; ++g) {
        const Eigen::MatrixXd rest = all - information[g];
        const Eigen::LDLT<Eigen::MatrixXd> factors(rest);
        const Eigen::VectorXd alone = (whole * information[g]).eigenvalues().cwiseAbs();
        const bool left =
            factors.info() == Eigen::Success && alone.maxCoeff() < 1 - least_information;
        const Eigen::VectorXd step =
            left ? Eigen::VectorXd(factors.solve(score[g])) : Eigen::VectorXd(whole * score[g]);
        squares += step.cwiseAbs2();
        const Eigen::VectorXd part = (whole * information[g] * whole).diagonal().cwiseMax(0.0);
        expected += part;
        expected_squares += part.cwiseAbs2();
    }
    const auto n = static_cast<double>(clusters);
    std::vector<double> out(p, 0.0);
    for (Eigen::Index k = 0; k < m; ++k) {
        const double freedom = expected[k] * expected[k] / expected_squares[k];
        const double widen = interval_factor(
            std::clamp(freedom, 1.0, std::max(n - static_cast<double>(free.size()), 1.0)));
        const double error = std::sqrt(squares[k] * (n - 1) / n) / length[k] * widen;
        if (!std::isfinite(error)) return std::nullopt;
        out[free[static_cast<std::size_t>(k)]] = error;
    }
    return out;
}

}  // namespace occupipe
