// SPDX-License-Identifier: MIT
#include "fit/laws/fit_timing.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "core/gpu_profile.h"
#include "fit/curves/step_time.h"
#include "fit/laws/drift.h"
#include "fit/laws/error_causes.h"
#include "fit/laws/loop_bodies.h"
#include "fit/laws/model_selection.h"
#include "fit/laws/plateau.h"
#include "fit/laws/proportion.h"
#include "fit/laws/wandering.h"
#include "fit/profile/physics_check.h"
#include "fit/solver/bootstrap.h"
#include "fit/solver/jackknife.h"
#include "fit/statistics.h"

namespace occupipe {
namespace {

// A ridge is accepted if data are beyond it by this factor on that side.
constexpr double beyond_ridge = 1.1;
constexpr double before_ridge = 1.05;
// A misfit of this size goes with every number drawn from the curve.
constexpr double no_law_size = 0.03;
// Of all repetitions, from which on outliers are worth a note.
constexpr double many_wild = 0.1;

// Writes the result of one curve's search.
class Fitter {
public:
    Fitter(const Curve& curve, InstructionKind kind, const TimingFitOptions& options)
        : curve_(curve),
          kind_(kind),
          options_(options),
          problem_(curve, kind, options.known_overhead_cycles),
          search_(curve, problem_, options) {}

    TimingFit run();

private:
    // What the data say: the whole law, or only one of its halves, or neither (latency_only).
    struct Verdict {
        Attempt best;
        bool cpi_shows = false;
        bool latency_shows = false;
    };
    Verdict decide();
    void find_errors(const Attempt& best);
    void allow_for_hidden_drift(const Attempt& best);
    void drop_doubtful_growth(Attempt& best);
    void find_disproportion(const Attempt& best);
    void keep_launch_positive(Attempt& best);
    Estimate positive(const Attempt& best, HullParameter parameter) const;
    Estimate linear(const Attempt& best, HullParameter parameter, double unit) const;
    // The parts of a TimingFit.
    Estimate cpi_of(const Verdict& verdict) const;
    Estimate latency_of(const Verdict& verdict, const Estimate& cpi) const;
    TimingTerms terms_of(const Attempt& best) const;
    ScopeEvidence scope_of(const Verdict& verdict) const;
    LawResiduals residuals_of(const Attempt& best) const;
    std::optional<Misfit> misfit_of(const Attempt& best, const LawResiduals& law) const;
    std::optional<double> runs_over_in_flight(const std::vector<double>& residuals) const;
    void withdraw_latency(TimingFit& out) const;
    void put_between_bodies(const Attempt& best, TimingFit& out) const;
    // Why errors are larger than the scatter; each sees the law alone.
    ErrorCause loop_control(const TimingFit& law) const;
    ErrorCause start_skew(const TimingFit& law) const;
    ErrorCause drift(const TimingFit& law) const;
    ErrorCause delays(const TimingFit& law) const;
    double wandering(const TimingFit& law) const;
    double wandering_by_order(const TimingFit& law) const;
    double wandering_by_repetitions(const TimingFit& law) const;
    ErrorCause wandering_of(double height, const TimingFit& law) const;
    std::array<ErrorCause, 2> rounded_ridge(const TimingFit& law) const;
    ErrorCause disproportion_of_runs(const TimingFit& law) const;
    static ErrorCause misfit(const TimingFit& law);
    void mark_points_off(TimingFit& out) const;
    static void withdraw_where_most_are_off(TimingFit& out);
    std::string refusal() const;

    const Curve& curve_;
    InstructionKind kind_;
    const TimingFitOptions& options_;
    HullProblem problem_;
    LawSearch search_;
    std::vector<double> errors_;    // of the chosen fit's parameters, in the solver's own scale
    double hidden_drift_ = 0;       // not clear enough to be taken out
    double disproportion_ = 0;      // of long runs, relative
    double negative_overhead_ = 0;  // as fitted, where clear, in overhead_scale()
};

// The largest of three standard errors: from the covariance, which knows the residuals' size, from
// the bootstrap, which knows the repetitions' true distribution, and from leaving out shape by
// shape, which knows what the residuals have in common.
void Fitter::find_errors(const Attempt& best) {
    // Few points and no trusted spread: the residuals' scale itself is uncertain.
    const double widen =
        curve_.spread_known ? 1.0 : interval_factor(std::max(search_.freedom(best.variant), 1.0));
    const double dispersion = search_.dispersion(best);
    errors_.assign(hull_parameter_count, 0.0);
    for (std::size_t i = 0; i < hull_parameter_count; ++i)
        errors_[i] =
            std::sqrt((*best.result.covariance)[i * hull_parameter_count + i] * dispersion) * widen;
    const double clip = huber_constant * search_.scale();
    const auto take = [&](const std::optional<std::vector<double>>& others) {
        if (!others) return;
        for (std::size_t i = 0; i < hull_parameter_count; ++i)
            errors_[i] = std::max(errors_[i], (*others)[i]);
    };
    take(bootstrap_errors(curve_, best.result, clip));
    take(jackknife_errors(best.result, search_.shape_of_points(), clip));
    if (!best.variant.drift) allow_for_hidden_drift(best);
}

// A drift too small to be sure of still moves all times (widen_by_disturbances). In the order of
// the shapes it may hide in the law as well: errors are what they are with a drift free, and hold
// how far it would move each parameter.
void Fitter::allow_for_hidden_drift(const Attempt& best) {
    Attempt rough = best;
    rough.variant.drift = true;
    const Attempt drifting = search_.polish(rough);
    if (!drifting.converged() || !drifting.result.covariance) return;
    const double dispersion = search_.dispersion(drifting);
    const auto error = [&](std::size_t i) {
        return std::sqrt((*drifting.result.covariance)[i * hull_parameter_count + i] * dispersion);
    };
    const double drift = std::abs(drifting.result.parameters[drift_part]);
    if (drift > largest_drift) return;
    if (drift > 2 * error(drift_part)) hidden_drift_ = drift;
    if (!curve_.in_order) return;
    hidden_drift_ = drift + error(drift_part);
    for (std::size_t i = 0; i < drift_part; ++i) {
        const double moved = drifting.result.parameters[i] - best.result.parameters[i];
        errors_[i] = std::max(errors_[i], std::hypot(error(i), moved));
    }
}

// The criterion that chose the term takes points for independent, while what is wrong with a shape
// is common to its depths: a growth that its own error, which knows that, does not tell from none
// is none. What it would have moved stands in the errors.
void Fitter::drop_doubtful_growth(Attempt& best) {
    constexpr double clear = 3;
    if (!best.variant.contention) return;
    if (best.result.parameters[contention_part] > clear * errors_[contention_part]) return;
    Attempt plain = best;
    plain.variant.contention = false;
    plain.result.parameters[contention_part] = 0;
    plain = search_.polish(plain);
    if (!plain.converged() || !plain.result.covariance) return;
    const std::vector<double> with_growth = best.result.parameters;
    best = std::move(plain);
    find_errors(best);
    for (const HullParameter i : {log_cpi, log_latency})
        errors_[i] = std::max(errors_[i], std::abs(best.result.parameters[i] - with_growth[i]));
}

void Fitter::find_disproportion(const Attempt& best) {
    const HullParameters<double> p = problem_.physical(best.result.parameters);
    std::vector<double> once;
    for (const CurvePoint& point : curve_.points)
        once.push_back(p.overhead + (best.variant.regime == Regime::both
                                         ? p.group_overhead * point.shape.concurrent_groups
                                         : 0));
    disproportion_ = disproportion(curve_, once);
}

// No launch takes less than nothing: where the fitted one clearly does, the law paid with it for
// runs that are not in proportion to their depth. Errors hold what λ and Λ move by.
void Fitter::keep_launch_positive(Attempt& best) {
    constexpr double clear = 3;     // standard errors
    constexpr double least = 5e-3;  // of the shortest run
    const double overhead = best.result.parameters[overhead_part];
    if (options_.known_overhead_cycles || overhead > -clear * errors_[overhead_part]) return;
    negative_overhead_ = overhead;
    if (-overhead < least) return;
    disproportion_ = std::max(disproportion_, -overhead);
    Attempt positive = best;
    positive.variant.launch_costs = true;
    for (const HullParameter i : {overhead_part, group_overhead_part})
        positive.result.parameters[i] = std::max(positive.result.parameters[i], 0.0);
    positive = search_.polish(positive);
    if (!positive.converged() || !positive.result.covariance) return;
    const std::vector<double> before = best.result.parameters;
    best = std::move(positive);
    find_errors(best);
    for (const HullParameter i : {log_cpi, log_latency})
        errors_[i] = std::hypot(errors_[i], best.result.parameters[i] - before[i]);
}

// λ and Λ are fitted by their logarithms.
Estimate Fitter::positive(const Attempt& best, HullParameter parameter) const {
    Estimate e;
    e.value = std::exp(best.result.parameters[parameter]);
    e.std_error = e.value * errors_[parameter];
    e.error_terms = {{"scatter", *e.std_error}};
    return e;
}

Estimate Fitter::linear(const Attempt& best, HullParameter parameter, double unit) const {
    Estimate e;
    e.value = best.result.parameters[parameter] * unit;
    e.std_error = errors_[parameter] * unit;
    return e;
}

// Instructions in flight from which on the unit is full: Λ + h·(M−1) = M·λ. Where Λ grows by as
// much as λ it never is.
double ridge_of(const HullParameters<double>& p) {
    if (!(p.contention < p.cpi)) return std::numeric_limits<double>::infinity();
    return (p.latency - p.contention) / (p.cpi - p.contention);
}

Fitter::Verdict Fitter::decide() {
    Attempt law = search_.best_law();
    Attempt latency_half = search_.best_latency_half(law);
    Attempt throughput_half = search_.best_throughput_half(law.variant);
    const HullParameters<double> p = problem_.physical(law.result.parameters);
    const double ridge = ridge_of(p);
    const bool barrier = kind_ == InstructionKind::barrier;
    // A barrier's λ also shows before the ridge, in the wait for the group's other warps.
    const bool plateau = barrier || problem_.largest_in_flight() >= beyond_ridge * ridge;
    const bool bow = barrier || problem_.smallest_in_flight() * before_ridge <= ridge;
    Verdict out;
    out.latency_shows = law.converged() && bow && search_.beats(law, throughput_half);
    // Where the throughput-bound half does as well, it needs no ridge to say that the unit is busy.
    const bool busy = throughput_half.converged() && search_.beats(throughput_half, latency_half);
    out.cpi_shows = (busy && !out.latency_shows) ||
                    (law.converged() && plateau && search_.beats(law, latency_half));
    if (out.cpi_shows && out.latency_shows && !law.result.covariance) {
        out.cpi_shows = busy;
        out.latency_shows = !busy;
    }
    if (out.cpi_shows && out.latency_shows) {
        out.best = std::move(law);
    } else {
        out.best = search_.polish_determined(out.cpi_shows ? throughput_half : latency_half);
    }
    return out;
}

Estimate Fitter::cpi_of(const Verdict& verdict) const {
    if (verdict.cpi_shows) return positive(verdict.best, log_cpi);
    const Estimate latency = positive(verdict.best, log_latency);
    const double most = problem_.largest_in_flight();
    return {.value = (latency.value + 2 * *latency.std_error) / most,
            .kind = Estimate::Kind::upper_bound,
            .note = fmt::format("no plateau up to {} instructions in flight", most)};
}

Estimate Fitter::latency_of(const Verdict& verdict, const Estimate& cpi) const {
    const Attempt& best = verdict.best;
    if (verdict.latency_shows) return positive(best, log_latency);
    Estimate bound{.kind = Estimate::Kind::upper_bound};
    if (verdict.cpi_shows) {
        const double port = best.result.parameters[port_share];
        const HullShape& shape = problem_.smallest_shape();
        const int schedulers = best.variant.schedulers;
        const double work =
            step_work(port, problem_.smallest_in_flight(), uneven_in_flight(shape, schedulers)) *
            turns_excess(cpi.value, 0.0, port, shape, schedulers);
        bound.value = (cpi.value + 2 * *cpi.std_error) * work;
        bound.note = fmt::format("throughput-bound from {} instructions in flight",
                                 problem_.smallest_in_flight());
    } else {
        const Estimate latency = positive(best, log_latency);
        bound.value = latency.value + 2 * *latency.std_error;
        bound.note = "the data do not separate latency from throughput";
    }
    return bound;
}

TimingTerms Fitter::terms_of(const Attempt& best) const {
    const HullParameters<double> p = problem_.physical(best.result.parameters);
    const HullVariant& v = best.variant;
    TimingTerms terms;
    if (v.drift) terms.drift = linear(best, drift_part, 1.0);
    if (!options_.known_overhead_cycles)
        terms.overhead = linear(best, overhead_part, problem_.overhead_scale());
    if (v.loop && v.regime != Regime::throughput_only)
        terms.loop_latency = linear(best, loop_latency_part, p.latency);
    if (v.loop && v.regime != Regime::latency_only)
        terms.loop_cpi = linear(best, loop_cpi_part, p.cpi);
    if (v.regime == Regime::throughput_only) return terms;
    // A growth that is invisible with all instructions in flight counts as none.
    if (v.contention && p.contention * problem_.largest_in_flight() > 1e-3 * p.latency)
        terms.contention = linear(best, contention_part, p.latency);
    if (v.regime == Regime::latency_only) return terms;
    if (v.group_overhead)
        terms.group_overhead = linear(best, group_overhead_part, problem_.overhead_scale());
    if (v.knee) terms.knee = linear(best, knee_width, 1.0);
    return terms;
}

ScopeEvidence Fitter::scope_of(const Verdict& verdict) const {
    const Attempt& best = verdict.best;
    const HullParameters<double> p = problem_.physical(best.result.parameters);
    const HullVariant& v = best.variant;
    ScopeEvidence scope;
    // Ports that take as long as the subsystem itself (ρ = 1) are copies of it; to within 3 %,
    // since real plateaus scatter by more than their repetitions. A port that no place tells has
    // any error, but copies were tried before and fitted worse (LawSearch::prefer_copies).
    const double room = std::clamp(2 * errors_[port_share], 0.03, 0.1);
    const bool copies = v.schedulers > 1 && p.port + room >= 1;
    if (copies) scope.schedulers = v.schedulers;
    if (v.schedulers > 1 && !copies) scope.sharing_schedulers = v.schedulers;
    if (v.regime == Regime::both && v.ports && !copies && p.port > 3 * errors_[port_share] &&
        search_.ports_show(best)) {
        // IL = 1/(ρ·λ); its relative variance without the (small) covariance of the two.
        scope.port_limit.emplace();
        scope.port_limit->value = 1 / (p.port * p.cpi);
        scope.port_limit->std_error =
            scope.port_limit->value * std::hypot(errors_[port_share] / p.port, errors_[log_cpi]);
    }
    scope.copies_alike = search_.copies_alike(best);
    scope.may_be_turns = copies && search_.may_be_turns(best);
    if (copies) scope.port_share = search_.free_port_share(best);
    if (verdict.cpi_shows) scope.visible_copies = search_.visible_copies(best);
    return scope;
}

LawResiduals Fitter::residuals_of(const Attempt& best) const {
    LawResiduals law;
    law.residuals = best.result.residuals;
    law.residual_scale = search_.scale();
    for (std::size_t i = 0; i < law.residuals.size(); ++i) {
        law.predicted.push_back(problem_.predicted_cycles(best.variant, best.result.parameters, i));
        law.aside_cycles.push_back(problem_.aside_cycles(best.variant, best.result.parameters, i));
        if (std::abs(law.residuals[i]) > 5 * law.residual_scale) ++law.outlying_points;
    }
    law.misfit = misfit_of(best, law);
    return law;
}

std::optional<double> Fitter::runs_over_in_flight(const std::vector<double>& residuals) const {
    std::vector<std::size_t> order(residuals.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        const auto in_flight = [&](std::size_t i) {
            return curve_.points[i].shape.warps() * curve_.points[i].shape.chains;
        };
        return in_flight(a) < in_flight(b);
    });
    std::vector<double> ordered;
    ordered.reserve(order.size());
    for (const std::size_t i : order) ordered.push_back(residuals[i]);
    return runs_z(ordered);
}

// Misfit: what the residuals show beyond what the repetitions' spread promises, outlying points
// aside.
std::optional<Misfit> Fitter::misfit_of(const Attempt& best, const LawResiduals& law) const {
    if (!curve_.spread_known) {
        // One repetition each: nothing says how much is scatter, but so much is told by no law.
        double squares = 0;
        for (std::size_t i = 0; i < law.residuals.size(); ++i)
            squares += std::pow(law.residuals[i] * curve_.points[i].log_error, 2);
        const double size = std::sqrt(squares / static_cast<double>(law.residuals.size()));
        if (size < no_law_size) return std::nullopt;
        return Misfit{size, runs_over_in_flight(law.residuals)};
    }
    double shown = 0;
    double promised = 0;
    double kept = 0;
    for (std::size_t i = 0; i < law.residuals.size(); ++i) {
        if (std::abs(law.residuals[i]) > 5 * law.residual_scale) continue;
        const double e = curve_.points[i].log_error;
        shown += std::pow(law.residuals[i] * e, 2);
        promised += e * e;
        ++kept;
    }
    if (kept == 0) return std::nullopt;
    const std::optional<double> z = runs_over_in_flight(law.residuals);
    const bool too_large = search_.dispersion(best) > 1 + 4 * std::sqrt(2 / kept);
    const bool structured = z && *z < -3.3;  // p = 0.0005
    const double size = std::sqrt(std::max(shown - promised, 0.0) / kept);
    // Below a part in a thousand a structure may be real but does not matter.
    if (size < 1e-3 || (!too_large && !structured)) return std::nullopt;
    return Misfit{size, z};
}

// A half of the law that most points contradict is told by the few that are left. No step is
// shorter than Λ, whatever the law.
void Fitter::withdraw_where_most_are_off(TimingFit& out) {
    if (2 * static_cast<std::size_t>(out.outlying_points) <= out.residuals.size()) return;
    if (!out.latency.identifiable()) return;
    become_bound(out.latency, Estimate::Kind::upper_bound,
                 out.latency.value + 2 * *out.latency.std_error);
    out.latency.note = "the law does not hold: most points are far off it";
}

std::string Fitter::refusal() const {
    if (!options_.known_overhead_cycles && problem_.distinct_depths() < 2)
        return "all points have the same depth, so the overhead cannot be separated from the "
               "instructions: measure at least two depths, or give the "
               "overhead (--overhead CYCLES)";
    const std::size_t need = options_.known_overhead_cycles ? 2 : 3;
    if (curve_.points.size() < need)
        return fmt::format("{} usable points, at least {} are needed", curve_.points.size(), need);
    return {};
}

// Instructions that do not wait for each other: what stands for Λ in the law is a latency divided
// by however many of them one warp has under way, hence at most Λ.
void Fitter::withdraw_latency(TimingFit& out) const {
    Estimate& latency = out.latency;
    double least = latency.value;
    if (latency.identifiable() && latency.value > 4 * *latency.std_error)
        least -= 2 * *latency.std_error;
    become_bound(latency, Estimate::Kind::lower_bound, least);
    latency.note = nothing_waited;
    latency.doubts.clear();
    out.contention.reset();
}

// Whether steps are dealt to alternative machine instructions: together these make one step, and
// none of them every step. An instruction beside the measured one adds to a whole step.
bool alternates(const std::map<std::string, double>& chain) {
    constexpr double tolerance = 0.1;
    double all = 0;
    double most = 0;
    for (const auto& [name, number] : chain) {
        all += number;
        most = std::max(most, number);
    }
    return std::abs(all - 1) < tolerance && most < 1 - tolerance;
}

// The time from step to step is then a mean that no instruction has. λ stays: it is what code that
// is compiled so takes.
void leave_latency_open(TimingFit& out) {
    become_bound(out.latency, Estimate::Kind::undetermined, out.latency.value);
    out.latency.doubts.clear();
    out.latency.note = "steps are compiled to different machine instructions; this is their mean";
    out.contention.reset();
}

// One body length only: count, comparison and branch stand in λ and Λ in a fixed proportion to the
// steps, and no fit can tell them. Of the throughput each takes about as much as a measured
// instruction, and at most a cycle of the core; a chain they lengthen by no more than the cycles
// that the assembler counts behind them. All of that counts as one standard error.
ErrorCause Fitter::loop_control(const TimingFit& law) const {
    ErrorCause cause{.name = "loop_control"};
    if (problem_.separates_loop()) return cause;
    std::vector<std::string> parts;
    const auto widen = [&](const Estimate& e, ErrorCause::Effect& effect,
                           const std::optional<double>& most, const char* name) {
        if (!most || !e.identifiable()) return;
        effect.error = *most;
        if (*most >= 1e-3 * e.value)
            parts.push_back(fmt::format("{:.2g} % of {}", 100 * *most / e.value, name));
    };
    const auto share = curve_.loop_share;
    widen(law.cpi, cause.cpi, share ? std::optional(*share * std::min(law.cpi.value, 1.0)) : share,
          "λ");
    widen(law.latency, cause.latency, curve_.loop_stall, "Λ");
    if (!parts.empty())
        cause.note = fmt::format("only one loop body was measured: up to {} may be loop control",
                                 fmt::join(parts, " and "));
    return cause;
}

// A loop that costs less than nothing, or more than its instructions can: one of the two kernels is
// slower for another reason (instruction cache, register banks, alignment), and either may be the
// one that is right.
void Fitter::put_between_bodies(const Attempt& best, TimingFit& out) const {
    constexpr double reach = 1.5;  // standard errors to either end
    const SeveralBodies bodies = several_bodies(curve_);
    const HullParameters<double> p = problem_.physical(best.result.parameters);
    std::optional<TwoWays> cpi;
    std::optional<TwoWays> latency;
    if (out.loop_cpi)
        cpi = two_ways(p.cpi, *out.loop_cpi, most_loop_cpi(curve_, p.cpi),
                       bodies.longest * bodies.chains, bodies.shortest * bodies.chains);
    // A body of loads that do not wait for each other ends with a wait for the last of them.
    if (out.loop_latency && !curve_.independent)
        latency = two_ways(p.latency, *out.loop_latency, most_loop_latency(curve_), bodies.longest,
                           bodies.shortest);
    if ((!cpi || cpi->possible) && (!latency || latency->possible)) return;
    const auto widen = [&](Estimate& e, const TwoWays& ways, double fitted) {
        if (e.identifiable()) {
            e.value = ways.middle();
            add_error(e, "loop_bodies", ways.half() / reach);
        } else if (e.kind == Estimate::Kind::upper_bound) {
            e.value *= std::max(ways.high / fitted, 1.0);
        }
        out.bodies_apart = std::max(out.bodies_apart, ways.half() / ways.middle());
    };
    // What is a bound for want of its own half of the law is made of the other.
    widen(out.cpi, cpi ? *cpi : *latency, cpi ? p.cpi : p.latency);
    widen(out.latency, latency ? *latency : *cpi, latency ? p.latency : p.cpi);
    const double apart = std::max(cpi ? cpi->apart : 0, latency ? latency->apart : 0);
    const Doubt differ{Doubt::Kind::bodies_differ, apart};
    for (Estimate* e : {&out.cpi, &out.latency}) add_doubt(*e, differ);
    out.notes.push_back(doubt_text(differ) +
                        ", more than count, comparison and branch can cost: λ and Λ lie between "
                        "what either says");
    out.common_error = std::hypot(out.common_error, out.bodies_apart / reach);
    out.loop_cpi.reset();
    out.loop_latency.reset();
    std::vector<double> without_loop = best.result.parameters;
    without_loop[loop_latency_part] = without_loop[loop_cpi_part] = 0;
    for (std::size_t i = 0; i < out.aside_cycles.size(); ++i)
        out.aside_cycles[i] = problem_.aside_cycles(best.variant, without_loop, i);
}

// The law's share of a start skew is right to about a fifth of the skew (virtual_gpu_test: up to 5
// % of the run, six instructions), and wrong by the same for all points.
ErrorCause Fitter::start_skew(const TimingFit& law) const {
    constexpr double doubt = 0.2;
    if (!problem_.skewed()) return {};
    double part = 0;
    for (const CurvePoint& p : curve_.points)
        part += p.skew / p.cycles / static_cast<double>(curve_.points.size());
    ErrorCause cause = cause_of_both("start_skew", doubt * part, law);
    cause.note =
        fmt::format("warps started at different times, by {:.2g} % of the run", 100 * part);
    return cause;
}

// A disturbance of all points alike shifts λ and Λ as a whole and leaves no residual. It is unknown
// which end of the run was right: both are 1.5 standard errors away.
ErrorCause Fitter::drift(const TimingFit& law) const {
    if (!law.drift && !curve_.drift) return cause_of_both("drift", hidden_drift_ / 3, law);
    const double drift = law.drift ? law.drift->value : *curve_.drift;
    // Where instructions were measured one after the other as well, the ends are further away.
    const double reach = curve_.in_order ? curve_.reach : 0.5;
    const double half = std::min(reach * std::abs(drift), largest_drift);
    ErrorCause cause = cause_of_both("drift", half / 1.5, law);
    cause.cpi.bound_factor = cause.latency.bound_factor = std::exp(half);
    cause.note = fmt::format("times drift by {:.2g} % over the run{}", 100 * drift,
                             law.drift ? "; λ and Λ are those of its middle" : "");
    // In order, a drift and an effect of occupancy look alike: what was taken out may be either.
    if (law.drift && curve_.in_order)
        cause.cpi.doubt = cause.latency.doubt =
            Doubt{Doubt::Kind::drifts_in_order, law.drift->value};
    return cause;
}

// Half way between the medians and the undisturbed time that delays alone would mean.
ErrorCause Fitter::delays(const TimingFit& law) const {
    if (!curve_.lift) return {};
    const double half = 0.5 * *curve_.lift;
    ErrorCause cause = cause_of_both("delays", half, law);
    cause.cpi.factor = cause.latency.factor = std::exp(-half);
    cause.note = fmt::format(
        "repetitions scatter only to longer times; the shortest are {:.2g} % lower than their "
        "medians, with as much error",
        100 * half);
    return cause;
}

// In the order of measuring, residuals of neighbours.
double Fitter::wandering_by_order(const TimingFit& law) const {
    const double clip = 3 * search_.scale();
    std::vector<TimedResidual> residuals;
    for (std::size_t i = 0; i < law.residuals.size(); ++i)
        residuals.push_back(
            {curve_.points[i].place, i,
             -std::clamp(law.residuals[i], -clip, clip) * curve_.points[i].log_error});
    return wandering_height(std::move(residuals));
}

// Repetitions taken one after the other show how fast times change. A drift that went on so would
// show over the run as well; where it does not, or where the points' own slopes differ, times go to
// and fro, and points differ by more than their repetitions. Teeth of a few points each are told by
// nothing else. Where points do differ by more, less of a common slope is enough.
double Fitter::wandering_by_repetitions(const TimingFit& law) const {
    if (!curve_.slope) return 0;
    const RepetitionSlope& slope = *curve_.slope;
    const double clip = 3 * search_.scale();
    const auto n = static_cast<double>(law.residuals.size());
    double standardised = 0;
    double between = 0;  // variance of points beyond that of their repetitions
    for (std::size_t i = 0; i < law.residuals.size(); ++i) {
        const double square = std::pow(std::clamp(law.residuals[i], -clip, clip), 2);
        standardised += square / n;
        between += (square - 1) * std::pow(curve_.points[i].log_error, 2) / n;
    }
    const bool apart = standardised > 1 + 4 * std::sqrt(2 / n);
    const double steady = law.drift ? law.drift->value : 0;
    const double error =
        std::hypot(slope.std_error, law.drift ? law.drift->std_error.value_or(0) : 0);
    double rate = std::abs(slope.over_run - steady);
    if (rate < (apart ? 3 : 5) * error) rate = 0;
    constexpr double more_than_steady = 1.5;
    if (slope.of_points > more_than_steady * std::abs(steady))
        rate = std::max(rate, slope.of_points);
    if (rate == 0) return 0;
    const double within = rate * slope.span;
    return std::sqrt(12 * std::max(between, 0.0) + within * within);
}

double Fitter::wandering(const TimingFit& law) const {
    if (curve_.in_order) return 0;
    return std::max({wandering_by_order(law), wandering_by_repetitions(law), options_.wandering});
}

// Either end of a drift to and fro may be right, as with a steady drift: half of its height stands
// in the errors.
ErrorCause Fitter::wandering_of(double height, const TimingFit& law) const {
    if (height == 0) return {};
    ErrorCause cause = cause_of_both("wandering", height / 2, law);
    cause.cpi.bound_factor = cause.latency.bound_factor = std::exp(height / 2);
    cause.note = fmt::format(
        "times drift to and fro by {:.2g} % in the course of the run; λ and Λ are means over it",
        100 * height);
    return cause;
}

// The p-norm is one way to round a ridge; how much it takes off the hull's two ends is as uncertain
// as that. A part of the mean rounding on a parameter's own side stands in its error
// (docs/background/accuracy.md: service times that vary). Where the sweep ends on the round part, λ
// is what the p-norm makes of it.
std::array<ErrorCause, 2> Fitter::rounded_ridge(const TimingFit& law) const {
    std::array<ErrorCause, 2> causes{ErrorCause{.name = "rounded_ridge"},
                                     ErrorCause{.name = "rounded_end"}};
    if (!law.knee || !law.cpi.identifiable() || !law.latency.identifiable()) return causes;
    // Before and beyond the ridge; a growth of Λ bends the same places.
    const std::array doubt{law.contention ? 1.0 : 0.8, law.contention ? 0.5 : 0.25};
    std::array<double, 2> rounding{};
    std::array<double, 2> places{};
    double least = std::numeric_limits<double>::infinity();  // beyond the ridge
    for (const CurvePoint& p : curve_.points) {
        const double m = static_cast<double>(p.shape.warps()) * p.shape.chains;
        const double growth = law.contention ? law.contention->value * (m - 1) : 0;
        const double alone = law.latency.value + growth;
        const double work = law.cpi.value * m;
        const std::size_t side = work > alone ? 1 : 0;
        const double off =
            std::log(smooth_max(alone, work, law.knee->value) / std::max(alone, work));
        rounding[side] += off;
        places[side] += 1;
        if (side == 1) least = std::min(least, off);
    }
    const auto error_of = [&](std::size_t side, const Estimate& e) {
        return places[side] > 0 ? doubt[side] * rounding[side] / places[side] * e.value : 0;
    };
    causes[0].latency.error = error_of(0, law.latency);
    causes[0].cpi.error = error_of(1, law.cpi);
    if (places[1] > 0) causes[1].cpi.error = least * law.cpi.value;
    return causes;
}

// A clock that sinks gradually with a run's length does so by 2.3 times what lies between two
// lengths of which one is four times the other, at most; one that steps, by that.
ErrorCause Fitter::disproportion_of_runs(const TimingFit& law) const {
    constexpr double gradual = 3;
    if (disproportion_ == 0) return {};
    const Doubt doubt{Doubt::Kind::out_of_proportion, disproportion_};
    ErrorCause cause = cause_of_both("disproportion", gradual / 2 * disproportion_, law);
    cause.cpi.doubt = cause.latency.doubt = doubt;
    cause.note = doubt_text(doubt) + ": long runs are slower, or short ones end too early";
    return cause;
}

// Where the law does not fit, its parameters are no better known than it fits, and every place that
// prints them says so.
ErrorCause Fitter::misfit(const TimingFit& law) {
    if (!law.misfit || law.misfit->relative_size < no_law_size) return {};
    const double size = law.misfit->relative_size;
    const auto effect = [&](const Estimate& e) -> ErrorCause::Effect {
        if (!e.identifiable()) return {};
        return {.least = 0.5 * size * e.value, .doubt = Doubt{Doubt::Kind::law_misses, size}};
    };
    return {.name = "misfit", .cpi = effect(law.cpi), .latency = effect(law.latency)};
}

// The misfit above leaves out what is further off. Where that is a twentieth of all points, every
// place that prints the values says so; their errors know it already.
void Fitter::mark_points_off(TimingFit& out) const {
    const auto points = out.residuals.size();
    if (20 * static_cast<std::size_t>(out.outlying_points) < points) return;
    double squares = 0;
    for (std::size_t i = 0; i < points; ++i)
        if (std::abs(out.residuals[i]) > 5 * out.residual_scale)
            squares += std::pow(out.residuals[i] * curve_.points[i].log_error, 2);
    const double size = std::sqrt(squares / out.outlying_points);
    if (size < no_law_size) return;
    for (Estimate* e : {&out.cpi, &out.latency})
        if (!is_doubtful(*e))
            add_doubt(*e, {Doubt::Kind::law_misses, size},
                      fmt::format(" at {} of {} points", out.outlying_points, points));
}

TimingFit Fitter::run() {
    TimingFit out;
    out.subject = curve_.subject;
    out.reason = refusal();
    if (!out.reason.empty()) return out;
    Verdict verdict = decide();
    const LeastSquaresSummary& result = verdict.best.result;
    if (!result.converged || !result.covariance) {
        out.reason = result.converged ? "the data determine neither λ nor Λ (singular fit)"
                                      : "the fit did not converge: " + result.message;
        return out;
    }
    find_errors(verdict.best);
    drop_doubtful_growth(verdict.best);
    find_disproportion(verdict.best);
    keep_launch_positive(verdict.best);
    out.ok = true;
    out.cpi = cpi_of(verdict);
    out.latency = latency_of(verdict, out.cpi);
    static_cast<TimingTerms&>(out) = terms_of(verdict.best);
    static_cast<ScopeEvidence&>(out) = scope_of(verdict);
    static_cast<LawResiduals&>(out) = residuals_of(verdict.best);
    if (out.outlying_points > 0)
        out.notes.push_back(fmt::format("{} of {} points are more than five standard errors off",
                                        out.outlying_points, out.residuals.size()));
    if (out.misfit) {
        const double percent = 100 * out.misfit->relative_size;
        out.notes.push_back(
            curve_.spread_known
                ? fmt::format("systematic misfit of {:.2g} % beyond the repetitions' spread",
                              percent)
                : fmt::format("the law misses the points by {:.2g} %", percent));
    }
    withdraw_where_most_are_off(out);
    put_between_bodies(verdict.best, out);
    out.wandering = wandering(out);
    const auto [ridge, end] = rounded_ridge(out);
    const std::array causes{loop_control(out),
                            start_skew(out),
                            drift(out),
                            delays(out),
                            wandering_of(out.wandering, out),
                            ridge,
                            end,
                            disproportion_of_runs(out),
                            misfit(out)};
    apply_causes(causes, out);
    mark_points_off(out);
    if (negative_overhead_ < 0)
        out.notes.push_back(
            fmt::format("the fitted overhead is negative ({:.3g} cycles): time "
                        "does not grow in proportion to depth",
                        negative_overhead_ * problem_.overhead_scale()));
    if (curve_.independent)
        withdraw_latency(out);
    else if (alternates(curve_.chain))
        leave_latency_open(out);
    if (curve_.rows_at_another_clock > 0)
        out.notes.push_back(
            fmt::format("{} rows with another core clock than the rest are kept: only "
                        "the core's own cycles count",
                        curve_.rows_at_another_clock));
    if (curve_.warm_up)
        out.notes.push_back(
            fmt::format("first repetitions take {:.2g} % longer than the others: the device warms "
                        "up in each point, and they do not count",
                        100 * *curve_.warm_up));
    if (curve_.wild >= many_wild) {
        out.notes.push_back(
            fmt::format("{:.0f} % of the repetitions are far off their points' medians: something "
                        "else ran, or the times are of two kinds",
                        100 * curve_.wild));
        for (Estimate* e : {&out.cpi, &out.latency})
            add_doubt(*e, {Doubt::Kind::far_off, curve_.wild});
    }
    if (curve_.from_seconds) out.notes.emplace_back("cycles are event time x clock");
    if (!curve_.spread_known)
        out.notes.emplace_back(
            "one repetition per point: standard errors come from the fit's residuals");
    return out;
}

// The time that drifting warps would have taken together depends on λ and Λ, and these on that
// time: in turn, until they stay.
TimingFit fit_drifting(const Curve& curve, InstructionKind kind, const TimingFitOptions& options) {
    constexpr int rounds = 8;
    constexpr double settled = 1e-4;
    constexpr double worth_a_note = 0.02;
    constexpr double doubt = 0.1;  // of what is reckoned out, common to all places
    std::optional<TimingFit> last = first_guess(curve);
    if (!last || stops_are_the_placements(curve, *last)) return Fitter(curve, kind, options).run();
    const auto schedulers = [seen = schedulers_seen(curve)](const TimingFit& of) {
        return seen > 1 ? seen : std::max(of.schedulers, 1);
    };
    TimingFit fit;
    for (int round = 0; round < rounds; ++round) {
        auto factors = together_over_measured(curve, *last, schedulers(*last));
        const Curve together = as_if_together(curve, factors);
        fit = Fitter(together, kind, options).run();
        fit.together = std::move(factors);
        if (!fit.ok) return fit;
        const bool stays = std::abs(fit.cpi.value / last->cpi.value - 1) < settled &&
                           std::abs(fit.latency.value / last->latency.value - 1) < settled;
        if (stays) break;
        last = fit;
    }
    double most = 0;
    double sum = 0;
    double busy = 0;
    const double ridge = fit.latency.value / fit.cpi.value;
    for (std::size_t i = 0; i < fit.predicted.size(); ++i) {
        const double factor = fit.together[i].value_or(1);
        const MeasurementShape& shape = curve.points[i].shape;
        most = std::max(most, 1 - factor);
        fit.predicted[i] /= factor;
        if (shape.warps() * shape.chains < ridge) continue;
        sum += 1 - factor;
        busy += 1;
    }
    if (fit.cpi.std_error && busy > 0)
        add_error(fit.cpi, "drifting_warps", doubt * sum / busy * fit.cpi.value);
    if (most > worth_a_note && fit.latency.identifiable()) {
        const auto factors =
            together_over_measured(curve, fit, schedulers(fit), StepOfTurns::share_of_warps);
        const TimingFit other = Fitter(as_if_together(curve, factors), kind, options).run();
        if (other.ok && other.latency.identifiable())
            add_error(fit.latency, "drifting_warps", other.latency.value - fit.latency.value);
    }
    // Checkpointed kernels have the long body alone.
    if (most > worth_a_note && fit.cpi.identifiable() && fit.bodies_apart == 0)
        if (const auto window = cpi_of_windows(curve, fit, schedulers(fit));
            window && *window->std_error < *fit.cpi.std_error)
            fit.cpi = {.value = window->value,
                       .std_error = window->std_error,
                       .note = "from the windows in which all warps ran",
                       .error_terms = {{"windows", *window->std_error}}};
    if (most > worth_a_note)
        fit.notes.push_back(
            fmt::format("warps drift apart: up to {:.2g} % of a run's time is some warps' alone, "
                        "and reckoned out by when each stopped",
                        100 * most));
    return fit;
}

// Numbers of a law that misses by half the time and more mean nothing, whatever their errors.
void refuse_large_misfit(TimingFit& fit) {
    constexpr double hopeless = 0.5;
    if (!fit.ok || !fit.misfit || fit.misfit->relative_size < hopeless) return;
    fit.ok = false;
    fit.reason = fmt::format("{} {:.2g} %: are cycles counted in few bits, or in several units?",
                             sentence_of(Doubt::Kind::law_misses), 100 * fit.misfit->relative_size);
}

// Whether no place is faster than k copies would be of which one step of one warp fills each: the
// fullest scheduler's warps take ⌈W/k⌉ of those steps at least, in whatever order.
bool may_be_copies(const Curve& curve, const TimingFit& fit, int k) {
    constexpr double room = 0.97;
    return std::ranges::none_of(step_times(curve), [&](const StepTime& step) {
        const double fullest = std::ceil(step.place.shape.warps() / static_cast<double>(k));
        return step.cycles.value + 3 * *step.cycles.std_error <
               room * fullest * step.place.shape.chains * fit.latency.value;
    });
}

// Where the number of copies is not known, one warp's step may be λ of a copy, which Λ may be
// below, and the law may have had another number of copies: its λ is one that no place reached.
void bound_by_unknown_copies(const Curve& curve, TimingFit& fit) {
    constexpr double near = 0.05;
    constexpr double most_copies = 16;
    constexpr double beyond_reach = 1.03;
    const double ridge = fit.latency.value / fit.cpi.value;
    const double copies = std::round(ridge);
    if (fit.latency.identifiable() && copies >= 2 && copies <= most_copies &&
        std::abs(ridge / copies - 1) < near &&
        may_be_copies(curve, fit, static_cast<int>(copies))) {
        become_bound(fit.latency, Estimate::Kind::upper_bound,
                     fit.latency.value + 2 * *fit.latency.std_error);
        add_note(fit.latency,
                 fmt::format("one warp's step may be λ of one of {:g} copies", copies));
    }
    if (std::max(fit.schedulers, fit.sharing_schedulers) > 1 && fit.cpi.identifiable() &&
        fit.reached_cpi && *fit.reached_cpi > beyond_reach * fit.cpi.value) {
        become_bound(fit.cpi, Estimate::Kind::upper_bound, *fit.reached_cpi);
        add_note(fit.cpi, "the number of copies is not known, and no place reached their λ");
    }
}

// Of drifting warps the fuller schedulers' longer time looks like drift where nobody recorded which
// warps were theirs: a staircase may be what was not reckoned out, and none what was.
void leave_scope_open(const Curve& curve, TimingFit& fit) {
    const bool placed =
        std::ranges::any_of(curve.points, [](const CurvePoint& p) { return p.busiest > 0; });
    // What an unlike kernel takes longer may look like a staircase or a port.
    constexpr double like_a_step = 0.01;
    const bool unlike = fit.bodies_apart > like_a_step;
    if (unlike) fit.port_limit.reset();
    if (unlike && !placed) {
        fit.schedulers = fit.sharing_schedulers = 1;
        fit.visible_copies.clear();
    } else if (!fit.together.empty() && !placed) {
        bound_by_unknown_copies(curve, fit);
        fit.schedulers = fit.sharing_schedulers = 1;
        fit.port_limit.reset();
        fit.visible_copies.clear();
    } else if (fit.copies_alike.size() > 1 && fit.schedulers > 1) {
        const auto [fewest, most] = std::ranges::minmax(fit.copies_alike);
        const double per_copy = fit.cpi.value * fit.schedulers;
        const double most_of_one =
            (per_copy + 2 * fit.cpi.std_error.value_or(0) * fit.schedulers) / fewest;
        become_bound(fit.cpi, Estimate::Kind::upper_bound,
                     fit.cpi.identifiable() ? most_of_one : fit.cpi.value);
        add_note(fit.cpi, fmt::format("{} to {} copies of {:.4g} cycles each fit alike", fewest,
                                      most, per_copy));
        fit.schedulers = fit.sharing_schedulers = 1;
        fit.port_limit.reset();
        fit.visible_copies.clear();
    } else if (fit.may_be_turns && fit.schedulers > 1) {
        fit.sharing_schedulers = std::exchange(fit.schedulers, 1);
        std::erase(fit.visible_copies, fit.sharing_schedulers);
        fit.notes.emplace_back(
            "its staircase may be that of copies or of one unit that schedulers share in turn: "
            "scope undecided");
    }
}

void scale(CurvePoint& point, double factor) {
    point.cycles *= factor;
    for (double& cycles : point.repetitions) cycles *= factor;
    for (auto core : {&CurvePoint::least_core, &CurvePoint::lower_quartile,
                      &CurvePoint::upper_quartile, &CurvePoint::greatest_core})
        if (point.*core) *(point.*core) *= factor;
}

}  // namespace

Curve steps_alone(const Curve& curve, const TimingFit& fit) {
    Curve out = fit.together.empty() ? curve : as_if_together(curve, fit.together);
    if (fit.drift)
        for (CurvePoint& point : out.points)
            scale(point, std::exp(-fit.drift->value * point.place));
    Curve whole = out;
    for (std::size_t i = 0; i < fit.aside_cycles.size(); ++i) {
        CurvePoint& point = out.points[i];
        const double drifted = fit.drift ? std::exp(fit.drift->value * point.place) : 1;
        const double aside = fit.aside_cycles[i] / drifted;
        const double steps = point.cycles - aside;
        if (!(steps > 0)) return whole;
        point.log_error *= point.cycles / steps;
        for (double& cycles : point.repetitions) cycles -= aside;
        for (auto core : {&CurvePoint::least_core, &CurvePoint::lower_quartile,
                          &CurvePoint::upper_quartile, &CurvePoint::greatest_core})
            if (point.*core) *(point.*core) -= aside;
        point.cycles = steps;
    }
    return out;
}

void widen_by_two_kinds(double factor, Doubt::Kind kind, Estimate& e) {
    add_doubt(e, {kind, factor - 1});
    if (e.identifiable())
        add_error(e, to_string(kind), 0.5 * std::log(factor) * e.value);
    else if (e.kind == Estimate::Kind::upper_bound)
        e.value *= factor;
    else if (e.kind == Estimate::Kind::lower_bound)
        e.value /= factor;
}

TimingFit fit_timing(const Curve& curve, InstructionKind kind, const TimingFitOptions& options) {
    if (curve.points.empty()) {
        TimingFit none;
        none.subject = curve.subject;
        none.reason = curve.rows == 0 ? "no rows"
                                      : fmt::format("no usable row of {}: {}", curve.rows,
                                                    curve.rejection_summary());
        return none;
    }
    TimingFit fit = tells_drift(curve, kind) ? fit_drifting(curve, kind, options)
                                             : Fitter(curve, kind, options).run();
    const Curve steps = steps_alone(curve, fit);
    refuse_large_misfit(fit);
    check_plateau(steps, kind, fit);
    leave_scope_open(curve, fit);
    if (!curve.independent) check_against_physics(steps, kind, fit);
    if (const auto spread = spread_over_cores(steps); spread && fit.ok)
        fit.notes.push_back(*spread);
    return fit;
}

}  // namespace occupipe
