// SPDX-License-Identifier: MIT
#include "analysis/curve_points.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace occupipe::analysis {

double in_flight(const CurvePoint& p) {
    return static_cast<double>(p.shape.warps()) * p.shape.chains;
}

double instructions(const CurvePoint& p) {
    return in_flight(p) * static_cast<double>(p.shape.depth);
}

std::vector<std::size_t> deepest_points(const Curve& curve) {
    std::map<std::tuple<int, int, int, int, double>, std::size_t> deepest;
    for (std::size_t i = 0; i < curve.points.size(); ++i) {
        const CurvePoint& p = curve.points[i];
        const auto key = std::tuple(p.shape.group_warps, p.shape.concurrent_groups, p.shape.chains,
                                    p.busiest, p.bytes_in_flight);
        const auto [at, fresh] = deepest.emplace(key, i);
        if (!fresh && curve.points[at->second].shape.depth < p.shape.depth) at->second = i;
    }
    std::vector<std::size_t> places;
    places.reserve(deepest.size());
    for (const auto& [key, i] : deepest) places.push_back(i);
    std::ranges::sort(places, {}, [&](std::size_t i) { return in_flight(curve.points[i]); });
    return places;
}

plot::Scale scale_for(const std::vector<plot::Series>& series) {
    double low = 0;
    double high = 0;
    for (const plot::Series& s : series)
        for (const plot::Point& p : s.points) {
            if (p.y <= 0) return plot::Scale::linear;
            low = low == 0 ? p.y : std::min(low, p.y);
            high = std::max(high, p.y);
        }
    return low > 0 && high / low > 3 ? plot::Scale::log10 : plot::Scale::linear;
}

plot::Axis in_flight_axis() {
    return {"instructions in flight per core (warps × chains)", plot::Scale::log2};
}

Span span_of(const Curve& curve) {
    Span span{in_flight(curve.points.front()), in_flight(curve.points.front())};
    for (const CurvePoint& p : curve.points) {
        span.low = std::min(span.low, in_flight(p));
        span.high = std::max(span.high, in_flight(p));
    }
    if (span.high <= span.low) span.high = 2 * span.low;
    return span;
}

}  // namespace occupipe::analysis
