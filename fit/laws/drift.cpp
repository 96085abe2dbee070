// SPDX-License-Identifier: MIT
#include "fit/laws/drift.h"

#include <algorithm>
#include <cmath>

#include "fit/curves/step_time.h"
#include "fit/laws/hull_law.h"

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
    for (const StepTime& step : step_times(curve)) {
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
bool spreads_evenly(const CurvePoint& point, int schedulers) {
    return point.shape.warps() % schedulers == 0 &&
           (point.busiest == 0 || point.busiest * schedulers == point.shape.warps());
}

}  // namespace

std::optional<Estimate> cpi_of_windows(const Curve& curve, const TimingFit& fit, int schedulers) {
    constexpr double busy = 1.5;
    constexpr std::size_t fewest = 4;
    constexpr double least_error = 1e-3;
    std::vector<double> values;
    for (const CurvePoint& point : curve.points) {
        const double m = static_cast<double>(point.shape.warps()) * point.shape.chains;
        if (!point.window_cpi || !spreads_evenly(point, schedulers)) continue;
        if (m * fit.cpi.value < busy * fit.latency.value) continue;
        const double body = static_cast<double>(point.body) * point.shape.chains;
        values.push_back(*point.window_cpi -
                         (fit.loop_cpi && body > 0 ? fit.loop_cpi->value / body : 0));
    }
    if (values.size() < fewest) return std::nullopt;
    Estimate out;
    out.value = median(values);
    if (!(out.value > 0)) return std::nullopt;
    std::vector<double> away;
    for (const double v : values) away.push_back(std::abs(v - out.value));
    const auto n = static_cast<double>(away.size());
    const double scatter = 1.4826 * median(std::move(away));
    out.std_error = std::max(1.2533 * scatter / std::sqrt(n), least_error * out.value);
    return out;
}

std::vector<std::optional<double>> together_over_measured(const Curve& curve, const TimingFit& fit,
                                                          int schedulers) {
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
            // Warps that take turns start and stop within one step of each other.
            const double time = std::min((*point.running)[part] + step, point.cycles);
            done += (rate - before) * time;
        }
        out.push_back(std::clamp(done / full / point.cycles, 1e-3, 1.0));
    }
    return out;
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
