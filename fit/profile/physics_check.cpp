// SPDX-License-Identifier: MIT
#include "fit/profile/physics_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace occupipe {
namespace {

constexpr double shortest_latency_cycles = 1;
// Below this a contradiction between left end and law is a matter of rounding, not of hardware.
constexpr double smallest_contradiction = 0.01;

}  // namespace

std::optional<Estimate> left_end_latency(const Curve& curve) {
    double sum_w = 0;
    double sum_n = 0;
    double sum_t = 0;
    std::vector<const CurvePoint*> points;
    for (const CurvePoint& point : curve.points) {
        if (point.shape.warps() * point.shape.chains != 1) continue;
        points.push_back(&point);
        const double w = std::pow(point.log_error * point.cycles, -2);
        sum_w += w;
        sum_n += w * static_cast<double>(point.shape.depth);
        sum_t += w * point.cycles;
    }
    double spread = 0;
    double together = 0;
    for (const CurvePoint* point : points) {
        const double w = std::pow(point->log_error * point->cycles, -2);
        const double n = static_cast<double>(point->shape.depth) - sum_n / sum_w;
        spread += w * n * n;
        together += w * n * (point->cycles - sum_t / sum_w);
    }
    if (!(spread > 0) || !std::isfinite(spread)) return std::nullopt;
    Estimate slope;
    slope.value = together / spread;
    slope.std_error = 1 / std::sqrt(spread);
    return slope;
}

void check_against_physics(const Curve& curve, InstructionKind kind, TimingFit& fit) {
    if (!fit.ok) return;
    const auto left = kind == InstructionKind::barrier ? std::nullopt : left_end_latency(curve);
    if (left && fit.latency.identifiable()) {
        const double difference = std::abs(left->value - fit.latency.value);
        // A fit that is uncertain because the law misses must not hide that the left end is not.
        const double error =
            std::hypot(*left->std_error, std::min(*fit.latency.std_error, *left->std_error));
        if (difference > std::max(3 * error, smallest_contradiction * fit.latency.value)) {
            fit.notes.push_back(fmt::format(
                "Λ is {:.4g} with one instruction in flight but {:.4g} in the fit over all "
                "occupancies: the law does not hold between",
                left->value, fit.latency.value));
            fit.latency.value = left->value;
            fit.latency.std_error = std::max(*left->std_error, difference);
        }
    }
    const double latency = left ? left->value : fit.latency.value;
    const double error = left ? *left->std_error : fit.latency.std_error.value_or(0);
    if (latency + 3 * error < shortest_latency_cycles) {
        fit.ok = false;
        fit.reason = fmt::format(
            "{:.3g} cycles from one instruction to the next, less than one: the compiler removed "
            "or "
            "merged instructions",
            latency);
    }
}

}  // namespace occupipe
