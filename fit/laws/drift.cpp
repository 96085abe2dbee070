// SPDX-License-Identifier: MIT
#include "fit/laws/drift.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "core/statistics.h"
#include "fit/curves/step_time.h"
#include "fit/laws/hull_law.h"
#include "fit/statistics.h"

namespace occupipe {
namespace {

// What the reckoned part of a time is known to.
constexpr double doubt = 0.1;

// Cycles per step with n warps of c chains running.
double step_cycles(const TimingFit& fit, const CurvePoint& point, double warps) {
    const double chains = point.shape.chains;
    const double m = warps * chains;
    const double body = point.body;
    const double of_chain = fit.loop_latency && body > 0 ? fit.loop_latency->value / body : 0;
    const double of_core = fit.loop_cpi && body > 0 ? fit.loop_cpi->value / (body * chains) : 0;
    const double growth = fit.contention ? fit.contention->value * std::max(m - 1, 0.0) : 0;
    return smooth_max(std::max(fit.latency.value + growth + of_chain, 1e-9),
                      std::max((fit.cpi.value + of_core) * m, 1e-9),
                      fit.knee ? fit.knee->value : 0.0);
}

}  // namespace

bool tells_drift(const Curve& curve, InstructionKind kind) {
    return kind != InstructionKind::barrier &&
           std::ranges::any_of(curve.points,
                               [](const CurvePoint& p) { return p.running.has_value(); });
}

std::optional<TimingFit> first_guess(const Curve& curve) {
    TimingFit out;
    bool any = false;
    for (const StepTime& step : believable_steps(step_times(curve))) {
        const double per_instruction = step.cycles.value / step.in_flight();
        out.cpi.value = any ? std::min(out.cpi.value, per_instruction) : per_instruction;
        out.latency.value =
            any ? std::min(out.latency.value, step.cycles.value) : step.cycles.value;
        any = true;
    }
    return any ? std::optional(out) : std::nullopt;
}

namespace {

// Warps that do not spread evenly over the schedulers end at different times without any drift.
template <class Place>
bool spreads_evenly(const Place& point, int schedulers) {
    return point.shape.warps() % schedulers == 0 &&
           (point.busiest == 0 || point.busiest * schedulers == point.shape.warps());
}

struct WindowCpi {
    double value = 0;
    double error = 0;  // relative
};

// What the windows say of λ where there is half as much work again as latency, without the loop and
// the checkpoints in them; one value per shape, since what is wrong with a shape is common to its
// depths.
std::vector<WindowCpi> window_cpis(const Curve& curve, const TimingFit& fit, int schedulers) {
    constexpr double busy = 1.5;
    constexpr double checkpoint_doubt = 0.5;  // of what they cost
    struct OfShape {
        std::vector<double> values;
        std::vector<double> errors;
    };
    std::map<std::tuple<int, int, int>, OfShape> shapes;
    const auto add = [&](const MeasurementShape& shape, double value, double error) {
        OfShape& of = shapes[{shape.group_warps, shape.concurrent_groups, shape.chains}];
        of.values.push_back(value);
        of.errors.push_back(error);
    };
    const auto is_busy = [&](const MeasurementShape& shape) {
        const double m = static_cast<double>(shape.warps()) * shape.chains;
        return m * fit.cpi.value >= busy * fit.latency.value;
    };
    const auto loop = [&](const MeasurementShape& shape, int body) {
        return fit.loop_cpi && body > 0 ? fit.loop_cpi->value / (body * shape.chains) : 0;
    };
    for (const CurvePoint& point : curve.points)
        if (point.window_cpi && spreads_evenly(point, schedulers) && is_busy(point.shape))
            add(point.shape, *point.window_cpi - loop(point.shape, point.body), 0);
    for (const CurveWindow& window : curve.windows) {
        if (!spreads_evenly(window, schedulers) || !is_busy(window.shape)) continue;
        const double of_loop = loop(window.shape, window.body);
        const double of_checkpoints = of_loop * window.checkpoint_share;
        add(window.shape, window.cpi - of_loop - of_checkpoints,
            std::hypot(window.error, checkpoint_doubt * of_checkpoints / window.cpi));
    }
    std::vector<WindowCpi> out;
    for (auto& [shape, of] : shapes)
        out.push_back({median(std::move(of.values)), median(std::move(of.errors))});
    return out;
}

}  // namespace

std::optional<Estimate> cpi_of_windows(const Curve& curve, const TimingFit& fit, int schedulers) {
    constexpr std::size_t fewest = 3;
    constexpr double least_error = 1e-3;
    constexpr double as_good = 2;  // times the least error, and a little
    // Of normal values, the median's and the median absolute deviation's variance over what the
    // mean and the standard deviation would have (Huber 1981).
    constexpr double of_median = 1.2533;
    constexpr double of_deviation = 0.37;
    const std::vector<WindowCpi> all = window_cpis(curve, fit, schedulers);
    if (all.empty()) return std::nullopt;
    const double least = std::ranges::min(all, {}, &WindowCpi::error).error;
    std::vector<double> values;
    std::vector<double> errors;
    for (const WindowCpi& one : all) {
        if (one.error > as_good * least + 2 * least_error) continue;
        values.push_back(one.value);
        errors.push_back(one.error);
    }
    if (values.size() < fewest) return std::nullopt;
    Estimate out;
    out.value = median(values);
    if (!(out.value > 0)) return std::nullopt;
    std::vector<double> away;
    for (const double v : values) away.push_back(std::abs(v - out.value));
    const auto n = static_cast<double>(away.size());
    const double scatter = normal_mad * median(std::move(away)) * n / (n - 0.8);
    const double widen = interval_factor(std::max(of_deviation * (n - 1), 1.0));
    // What is not known of the warps' ways is common to all windows.
    out.std_error = std::max({of_median * scatter * widen / std::sqrt(n), least_error * out.value,
                              median(std::move(errors)) * out.value});
    return out;
}

std::vector<std::optional<double>> together_over_measured(const Curve& curve, const TimingFit& fit,
                                                          int schedulers, StepOfTurns turns) {
    std::vector<std::optional<double>> out;
    for (const CurvePoint& point : curve.points) {
        const double warps = point.shape.warps();
        if (!point.running || !spreads_evenly(point, schedulers)) {
            out.push_back(std::nullopt);
            continue;
        }
        const double step = step_cycles(fit, point, warps);
        const double full = warps / step;
        double done = 0;
        for (std::size_t part = 0; part < running_parts; ++part) {
            const double below = warps * static_cast<double>(part) / running_parts;
            const double here = warps * static_cast<double>(part + 1) / running_parts;
            const double rate = here / step_cycles(fit, point, here);
            const double before = part == 0 ? 0 : below / step_cycles(fit, point, below);
            const double turn = turns == StepOfTurns::whole ? step : step * here / warps;
            const double time = std::min((*point.running)[part] + turn, point.cycles);
            done += (rate - before) * time;
        }
        out.push_back(std::clamp(done / full / point.cycles, 1e-3, 1.0));
    }
    return out;
}

bool stops_are_the_placements(const Curve& curve, const TimingFit& guess) {
    constexpr double apart = 0.005;  // of a run's time; warps that take turns stop in one step
    constexpr std::size_t fewest = 3;
    constexpr int most_schedulers = 16;
    const auto together = [&](int schedulers) {
        const auto factors = together_over_measured(curve, guess, schedulers);
        std::set<int> places;
        for (std::size_t i = 0; i < factors.size(); ++i) {
            const CurvePoint& point = curve.points[i];
            if (!spreads_evenly(point, schedulers)) continue;
            if (1 - factors[i].value_or(1) > apart) return false;
            // Before the ridge warps do not wait for each other, whatever the scheduler does.
            const double work = guess.cpi.value * point.shape.warps() * point.shape.chains;
            if (point.shape.warps() > schedulers && work > guess.latency.value)
                places.insert(point.shape.warps());
        }
        return places.size() >= fewest;
    };
    if (std::ranges::any_of(curve.points, [](const CurvePoint& p) { return p.busiest > 0; }))
        return together(schedulers_seen(curve));
    for (int k = 1; k <= most_schedulers; ++k)
        if (together(k)) return true;
    return false;
}

Curve as_if_together(const Curve& curve, const std::vector<std::optional<double>>& factors) {
    Curve out = curve;
    for (std::size_t i = 0; i < out.points.size(); ++i) {
        CurvePoint& point = out.points[i];
        if (!factors[i] && point.running) {
            // Some of this may be drift, and some the fuller schedulers' own time.
            const double not_all = 1 - point.running->back() / point.cycles;
            point.log_error = std::hypot(point.log_error, 0.5 * not_all);
        }
        if (!factors[i]) continue;
        const double factor = *factors[i];
        point.cycles *= factor;
        for (double& cycles : point.repetitions) cycles *= factor;
        for (auto core : {&CurvePoint::least_core, &CurvePoint::lower_quartile,
                          &CurvePoint::upper_quartile, &CurvePoint::greatest_core})
            if (point.*core) *(point.*core) *= factor;
        point.skew = 0;
        point.log_error = std::hypot(point.log_error, doubt * (1 - factor));
    }
    return out;
}

}  // namespace occupipe
