// SPDX-License-Identifier: MIT
#include "fit/laws/model_selection.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <set>

#include "core/statistics.h"
#include "fit/statistics.h"

namespace occupipe {
namespace {

// What an added term must gain in the information criterion.
constexpr double term_margin = 4;
constexpr double growth_margin = 8;
// The same for a staircase, of which fifteen periods compete.
constexpr double staircase_margin = 8;
// What the law must gain over one of its halves in χ²: one-sided level of Student's t, 12.4
// standard errors at three degrees of freedom.
constexpr double evidence_level = 0.00057;
// Relative change of cost at which a fit is good enough to start another, to be compared, and to
// be reported.
constexpr double first_steps = 1e-3;
constexpr double comparable = 3e-5;
constexpr double reportable = 1e-13;

// Reporting a growth of Λ, or ports, that do not exist is worse than missing them.
double margin_of(const HullVariant& wide, const HullVariant& narrow) {
    if (wide.contention && !narrow.contention) return growth_margin;
    if (wide.ports && !narrow.ports) return staircase_margin;
    return term_margin;
}

// What schedulers do to a curve shows where it changes so much of the time at so many points.
constexpr double clear_change = 0.02;
constexpr int fewest_changed = 3;

constexpr double rounded_start = 0.05;     // knee, on the way to the sharp one or a free one
constexpr double contention_start = 1e-3;  // part of Λ
// A term whose predicted gain in χ² is below this part of what it must gain is not worth a fit.
constexpr double hopeless = 0.25;

// The number of each point's shape: all depths of a shape share what is wrong with it.
std::vector<std::size_t> number_shapes(const Curve& curve) {
    std::vector<std::size_t> out;
    for (std::size_t i = 0; i < curve.points.size(); ++i) {
        const auto place = [&](std::size_t at) {
            const CurvePoint& p = curve.points[at];
            return PointPlace{p.shape, p.busiest, p.bytes_in_flight, p.body};
        };
        const bool same = i > 0 && place(i - 1).same_but_depth(place(i));
        out.push_back(i == 0 ? 0 : out.back() + (same ? 0 : 1));
    }
    return out;
}

}  // namespace

LawSearch::LawSearch(const Curve& curve, const HullProblem& problem,
                     const TimingFitOptions& options)
    : curve_(curve), problem_(problem), options_(options), shape_(number_shapes(curve)) {}

Attempt LawSearch::attempt_from(const HullVariant& variant, std::vector<double> start,
                                double tolerance) const {
    LeastSquaresOptions options;
    options.want_covariance = false;
    options.tolerance = tolerance;
    const double clip = huber_constant * scale_;
    return {variant, solve(problem_.problem(variant, std::move(start), clip), options)};
}

// The sharp ridge has flat directions far from the solution, so the first steps go on a rounded
// one, whose gradient sees every parameter.
Attempt LawSearch::attempt(const HullVariant& variant) const {
    std::vector<double> start = problem_.start(variant);
    if (variant.regime == Regime::both && !variant.knee) {
        start[knee_width] = rounded_start;
        Attempt rounded = attempt_from(variant, start, first_steps);
        if (rounded.converged()) start = rounded.result.parameters;
        start[knee_width] = 0;
    }
    return attempt_from(variant, std::move(start), comparable);
}

Attempt LawSearch::polish(const Attempt& rough) const {
    LeastSquaresOptions options;
    options.tolerance = reportable;
    const double clip = huber_constant * scale_;
    return {rough.variant,
            solve(problem_.problem(rough.variant, rough.result.parameters, clip), options)};
}

Attempt LawSearch::polish_determined(const Attempt& rough) const {
    Attempt out = polish(rough);
    if (out.result.covariance || !rough.variant.ports) return out;
    Attempt plain = rough;
    plain.variant.ports = false;
    plain.variant.schedulers = 1;
    plain.result.parameters[port_share] = 0;
    plain = polish(plain);
    return plain.result.covariance ? plain : out;
}

std::size_t LawSearch::parameters(const HullVariant& variant) const {
    return variant.free_parameters(options_.known_overhead_cycles.has_value());
}

double LawSearch::freedom(const HullVariant& variant) const {
    return static_cast<double>(curve_.points.size()) - static_cast<double>(parameters(variant));
}

// Where residuals are larger than their errors promise (a law that misses, errors that were too
// optimistic), the loss must clip correspondingly later.
void LawSearch::set_scale(const Attempt& attempt) {
    std::vector<double> away;
    for (const double r : attempt.result.residuals) away.push_back(std::abs(r));
    const double n = static_cast<double>(away.size());
    const double correction = std::sqrt(n / std::max(freedom(attempt.variant), 1.0));
    scale_ = std::max(normal_mad * median(std::move(away)) * correction,
                      curve_.spread_known ? 1.0 : 1e-3);
}

double LawSearch::dispersion(const Attempt& attempt) const {
    const double shown = huber_variance(attempt.result.residuals, huber_constant * scale_,
                                        parameters(attempt.variant))
                             .value_or(1.0);
    return curve_.spread_known ? std::max(shown, 1.0) : shown;
}

// Residuals of one shape that are alike are not as many as there are depths: what a term explains
// of one it explains of all. The design effect 1 + (m − 1)·ρ of m depths with the intraclass
// correlation ρ (L. Kish, "Survey Sampling", 1965), where ρ is clear of nothing.
double LawSearch::design_effect(const Attempt& attempt) const {
    constexpr double clear = 2;  // standard errors of ρ
    const std::vector<double>& residuals = attempt.result.residuals;
    if (residuals.size() != shape_.size()) return 1;
    const double clip = huber_constant * scale_;
    double squares = 0;
    double products = 0;
    double pairs = 0;
    for (std::size_t begin = 0, end = 0; begin < residuals.size(); begin = end) {
        double sum = 0;
        double own = 0;
        for (end = begin; end < residuals.size() && shape_[end] == shape_[begin]; ++end) {
            const double r = std::clamp(residuals[end], -clip, clip);
            sum += r;
            own += r * r;
        }
        const auto m = static_cast<double>(end - begin);
        squares += own;
        products += (sum * sum - own) / 2;
        pairs += m * (m - 1) / 2;
    }
    const auto n = static_cast<double>(residuals.size());
    if (!(squares > 0) || pairs == 0) return 1;
    const double correlation = products / pairs / (squares / n);
    if (correlation < clear / std::sqrt(pairs)) return 1;
    return 1 + 2 * pairs / n * std::min(correlation, 1.0);
}

// In comparisons of laws: what χ² is in units of.
double LawSearch::noise(const Attempt& attempt) const {
    return dispersion(attempt) * design_effect(attempt);
}

// Quasi-AICc (K. P. Burnham and D. R. Anderson, "Model selection and multimodel inference", 2002).
double LawSearch::criterion(const Attempt& attempt, double dispersion) const {
    return aicc(attempt.chi_square() / dispersion, parameters(attempt.variant),
                curve_.points.size())
        .value_or(std::numeric_limits<double>::infinity());
}

// Some warps split unevenly, and there is more than one step to climb. Recorded placements that
// show k schedulers leave no doubt about their number.
bool LawSearch::shows_staircase(int schedulers) const {
    const int seen = schedulers_seen(curve_);
    if (seen > 1 && schedulers != seen) return false;
    bool uneven = false;
    std::set<int> steps;
    for (const CurvePoint& p : curve_.points) {
        const int warps = p.shape.warps();
        const int fullest = p.busiest > 0 ? p.busiest : (warps + schedulers - 1) / schedulers;
        uneven |= warps > 1 && fullest * schedulers != warps;
        steps.insert(fullest);
    }
    return uneven && steps.size() > 1;
}

std::vector<int> LawSearch::visible_copies(const Attempt& law) const {
    constexpr double sure = 25;  // of χ²: five standard errors
    const HullParameters<double> plain = problem_.physical(law.result.parameters);
    std::vector<int> out;
    for (const int k : candidates()) {
        if (!shows_staircase(k)) continue;
        HullVariant copies = law.variant;
        copies.ports = copies.shared = false;
        copies.schedulers = k;
        HullVariant none = copies;
        none.schedulers = 1;
        std::vector<double> parameters = law.result.parameters;
        parameters[port_share] = 1;
        int shows = 0;
        double weights = 0;
        double mean = 0;
        double squares = 0;
        for (std::size_t i = 0; i < curve_.points.size(); ++i) {
            const double more = std::log(problem_.predicted_cycles(copies, parameters, i) /
                                         problem_.predicted_cycles(none, parameters, i));
            shows += more > clear_change;
            const CurvePoint& p = curve_.points[i];
            if (plain.cpi * p.shape.warps() * p.shape.chains < plain.latency) continue;
            const double weight = 1 / (p.log_error * p.log_error);
            weights += weight;
            mean += weight * more;
            squares += weight * more * more;
        }
        // Another λ makes up for what all places on the plateau have in common.
        const double gain = weights > 0 ? (squares - mean * mean / weights) / noise(law) : 0;
        if (shows >= fewest_changed && gain > sure) out.push_back(k);
    }
    return out;
}

// Ports that lengthen no run are told by the turns of schedulers alone, whose law is not exact
// where a port is nearly full.
bool LawSearch::ports_show(const Attempt& law) const {
    std::vector<double> without = law.result.parameters;
    without[port_share] = 0;
    int shows = 0;
    for (std::size_t i = 0; i < curve_.points.size(); ++i)
        shows += problem_.predicted_cycles(law.variant, law.result.parameters, i) >
                 (1 + clear_change) * problem_.predicted_cycles(law.variant, without, i);
    return shows >= fewest_changed;
}

// Numbers of schedulers to try: what the placements show, else the options'.
std::vector<int> LawSearch::candidates() const {
    const int seen = schedulers_seen(curve_);
    return seen > 1 ? std::vector{seen} : options_.schedulers;
}

// The candidates with the most to gain over `fit`, best first. Every number of copies from 2 to 16
// costs one evaluation, the best few a fit.
std::vector<HullVariant> LawSearch::promising(const Attempt& fit, bool shared,
                                              std::size_t most) const {
    std::vector<std::pair<double, HullVariant>> gains;
    const double shown = dispersion(fit);
    const ScoreTest test(fit, huber_constant * scale_);
    for (const int k : candidates()) {
        if (!shows_staircase(k)) continue;
        HullVariant variant = fit.variant;
        variant.schedulers = k;
        variant.ports = false;
        variant.shared = shared;
        if (k == fit.variant.schedulers && shared == fit.variant.shared && !fit.variant.ports)
            continue;
        std::vector<double> start = fit.result.parameters;
        start[port_share] = variant.port_start();
        const double gain = predicted_gain(test, fit, variant, start);
        if (gain > staircase_margin * hopeless * shown) gains.emplace_back(-gain, variant);
    }
    std::ranges::stable_sort(gains, {}, [](const auto& g) { return g.first; });
    std::vector<HullVariant> out;
    for (const auto& [gain, variant] : gains)
        if (out.size() < most) out.push_back(variant);
    return out;
}

// A latency below what one warp of a copy takes shows at no place, and no gradient leads back from
// there; and the loop's cost by a law without copies is whatever makes up for their staircase. Then
// once more from what the ends of the curve take.
Attempt LawSearch::attempt_near(const HullVariant& variant, const Attempt& from) const {
    std::vector<double> start = from.result.parameters;
    start[port_share] = variant.port_start();
    Attempt near = attempt_from(variant, std::move(start), comparable);
    if (near.converged() && !variant.loop && !hides_latency(near)) return near;
    Attempt afresh = attempt(variant);
    if (!afresh.converged()) return near;
    return !near.converged() || afresh.chi_square() < near.chi_square() ? afresh : near;
}

bool LawSearch::hides_latency(const Attempt& attempt) const {
    const HullParameters<double> p = problem_.physical(attempt.result.parameters);
    const HullShape& least = problem_.smallest_shape();
    const double uneven = uneven_in_flight(least, attempt.variant.schedulers);
    return p.latency <= p.cpi * step_work(p.port, least.in_flight(), uneven);
}

// A copy of the subsystem per scheduler, or one that schedulers share in turn, has as many
// parameters as one that warps share: the staircase must win clearly over the smooth law, and only
// fit better than another staircase.
void LawSearch::choose_schedulers(Attempt& best) const {
    const Attempt from = best;
    std::vector<HullVariant> variants = promising(from, false, 4);
    std::ranges::move(promising(from, true, 2), std::back_inserter(variants));
    for (const HullVariant& variant : variants) {
        Attempt other = attempt_near(variant, from);
        if (!other.converged()) continue;
        const double d = std::min(noise(best), noise(other));
        const double margin = best.variant.schedulers == 1 ? staircase_margin : 0;
        if (criterion(other, d) + margin < criterion(best, d)) best = std::move(other);
    }
}

// Copies are what most units of most GPUs are: anything between them and one unit for the core has
// to be clearly nearer to the points.
void LawSearch::prefer_copies(Attempt& law) const {
    HullVariant copies = law.variant;
    if (copies.schedulers == 1 || !(copies.ports || copies.shared)) return;
    copies.ports = copies.shared = false;
    std::vector<double> start = law.result.parameters;
    start[port_share] = copies.port_start();
    Attempt other = attempt_from(copies, std::move(start), comparable);
    if (!other.converged()) return;
    const double d = std::min(noise(law), noise(other));
    if (criterion(other, d) < criterion(law, d) + term_margin) law = std::move(other);
}

bool LawSearch::may_be_turns(const Attempt& law) const {
    HullVariant turns = law.variant;
    turns.ports = false;
    turns.shared = true;
    std::vector<double> start = law.result.parameters;
    start[port_share] = turns.port_start();
    const Attempt other = attempt_from(turns, std::move(start), comparable);
    if (!other.converged()) return false;
    const double d = std::min(noise(law), noise(other));
    return criterion(other, d) < criterion(law, d) + staircase_margin;
}

std::optional<double> LawSearch::free_port_share(const Attempt& law) const {
    if (law.variant.ports) return problem_.physical(law.result.parameters).port;
    HullVariant ports = law.variant;
    ports.ports = true;
    ports.shared = false;
    std::vector<double> start = law.result.parameters;
    start[port_share] = ports.port_start();
    const Attempt other = attempt_from(ports, std::move(start), comparable);
    if (!other.converged()) return std::nullopt;
    return problem_.physical(other.result.parameters).port;
}

std::vector<int> LawSearch::copies_alike(const Attempt& law) const {
    const HullVariant& chosen = law.variant;
    if (chosen.schedulers == 1 || chosen.ports || chosen.shared) return {};
    std::vector<int> out;
    for (const int k : candidates()) {
        if (!shows_staircase(k)) continue;
        HullVariant other = chosen;
        other.schedulers = k;
        std::vector<double> parameters = law.result.parameters;
        parameters[log_cpi] += std::log(static_cast<double>(chosen.schedulers) / k);
        double apart = 0;
        for (std::size_t i = 0; i < curve_.points.size(); ++i)
            apart +=
                std::pow(std::log(problem_.predicted_cycles(other, parameters, i) /
                                  problem_.predicted_cycles(chosen, law.result.parameters, i)) /
                             curve_.points[i].log_error,
                         2);
        if (apart < staircase_margin * noise(law)) out.push_back(k);
    }
    return out;
}

// Variants with one term more.
std::vector<HullVariant> LawSearch::wider(const HullVariant& variant) const {
    std::vector<HullVariant> out;
    const auto with = [&](bool HullVariant::*term) {
        out.push_back(variant);
        out.back().*term = true;
    };
    const bool curved = problem_.distinct_in_flight() >= 5;
    if (options_.allow_contention && !variant.contention && curved) with(&HullVariant::contention);
    if (options_.allow_knee && !variant.knee && curved) with(&HullVariant::knee);
    if (variant.ports || !curved) return out;
    for (const int k : candidates())
        if ((variant.schedulers == 1 || variant.schedulers == k) && shows_staircase(k)) {
            with(&HullVariant::ports);
            out.back().schedulers = k;
            out.back().shared = false;
        }
    return out;
}

ScoreTest::ScoreTest(const Attempt& fit, double clip) {
    const std::vector<double>& residuals = fit.result.residuals;
    const std::size_t n = residuals.size();
    for (const double r : residuals) clipped_.push_back(std::clamp(r, -clip, clip));
    std::vector<double> column(n);
    for (std::size_t k = 0; k < hull_parameter_count; ++k) {
        for (std::size_t i = 0; i < n; ++i)
            column[i] = fit.result.jacobian[i * hull_parameter_count + k];
        const double before = length(column);
        if (!(before > 0)) continue;
        project_out(column);
        const double after = length(column);
        if (after <= 1e-9 * before) continue;
        for (double& c : column) c /= after;
        basis_.push_back(column);
    }
}

double ScoreTest::gain(std::vector<double> change) const {
    project_out(change);
    const double size = length(change);
    if (!(size > 0)) return 0;
    const double score =
        std::inner_product(change.begin(), change.end(), clipped_.begin(), 0.0) / size;
    return score * score;
}

void ScoreTest::project_out(std::vector<double>& column) const {
    for (const auto& b : basis_) {
        const double along = std::inner_product(column.begin(), column.end(), b.begin(), 0.0);
        for (std::size_t i = 0; i < column.size(); ++i) column[i] -= along * b[i];
    }
}

double ScoreTest::length(const std::vector<double>& v) {
    return std::sqrt(std::inner_product(v.begin(), v.end(), v.begin(), 0.0));
}

// What a wider law could gain in χ²: a score test with the difference of residuals between `start`,
// where the new term is at work, and the fit in the place of its derivative; the fit's own
// parameters adapt (their columns are projected out).
double LawSearch::predicted_gain(const ScoreTest& test, const Attempt& fit,
                                 const HullVariant& variant,
                                 const std::vector<double>& start) const {
    std::vector<double> change(curve_.points.size());
    for (std::size_t i = 0; i < change.size(); ++i)
        change[i] =
            std::log(problem_.predicted_cycles(variant, start, i) / curve_.points[i].cycles) /
                curve_.points[i].log_error -
            fit.result.residuals[i];
    return test.gain(std::move(change));
}

// One step of forward selection; false when no term earns its place.
bool LawSearch::add_term(Attempt& best) const {
    constexpr std::size_t most_ports = 3;  // the periods with the most to gain get a fit
    struct Candidate {
        double gain = 0;
        HullVariant variant;
        std::vector<double> start;
    };
    std::vector<Candidate> candidates;
    const double shown = dispersion(best);
    const ScoreTest test(best, huber_constant * scale_);
    for (const HullVariant& variant : wider(best.variant)) {
        std::vector<double> start = best.result.parameters;
        if (variant.knee && !best.variant.knee) start[knee_width] = rounded_start;
        if (variant.contention && !best.variant.contention)
            start[contention_part] = contention_start;
        if (variant.ports && !best.variant.ports) start[port_share] = variant.port_start();
        const double gain = predicted_gain(test, best, variant, start);
        if (gain >= hopeless * margin_of(variant, best.variant) * shown)
            candidates.push_back({gain, variant, std::move(start)});
    }
    std::ranges::stable_sort(candidates, {}, [](const Candidate& c) { return -c.gain; });
    std::optional<Attempt> winner;
    std::size_t ports = 0;
    for (Candidate& candidate : candidates) {
        if (candidate.variant.ports && !best.variant.ports && ++ports > most_ports) continue;
        Attempt other = attempt_from(candidate.variant, std::move(candidate.start), comparable);
        if (!other.converged()) continue;
        if (!winner || other.chi_square() < winner->chi_square()) winner = std::move(other);
    }
    if (!winner) return false;
    const double d = noise(*winner);
    const double margin = margin_of(winner->variant, best.variant);
    if (criterion(*winner, d) + margin >= criterion(best, d)) return false;
    best = std::move(*winner);
    return true;
}

// Terms one by one while they earn their place; what the law was before each is kept.
void LawSearch::add_terms(Attempt& law, std::vector<Attempt>& narrower) const {
    for (Attempt next = law; add_term(next); law = next) narrower.push_back(law);
}

// Whether a drift of the device over the run explains more than four standard errors of the fit's
// residuals, more where these are few.
bool LawSearch::drift_shows(const Attempt& attempt) const {
    constexpr double clear = 4;
    constexpr double smallest = 1e-3;
    if (!attempt.converged()) return false;
    HullVariant without = attempt.variant;
    HullVariant with = attempt.variant;
    without.drift = false;
    with.drift = true;
    std::vector<double> start = attempt.result.parameters;
    const Attempt drifting =
        attempt.variant.drift ? attempt : attempt_from(with, start, comparable);
    start[drift_part] = 0;
    const Attempt steady =
        attempt.variant.drift ? attempt_from(without, start, comparable) : attempt;
    if (!drifting.converged() || !steady.converged()) return false;
    const double drift = std::abs(drifting.result.parameters[drift_part]);
    if (drift < smallest || drift > largest_drift) return false;
    const double gain = (steady.chi_square() - drifting.chi_square()) / noise(drifting);
    const double t = clear * interval_factor(std::max(freedom(with), 1.0));
    return gain > t * t;
}

// A drift makes some laws out of others: copies, a growth of Λ. Where one shows, in the plain law
// or in what was found without it, all begins again with the drift as one more unknown, and it must
// show in the end.
Attempt LawSearch::best_law() {
    HullVariant plain;
    plain.group_overhead = options_.allow_group_overhead && problem_.distinct_groups() >= 4;
    plain.loop = problem_.separates_loop();
    plain.skew = problem_.skewed();
    Attempt steady = best_from(plain);
    const double scale = scale_;
    bool drifts = drift_shows(steady);
    if (!drifts) {
        const Attempt first = attempt(plain);
        if (first.converged()) set_scale(first);
        drifts = drift_shows(first);
        scale_ = scale;
    }
    if (!drifts) return steady;
    plain.drift = true;
    Attempt drifting = best_from(plain);
    if (drifting.result.covariance && drift_shows(drifting)) return drifting;
    scale_ = scale;
    return steady;
}

// The law may have got a term before the copies in whose place it stood.
void LawSearch::drop_idle_terms(Attempt& law) const {
    for (const auto& [term, parameter] : {std::pair(&HullVariant::knee, knee_width),
                                          std::pair(&HullVariant::contention, contention_part)}) {
        if (!(law.variant.*term)) continue;
        Attempt without = law;
        without.variant.*term = false;
        without.result.parameters[parameter] = 0;
        without = polish(without);
        if (without.converged() && !beats(law, without)) law = std::move(without);
    }
}

Attempt LawSearch::best_from(HullVariant plain) {
    Attempt law = attempt(plain);
    if (!law.converged()) return law;
    set_scale(law);
    law = attempt_from(law.variant, law.result.parameters, comparable);
    // Copies and contention can each imitate the other if the other is absent: both orders
    // are tried, and the better result stays.
    Attempt smooth = law;
    choose_schedulers(law);
    const bool stairs = law.variant.schedulers > 1;
    set_scale(law);
    if (stairs) {
        // χ² of different clips say nothing about each other.
        law = attempt_from(law.variant, law.result.parameters, comparable);
        smooth = attempt_from(smooth.variant, smooth.result.parameters, comparable);
    }
    std::vector<Attempt> narrower;
    add_terms(law, narrower);
    if (stairs || !narrower.empty()) {
        std::vector<Attempt> other_way;
        add_terms(smooth, other_way);
        const int before = smooth.variant.schedulers;
        Attempt with_copies = smooth;
        choose_schedulers(with_copies);
        if (with_copies.variant.schedulers != before) {
            other_way.push_back(smooth);
            smooth = std::move(with_copies);
            add_terms(smooth, other_way);
        }
        const double d = std::min(noise(law), noise(smooth));
        if (criterion(smooth, d) < criterion(law, d)) {
            law = std::move(smooth);
            narrower = std::move(other_way);
        }
    }
    prefer_copies(law);
    set_scale(law);
    Attempt best = polish(law);
    // A term that ended where it has no effect (a ridge of width zero) leaves the fit singular, and
    // so does a latency that copies hide: without it only a half of the law is left (decide()).
    if (!best.result.covariance) drop_idle_terms(best);
    while (!best.result.covariance && !narrower.empty()) {
        Attempt before = polish(narrower.back());
        narrower.pop_back();
        if (!beats(best, before)) best = std::move(before);
    }
    return best;
}

Attempt LawSearch::best_latency_half(const Attempt& law) const {
    HullVariant slow{.regime = Regime::latency_only};
    slow.group_overhead = problem_.distinct_in_flight() >= 3;
    slow.contention = law.variant.contention;
    slow.loop = law.variant.loop;
    slow.drift = law.variant.drift;
    Attempt best = attempt(slow);
    // Contention at most doubles Λ here; a curve that rises further is not latency-bound at all.
    const HullParameters<double> p = problem_.physical(law.result.parameters);
    const bool too_steep =
        law.converged() && p.cpi * problem_.largest_in_flight() > 2.5 * p.latency;
    if (law.variant.contention || !options_.allow_contention || too_steep ||
        problem_.distinct_in_flight() < 3)
        return best;
    slow.contention = true;
    Attempt other = polish(attempt(slow));
    if (!other.converged() || !other.result.covariance) return best;
    const double d = noise(other);
    return criterion(other, d) + term_margin < criterion(best, d) ? other : best;
}

// A staircase can imitate a bow, so all
// numbers of schedulers compete.
Attempt LawSearch::best_throughput_half(const HullVariant& law) const {
    HullVariant busy{.regime = Regime::throughput_only};
    busy.group_overhead = problem_.distinct_in_flight() >= 3;
    busy.schedulers = law.schedulers;
    busy.loop = law.loop;
    busy.skew = law.skew;
    busy.ports = law.ports;
    busy.shared = law.shared;
    busy.drift = law.drift;
    Attempt best = attempt(busy);
    if (!best.converged()) return best;
    for (const HullVariant& variant : promising(Attempt(best), false, 4)) {
        Attempt other = attempt(variant);
        if (!other.converged()) continue;
        if (!best.converged() || other.chi_square() < best.chi_square()) best = std::move(other);
    }
    return best;
}

bool LawSearch::beats(const Attempt& law, const Attempt& other) const {
    if (!other.converged()) return true;
    const double gain = (other.chi_square() - law.chi_square()) / noise(law);
    const double t = student_critical(evidence_level, std::max(freedom(law.variant), 1.0));
    return gain > t * t;
}

}  // namespace occupipe
