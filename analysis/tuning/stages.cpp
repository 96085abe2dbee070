// SPDX-License-Identifier: MIT
#include "analysis/tuning/stages.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/statistics.h"

namespace occupipe::analysis {
namespace {

constexpr double of_95_percent = 1.96;  // of many
constexpr std::size_t least_of_limiter = 3;

bool may_be_exact(const TunedConfiguration& row) {
    return !row.predicted.front() &&
           (row.refused == Refusal::none ||
            (row.refused == Refusal::prediction && row.stage == Stage::coarse));
}

CoarseScale::Part part_of(const std::vector<double>& logs) {
    CoarseScale::Part part{.count = logs.size(), .log_factor = 0, .scatter = {}};
    if (logs.empty()) return part;
    const auto n = static_cast<double>(logs.size());
    for (const double one : logs) part.log_factor += one / n;
    if (logs.size() < 2) return part;
    double squares = 0;
    for (const double one : logs) squares += std::pow(one - part.log_factor, 2);
    part.scatter = std::sqrt(squares / (n - 1));
    return part;
}

// Of a coarse time to the nearest one with the same limiter; `known` ascending.
double distance(const std::vector<double>* known, double log_time) {
    if (known == nullptr || known->empty()) return std::numeric_limits<double>::infinity();
    const auto above = std::ranges::lower_bound(*known, log_time);
    double nearest = std::numeric_limits<double>::infinity();
    if (above != known->end()) nearest = *above - log_time;
    if (above != known->begin()) nearest = std::min(nearest, log_time - *std::prev(above));
    return nearest;
}

}  // namespace

const CoarseScale::Part& CoarseScale::of(const std::string& limiter) const {
    const auto part = by_limiter.find(limiter);
    return part == by_limiter.end() || part->second.count < least_of_limiter ? all : part->second;
}

CoarseScale coarse_scale(std::span<const TunedConfiguration> rows) {
    std::vector<double> all;
    std::map<std::string, std::vector<double>> by_limiter;
    for (const TunedConfiguration& row : rows) {
        // Equal code tells nothing more.
        if (!row.coarse || !row.predicted.front() || row.known) continue;
        all.push_back(std::log(*row.predicted.front() / *row.coarse));
        by_limiter[row.coarse_limiter].push_back(all.back());
    }
    CoarseScale scale{.all = part_of(all), .by_limiter = {}};
    for (const auto& [limiter, logs] : by_limiter) scale.by_limiter[limiter] = part_of(logs);
    return scale;
}

std::optional<std::size_t> next_exact(std::span<const TunedConfiguration> rows,
                                      const std::vector<bool>& taken) {
    const CoarseScale scale = coarse_scale(rows);
    std::map<std::string, std::vector<double>> known;  // logarithms of coarse times
    std::size_t turn = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const bool exact = rows[i].predicted.front().has_value();
        if (!taken[i] && !exact) continue;
        if (!exact || !rows[i].known) ++turn;  // equal code was no turn of its own
        if (rows[i].coarse) known[rows[i].coarse_limiter].push_back(std::log(*rows[i].coarse));
    }
    for (auto& [limiter, logs] : known) std::ranges::sort(logs);
    const bool best = turn % 2 == 0;
    std::optional<std::size_t> found;
    std::pair<double, double> least;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const TunedConfiguration& row = rows[i];
        if (taken[i] || !may_be_exact(row)) continue;
        constexpr double endless = std::numeric_limits<double>::infinity();
        // The smallest is taken; equal ones in the order of their coarse times, last those that
        // have none.
        std::pair<double, double> key = {endless, endless};
        if (row.coarse) {
            const double log_time = std::log(*row.coarse);
            const CoarseScale::Part& part = scale.of(row.coarse_limiter);
            const auto same = known.find(row.coarse_limiter);
            key.first = best ? log_time + part.log_factor - of_95_percent * part.scatter.value_or(0)
                             : -distance(same == known.end() ? nullptr : &same->second, log_time);
            key.second = log_time;
        }
        if (found && key >= least) continue;
        found = i;
        least = key;
    }
    return found;
}

void estimate_coarse(std::span<TunedConfiguration> rows) {
    const CoarseScale scale = coarse_scale(rows);
    std::vector<double> widths;  // half, of the logarithms
    for (const TunedConfiguration& row : rows)
        if (row.predicted.front() && row.interval)
            widths.push_back(std::log(row.interval->high / row.interval->low) / 2);
    for (TunedConfiguration& row : rows) {
        if (!row.coarse || row.predicted.front() || row.refused != Refusal::none) continue;
        const CoarseScale::Part& part = scale.of(row.coarse_limiter);
        row.estimated = *row.coarse * std::exp(part.log_factor);
        row.interval.reset();
        if (!part.scatter || widths.empty()) continue;
        const auto count = static_cast<double>(part.count);
        const double own =
            student_critical(0.025, count - 1) * *part.scatter * std::sqrt(1 + 1 / count);
        const double factor = std::exp(std::hypot(own, median(widths)));
        row.interval = {*row.estimated / factor, *row.estimated * factor};
    }
}

}  // namespace occupipe::analysis
