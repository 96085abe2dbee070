// SPDX-License-Identifier: MIT
#include "plot/figure.h"

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

namespace occupipe::plot {
namespace {

void require_on_axis(const Figure& figure, const Axis& axis, double value) {
    if (!std::isfinite(value))
        throw std::runtime_error(fmt::format("figure '{}': {} is not a number to draw ({})",
                                             figure.title, axis.label, value));
    if (axis.scale != Scale::linear && value <= 0)
        throw std::runtime_error(fmt::format("figure '{}': {} = {} on a logarithmic axis",
                                             figure.title, axis.label, value));
}

void require_error_bar(const Figure& figure, const std::optional<double>& error) {
    if (error && !(std::isfinite(*error) && *error >= 0))
        throw std::runtime_error(
            fmt::format("figure '{}': an error bar of {}", figure.title, *error));
}

std::size_t checked_points(const Figure& figure) {
    std::size_t points = 0;
    for (const Series& series : figure.series) {
        if (series.style != guide && (series.style < 0 || series.style >= style_count))
            throw std::runtime_error(
                fmt::format("figure '{}': there is no style {}", figure.title, series.style));
        for (const Point& point : series.points) {
            require_on_axis(figure, figure.x, point.x);
            require_on_axis(figure, figure.y, point.y);
            require_error_bar(figure, point.x_error);
            require_error_bar(figure, point.y_error);
            require_error_bar(figure, point.y_error_above);
        }
        points += series.points.size();
    }
    for (const Arrow& arrow : figure.arrows) {
        for (const double x : {arrow.x, arrow.to_x}) require_on_axis(figure, figure.x, x);
        for (const double y : {arrow.y, arrow.to_y}) require_on_axis(figure, figure.y, y);
    }
    return points;
}

}  // namespace

void require_drawable(const Picture& picture) {
    if (picture.panels.empty())
        throw std::runtime_error(
            fmt::format("nothing to draw: '{}' has no figure", picture.description));
    if (picture.columns < 1 || picture.width < 1 || picture.height < 1)
        throw std::runtime_error(fmt::format("'{}' has no area", picture.description));
    for (const Figure& figure : picture.panels)
        if (checked_points(figure) == 0)
            throw std::runtime_error(
                fmt::format("nothing to draw: figure '{}' has no point", figure.title));
}

}  // namespace occupipe::plot
