// SPDX-License-Identifier: MIT
#include "fit/profile/physics_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace occupipe {
namespace {

constexpr double shortest_latency_cycles = 1;
// Below this a contradiction between left end and law is due to rounding, not to hardware.
constexpr double smallest_contradiction = 0.01;

// Fermi's add.f32 and mul.f32 take 18 cycles, its f64 22 (docs/how-to/self-check.md); ten times
// that is no GPU's, and no CPU's.
constexpr double longest_plain_latency = 250;
constexpr double longest_plain_cpi = 70;  // two warps of f64 at 1/64 rate stay below

}  // namespace

bool is_plain_arithmetic(std::string_view instruction) {
    static constexpr std::array names{"add", "sub", "mul", "fma", "mad", "min", "max", "neg",
                                      "abs", "and", "or",  "xor", "not", "shl", "shr", "lop3"};
    const std::string_view first = instruction.substr(0, instruction.find('.'));
    const std::string_view type = instruction.substr(instruction.rfind('.') + 1);
    const bool wide = type == "f64" || type == "s64" || type == "u64" || type == "b64";
    return std::ranges::find(names, first) != names.end() && !wide;
}

std::optional<Estimate> left_end_latency(const Curve& curve, double wandering) {
    // Between its two ends a saw-tooth moves a time evenly.
    const double moved = wandering / std::sqrt(12.0);
    const auto weight = [&](const CurvePoint& point) {
        return std::pow(std::hypot(point.log_error, moved) * point.cycles, -2);
    };
    double sum_w = 0;
    double sum_n = 0;
    double sum_t = 0;
    std::vector<const CurvePoint*> points;
    for (const CurvePoint& point : curve.points) {
        if (point.shape.warps() * point.shape.chains != 1) continue;
        points.push_back(&point);
        const double w = weight(point);
        sum_w += w;
        sum_n += w * static_cast<double>(point.shape.depth);
        sum_t += w * point.cycles;
    }
    double spread = 0;
    double together = 0;
    for (const CurvePoint* point : points) {
        const double w = weight(*point);
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
    const auto left =
        kind == InstructionKind::barrier ? std::nullopt : left_end_latency(curve, fit.wandering);
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
            fit.latency.std_error.reset();
            fit.latency.error_terms.clear();
            add_error(fit.latency, "one_in_flight", std::max(*left->std_error, difference));
            add_error(fit.latency, "common_to_all", fit.common_error * left->value);
        }
    }
    if (is_plain_arithmetic(fit.subject)) {
        const bool slow = fit.latency.kind != Estimate::Kind::lower_bound &&
                          fit.latency.kind != Estimate::Kind::undetermined &&
                          fit.latency.value > longest_plain_latency;
        const bool rare = fit.cpi.identifiable() && fit.cpi.value > longest_plain_cpi;
        if (slow || rare) {
            fit.notes.push_back(fmt::format(
                "implausible: λ {:.4g} and Λ {:.4g} cycles for plain arithmetic; are the times in "
                "another unit, or is a step more than this instruction?",
                fit.cpi.value, fit.latency.value));
            for (Estimate* e : {&fit.cpi, &fit.latency})
                add_doubt(*e, {Doubt::Kind::implausible, {}});
        }
    }
    double latency = left ? left->value : fit.latency.value;
    double error = left ? *left->std_error : fit.latency.std_error.value_or(0);
    // Upper bounds hold their errors.
    if (fit.latency.kind == Estimate::Kind::upper_bound &&
        fit.latency.value < shortest_latency_cycles) {
        latency = fit.latency.value;
        error = 0;
    }
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
