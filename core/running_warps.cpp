// SPDX-License-Identifier: MIT
#include "core/running_warps.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
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

namespace {

// Readings of one warp, start and stop included.
std::vector<double> readings_of(const WarpTimes& warp) {
    std::vector<double> all = {warp.start};
    all.insert(all.end(), warp.checkpoints.begin(), warp.checkpoints.end());
    all.push_back(warp.stop);
    return all;
}

struct Progress {
    double parts = 0;  // of those between readings
    double error = 0;
};

// How far a warp was at this time, had it kept its pace. It may have been anywhere that the
// quickest pace of this part and its neighbours allows, and warps that starve do so together, so
// that the furthest of it counts as error; a part as quick as its neighbours leaves no doubt.
Progress progress_at(const std::vector<double>& readings, double time) {
    const std::size_t parts = readings.size() - 1;
    if (time <= readings.front()) return {0, 0};
    if (time >= readings.back()) return {static_cast<double>(parts), 0};
    const auto behind = std::ranges::upper_bound(readings, time);
    const auto part = static_cast<std::size_t>(behind - readings.begin()) - 1;
    const auto length = [&](std::size_t p) { return readings[p + 1] - readings[p]; };
    const double own = length(part);
    double least = own;
    double most = own;
    for (const std::size_t p : {part - 1, part + 1}) {
        if (p >= parts) continue;  // also what lies in front of the first
        least = std::min(least, length(p));
        most = std::max(most, length(p));
    }
    const double into = (time - readings[part]) / own;
    const double quickest = most > 0 ? std::max(least / most, 1e-3) : 1;  // over the own length
    const double high = std::min(1.0, into / quickest);
    const double low = std::max(0.0, 1 - (1 - into) / quickest);
    return {static_cast<double>(part) + into, std::max(high - into, into - low)};
}

}  // namespace

std::optional<Window> common_window(std::span<const WarpTimes> warps, double instructions) {
    constexpr double shortest = 0.1;     // of the time from first start to last stop
    constexpr double at_an_end = 1e-3;   // relative error of a window from start or to stop
    constexpr double of_an_issue = 0.5;  // instructions of a warp, at each end of the window
    std::vector<std::vector<double>> readings;
    for (const WarpTimes& warp : warps) readings.push_back(readings_of(warp));
    const std::size_t count = readings.front().size();
    // Of all warps, by reading.
    std::vector<double> earliest(count, std::numeric_limits<double>::infinity());
    std::vector<double> latest(count, -std::numeric_limits<double>::infinity());
    for (const std::vector<double>& of : readings)
        for (std::size_t k = 0; k < count; ++k) {
            earliest[k] = std::min(earliest[k], of[k]);
            latest[k] = std::max(latest[k], of[k]);
        }
    const double whole = latest[count - 1] - earliest[0];
    const double per_part = instructions / static_cast<double>(count - 1);
    std::optional<Window> best;
    double least = 0;
    for (std::size_t k = 0; k + 1 < count; ++k)
        for (std::size_t l = k + 1; l < count; ++l) {
            const double begin = latest[k];
            const double end = earliest[l];
            if (!(end - begin > shortest * whole)) continue;
            Window window{.cycles = end - begin};
            double error = 0;
            for (const auto& of : readings) {
                const Progress from = progress_at(of, begin);
                const Progress to = progress_at(of, end);
                window.instructions += (to.parts - from.parts) * per_part;
                error += (from.error + to.error) * per_part;
            }
            if (!(window.instructions > 0)) continue;
            const double issues =
                of_an_issue * std::sqrt(2.0 * static_cast<double>(readings.size()));
            window.instructions_error = error + issues;
            const double relative = window.instructions_error / window.instructions +
                                    (k == 0 ? at_an_end : 0) + (l + 1 == count ? at_an_end : 0);
            if (best && relative >= least) continue;
            best = window;
            least = relative;
        }
    if (best) best->instructions_error = least * best->instructions;
    return best;
}

std::map<std::string, double> window_counters(std::span<const WarpTimes> warps,
                                              double instructions) {
    std::map<std::string, double> out;
    if (const auto window = common_window(warps, instructions)) {
        out[window_cycles_counter] = window->cycles;
        out[window_instructions_counter] = window->instructions;
        out[window_error_counter] = window->instructions_error;
    }
    return out;
}

const std::string& running_counter(std::size_t part) {
    static const auto names = [] {
        std::array<std::string, running_parts> all;
        for (std::size_t i = 0; i < all.size(); ++i) all[i] = fmt::format("running_{:02}", i + 1);
        return all;
    }();
    return names.at(part);
}

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
