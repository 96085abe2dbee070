// SPDX-License-Identifier: MIT
// Which variant of the hull law a curve asks for: fits of variants and their comparison.
#pragma once

#include "fit/laws/fit_timing.h"
#include "fit/solver/hull_problem.h"

namespace occupipe {

// Huber's clip, in robust standard deviations: 95 % efficient for normal errors (Huber 1981).
inline constexpr double huber_constant = 1.345;

// No device drifts by more over a run; what seems to is no law.
inline constexpr double largest_drift = 0.3;

struct Attempt {
    HullVariant variant;
    LeastSquaresSummary result;

    bool converged() const { return result.converged; }
    double chi_square() const { return 2 * result.cost; }
};

// What χ² would fall by if residuals could change along a direction in which the fit's own
// parameters do not move them.
class ScoreTest {
public:
    // Residuals beyond the clip count as the clip.
    ScoreTest(const Attempt& fit, double clip);
    double gain(std::vector<double> change) const;

private:
    void project_out(std::vector<double>& column) const;
    static double length(const std::vector<double>& v);

    std::vector<double> clipped_;
    std::vector<std::vector<double>> basis_;  // orthonormal, by Gram-Schmidt
};

class LawSearch {
public:
    // Both must outlive this.
    LawSearch(const Curve& curve, const HullProblem& problem, const TimingFitOptions& options);

    // The best variant of the whole law, with covariance; sets scale().
    Attempt best_law();
    // The latency-bound half, with contention where `law` has it or the data ask for it.
    Attempt best_latency_half(const Attempt& law) const;
    // The throughput-bound half of `law`, or of another number of schedulers if that fits better.
    Attempt best_throughput_half(const HullVariant& law) const;
    // One variant from its own start, good enough for comparisons.
    Attempt attempt(const HullVariant& variant) const;
    // The same fit to full precision, with covariance.
    Attempt polish(const Attempt& rough) const;
    // The same, without ports where these have no effect and leave the fit singular.
    Attempt polish_determined(const Attempt& rough) const;

    // Robust scale of the residuals in units of the points' own errors; one is as promised.
    double scale() const { return scale_; }
    // Variance that the residuals show, in units of what the spreads promise; never below one
    // when the spreads come from repetitions. Multiplies every covariance.
    double dispersion(const Attempt& attempt) const;
    // By point: the number of its shape, from 0. All depths of a shape share what is wrong with it.
    const std::vector<std::size_t>& shape_of_points() const { return shape_; }
    std::size_t parameters(const HullVariant& variant) const;
    double freedom(const HullVariant& variant) const;  // points minus parameters
    // Numbers of copies that would show on the plateau of `law`: by 2 % at three places, and
    // by five standard errors of its scatter.
    std::vector<int> visible_copies(const Attempt& law) const;
    // Numbers of copies, of the same λ each, with which the points lie as they do with those of
    // `law`, which are among them; empty where it has none.
    std::vector<int> copies_alike(const Attempt& law) const;
    // Whether one unit that as many schedulers share fits nearly as well as the copies of `law`.
    bool may_be_turns(const Attempt& law) const;
    // Time of an issue port over that of a copy, where the copies of `law` may be one unit behind
    // ports: 1 = copies alone. nullopt: that law does not converge.
    std::optional<double> free_port_share(const Attempt& law) const;
    // Whether the ports of `law` lengthen runs as clearly.
    bool ports_show(const Attempt& law) const;
    // Whether the data speak for the first law against the second, which has no more parameters.
    bool beats(const Attempt& law, const Attempt& other) const;

private:
    Attempt best_from(HullVariant plain);
    bool drift_shows(const Attempt& attempt) const;
    Attempt attempt_from(const HullVariant& variant, std::vector<double> start,
                         double tolerance) const;
    // One variant from the parameters of another, or from its own start where these hide Λ.
    Attempt attempt_near(const HullVariant& variant, const Attempt& from) const;
    // Whether Λ is so short that it shows at no place.
    bool hides_latency(const Attempt& attempt) const;
    void set_scale(const Attempt& attempt);
    double design_effect(const Attempt& attempt) const;
    double noise(const Attempt& attempt) const;
    double criterion(const Attempt& attempt, double dispersion) const;
    bool shows_staircase(int schedulers) const;
    std::vector<int> candidates() const;
    std::vector<HullVariant> promising(const Attempt& fit, bool shared, std::size_t most) const;
    void choose_schedulers(Attempt& best) const;
    void prefer_copies(Attempt& law) const;
    void add_terms(Attempt& law, std::vector<Attempt>& narrower) const;
    std::vector<HullVariant> wider(const HullVariant& variant) const;
    double predicted_gain(const ScoreTest& test, const Attempt& fit, const HullVariant& variant,
                          const std::vector<double>& start) const;
    bool add_term(Attempt& best) const;
    void drop_idle_terms(Attempt& law) const;

    const Curve& curve_;
    const HullProblem& problem_;
    const TimingFitOptions& options_;
    std::vector<std::size_t> shape_;
    double scale_ = 1;
};

}  // namespace occupipe
