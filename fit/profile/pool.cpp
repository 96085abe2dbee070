// SPDX-License-Identifier: MIT
#include "fit/profile/pool.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace occupipe {
namespace {

// Variance between machines by DerSimonian and Laird's method of moments; zero when the machines'
// own errors explain their differences.
double variance_between(std::span<const Estimate> known) {
    double w1 = 0, w2 = 0, mean = 0, q = 0;
    for (const Estimate& e : known) {
        const double w = std::pow(*e.std_error, -2);
        w1 += w;
        w2 += w * w;
        mean += w * e.value;
    }
    mean /= w1;
    for (const Estimate& e : known) q += std::pow((e.value - mean) / *e.std_error, 2);
    const double freedom = static_cast<double>(known.size()) - 1;
    return std::max(0.0, (q - freedom) / (w1 - w2 / w1));
}

bool has_error(const Estimate& e) { return e.std_error && *e.std_error > 0; }

// Where not every machine's error is known. The spread of the values contains the errors of all of
// them, but the mean is no better than the known ones alone make it: a spread below that is chance.
Pooled plain_mean(std::span<const Estimate> known) {
    Pooled out;
    const double n = static_cast<double>(known.size());
    for (const Estimate& e : known) out.estimate.value += e.value / n;
    double squares = 0;
    double least = 0;  // variance of the mean from the known errors
    for (const Estimate& e : known) {
        squares += std::pow(e.value - out.estimate.value, 2);
        if (has_error(e)) least += std::pow(*e.std_error / n, 2);
    }
    if (std::ranges::all_of(known, [&](const Estimate& e) { return e.value == known[0].value; })) {
        out.estimate.value = known[0].value;  // without the mean's rounding
        squares = 0;
    }
    out.between = std::sqrt(squares / (n - 1));
    const double variance = squares / (n - 1) / n;
    if (variance > 0 && variance >= least) out.estimate.std_error = std::sqrt(variance);
    return out;
}

Pooled of_one(const Estimate& only) {
    Pooled out;
    out.estimate = only;
    if (!has_error(only)) out.estimate.std_error.reset();
    return out;
}

// Of bounds alone: the least upper one, else the greatest lower one.
Estimate tightest_bound(std::span<const Estimate> bounds) {
    const Estimate* best = &bounds.front();
    const auto better = [](const Estimate& a, const Estimate& b) {
        if (a.kind != b.kind) return a.kind < b.kind;  // upper, lower, of unknown direction
        return a.kind == Estimate::Kind::lower_bound ? a.value > b.value : a.value < b.value;
    };
    for (const Estimate& bound : bounds)
        if (better(bound, *best)) best = &bound;
    return *best;
}

// Whether a bound says that the number cannot be what the estimate says, for all its error.
bool excludes(const Estimate& bound, const Estimate& value) {
    constexpr double standard_errors = 3;
    constexpr double without_error = 0.05;  // share of the value
    const double error =
        standard_errors * (has_error(value) ? *value.std_error : without_error * value.value);
    if (bound.kind == Estimate::Kind::upper_bound) return value.value - error > bound.value;
    if (bound.kind == Estimate::Kind::lower_bound) return value.value + error < bound.value;
    return false;
}

bool contradicts(const Estimate& bound, const Pooled& pooled, std::span<const Estimate> known) {
    const Estimate& used = pooled.estimate;
    if (used.identifiable())
        return excludes(bound, used) ||
               std::ranges::any_of(known, [&](const Estimate& e) { return excludes(bound, e); });
    return used.kind == Estimate::Kind::upper_bound && bound.kind == Estimate::Kind::lower_bound &&
           bound.value > used.value;
}

// The estimate and its spread; `known`: those of `estimates` that are no bounds.
Pooled pool_values(std::span<const Estimate> estimates, std::span<const Estimate> known) {
    if (known.empty()) {
        Pooled out;
        out.estimate = tightest_bound(estimates);
        return out;
    }
    Pooled out;
    if (known.size() == 1) {
        out = of_one(known.front());
    } else if (!std::ranges::all_of(known, has_error)) {
        out = plain_mean(known);
    } else {
        const double between = variance_between(known);
        double weight = 0;
        for (const Estimate& e : known) {
            const double w = 1 / (*e.std_error * *e.std_error + between);
            weight += w;
            out.estimate.value += w * e.value;
        }
        out.estimate.value /= weight;
        out.estimate.std_error = 1 / std::sqrt(weight);
        out.between = std::sqrt(between);
    }
    const auto [low, high] = std::ranges::minmax(known, {}, &Estimate::value);
    out.lowest = low.value;
    out.highest = high.value;
    out.machines = known.size();
    return out;
}

}  // namespace

Pooled pool(std::span<const Estimate> estimates) {
    std::vector<Estimate> known;
    for (const Estimate& e : estimates)
        if (e.identifiable()) known.push_back(e);
    Pooled out = pool_values(estimates, known);
    for (std::size_t i = 0; i < estimates.size(); ++i)
        if (!estimates[i].identifiable() && contradicts(estimates[i], out, known))
            out.contradicting.push_back(i);
    return out;
}

std::string spread_note(const char* symbol, const Pooled& p) {
    if (p.machines < 2) return {};
    return fmt::format("{} of {} machines: {:.5g} to {:.5g}, {:.2g} % between them", symbol,
                       p.machines, p.lowest, p.highest, 100 * p.between / p.estimate.value);
}

}  // namespace occupipe
