// SPDX-License-Identifier: MIT
#include "analysis/measured/curve_points.h"

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

namespace {

// Predicted cycles per instruction at a place.
double predicted_cpi(const Curve& curve, const std::vector<double>& predicted, std::size_t i) {
    return predicted[i] / instructions(curve.points[i]);
}

// One place for each number in flight: the first.
std::vector<std::size_t> each_once(const Curve& curve, const std::vector<std::size_t>& places) {
    std::vector<std::size_t> once;
    for (const std::size_t i : places)
        if (once.empty() || in_flight(curve.points[once.back()]) != in_flight(curve.points[i]))
            once.push_back(i);
    return once;
}

// Whether shapes differ where equally many instructions are in flight. `places`: by these.
bool shapes_differ(const Curve& curve, const std::vector<double>& predicted,
                   const std::vector<std::size_t>& places) {
    constexpr double alike = 0.01;
    for (std::size_t k = 1; k < places.size(); ++k) {
        const std::size_t a = places[k - 1];
        const std::size_t b = places[k];
        if (in_flight(curve.points[a]) != in_flight(curve.points[b])) continue;
        const double ratio =
            predicted_cpi(curve, predicted, a) / predicted_cpi(curve, predicted, b);
        if (std::abs(ratio - 1) > alike) return true;
    }
    return false;
}

}  // namespace

std::vector<ShapeFamily> shape_families(const Curve& curve, const std::vector<double>& predicted) {
    const std::vector<std::size_t> places = deepest_points(curve);
    int fewest = 0;
    for (const std::size_t i : places) {
        const int chains = curve.points[i].shape.chains;
        fewest = fewest == 0 ? chains : std::min(fewest, chains);
    }
    std::vector<std::size_t> along_warps;
    std::map<int, std::vector<std::size_t>> by_size;
    std::map<int, std::vector<std::size_t>> by_warps;
    std::map<int, bool> more_chains;
    for (const std::size_t i : places) {
        const MeasurementShape& shape = curve.points[i].shape;
        by_warps[shape.warps()].push_back(i);
        more_chains[shape.warps()] |= shape.chains > fewest;
        if (shape.chains > fewest) continue;
        along_warps.push_back(i);
        by_size[shape.group_warps].push_back(i);
    }
    // Chains that are as warps are on the warps' line.
    for (auto& [warps, of] : by_warps) {
        if (!more_chains[warps]) continue;
        std::vector<std::size_t> both = along_warps;
        both.insert(both.end(), of.begin(), of.end());
        std::ranges::stable_sort(both, {},
                                 [&](std::size_t i) { return in_flight(curve.points[i]); });
        if (shapes_differ(curve, predicted, both)) continue;
        along_warps = std::move(both);
        more_chains[warps] = false;
    }
    const std::string chains = fewest == 1 ? "1 chain" : std::to_string(fewest) + " chains";
    std::vector<ShapeFamily> families;
    const auto add = [&](const std::string& name, const std::vector<std::size_t>& of) {
        families.push_back({name, each_once(curve, of)});
    };
    if (shapes_differ(curve, predicted, along_warps)) {
        for (const auto& [size, of] : by_size) add("groups of " + std::to_string(size), of);
    } else {
        add(chains, along_warps);
    }
    for (const auto& [warps, of] : by_warps)
        if (more_chains[warps])
            add("chains, " + std::to_string(warps) + (warps == 1 ? " warp" : " warps"), of);
    // A single place is on one of the other lines.
    if (families.size() > 1)
        std::erase_if(families, [](const ShapeFamily& f) { return f.places.size() < 2; });
    return families;
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
