// SPDX-License-Identifier: MIT
#include "analysis/tuning/scores.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "core/statistics.h"

namespace occupipe::analysis {
namespace {

// From 1; equal values share the mean of their ranks.
std::vector<double> ranks(const std::vector<double>& values) {
    std::vector<std::size_t> order(values.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
    std::vector<double> found(values.size());
    for (std::size_t begin = 0; begin < order.size();) {
        std::size_t end = begin;
        while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
        for (std::size_t i = begin; i < end; ++i)
            found[order[i]] = static_cast<double>(begin + end + 1) / 2;
        begin = end;
    }
    return found;
}

std::optional<double> correlation(const std::vector<double>& a, const std::vector<double>& b) {
    const double mean = (static_cast<double>(a.size()) + 1) / 2;  // of ranks
    double product = 0, of_a = 0, of_b = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        product += (a[i] - mean) * (b[i] - mean);
        of_a += (a[i] - mean) * (a[i] - mean);
        of_b += (b[i] - mean) * (b[i] - mean);
    }
    if (of_a == 0 || of_b == 0) return std::nullopt;
    return product / std::sqrt(of_a * of_b);
}

}  // namespace

Scores scores(std::span<const ScoredTime> times) {
    Scores found{.count = times.size()};
    const auto n = static_cast<double>(times.size());
    double logarithms = 0, sum = 0;
    for (const ScoredTime& one : times) {
        found.mape += std::abs(one.predicted / one.measured - 1) / n;
        logarithms += std::log(one.predicted / one.measured) / n;
        sum += one.measured;
    }
    found.factor = std::exp(logarithms);
    std::vector<double> measured, predicted, widths;
    std::size_t covered = 0;
    for (const ScoredTime& one : times) {
        found.shape += std::abs(one.predicted / found.factor / one.measured - 1) / n;
        measured.push_back(one.measured);
        predicted.push_back(one.predicted);
        if (!one.low || !one.high) continue;
        widths.push_back((*one.high - *one.low) / 2 / one.predicted);
        covered += *one.low <= one.measured && one.measured <= *one.high ? 1 : 0;
    }
    if (!widths.empty()) {
        found.coverage = static_cast<double>(covered) / static_cast<double>(widths.size());
        found.half_width = median(widths);
    }
    const auto [least, most] = std::ranges::minmax(measured);
    found.spread = most / least;
    found.at_random = sum / n / least;
    found.spearman = correlation(ranks(measured), ranks(predicted));

    std::vector<std::size_t> order(times.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    // Equal predictions do not say which is better: the longest measured comes first.
    std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
        return std::pair(predicted[a], -measured[a]) < std::pair(predicted[b], -measured[b]);
    });
    const auto best_of = [&, shortest = least](std::size_t first) {
        double best = measured[order.front()];
        for (std::size_t i = 1; i < std::min(first, order.size()); ++i)
            best = std::min(best, measured[order[i]]);
        return best / shortest;
    };
    found.regret = best_of(1);
    found.regret_hundredth = best_of(std::max<std::size_t>(1, times.size() / 100));
    found.regret_ten = best_of(10);
    return found;
}

}  // namespace occupipe::analysis
