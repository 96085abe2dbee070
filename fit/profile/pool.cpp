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

Pooled plain_mean(std::span<const Estimate> known) {
    Pooled out;
    const double n = static_cast<double>(known.size());
    for (const Estimate& e : known) out.estimate.value += e.value / n;
    double squares = 0;
    for (const Estimate& e : known) squares += std::pow(e.value - out.estimate.value, 2);
    if (known.size() > 1) {
        out.between = std::sqrt(squares / (n - 1));
        out.estimate.std_error = out.between / std::sqrt(n);
    } else {
        out.estimate = known.front();
    }
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

}  // namespace

Pooled pool(std::span<const Estimate> estimates) {
    std::vector<Estimate> known;
    for (const Estimate& e : estimates)
        if (e.identifiable()) known.push_back(e);
    if (known.empty()) {
        Pooled out;
        out.estimate = tightest_bound(estimates);
        return out;
    }
    const bool errors_known = std::all_of(known.begin(), known.end(), [](const Estimate& e) {
        return e.std_error && *e.std_error > 0;
    });
    Pooled out;
    if (!errors_known || known.size() == 1) {
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
    const auto [low, high] =
        std::minmax_element(known.begin(), known.end(),
                            [](const Estimate& a, const Estimate& b) { return a.value < b.value; });
    out.lowest = low->value;
    out.highest = high->value;
    out.machines = known.size();
    return out;
}

std::string spread_note(const char* symbol, const Pooled& p) {
    if (p.machines < 2) return {};
    return fmt::format("{} of {} machines: {:.5g} to {:.5g}, {:.2g} % between them", symbol,
                       p.machines, p.lowest, p.highest, 100 * p.between / p.estimate.value);
}

}  // namespace occupipe
