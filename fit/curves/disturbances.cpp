// SPDX-License-Identifier: MIT
#include "fit/curves/disturbances.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/statistics.h"
#include "fit/curves/curve.h"

namespace occupipe {
namespace {

// Whether all values are multiples of `step`, to a thousandth of it.
bool multiples_of(double step, std::span<const double> values) {
    return std::ranges::all_of(values, [step](double v) {
        const double n = v / step;
        return std::abs(n - std::round(n)) < 1e-3;
    });
}

// Typical distance of a repetition from its point's median, robust.
double typical_deviation(std::span<const PointHistory> points) {
    std::vector<double> away;
    for (const PointHistory& p : points) {
        if (p.log_times.size() < 3) continue;
        const double middle = median(p.log_times);
        for (const double t : p.log_times) away.push_back(std::abs(t - middle));
    }
    return away.empty() ? 0 : normal_mad * median(std::move(away));
}

}  // namespace

std::optional<double> clock_step(std::span<const double> values) {
    if (values.size() < 4) return std::nullopt;
    std::vector<double> sorted(values.begin(), values.end());
    std::ranges::sort(sorted);
    const double middle = median_of_sorted(sorted);
    double smallest = 0;
    int different = 1;
    for (std::size_t i = 1; i < sorted.size(); ++i) {
        const double gap = sorted[i] - sorted[i - 1];
        if (gap <= 1e-9 * sorted[i]) continue;
        ++different;
        smallest = smallest > 0 ? std::min(smallest, gap) : gap;
    }
    if (different < 4) return std::nullopt;
    // Few different values may all lie some steps apart.
    for (const int parts : {1, 2, 3, 4, 6, 8}) {
        const double step = smallest / parts;
        if (step < 1e-6 * middle || sorted.back() / step > 1e9) return std::nullopt;
        if (multiples_of(step, sorted)) return step;
    }
    return std::nullopt;
}

std::optional<double> warm_up(std::span<const std::vector<double>> points) {
    constexpr std::size_t fewest_points = 10;
    constexpr double nearly_all = 0.85;
    constexpr double least = 0.01;
    std::vector<double> longer;
    std::vector<double> apart;  // of the others
    double first_longest = 0;
    for (const std::vector<double>& times : points) {
        if (times.size() < 3) continue;
        std::vector<double> others(times.begin() + 1, times.end());
        const auto [low, high] = std::ranges::minmax(others);
        first_longest += times.front() > high;
        apart.push_back(std::log(high / low));
        longer.push_back(std::log(times.front() / median(std::move(others))));
    }
    const std::size_t n = longer.size();
    if (n < fewest_points || first_longest < nearly_all * static_cast<double>(n))
        return std::nullopt;
    const double typical = median(std::move(longer));
    if (typical < least || typical < median(std::move(apart))) return std::nullopt;
    return std::expm1(typical);
}

bool RepetitionSlope::clear() const { return std::abs(over_run) > 5 * std_error; }

std::optional<RepetitionSlope> repetition_slope(std::span<const PointHistory> points) {
    const double deviation = typical_deviation(points);
    if (!(deviation > 0)) return std::nullopt;
    double together = 0;
    double spread = 0;
    double squares = 0;
    double rows = 0;
    double explained = 0;  // by each point's own slope
    double rest = 0;
    double slopes = 0;
    double first = std::numeric_limits<double>::infinity();
    double last = -first;
    for (const PointHistory& p : points) {
        const std::size_t n = p.log_times.size();
        if (n < 3) continue;
        const double middle = median(p.log_times);
        const double when =
            std::accumulate(p.order.begin(), p.order.end(), 0.0) / static_cast<double>(n);
        double own_together = 0;
        double own_spread = 0;
        double sum = 0;
        double own_squares = 0;
        for (std::size_t i = 0; i < n; ++i) {
            const double away =
                std::clamp(p.log_times[i] - middle, -2.5 * deviation, 2.5 * deviation);
            const double x = p.order[i] - when;
            own_together += x * away;
            own_spread += x * x;
            sum += away;
            own_squares += away * away;
            squares += away * away * x * x;
            first = std::min(first, p.order[i]);
            last = std::max(last, p.order[i]);
        }
        if (!(own_spread > 0)) continue;
        const double own = own_together * own_together / own_spread;
        together += own_together;
        spread += own_spread;
        explained += own;
        rest += own_squares - sum * sum / static_cast<double>(n) - own;
        rows += static_cast<double>(n);
        ++slopes;
    }
    if (!(spread > 0)) return std::nullopt;
    const double range = last - first;
    RepetitionSlope out{.over_run = together / spread * range,
                        .std_error = std::sqrt(squares) / spread * range,
                        .span = std::sqrt(12 * spread / rows) / range};
    // Where repetitions scatter in any order, a slope explains as much as each degree of freedom.
    const double freedom = rows - 2 * slopes;
    const double scatter = rest / freedom;
    const double by_chance = 1 + 4 * std::sqrt(2 / slopes + 2 / freedom);
    if (explained / slopes > by_chance * scatter)
        out.of_points = std::sqrt((explained / slopes - scatter) / (spread / slopes)) * range;
    return out;
}

bool measured_in_order(std::span<const PointHistory> points) {
    constexpr std::size_t fewest = 12;
    constexpr double clear = 0.5;  // correlation of place and time
    std::vector<double> when;
    for (const PointHistory& p : points) {
        const std::size_t n = p.order.size();
        const auto [first, last] = std::ranges::minmax(p.order);
        if (last - first > static_cast<double>(n) - 0.5) return false;
        when.push_back(0.5 * (first + last));
    }
    if (when.size() < fewest) return false;
    const auto n = static_cast<double>(when.size());
    const double mean = std::accumulate(when.begin(), when.end(), 0.0) / n;
    double together = 0;
    double times = 0;
    double places = 0;
    for (std::size_t i = 0; i < when.size(); ++i) {
        const double x = static_cast<double>(i) - 0.5 * (n - 1);
        together += x * (when[i] - mean);
        times += std::pow(when[i] - mean, 2);
        places += x * x;
    }
    if (times > 0 && std::abs(together) > clear * std::sqrt(times * places)) return true;
    // One sweep after another: what follows is mostly a neighbour, while in random order the shapes
    // of successive points are a third of the list apart.
    constexpr double near = 0.4;
    std::vector<std::size_t> turn(when.size());
    std::iota(turn.begin(), turn.end(), std::size_t{0});
    std::ranges::sort(turn, {}, [&](std::size_t i) { return when[i]; });
    double apart = 0;
    for (std::size_t i = 1; i < turn.size(); ++i)
        apart += std::abs(static_cast<double>(turn[i]) - static_cast<double>(turn[i - 1]));
    return apart / (n - 1) < near * n / 3;
}

double wild_share(std::span<const PointHistory> points) {
    const double far = std::max(std::log(1.2), 10 * typical_deviation(points));
    double all = 0;
    double wild = 0;
    for (const PointHistory& p : points) {
        if (p.log_times.size() < 3) continue;
        const double middle = median(p.log_times);
        for (const double t : p.log_times) {
            all += 1;
            wild += std::abs(t - middle) > far ? 1 : 0;
        }
    }
    return all > 0 ? wild / all : 0;
}

std::optional<double> one_sided_lift(std::span<const PointHistory> points) {
    constexpr std::size_t fewest = 20;
    constexpr double least_share = 0.65;  // of points whose longest lies further off than the least
    const double wild = 6 * typical_deviation(points);
    if (!(wild > 0)) return std::nullopt;
    std::vector<double> lifts;
    int longer = 0;
    for (const PointHistory& p : points) {
        if (p.log_times.size() < 3) continue;
        const double middle = median(p.log_times);
        std::vector<double> kept;
        for (const double t : p.log_times)
            if (std::abs(t - middle) < wild) kept.push_back(t);
        if (kept.size() < 3) continue;
        std::ranges::sort(kept);
        const double centre = median_of_sorted(kept);
        if (kept.front() == centre || kept.back() == centre) continue;
        longer += kept.back() - centre > centre - kept.front();
        const auto n = static_cast<double>(kept.size());
        const double mean = std::accumulate(kept.begin(), kept.end(), 0.0) / n;
        lifts.push_back(centre - kept.front() + (mean - kept.front()) / (n - 1));
    }
    if (lifts.size() < fewest) return std::nullopt;
    const auto n = static_cast<double>(lifts.size());
    const double share = longer / n;
    if (share < least_share || share - 0.5 < 4 * 0.5 / std::sqrt(n)) return std::nullopt;
    return median(std::move(lifts));
}

}  // namespace occupipe
