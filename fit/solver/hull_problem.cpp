// SPDX-License-Identifier: MIT
#include "fit/solver/hull_problem.h"

#include <ceres/jet.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "core/statistics.h"

namespace occupipe {
namespace {

constexpr double knee_start = 0.05;
constexpr double knee_limit = 0.5;
// Without a plateau contention may at most double Λ: more would pass for a plateau itself (on
// published curves h/λ stays below 0.6, hence h·M/Λ below 1.5 at the very ridge).
constexpr double contention_limit = 1.0;

HullShape hull_shape(const CurvePoint& point) {
    const MeasurementShape& s = point.shape;
    return {static_cast<double>(s.group_warps), static_cast<double>(s.concurrent_groups),
            static_cast<double>(s.chains),      static_cast<double>(s.depth),
            static_cast<double>(point.busiest), point.skew,
            static_cast<double>(point.body)};
}

template <class T>
HullParameters<T> physical_of(std::span<const T> q, double scale) {
    using std::exp;
    HullParameters<T> p;
    p.cpi = exp(q[log_cpi]);
    p.latency = exp(q[log_latency]);
    p.overhead = q[overhead_part] * scale;
    p.group_overhead = q[group_overhead_part] * scale;
    p.loop_latency = q[loop_latency_part] * p.latency;
    p.loop_cpi = q[loop_cpi_part] * p.cpi;
    p.skew_share = q[skew_part];
    p.contention = q[contention_part] * p.latency;
    p.knee = q[knee_width];
    p.port = q[port_share];
    return p;
}

template <class T>
HullTimes<T> times_of(const HullVariant& variant, bool barrier, const HullParameters<T>& p,
                      const HullShape& shape) {
    switch (variant.regime) {
        case Regime::both:
            break;
        case Regime::latency_only:
            return {
                p.overhead + p.group_overhead * shape.in_flight(),
                latency_in_loop<T>(p, shape, p.latency + p.contention * (shape.in_flight() - 1)),
                T(1)};
        case Regime::throughput_only:
            return {
                p.overhead + p.group_overhead * shape.in_flight(),
                cpi_in_loop(p, shape) *
                    step_work(p.port, shape.in_flight(),
                              uneven_in_flight(shape, variant.schedulers)) *
                    turns_excess<T>(cpi_in_loop(p, shape), T(0), p.port, shape, variant.schedulers),
                p.skew_share};
    }
    return barrier ? barrier_times(p, shape, variant.schedulers)
                   : hull_times(p, shape, variant.schedulers);
}

double steps_of(const HullVariant& variant, const HullShape& shape) {
    return variant.regime == Regime::both ? shape.depth - 1 : shape.depth;
}

template <class T>
T cycles_of(const HullVariant& variant, bool barrier, const HullParameters<T>& p,
            const HullShape& shape) {
    return times_of(variant, barrier, p, shape).cycles(steps_of(variant, shape), shape.skew);
}

std::vector<HullPlace> places_of(const std::vector<HullShape>& shapes) {
    using Key = std::tuple<double, double, double, double, double>;
    std::map<Key, HullPlace> places;
    for (std::size_t i = 0; i < shapes.size(); ++i) {
        const HullShape& s = shapes[i];
        const Key key{s.group_warps, s.concurrent_groups, s.chains, s.busiest, s.body};
        HullPlace& place = places.try_emplace(key, HullPlace{s, {}}).first->second;
        place.shape.skew = std::max(place.shape.skew, s.skew);
        place.points.push_back(i);
    }
    std::vector<HullPlace> out;
    for (auto& [key, place] : places) out.push_back(std::move(place));
    return out;
}

// Cycles per step at one in-flight count: slope over depth where there are several depths (the
// median over group shapes), else time / depth.
double period_at(const Curve& curve, double in_flight, double overhead) {
    std::map<std::tuple<int, int, int, double>, std::vector<const CurvePoint*>> by_group;
    int most_even = std::numeric_limits<int>::max();
    for (const CurvePoint& p : curve.points) {
        if (hull_shape(p).in_flight() != in_flight) continue;
        most_even = std::min(most_even, p.busiest);
        by_group[{p.busiest, p.shape.group_warps, p.shape.chains, p.bytes_in_flight}].push_back(&p);
    }
    std::vector<double> slopes;
    std::vector<double> quotients;
    for (const auto& [group, points] : by_group) {
        if (std::get<0>(group) > most_even) break;
        const CurvePoint& a = *points.front();
        const CurvePoint& b = *points.back();  // points ascend with depth
        quotients.push_back(std::max(b.cycles - overhead, 0.01 * b.cycles) /
                            static_cast<double>(b.shape.depth));
        if (b.shape.depth > a.shape.depth && b.cycles > a.cycles)
            slopes.push_back((b.cycles - a.cycles) /
                             static_cast<double>(b.shape.depth - a.shape.depth));
    }
    return median(slopes.empty() ? quotients : slopes);
}

}  // namespace

double HullVariant::port_start() const {
    constexpr double before_ports = 0.8;
    if (schedulers == 1) return 0;
    return ports ? before_ports : shared ? 0 : 1;
}

std::size_t HullVariant::free_parameters(bool overhead_known) const {
    const std::size_t base = (regime == Regime::both ? 2U : 1U) + (overhead_known ? 0U : 1U);
    const std::size_t loops = !loop ? 0U : regime == Regime::both ? 2U : 1U;
    const std::size_t skews = skew && regime != Regime::latency_only ? 1U : 0U;
    return base + loops + skews + (group_overhead ? 1U : 0U) + (contention ? 1U : 0U) +
           (knee ? 1U : 0U) + (ports ? 1U : 0U) + (drift ? 1U : 0U);
}

HullProblem::HullProblem(const Curve& curve, InstructionKind kind,
                         std::optional<double> known_overhead)
    : curve_(curve), barrier_(kind == InstructionKind::barrier), known_overhead_(known_overhead) {
    std::set<double> in_flight;
    std::set<std::int64_t> depths;
    std::set<int> groups;
    scale_ = curve.points.front().cycles;
    for (const CurvePoint& p : curve.points) {
        shapes_.push_back(hull_shape(p));
        in_flight.insert(shapes_.back().in_flight());
        depths.insert(p.shape.depth);
        groups.insert(p.shape.concurrent_groups);
        scale_ = std::min(scale_, p.cycles);
        skewed_ |= p.skew > 1e-3 * p.cycles;
    }
    places_ = places_of(shapes_);
    smallest_ = *in_flight.begin();
    largest_ = *in_flight.rbegin();
    distinct_ = in_flight.size();
    depths_ = depths.size();
    groups_ = groups.size();
    separates_loop_ = several_bodies(curve).places >= 2;
    smallest_shape_ = *std::min_element(
        shapes_.begin(), shapes_.end(),
        [](const HullShape& a, const HullShape& b) { return a.in_flight() < b.in_flight(); });
    const double overhead = known_overhead.value_or(0);
    period_smallest_ = period_at(curve, smallest_, overhead);
    period_largest_ = period_at(curve, largest_, overhead);
}

std::vector<double> HullProblem::start(const HullVariant& variant) const {
    std::vector<double> q(hull_parameter_count, 0.0);
    q[log_cpi] = std::log(period_largest_ / largest_);
    q[log_latency] = std::log(period_smallest_);
    q[skew_part] = 0.5;
    q[knee_width] = variant.knee ? knee_start : 0;
    q[port_share] = variant.port_start();
    if (known_overhead_) {
        q[overhead_part] = *known_overhead_ / scale_;
        return q;
    }
    std::vector<double> rest;
    const HullParameters<double> p = physical_of<double>(q, scale_);
    for (std::size_t i = 0; i < shapes_.size(); ++i)
        rest.push_back(curve_.points[i].cycles - cycles_of(variant, barrier_, p, shapes_[i]));
    // Half of it keeps every prediction positive; the solver finds the rest.
    q[overhead_part] = 0.5 * std::max(median(rest), 0.0) / scale_;
    return q;
}

LeastSquaresProblem HullProblem::problem(const HullVariant& variant, std::vector<double> start,
                                         std::optional<double> huber) const {
    LeastSquaresProblem out;
    out.residual_count = curve_.points.size();
    out.start = std::move(start);
    out.huber = huber;
    out.fixed.assign(hull_parameter_count, false);
    out.fixed[log_cpi] = variant.regime == Regime::latency_only;
    out.fixed[log_latency] = variant.regime == Regime::throughput_only;
    out.fixed[overhead_part] = known_overhead_.has_value();
    out.fixed[group_overhead_part] = !variant.group_overhead;
    out.fixed[loop_latency_part] = !variant.loop || variant.regime == Regime::throughput_only;
    out.fixed[loop_cpi_part] = !variant.loop || variant.regime == Regime::latency_only;
    out.fixed[contention_part] = !variant.contention;
    out.fixed[knee_width] = !variant.knee;
    out.fixed[port_share] = !variant.ports;
    out.fixed[drift_part] = !variant.drift;
    out.lower.assign(hull_parameter_count, std::nullopt);
    out.upper.assign(hull_parameter_count, std::nullopt);
    out.fixed[skew_part] = !variant.skew || variant.regime == Regime::latency_only;
    out.lower[skew_part] = 0;
    out.upper[skew_part] = 1;
    out.lower[knee_width] = 0;
    out.upper[knee_width] = knee_limit;
    out.lower[port_share] = 0;
    out.upper[port_share] = 1;
    out.lower[contention_part] = 0;
    if (variant.launch_costs) out.lower[overhead_part] = out.lower[group_overhead_part] = 0;
    if (variant.regime == Regime::latency_only)
        out.upper[contention_part] = contention_limit / largest_;
    // Derivatives only with respect to what is free: most fits stop at the overheads.
    std::vector<std::size_t> free;
    for (std::size_t k = 0; k < drift_part; ++k)
        if (!out.fixed[k]) free.push_back(k);
    switch (free.size()) {
        case 0:
        case 1:
        case 2:
        case 3:
            out.residuals = residuals<3>(variant, free);
            break;
        case 4:
            out.residuals = residuals<4>(variant, free);
            break;
        case 5:
        case 6:
            out.residuals = residuals<6>(variant, free);
            break;
        default:
            out.residuals = residuals<drift_part>(variant, free);
    }
    return out;
}

// Calls take(point, time) place by place; false where a time is not positive.
template <class T, class Take>
bool HullProblem::for_each_time(const HullVariant& variant, const HullParameters<T>& p,
                                const Take& take) const {
    for (const HullPlace& place : places_) {
        const HullTimes<T> times = times_of(variant, barrier_, p, place.shape);
        for (const std::size_t i : place.points) {
            const T t = times.cycles(steps_of(variant, shapes_[i]), shapes_[i].skew);
            if (!(t > T(0))) return false;
            take(i, t);
        }
    }
    return true;
}

// Residuals and derivatives with respect to the free parameters, of which there are at most Count,
// and the drift; the rest are constants.
template <int Count>
ResidualsFunction HullProblem::residuals(const HullVariant& variant,
                                         const std::vector<std::size_t>& free) const {
    using Jet = ceres::Jet<double, Count>;
    return [this, variant, free](std::span<const double> q, std::span<double> residuals,
                                 std::span<double> jacobian) {
        const auto set_residual = [&](std::size_t i, double t) {
            const CurvePoint& point = curve_.points[i];
            residuals[i] =
                (std::log(t / point.cycles) + q[drift_part] * point.place) / point.log_error;
        };
        if (jacobian.empty()) return for_each_time(variant, physical_of(q, scale_), set_residual);
        std::array<Jet, hull_parameter_count> x;
        for (std::size_t k = 0; k < x.size(); ++k) x[k].a = q[k];
        for (std::size_t slot = 0; slot < free.size(); ++slot)
            x[free[slot]].v[static_cast<Eigen::Index>(slot)] = 1;
        return for_each_time(variant, physical_of(std::span<const Jet>(x), scale_),
                             [&](std::size_t i, const Jet& t) {
                                 set_residual(i, t.a);
                                 const CurvePoint& point = curve_.points[i];
                                 double* const gradient = &jacobian[i * hull_parameter_count];
                                 for (std::size_t slot = 0; slot < free.size(); ++slot)
                                     gradient[free[slot]] = t.v[static_cast<Eigen::Index>(slot)] /
                                                            (t.a * point.log_error);
                                 gradient[drift_part] = point.place / point.log_error;
                             });
    };
}

HullParameters<double> HullProblem::physical(const std::vector<double>& parameters) const {
    return physical_of<double>(parameters, scale_);
}

double HullProblem::aside_cycles(const HullVariant& variant, const std::vector<double>& parameters,
                                 std::size_t point) const {
    std::vector<double> steps = parameters;
    steps[loop_latency_part] = steps[loop_cpi_part] = 0;
    HullShape together = shapes_[point];
    together.skew = 0;
    return predicted_cycles(variant, parameters, point) -
           drifted(parameters, point) * cycles_of(variant, barrier_, physical(steps), together);
}

double HullProblem::predicted_cycles(const HullVariant& variant,
                                     const std::vector<double>& parameters,
                                     std::size_t point) const {
    return drifted(parameters, point) *
           cycles_of(variant, barrier_, physical(parameters), shapes_[point]);
}

double HullProblem::drifted(const std::vector<double>& parameters, std::size_t point) const {
    return std::exp(parameters[drift_part] * curve_.points[point].place);
}

}  // namespace occupipe
