// SPDX-License-Identifier: MIT
#include "fit/laws/plateau.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "fit/curves/step_time.h"
#include "fit/laws/hull_law.h"

namespace occupipe {
namespace {

// A place counts as busy when its work takes this multiple of the latency.
constexpr double busy_factor = 1.05;
// Just beyond the ridge several schedulers at one unit take turns unevenly; places further out
// decide where there are enough of them.
constexpr double far_factor = 1.5;
constexpr std::size_t enough_far = 8;
// Scatter of cycles per instruction from which on λ is no value any more; below, only a scatter to
// one side says something.
constexpr double too_wide = 0.025;
constexpr int fewest_apart = 3;    // places that far off: one alone may be an accident
constexpr double one_sided = 0.7;  // skewness
constexpr std::size_t fewest_places = 6;
constexpr double errors_of_bound = 3;
constexpr double beaten = 1.05;  // λ over what was reached from which on it is refuted
constexpr double errors_of_end = 2;

// Relative error of a step: as its depths say, and no less than what the law misses.
double error_of(const StepTime& step, const Curve& curve, const TimingFit& fit) {
    const double own = *step.cycles.std_error / step.cycles.value;
    return curve.spread_known ? own : own * std::max(fit.residual_scale, 1e-3);
}

// log(measured / law) of cycles per instruction where the law says that the unit is busy.
struct Busy {
    std::vector<double> away;
    double variance = 0;  // mean, of their errors
};

Busy busy_places(const Curve& curve, InstructionKind kind, const std::vector<StepTime>& steps,
                 const TimingFit& fit, double factor) {
    Busy out;
    for (const StepTime& step : steps) {
        const double m = step.in_flight();
        const HullShape shape{static_cast<double>(step.place.shape.group_warps),
                              static_cast<double>(step.place.shape.concurrent_groups),
                              static_cast<double>(step.place.shape.chains),
                              1,
                              static_cast<double>(step.place.busiest),
                              0,
                              0};
        const int schedulers = std::max(fit.schedulers, fit.sharing_schedulers);
        const double port = fit.schedulers > 1 ? 1
                            : fit.port_limit   ? 1 / (fit.port_limit->value * fit.cpi.value)
                                               : 0;
        const double growth = fit.contention ? fit.contention->value * (m - 1) : 0;
        const bool all_busy = fit.latency.kind == Estimate::Kind::upper_bound;
        // The first warp of a group waits at a barrier until its fellows have issued.
        const double fellows =
            kind == InstructionKind::barrier ? (shape.group_warps - 1) * fit.cpi.value : 0;
        const double alone = all_busy ? 0 : fit.latency.value + growth + fellows;
        const double work = fit.cpi.value *
                            step_work(port, m, uneven_in_flight(shape, schedulers)) *
                            turns_excess(fit.cpi.value, alone, port, shape, schedulers);
        if (work < factor * alone) continue;
        const double law =
            all_busy ? work : smooth_max(alone, work, fit.knee ? fit.knee->value : 0);
        out.away.push_back(std::log(step.cycles.value / law));
        out.variance += std::pow(error_of(step, curve, fit), 2);
    }
    if (!out.away.empty()) out.variance /= static_cast<double>(out.away.size());
    return out;
}

struct Moments {
    double mean = 0;
    double deviation = 0;
    double skewness = 0;
    double root_mean_square = 0;  // about zero: the law
};

Moments moments_of(const std::vector<double>& values) {
    Moments m;
    const auto n = static_cast<double>(values.size());
    for (const double v : values) m.mean += v / n;
    double third = 0;
    for (const double v : values) {
        m.deviation += std::pow(v - m.mean, 2) / n;
        third += std::pow(v - m.mean, 3) / n;
        m.root_mean_square += v * v / n;
    }
    m.deviation = std::sqrt(m.deviation);
    m.root_mean_square = std::sqrt(m.root_mean_square);
    if (m.deviation > 0) m.skewness = third / std::pow(m.deviation, 3);
    return m;
}

// What one number of warps alone reached may be its own disturbance.
std::optional<double> reached_by_two(const std::map<int, double>& cpi_of_warps) {
    constexpr std::size_t enough = 4;
    std::vector<double> sorted;
    for (const auto& [warps, cpi] : cpi_of_warps) sorted.push_back(cpi);
    if (sorted.empty()) return std::nullopt;
    std::ranges::sort(sorted);
    return sorted[sorted.size() < enough ? 0 : 1];
}

// Bodies that differ in speed: a line through their depths has no kernel's slope. The long ones
// have two depths of a place.
Curve long_bodies(Curve curve) {
    const auto steps = [](const CurvePoint& p) { return p.body * p.shape.chains; };
    const int longest = steps(*std::ranges::max_element(curve.points, {}, steps));
    std::erase_if(curve.points, [&](const CurvePoint& p) { return 2 * steps(p) < longest; });
    return curve;
}

}  // namespace

RawBounds raw_bounds(const Curve& curve, const TimingFit& fit) {
    RawBounds out;
    const auto lower = [](std::optional<double>& bound, double value) {
        bound = bound ? std::min(*bound, value) : value;
    };
    double left = 0;  // instructions in flight at the ends
    double right = 0;
    std::map<int, double> cpi_of_warps;
    const auto widest = [](std::optional<double>& end, bool beyond, bool same, double value) {
        if (beyond) end.reset();
        if (beyond || same) end = end ? std::max(*end, value) : value;
    };
    for (const StepTime& step : believable_steps(step_times(curve))) {
        const double error = error_of(step, curve, fit);
        // What is wrong with a shape does not show in the line through its depths; the few places
        // that tell a latency do not average it.
        const double unseen = curve.spread_known ? std::max(fit.residual_scale, 1.0) : 1.0;
        const auto above = [&](double errors) { return step.cycles.value * (1 + errors * error); };
        const double m = step.in_flight();
        const double cpi = above(errors_of_bound) / m;
        const auto [at, first] = cpi_of_warps.try_emplace(step.place.shape.warps(), cpi);
        if (!first) at->second = std::min(at->second, cpi);
        lower(out.latency, above(errors_of_bound * unseen));
        widest(out.right_end, right < m, right == m, above(errors_of_end) / m);
        widest(out.left_end, left == 0 || m < left, left == m, above(errors_of_end * unseen));
        right = std::max(right, m);
        left = left == 0 ? m : std::min(left, m);
    }
    out.cpi = reached_by_two(cpi_of_warps);
    return out;
}

namespace {

// What the end of the curve allows is not excluded by a law that needs no more; what no place
// allows is.
void check_bound(const std::optional<double>& end, const std::optional<double>& most, Estimate& e) {
    if (e.kind != Estimate::Kind::upper_bound || !end || !most) return;
    e.value = std::min(std::max(e.value, *end), *most);
}

void bound_by_reached(double reached, const char* why, TimingFit& fit) {
    become_bound(fit.cpi, Estimate::Kind::upper_bound, reached);
    fit.schedulers = fit.sharing_schedulers = 1;
    fit.port_limit.reset();
    fit.visible_copies.clear();
    const std::string doubts = std::exchange(fit.cpi.note, why);
    if (!doubts.empty()) add_note(fit.cpi, doubts);
}

// Of some points most repetitions may be disturbed: those of which many take clearly longer than
// the median say nothing about how fast a step can be.
Curve believable(Curve curve) {
    constexpr double longer = 1.2;
    constexpr double many = 0.3;
    std::erase_if(curve.points, [](const CurvePoint& point) {
        const auto above = std::ranges::count_if(
            point.repetitions, [&](double c) { return c > longer * point.cycles; });
        return static_cast<double>(above) > many * static_cast<double>(point.repetitions.size());
    });
    return curve;
}

}  // namespace

void check_plateau(const Curve& all, InstructionKind kind, TimingFit& fit) {
    if (!fit.ok) return;
    const Curve curve = fit.bodies_apart > 0 ? long_bodies(all) : all;
    RawBounds raw = raw_bounds(believable(curve), fit);
    if (!raw.cpi) raw = raw_bounds(curve, fit);
    if (!raw.cpi) return;
    // Either loop body may be the one that is right.
    for (auto* bound : {&raw.cpi, &raw.latency, &raw.left_end, &raw.right_end})
        if (*bound) **bound *= 1 + fit.bodies_apart;
    fit.reached_cpi = raw.cpi;
    check_bound(raw.right_end, raw.cpi, fit.cpi);
    check_bound(raw.left_end, raw.latency, fit.latency);
    // λ between two kernels is nobody's plateau.
    if (!fit.cpi.identifiable() || fit.bodies_apart > 0) return;
    const std::vector<StepTime> steps = step_times(curve);
    Busy busy = busy_places(curve, kind, steps, fit, far_factor);
    if (busy.away.size() < enough_far) busy = busy_places(curve, kind, steps, fit, busy_factor);
    if (busy.away.size() < 3) return;
    const Moments m = moments_of(busy.away);
    const double beyond =
        std::sqrt(std::max(m.root_mean_square * m.root_mean_square - busy.variance, 0.0));
    const auto apart =
        std::ranges::count_if(busy.away, [](double away) { return std::abs(away) > too_wide; });
    if (apart >= fewest_apart && beyond > too_wide &&
        m.root_mean_square > 2 * std::sqrt(busy.variance)) {
        fit.notes.push_back(fmt::format(
            "cycles per instruction scatter by {:.2g} % where the unit is busy (warps that drift "
            "apart, or an uneven placement): λ is at most what was reached",
            100 * beyond));
        bound_by_reached(*raw.cpi, "cycles per instruction are not the same at all occupancies",
                         fit);
        return;
    }
    // No instruction is faster than λ: a law that says otherwise has missed the plateau.
    const double surely = fit.cpi.value - 3 * fit.cpi.std_error.value_or(0);
    if (surely > beaten * *raw.cpi) {
        fit.notes.push_back(fmt::format(
            "{:.4g} cycles per instruction were reached where the law says {:.4g} at least: λ is "
            "at most what was reached",
            *raw.cpi, fit.cpi.value));
        bound_by_reached(*raw.cpi, "the law's λ is above what was reached", fit);
        return;
    }
    const double down = fit.cpi.value - *raw.cpi;
    const bool skewed = busy.away.size() >= fewest_places && m.skewness > one_sided &&
                        m.root_mean_square > 2 * std::sqrt(busy.variance);
    if (skewed && down > 0) raise_error(fit.cpi, "plateau", down);
}

}  // namespace occupipe
