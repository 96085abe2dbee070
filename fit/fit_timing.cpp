// SPDX-License-Identifier: MIT
#include "fit/fit_timing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fit/hull_problem.h"
#include "fit/statistics.h"

namespace occupipe {
namespace {

// 95 % efficiency at the normal distribution (Huber 1981).
constexpr double huber_constant = 1.345;
// What an added term must gain in the information criterion, and what the law must gain over one
// of its halves in χ² (p = 0.001 for one degree of freedom is 10.8).
constexpr double term_margin = 8;
constexpr double evidence_level = 0.9995;  // two-sided 0.001
// A ridge is believed when data lie this factor beyond it on the side in question.
constexpr double beyond_ridge = 1.1;
constexpr double before_ridge = 1.05;
// Relative change of cost at which a fit is good enough to be compared with others, and to be
// reported.
constexpr double rough = 1e-6;
constexpr double fine = 1e-13;

struct Attempt {
    HullVariant variant;
    LeastSquaresSummary result;

    double chi_square() const { return 2 * result.cost; }
};

// One curve's fit under way: the problem, and the scale of its residuals.
class Fitter {
public:
    Fitter(const Curve& curve, InstructionKind kind, const TimingFitOptions& options)
        : curve_(curve),
          kind_(kind),
          options_(options),
          problem_(curve, kind, options.known_overhead_cycles) {}

    TimingFit run();

private:
    Attempt attempt(const HullVariant& variant) const;
    Attempt attempt_from(const HullVariant& variant, std::vector<double> start,
                         double tolerance = rough) const;
    Attempt polish(const Attempt& rough_fit) const;
    void set_scale(const Attempt& attempt);
    double freedom(const HullVariant& variant) const;
    double criterion(const Attempt& attempt, double dispersion) const;
    double dispersion(const Attempt& attempt) const;
    void choose_schedulers(Attempt& best) const;
    void add_terms(Attempt& best) const;
    bool beats(const Attempt& law, const Attempt& half) const;
    double relative_error(const Attempt& attempt, HullParameter parameter) const;
    Estimate linear(const Attempt& attempt, HullParameter parameter, double unit) const;
    void fill_terms(const Attempt& best, TimingFit& out) const;
    void bound_cpi(const Attempt& half, TimingFit& out) const;
    void bound_latency(const Attempt& half, TimingFit& out) const;
    void judge_residuals(const Attempt& best, TimingFit& out) const;
    std::string refusal() const;

    const Curve& curve_;
    InstructionKind kind_;
    const TimingFitOptions& options_;
    HullProblem problem_;
    double scale_ = 1;
};

Attempt Fitter::attempt_from(const HullVariant& variant, std::vector<double> start,
                             double tolerance) const {
    LeastSquaresOptions options;
    options.want_covariance = false;
    options.tolerance = tolerance;
    const double clip = huber_constant * scale_;
    return {variant, solve(problem_.problem(variant, std::move(start), clip), options)};
}

// The sharp ridge has flat directions far from the solution, so the first steps go on a rounded
// one, whose gradient sees every parameter.
Attempt Fitter::attempt(const HullVariant& variant) const {
    std::vector<double> start = problem_.start(variant);
    if (variant.regime == Regime::both && !variant.knee) {
        start[knee_width] = 0.05;
        Attempt rounded = attempt_from(variant, start, 1e-3);
        if (rounded.result.converged) start = rounded.result.parameters;
        start[knee_width] = 0;
    }
    return attempt_from(variant, std::move(start));
}

Attempt Fitter::polish(const Attempt& rough_fit) const {
    LeastSquaresOptions options;
    options.tolerance = fine;
    return {rough_fit.variant,
            solve(problem_.problem(rough_fit.variant, rough_fit.result.parameters,
                                   huber_constant * scale_),
                  options)};
}

double Fitter::freedom(const HullVariant& variant) const {
    const std::size_t p = variant.free_parameters(options_.known_overhead_cycles.has_value());
    return static_cast<double>(curve_.points.size()) - static_cast<double>(p);
}

// Residuals in units of the points' own errors should have scale one. Where they are larger (a
// law that misses, errors that were too optimistic), the loss must clip correspondingly later.
void Fitter::set_scale(const Attempt& attempt) {
    std::vector<double> away;
    for (const double r : attempt.result.residuals) away.push_back(std::abs(r));
    const double n = static_cast<double>(away.size());
    const double correction = std::sqrt(n / std::max(freedom(attempt.variant), 1.0));
    scale_ =
        std::max(1.4826 * median(std::move(away)) * correction, curve_.spread_known ? 1.0 : 1e-3);
}

// Variance that the residuals show, in units of what the spreads promise; never below one when
// the spreads come from repetitions. Multiplies every covariance.
double Fitter::dispersion(const Attempt& attempt) const {
    const std::size_t p =
        attempt.variant.free_parameters(options_.known_overhead_cycles.has_value());
    const double shown =
        huber_variance(attempt.result.residuals, huber_constant * scale_, p).value_or(1.0);
    return curve_.spread_known ? std::max(shown, 1.0) : shown;
}

// Quasi-AICc (K. P. Burnham and D. R. Anderson, "Model selection and multimodel inference", 2002).
double Fitter::criterion(const Attempt& attempt, double dispersion) const {
    const std::size_t p =
        attempt.variant.free_parameters(options_.known_overhead_cycles.has_value());
    return aicc(attempt.chi_square() / dispersion, p, curve_.points.size())
        .value_or(std::numeric_limits<double>::infinity());
}

void Fitter::choose_schedulers(Attempt& best) const {
    for (const int k : options_.schedulers) {
        const bool shows = std::any_of(
            curve_.points.begin(), curve_.points.end(),
            [k](const CurvePoint& p) { return p.shape.warps() > 1 && p.shape.warps() % k != 0; });
        if (!shows) continue;
        HullVariant variant = best.variant;
        variant.schedulers = k;
        std::vector<double> start = best.result.parameters;
        start[log_cpi] += std::log(static_cast<double>(k) / best.variant.schedulers);
        Attempt other = attempt_from(variant, std::move(start));
        if (!other.result.converged) continue;
        const double d = std::min(dispersion(best), dispersion(other));
        const double margin = best.variant.schedulers == 1 ? term_margin : 0;
        if (criterion(other, d) + margin < criterion(best, d)) best = std::move(other);
    }
}

// Forward selection of the terms that the data ask for.
void Fitter::add_terms(Attempt& best) const {
    const bool curved = problem_.distinct_in_flight() >= 5;
    for (;;) {
        std::vector<HullVariant> wider;
        HullVariant v = best.variant;
        if (options_.allow_group_overhead && !v.group_overhead &&
            problem_.distinct_in_flight() >= 3) {
            wider.push_back(v);
            wider.back().group_overhead = true;
        }
        if (options_.allow_contention && !v.contention && curved) {
            wider.push_back(v);
            wider.back().contention = true;
        }
        if (options_.allow_knee && !v.knee && curved) {
            wider.push_back(v);
            wider.back().knee = true;
        }
        std::optional<Attempt> winner;
        for (const HullVariant& variant : wider) {
            std::vector<double> start = best.result.parameters;
            if (variant.knee && !best.variant.knee) start[knee_width] = 0.05;
            if (variant.contention && !best.variant.contention) start[contention_part] = 1e-3;
            Attempt other = attempt_from(variant, std::move(start));
            if (!other.result.converged) continue;
            if (!winner || other.chi_square() < winner->chi_square()) winner = std::move(other);
        }
        if (!winner) return;
        const double d = dispersion(*winner);
        if (criterion(*winner, d) + term_margin >= criterion(best, d)) return;
        best = std::move(*winner);
    }
}

// Whether the data speak for the whole law against one of its halves.
bool Fitter::beats(const Attempt& law, const Attempt& half) const {
    if (!half.result.converged) return true;
    const double gain = (half.chi_square() - law.chi_square()) / dispersion(law);
    const double t = student_quantile(evidence_level, std::max(freedom(law.variant), 1.0));
    return gain > t * t;
}

// Standard error of a parameter in the solver's own scale (relative, for λ and Λ).
double Fitter::relative_error(const Attempt& attempt, HullParameter parameter) const {
    const double variance =
        (*attempt.result.covariance)[parameter * hull_parameter_count + parameter];
    // Few points and no trusted spread: the scale itself is uncertain.
    const double widen =
        curve_.spread_known ? 1.0 : interval_factor(std::max(freedom(attempt.variant), 1.0));
    return std::sqrt(variance * dispersion(attempt)) * widen;
}

Estimate Fitter::linear(const Attempt& attempt, HullParameter parameter, double unit) const {
    Estimate e;
    e.value = attempt.result.parameters[parameter] * unit;
    e.std_error = relative_error(attempt, parameter) * unit;
    return e;
}

void Fitter::fill_terms(const Attempt& best, TimingFit& out) const {
    const HullParameters<double> p = problem_.physical(best.result.parameters);
    const HullVariant& v = best.variant;
    if (!options_.known_overhead_cycles)
        out.overhead = linear(best, overhead_part, problem_.overhead_scale());
    if (v.regime != Regime::both) return;
    if (v.group_overhead)
        out.group_overhead = linear(best, group_overhead_part, problem_.overhead_scale());
    if (v.contention) out.contention = linear(best, contention_part, p.latency);
    if (v.knee) out.knee = linear(best, knee_width, 1.0);
}

void Fitter::bound_cpi(const Attempt& half, TimingFit& out) const {
    const double latency = problem_.physical(half.result.parameters).latency;
    out.latency.value = latency;
    out.latency.std_error = latency * relative_error(half, log_latency);
    out.cpi.value = (latency + 2 * *out.latency.std_error) / problem_.largest_in_flight();
    out.cpi.identifiable = false;
    out.cpi.note = fmt::format("upper bound: no plateau up to {} instructions in flight",
                               problem_.largest_in_flight());
}

void Fitter::bound_latency(const Attempt& half, TimingFit& out) const {
    const double cpi = problem_.physical(half.result.parameters).cpi;
    const double copies = half.variant.schedulers;
    out.cpi.value = cpi / copies;
    out.cpi.std_error = out.cpi.value * relative_error(half, log_cpi);
    const double queue = std::ceil(problem_.smallest_in_flight() / copies);
    out.latency.value = (out.cpi.value + 2 * *out.cpi.std_error) * copies * queue;
    out.latency.identifiable = false;
    out.latency.note =
        fmt::format("upper bound: throughput-bound from {} instructions in flight on",
                    problem_.smallest_in_flight());
}

void Fitter::judge_residuals(const Attempt& best, TimingFit& out) const {
    const std::vector<double>& r = best.result.residuals;
    out.residuals = r;
    out.residual_scale = scale_;
    double shown = 0;
    double promised = 0;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < r.size(); ++i) {
        out.predicted.push_back(problem_.predicted_cycles(best.variant, best.result.parameters, i));
        if (std::abs(r[i]) > 5 * scale_) {
            ++out.outlying_points;
            continue;
        }
        const double e = curve_.points[i].log_error;
        shown += r[i] * r[i] * e * e;
        promised += e * e;
        ++kept;
    }
    if (out.outlying_points > 0)
        out.notes.push_back(fmt::format("{} of {} points lie beyond five standard errors",
                                        out.outlying_points, r.size()));
    if (!curve_.spread_known || kept == 0) return;
    const double n = static_cast<double>(kept);
    const double chi_square_per_freedom = dispersion(best);
    const bool too_large = chi_square_per_freedom > 1 + 4 * std::sqrt(2 / n);
    std::vector<std::size_t> order(r.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        const auto in_flight = [&](std::size_t i) {
            return curve_.points[i].shape.warps() * curve_.points[i].shape.chains;
        };
        return in_flight(a) < in_flight(b);
    });
    std::vector<double> ordered;
    for (const std::size_t i : order) ordered.push_back(r[i]);
    const std::optional<double> z = runs_z(ordered);
    const double size = std::sqrt(std::max(shown - promised, 0.0) / n);
    // Below a part in a thousand a structure may be real but is nobody's concern.
    if (size < 1e-3 || (!too_large && !(z && *z < -3.3))) return;
    out.misfit = Misfit{size, z};
    out.notes.push_back(
        fmt::format("systematic misfit of {:.2g} % beyond the repetitions' spread", 100 * size));
}

std::string Fitter::refusal() const {
    if (!options_.known_overhead_cycles && problem_.distinct_depths() < 2)
        return "all points have the same depth, so the overhead cannot be told from the "
               "instructions: measure at least two depths";
    const std::size_t need = options_.known_overhead_cycles ? 2 : 3;
    if (curve_.points.size() < need)
        return fmt::format("{} usable points, at least {} are needed", curve_.points.size(), need);
    return {};
}

TimingFit Fitter::run() {
    TimingFit out;
    out.subject = curve_.subject;
    out.reason = refusal();
    if (!out.reason.empty()) return out;

    HullVariant slow{.regime = Regime::latency_only};
    HullVariant busy{.regime = Regime::throughput_only};
    slow.group_overhead = busy.group_overhead = problem_.distinct_in_flight() >= 3;
    Attempt law = attempt(HullVariant{});
    if (law.result.converged) {
        set_scale(law);
        law = attempt_from(law.variant, law.result.parameters);
        choose_schedulers(law);
        add_terms(law);
        set_scale(law);
        law = polish(law);
    }
    busy.schedulers = law.variant.schedulers;
    slow.contention = law.variant.contention;
    Attempt latency_half = attempt(slow);
    Attempt throughput_half = attempt(busy);
    const bool solved = law.result.converged;
    const HullParameters<double> p = problem_.physical(law.result.parameters);
    const double ridge = p.latency / p.cpi * law.variant.schedulers;
    const bool barrier = kind_ == InstructionKind::barrier;
    // A barrier's λ also shows before the ridge, in the wait for the group's other warps.
    const bool plateau = barrier || problem_.largest_in_flight() >= beyond_ridge * ridge;
    const bool bow = barrier || problem_.smallest_in_flight() * before_ridge <= ridge;
    const bool cpi_shows = solved && plateau && beats(law, latency_half);
    const bool latency_shows = solved && bow && beats(law, throughput_half);

    Attempt& best = cpi_shows && latency_shows ? law : cpi_shows ? throughput_half : latency_half;
    if (best.result.converged && !best.result.covariance) best = polish(best);
    if (!best.result.converged || !best.result.covariance) {
        out.reason = best.result.converged ? "the data determine neither λ nor Λ (singular fit)"
                                           : "the fit did not converge: " + best.result.message;
        return out;
    }
    if (cpi_shows && latency_shows) {
        out.cpi.value = p.cpi / law.variant.schedulers;
        out.cpi.std_error = out.cpi.value * relative_error(law, log_cpi);
        out.latency.value = p.latency;
        out.latency.std_error = p.latency * relative_error(law, log_latency);
    } else if (cpi_shows) {
        bound_latency(best, out);
    } else {
        bound_cpi(best, out);
        if (!latency_shows) {
            out.latency.identifiable = false;
            out.latency.value += 2 * *out.latency.std_error;
            out.latency.std_error.reset();
            out.latency.note = "upper bound: the data do not tell latency from throughput";
        }
    }
    out.ok = true;
    out.schedulers = best.variant.schedulers;
    fill_terms(best, out);
    judge_residuals(best, out);
    if (out.overhead && out.overhead->std_error &&
        out.overhead->value < -3 * *out.overhead->std_error)
        out.notes.push_back(
            fmt::format("the overhead comes out negative ({:.3g} cycles): time "
                        "does not grow in proportion to depth",
                        out.overhead->value));
    if (curve_.from_seconds) out.notes.push_back("cycles from event time x clock");
    if (!curve_.spread_known)
        out.notes.push_back("one repetition per point: errors come from the fit's residuals");
    return out;
}

}  // namespace

TimingFit fit_timing(const Curve& curve, InstructionKind kind, const TimingFitOptions& options) {
    if (curve.points.empty()) {
        TimingFit none;
        none.subject = curve.subject;
        none.reason = curve.rows == 0 ? "no rows"
                                      : fmt::format("no usable row of {}: {}", curve.rows,
                                                    curve.rejection_summary());
        return none;
    }
    return Fitter(curve, kind, options).run();
}

}  // namespace occupipe
