// SPDX-License-Identifier: MIT
#include "core/running_warps.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace occupipe {
namespace {

// Apart by more than this share of the time, warps count as drifted.
constexpr double apart = 0.01;

// By m = 1 … W: cycles in which at least m warps ran, descending.
std::vector<double> time_with_at_least(std::span<const double> starts,
                                       std::span<const double> stops) {
    std::vector<std::pair<double, int>> changes;
    for (const double start : starts) changes.emplace_back(start, 1);
    for (const double stop : stops) changes.emplace_back(stop, -1);
    std::ranges::sort(changes);
    std::vector<double> exactly(starts.size() + 1);
    std::size_t now = 0;
    double since = changes.front().first;
    for (const auto& [moment, change] : changes) {
        exactly[now] += moment - since;
        since = moment;
        // A warp that stops where it started has run in no time.
        now = change > 0 ? now + 1 : now - std::min<std::size_t>(now, 1);
    }
    std::vector<double> out(starts.size());
    double sum = 0;
    for (std::size_t m = starts.size(); m > 0; --m) out[m - 1] = sum += exactly[m];
    return out;
}

}  // namespace

RunningCycles running_cycles(std::span<const double> starts, std::span<const double> stops) {
    const std::vector<double> at_least = time_with_at_least(starts, stops);
    const auto warps = static_cast<double>(at_least.size());
    RunningCycles out{};
    for (std::size_t part = 0; part < running_parts; ++part) {
        const double begin = warps * static_cast<double>(part) / running_parts;
        const double end = warps * static_cast<double>(part + 1) / running_parts;
        double sum = 0;
        for (auto m = static_cast<std::size_t>(begin); m < at_least.size(); ++m) {
            const double from = std::max(begin, static_cast<double>(m));
            const double until = std::min(end, static_cast<double>(m + 1));
            if (until <= from) break;
            sum += at_least[m] * (until - from);
        }
        out[part] = sum / (end - begin);
    }
    return out;
}

std::optional<StopOrder> stop_order(std::span<const double> stops,
                                    std::span<const int> scheduler_of, double same) {
    double pairs = 0;
    double telling = 0;
    double concordant = 0;
    for (std::size_t a = 0; a < stops.size(); ++a)
        for (std::size_t b = a + 1; b < stops.size(); ++b) {
            if (scheduler_of[a] != scheduler_of[b]) continue;
            ++pairs;
            const double later = stops[b] - stops[a];
            if (std::abs(later) <= same) continue;
            ++telling;
            concordant += later > 0 ? 1 : -1;
        }
    if (!(telling > 0)) return std::nullopt;
    return StopOrder{concordant / telling, telling / pairs};
}

std::string running_counter(std::size_t part) { return fmt::format("running_{:02}", part + 1); }

std::map<std::string, double> running_counters(std::span<const double> starts,
                                               std::span<const double> stops,
                                               std::span<const int> scheduler_of) {
    std::map<std::string, double> out;
    const auto [first_stop, last_stop] = std::ranges::minmax(stops);
    const double cycles = last_stop - std::ranges::min(starts);
    out[stop_spread_counter] = last_stop - first_stop;
    const RunningCycles running = running_cycles(starts, stops);
    if (running.back() < (1 - apart) * cycles)
        for (std::size_t part = 0; part < running_parts; ++part)
            out[running_counter(part)] = running[part];
    if (const auto order = stop_order(stops, scheduler_of, apart * cycles)) {
        out[stop_order_counter] = order->correlation;
        out[stops_telling_counter] = order->telling;
    }
    return out;
}

}  // namespace occupipe
