// SPDX-License-Identifier: MIT
#include "fit/structure/fit_mix.h"

#include <ceres/jet.h>
#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "fit/laws/hull_law.h"
#include "fit/solver/least_squares.h"
#include "fit/statistics.h"

namespace occupipe {
namespace {

// λ of an instruction alone and in a mix differ by more than their statistical errors (operand
// ports, instruction fetch); the laws get this much room, relative.
constexpr double partner_room = 0.01;
// The laws hold where warps hide the latency: a point at the highest occupancy counts when latency
// alone would allow this multiple of what was measured, others when clear of the ridge's roundness.
constexpr double saturation = 1.2;
constexpr double saturation_below = 2;

// The third is the issue limit's logarithm, or the share of the shorter time that is not hidden.
enum MixParameter : std::size_t { log_cpi1, log_cpi2, log_limit, mix_parameter_count };
constexpr std::size_t unhidden = log_limit;
// An overlap nearer to none or all than this is none or all.
constexpr double clearly_partial = 0.1;
// It has to lead by more than a law with a mechanism behind it: an issue limit looks alike.
constexpr double partial_margin = 6;

struct Slope {
    double cycles_per_step = 0;
    double relative_error = 0;
};

// Weighted least squares of time over depth at one shape: the intercept is the overhead. Where
// there are loop bodies of two lengths, time over iterations, too: the loop's own cost.
std::optional<Slope> slope_of(std::span<const CurvePoint* const> points) {
    std::set<int> bodies;
    for (const CurvePoint* p : points) bodies.insert(p->body);
    const bool loop = bodies.size() >= 2 && !bodies.contains(0) && points.size() >= 3;
    const auto n = static_cast<Eigen::Index>(points.size());
    Eigen::MatrixXd x(n, loop ? 3 : 2);
    Eigen::VectorXd y(n);
    for (Eigen::Index i = 0; i < n; ++i) {
        const CurvePoint& p = *points[static_cast<std::size_t>(i)];
        const double weight = 1 / (p.cycles * p.log_error);
        const auto depth = static_cast<double>(p.shape.depth);
        x(i, 0) = weight * depth;
        x(i, 1) = weight;
        if (loop) x(i, 2) = weight * depth / p.body;
        y[i] = weight * p.cycles;
    }
    const Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr(x);
    if (qr.rank() < x.cols()) return std::nullopt;
    const double slope = qr.solve(y)[0];
    const Eigen::MatrixXd covariance = (x.transpose() * x).inverse();
    if (!(slope > 0) || !(covariance(0, 0) > 0)) return std::nullopt;
    return Slope{slope, std::sqrt(covariance(0, 0)) / slope};
}

// The points of one β: one per group shape and number of instructions in flight.
void add_points(const Curve& curve, int beta, std::vector<MixPoint>& out) {
    std::map<std::array<int, 3>, std::vector<const CurvePoint*>> by_shape;
    for (const CurvePoint& p : curve.points)
        by_shape[{p.shape.warps() * p.shape.chains, p.shape.group_warps, p.shape.chains}].push_back(
            &p);
    for (const auto& [shape, points] : by_shape) {
        const std::optional<Slope> slope = slope_of(points);
        if (!slope) continue;
        const double share = static_cast<double>(beta) / (beta + 1);
        const double in_flight = shape[0];
        out.push_back(
            {beta, in_flight, in_flight * share / slope->cycles_per_step, slope->relative_error});
    }
}

template <class T>
T law_value(MixLaw law, std::span<const T> q, double beta) {
    const T cpi1 = exp(q[log_cpi1]);
    const T cpi2 = exp(q[log_cpi2]);
    switch (law) {
        case MixLaw::one_subsystem:
            return mix_one_subsystem(cpi1, cpi2, beta);
        case MixLaw::two_subsystems:
            return mix_two_subsystems(cpi1, cpi2, beta);
        case MixLaw::partial_overlap: {
            const T first = cpi1 * T(beta);
            return T(beta) /
                   (first < cpi2 ? cpi2 + q[unhidden] * first : first + q[unhidden] * cpi2);
        }
        case MixLaw::two_with_issue_limit:
            break;
    }
    return mix_with_issue_limit(cpi1, cpi2, T(exp(q[log_limit])), beta);
}

struct Prior {
    MixParameter parameter;
    double log_value;
    double error;
};

class MixFitter {
public:
    MixFitter(MixFit& out, const MixPartner& first, const MixPartner& second,
              double highest_reached)
        : out_(out), highest_reached_(highest_reached) {
        add_prior(log_cpi1, first.cpi);
        add_prior(log_cpi2, second.cpi);
    }

    void run();

private:
    void add_prior(MixParameter parameter, const std::optional<Estimate>& cpi);
    std::vector<double> start(double limit_factor) const;
    LeastSquaresSummary fit(MixLaw law) const;
    std::size_t observations() const { return out_.points.size() + priors_.size(); }
    void decide(const std::array<LeastSquaresSummary, mix_law_count>& fits);
    void report_limit(const LeastSquaresSummary& fit, double dispersion);
    bool report_overlap(const LeastSquaresSummary& fit,
                        const std::vector<std::pair<double, std::size_t>>& order,
                        double dispersion);

    MixFit& out_;
    std::vector<Prior> priors_;
    double highest_reached_;
    double highest_total_ = 0;
};

void MixFitter::add_prior(MixParameter parameter, const std::optional<Estimate>& cpi) {
    if (!cpi || !cpi->identifiable()) return;
    const double statistical = cpi->std_error.value_or(0) / cpi->value;
    priors_.push_back({parameter, std::log(cpi->value), std::hypot(statistical, partner_room)});
}

std::vector<double> MixFitter::start(double limit_factor) const {
    double fastest = 0;  // highest throughput of type 1, and of type 2
    double fastest_second = 0;
    for (const MixPoint& p : out_.points) {
        fastest = std::max(fastest, p.per_cycle);
        fastest_second = std::max(fastest_second, p.per_cycle / p.beta);
    }
    std::vector<double> q{-std::log(fastest), -std::log(fastest_second),
                          std::log(highest_total_ * limit_factor)};
    for (const Prior& prior : priors_) q[prior.parameter] = prior.log_value;
    return q;
}

// Residuals: log(law / measured) in standard errors, and each λ against what it is alone.
LeastSquaresSummary MixFitter::fit(MixLaw law) const {
    LeastSquaresProblem problem;
    problem.residual_count = observations();
    const bool partial = law == MixLaw::partial_overlap;
    problem.fixed = {false, false, law != MixLaw::two_with_issue_limit && !partial};
    problem.huber = 3.0;
    problem.lower.assign(mix_parameter_count, std::nullopt);
    problem.upper.assign(mix_parameter_count, std::nullopt);
    if (partial) {
        problem.lower[unhidden] = 0;
        problem.upper[unhidden] = 1;
        problem.start = start(1);
        problem.start[unhidden] = 0.5;
    } else if (highest_reached_ > 0) {
        problem.lower[log_limit] = std::log(highest_reached_);
    }
    problem.residuals = each_by_itself([this, law](std::size_t i, std::span<const double> q,
                                                   double& residual, std::span<double> gradient) {
        using Jet = ceres::Jet<double, mix_parameter_count>;
        std::array<Jet, mix_parameter_count> x;
        for (int k = 0; k < Jet::DIMENSION; ++k) x[k] = Jet(q[k], k);
        Jet r;
        if (i < out_.points.size()) {
            const MixPoint& p = out_.points[i];
            const Jet value = law_value(law, std::span<const Jet>(x), p.beta);
            r = log(value / p.per_cycle) / p.relative_error;
        } else {
            const Prior& prior = priors_[i - out_.points.size()];
            r = (x[prior.parameter] - prior.log_value) / prior.error;
        }
        residual = r.a;
        std::ranges::copy(r.v, gradient.begin());
        return true;
    });
    if (partial) return solve(problem);
    // The minimum of three bounds has a corner for every β; two starts for the limit find it.
    LeastSquaresSummary best;
    for (const double factor : {1.02, 1.3}) {
        problem.start = start(factor);
        if (problem.lower[log_limit])
            problem.start[log_limit] =
                std::max(problem.start[log_limit], *problem.lower[log_limit]);
        LeastSquaresSummary s = solve(problem);
        if (s.converged && (!best.converged || s.cost < best.cost)) best = std::move(s);
        if (law != MixLaw::two_with_issue_limit) break;
    }
    return best;
}

void MixFitter::run() {
    for (const MixPoint& p : out_.points)
        highest_total_ = std::max(highest_total_, p.per_cycle * (p.beta + 1) / p.beta);
    std::array<LeastSquaresSummary, mix_law_count> fits;
    for (std::size_t law = 0; law < mix_law_count; ++law) {
        fits[law] = fit(static_cast<MixLaw>(law));
        if (!fits[law].converged) continue;
        for (const MixPoint& p : out_.points)
            out_.predicted[law].push_back(
                law_value<double>(static_cast<MixLaw>(law), fits[law].parameters, p.beta));
    }
    double nearest = std::numeric_limits<double>::infinity();
    for (std::size_t law = 0; law < mix_law_count; ++law) {
        const std::vector<double>& predicted = out_.predicted[law];
        // That overlap between none and all can be made to fit says nothing.
        if (predicted.empty() || static_cast<MixLaw>(law) == MixLaw::partial_overlap) continue;
        double most = 0;
        for (std::size_t i = 0; i < predicted.size(); ++i)
            most = std::max(most, std::abs(std::log(predicted[i] / out_.points[i].per_cycle)) -
                                      3 * out_.points[i].relative_error);
        nearest = std::min(nearest, most);
    }
    if (std::isfinite(nearest)) out_.missed = std::max(nearest, 0.0);
    decide(fits);
}

void MixFitter::decide(const std::array<LeastSquaresSummary, mix_law_count>& fits) {
    constexpr std::array<std::size_t, mix_law_count> free{2, 2, 3, 3};
    const double n = static_cast<double>(observations());
    // Errors of the points are those of repetitions; what every law misses alike must not decide
    // between them, so the best law's own misfit sets the scale (quasi-AICc).
    double dispersion = std::numeric_limits<double>::infinity();
    for (std::size_t law = 0; law < mix_law_count; ++law)
        if (fits[law].converged && n > static_cast<double>(free[law]))
            dispersion =
                std::min(dispersion, 2 * fits[law].cost / (n - static_cast<double>(free[law])));
    dispersion = std::max(dispersion, 1.0);
    std::vector<std::pair<double, std::size_t>> order;
    for (std::size_t law = 0; law < mix_law_count; ++law) {
        if (!fits[law].converged) continue;
        out_.criterion[law] = aicc(2 * fits[law].cost / dispersion, free[law], observations());
        if (out_.criterion[law]) order.emplace_back(*out_.criterion[law], law);
    }
    if (order.size() < 2) {
        out_.reason = fmt::format("{} usable values of β are too few to distinguish the laws",
                                  out_.points.size());
        return;
    }
    std::sort(order.begin(), order.end());
    if (report_overlap(fits[static_cast<std::size_t>(MixLaw::partial_overlap)], order, dispersion))
        return;
    std::erase_if(order, [](const auto& one) {
        return static_cast<MixLaw>(one.second) == MixLaw::partial_overlap;
    });
    if (order.size() < 2) {
        out_.reason = fmt::format("{} usable values of β are too few to distinguish the laws",
                                  out_.points.size());
        return;
    }
    out_.ok = true;
    out_.best = static_cast<MixLaw>(order[0].second);
    out_.margin = order[1].first - order[0].first;
    const std::size_t chosen = order[0].second;
    if (n > static_cast<double>(free[chosen]))
        out_.scale = std::sqrt(2 * fits[chosen].cost / (n - static_cast<double>(free[chosen])));
    const bool best_shares = out_.best == MixLaw::one_subsystem;
    for (const auto& [criterion, law] : order)
        if ((static_cast<MixLaw>(law) == MixLaw::one_subsystem) != best_shares) {
            out_.shared_margin = criterion - order[0].first;
            break;
        }
    if (out_.shared_margin >= undecided_margin) out_.shared = best_shares;
    if (dispersion > 4)
        out_.notes.push_back(
            fmt::format("no law fits within the errors (scale {:.2g}); the margin allows for that",
                        std::sqrt(dispersion)));
    report_limit(fits[static_cast<std::size_t>(MixLaw::two_with_issue_limit)], dispersion);
}

// Whether partial overlap is the verdict: clearly better than all others, and clearly between.
bool MixFitter::report_overlap(const LeastSquaresSummary& fit,
                               const std::vector<std::pair<double, std::size_t>>& order,
                               double dispersion) {
    if (static_cast<MixLaw>(order[0].second) != MixLaw::partial_overlap || !fit.covariance)
        return false;
    const double margin = order[1].first - order[0].first;
    Estimate overlap;
    overlap.value = 1 - fit.parameters[unhidden];
    overlap.std_error =
        std::sqrt((*fit.covariance)[unhidden * mix_parameter_count + unhidden] * dispersion);
    const double to_end = std::min(overlap.value, 1 - overlap.value);
    if (margin < partial_margin || to_end < std::max(clearly_partial, 2 * *overlap.std_error))
        return false;
    out_.ok = true;
    out_.best = MixLaw::partial_overlap;
    out_.margin = margin;
    out_.overlap = overlap;
    out_.notes.push_back(
        fmt::format("partial overlap: {:.2g} % (± {:.2g}) of the shorter one's time is hidden "
                    "behind the longer one's; neither one subsystem nor two",
                    100 * overlap.value, 100 * *overlap.std_error));
    return true;
}

void MixFitter::report_limit(const LeastSquaresSummary& fit, double dispersion) {
    if (out_.best == MixLaw::one_subsystem) return;
    Estimate limit;
    if (out_.best == MixLaw::two_with_issue_limit && out_.margin >= undecided_margin &&
        fit.covariance) {
        limit.value = std::exp(fit.parameters[log_limit]);
        const double variance =
            (*fit.covariance)[log_limit * mix_parameter_count + log_limit] * dispersion;
        limit.std_error = limit.value * std::sqrt(variance);
    } else {
        // The highest of several is high by chance, too.
        double seen = highest_reached_;
        for (const MixPoint& p : out_.points)
            seen = std::max(seen, p.per_cycle * (p.beta + 1) / p.beta * (1 - 3 * p.relative_error));
        limit.value = seen;
        limit.kind = Estimate::Kind::lower_bound;
        limit.note = "the highest throughput seen, less three standard errors";
    }
    out_.issue_limit = limit;
}

}  // namespace

std::string_view to_string(MixLaw law) {
    switch (law) {
        case MixLaw::one_subsystem:
            return "one subsystem";
        case MixLaw::two_subsystems:
            return "two subsystems";
        case MixLaw::partial_overlap:
            return "partial overlap";
        case MixLaw::two_with_issue_limit:
            break;
    }
    return "two subsystems with issue limit";
}

MixFit fit_mix(const std::string& first, const std::string& second,
               std::span<const Curve* const> curves, const MixPartner& first_alone,
               const MixPartner& second_alone, double highest_reached) {
    MixFit out;
    out.first = first;
    out.second = second;
    std::vector<MixPoint> all;
    for (const Curve* curve : curves)
        if (const std::optional<Mix> mix = parse_mix(curve->subject))
            add_points(*curve, mix->beta, all);
    std::map<int, double> highest;  // β → instructions in flight
    for (const MixPoint& p : all) highest[p.beta] = std::max(highest[p.beta], p.in_flight);
    const bool latencies_known = first_alone.latency && second_alone.latency;
    for (const MixPoint& p : all) {
        const bool top = p.in_flight == highest.at(p.beta);
        if (!top && !latencies_known) continue;
        if (latencies_known) {
            const double alone = p.beta * *first_alone.latency + *second_alone.latency;
            const double allowed = p.in_flight * p.beta / alone / p.per_cycle;
            if (!top && allowed < saturation_below) continue;
            if (allowed < saturation) {
                out.notes.push_back(fmt::format("β = {} left out: {} warps do not hide the latency",
                                                p.beta, p.in_flight));
                continue;
            }
        }
        out.points.push_back(p);
    }
    std::stable_sort(out.points.begin(), out.points.end(),
                     [](const MixPoint& a, const MixPoint& b) {
                         return std::pair(a.beta, a.in_flight) < std::pair(b.beta, b.in_flight);
                     });
    std::set<int> betas;
    for (const MixPoint& p : out.points) betas.insert(p.beta);
    if (betas.size() < 2) {
        out.reason = fmt::format(
            "{} usable values of β (each needs two depths and enough warps), at least 2 are needed",
            betas.size());
        return out;
    }
    MixFitter(out, first_alone, second_alone, highest_reached).run();
    return out;
}

}  // namespace occupipe
