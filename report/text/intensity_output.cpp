// SPDX-License-Identifier: MIT
#include "report/text/intensity_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "report/text/text_table.h"

namespace occupipe::report {
namespace {

using analysis::IntensityPoint;

constexpr double giga = 1e9;

std::map<std::string, std::vector<IntensityPoint>> by_operation(
    const analysis::IntensitySweep& sweep) {
    std::map<std::string, std::vector<IntensityPoint>> groups;
    for (const IntensityPoint& point : sweep.points)
        groups[fmt::format("{} with {}", point.operation, point.load)].push_back(point);
    return groups;
}

}  // namespace

std::string to_text(const analysis::IntensitySweep& sweep) {
    using enum Align;
    TextTable table{.header = {"operation", "load", "beta", "operations/byte", "measured 10^9/s",
                               "predicted 10^9/s", "error", "bound"},
                    .align = {left, left, right, right, right, right, right, left},
                    .rows = {}};
    for (const IntensityPoint& point : sweep.points)
        table.rows.push_back(
            {point.operation, point.load, fmt::format("{}", point.beta),
             fmt::format("{:.4g}", point.intensity), fmt::format("{:.4g}", point.measured / giga),
             fmt::format("{:.4g}", point.predicted / giga),
             fmt::format("{:+.1f} %", 100 * (point.predicted / point.measured - 1)),
             point.memory_bound ? "memory" : "compute"});
    std::string text = plain_text(table) + "\n";
    for (const auto& [name, points] : by_operation(sweep))
        text +=
            fmt::format("MAPE of {}: {:.1f} % over {} point{}\n", name,
                        analysis::mean_error(points), points.size(), points.size() == 1 ? "" : "s");
    return text;
}

nlohmann::ordered_json to_json(const analysis::IntensitySweep& sweep) {
    nlohmann::ordered_json points = nlohmann::ordered_json::array();
    for (const IntensityPoint& point : sweep.points)
        points.push_back({{"operation", point.operation},
                          {"load", point.load},
                          {"beta", point.beta},
                          {"operations_per_byte", point.intensity},
                          {"measured_per_second", point.measured},
                          {"measured_std_error", point.measured_error},
                          {"predicted_per_second", point.predicted},
                          {"bound", point.memory_bound ? "memory" : "compute"}});
    nlohmann::ordered_json errors = nlohmann::ordered_json::array();
    for (const auto& [name, group] : by_operation(sweep))
        errors.push_back({{"mixes", name}, {"mape_percent", analysis::mean_error(group)}});
    return {{"format", "occupipe-intensity/1"}, {"points", points}, {"errors", errors}};
}

plot::Picture intensity_picture(const analysis::IntensitySweep& sweep, const GpuProfile& profile) {
    plot::Figure figure{.title = profile.device.name,
                        .x = {"operations per byte", plot::Scale::log2},
                        .y = {"10⁹ operations per second", plot::Scale::log10},
                        .key = plot::Key::outside};
    double low = sweep.points.front().intensity, high = low;
    for (const IntensityPoint& point : sweep.points) {
        low = std::min(low, point.intensity / 2);
        high = std::max(high, point.intensity * 2);
    }
    int style = 0;
    for (const auto& [name, points] : by_operation(sweep)) {
        plot::Series measured{name + ", measured", plot::Mark::points, style, {}};
        plot::Series roof{name + ", roofline", plot::Mark::line, style, {}};
        double slope = 0, peak = 0;
        for (const IntensityPoint& point : points) {
            measured.points.push_back({point.intensity, point.measured / giga,
                                       point.measured_error / giga, std::nullopt});
            if (point.memory_bound)
                slope = point.predicted / point.intensity / giga;
            else
                peak = point.predicted / giga;
        }
        if (slope > 0) roof.points.push_back({low, low * slope});
        if (slope > 0 && peak > 0) roof.points.push_back({peak / slope, peak});
        if (peak > 0) {
            if (slope <= 0) roof.points.push_back({low, peak});
            roof.points.push_back({high, peak});
        } else {
            roof.points.push_back({high, high * slope});
        }
        figure.series.push_back(roof);
        figure.series.push_back(measured);
        style = (style + 1) % plot::style_count;
    }
    return {.description = fmt::format(
                "Measured mixes of multiply-adds and streaming loads on {}, over the roofline of "
                "its profile.",
                profile.device.name),
            .panels = {figure},
            .width = 1000,
            .height = 480};
}

}  // namespace occupipe::report
