// SPDX-License-Identifier: MIT
// Measured curves as points of figures over the instructions in flight.
#pragma once

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "fit/curves/curve.h"
#include "plot/figure.h"

namespace occupipe::analysis {

double in_flight(const CurvePoint& point);     // M = warps × chains
double instructions(const CurvePoint& point);  // M × depth

// Among points that differ only in depth, the deepest one, which has the smallest share of
// what happens once per kernel; by instructions in flight.
std::vector<std::size_t> deepest_points(const Curve& curve);

// Points of one line: along the warps, or along the chains of equally many warps. With equally many
// instructions in flight they are different curves, wherever a scheduler or an issue port counts
// warps. By the instructions in flight, no place twice.
struct ShapeFamily {
    std::string name;                 // "1 chain", "chains of 4 warps", "groups of 8"
    std::vector<std::size_t> places;  // in curve.points
};

// Of the deepest points: warps with the fewest chains, of each group size apart where `predicted`
// (cycles, by point) differs between them by more than 1 %; and where it differs from these, for
// each number of warps that has them the points with more chains, from those with the fewest on.
std::vector<ShapeFamily> shape_families(const Curve& curve, const std::vector<double>& predicted);

// From the fewest to the most in flight; to twice the fewest where all are equal. The curve has
// points.
struct Span {
    double low = 1;
    double high = 1;
};
Span span_of(const Curve& curve);

plot::Axis in_flight_axis();

// Logarithmic where positive values span more than a factor of three.
plot::Scale scale_for(const std::vector<plot::Series>& series);

// law(M) at 61 places.
template <class Law>
std::vector<plot::Point> sampled(const Span& span, const Law& law) {
    std::vector<plot::Point> points;
    constexpr int steps = 60;
    for (int i = 0; i <= steps; ++i) {
        const double m = span.low * std::pow(span.high / span.low, static_cast<double>(i) / steps);
        points.push_back({m, law(m)});
    }
    return points;
}

}  // namespace occupipe::analysis
