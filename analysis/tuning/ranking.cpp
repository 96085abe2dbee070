// SPDX-License-Identifier: MIT
#include "analysis/tuning/ranking.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "core/statistics.h"

namespace occupipe::analysis {
namespace {

constexpr std::size_t other_limiter_each = 4;

struct Moments {
    double sum = 0, squares = 0;
    std::size_t count = 0;

    void add(double value) {
        sum += value;
        squares += value * value;
        ++count;
    }
    double mean() const { return sum / static_cast<double>(count); }
    double deviations() const { return std::max(0.0, squares - sum * mean()); }  // squared, summed
};

// A configuration that was measured several times counts with its median.
std::vector<std::optional<double>> measured_of(const Tuned& tuned,
                                               std::span<const MeasuredRun> runs) {
    std::map<std::string, std::vector<double>> known;
    for (const MeasuredRun& run : runs)
        if (run.seconds) known[to_text(run.configuration)].push_back(*run.seconds);
    std::vector<std::optional<double>> found(tuned.rows.size());
    if (known.empty()) return found;
    for (std::size_t i = 0; i < tuned.rows.size(); ++i)
        if (const auto run = known.find(to_text(tuned.rows[i].configuration)); run != known.end())
            found[i] = median(run->second);
    return found;
}

std::vector<std::size_t> to_measure(const Tuned& tuned, const Ranking& ranking, std::size_t top) {
    std::set<std::string> codes, limiters;
    for (std::size_t i = 0; i < tuned.rows.size(); ++i)
        if (ranking.measured[i]) codes.insert(tuned.rows[i].code);
    std::vector<bool> taken(tuned.rows.size());
    std::vector<std::size_t> found;
    const auto take = [&](bool of_other_limiter) {
        for (const std::size_t i : ranking.order) {
            const TunedConfiguration& row = tuned.rows[i];
            if (taken[i] || ranking.measured[i] || codes.contains(row.code)) continue;
            if (of_other_limiter && limiters.contains(row.limiter)) continue;
            taken[i] = true;
            codes.insert(row.code);
            limiters.insert(row.limiter);
            found.push_back(i);
            return true;
        }
        return false;
    };
    while (found.size() < top) {
        const bool other = (found.size() + 1) % other_limiter_each == 0;
        if (!(other && take(true)) && !take(false)) break;
    }
    std::vector<std::size_t> place(tuned.rows.size());
    for (std::size_t i = 0; i < ranking.order.size(); ++i) place[ranking.order[i]] = i;
    std::ranges::sort(found, {}, [&](std::size_t i) { return place[i]; });
    return found;
}

// Of the shortest of independent times with one scatter, by the mean of its distribution: the
// integral over t from 0 to `best` of the probability that one of them is below t.
double improvement_of(const Ranking& ranking, double best, double scatter) {
    constexpr int steps = 2000;
    double sum = 0;
    for (int i = 0; i < steps; ++i) {
        const double t = best * (i + 0.5) / steps;
        double none_below = 1;
        for (const std::size_t row : ranking.top) {
            const double z = std::log(t / *ranking.expected[row]) / scatter;
            none_below *= std::erfc(z / std::sqrt(2.0)) / 2;
        }
        sum += (1 - none_below) * best / steps;
    }
    return sum;
}

}  // namespace

std::optional<ClockFactor> clock_factor(const Tuned& tuned,
                                        std::span<const std::optional<double>> measured) {
    Moments logs;
    for (std::size_t i = 0; i < tuned.rows.size(); ++i)
        if (const auto seconds = time_of(tuned.rows[i]); measured[i] && seconds)
            logs.add(std::log(*measured[i] / *seconds));
    if (logs.count == 0) return std::nullopt;
    ClockFactor clock{
        .count = logs.count, .factor = std::exp(logs.mean()), .standard_error = {}, .scatter = {}};
    if (logs.count > 1) {
        const auto n = static_cast<double>(logs.count);
        clock.scatter = std::sqrt(logs.deviations() / (n - 1));
        clock.standard_error = *clock.scatter / std::sqrt(n);
    }
    return clock;
}

std::vector<TunableEffect> effects(const TuningSpace& space, const Tuned& tuned) {
    std::vector<TunableEffect> all;
    for (const TuningSpace::Tunable& tunable : space.tunables) {
        if (tunable.values.size() < 2) continue;
        TunableEffect effect{.name = tunable.name, .importance = {}, .best = {}};
        effect.best.resize(tunable.values.size());
        Moments whole;
        std::vector<Moments> parts(tunable.values.size());
        for (const TunedConfiguration& row : tuned.rows) {
            const auto time = time_of(row);
            if (!time) continue;
            const auto at = static_cast<std::size_t>(
                std::ranges::find(tunable.values, row.configuration.find(tunable.name)->second) -
                tunable.values.begin());
            const double seconds = *time;
            whole.add(std::log(seconds));
            parts[at].add(std::log(seconds));
            effect.best[at] = std::min(effect.best[at].value_or(seconds), seconds);
        }
        if (whole.count > 0 && whole.deviations() > 1e-12 * static_cast<double>(whole.count)) {
            double between = 0;
            for (const Moments& part : parts)
                if (part.count > 0)
                    between +=
                        static_cast<double>(part.count) * std::pow(part.mean() - whole.mean(), 2);
            effect.importance = std::min(1.0, between / whole.deviations());
        }
        all.push_back(std::move(effect));
    }
    return all;
}

Ranking ranked(const Tuned& tuned, std::span<const MeasuredRun> measured, std::size_t top) {
    Ranking ranking;
    ranking.measured = measured_of(tuned, measured);
    ranking.clock = clock_factor(tuned, ranking.measured);
    const double factor = ranking.clock ? ranking.clock->factor : 1;
    ranking.expected.resize(tuned.rows.size());
    std::optional<double> best;
    for (std::size_t i = 0; i < tuned.rows.size(); ++i) {
        if (const auto& seconds = ranking.measured[i]) {
            ranking.expected[i] = seconds;
            best = std::min(best.value_or(*seconds), *seconds);
        } else if (const auto predicted = time_of(tuned.rows[i])) {
            ranking.expected[i] = *predicted * factor;
        }
        if (ranking.expected[i]) ranking.order.push_back(i);
    }
    std::ranges::stable_sort(ranking.order, {},
                             [&](std::size_t i) { return *ranking.expected[i]; });
    ranking.top = to_measure(tuned, ranking, top);
    if (best && ranking.clock && ranking.clock->scatter && *ranking.clock->scatter > 0 &&
        !ranking.top.empty())
        ranking.improvement = improvement_of(ranking, *best, *ranking.clock->scatter);
    return ranking;
}

}  // namespace occupipe::analysis
