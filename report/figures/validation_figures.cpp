// SPDX-License-Identifier: MIT
#include "report/figures/validation_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace occupipe::report {
namespace {

constexpr int panel_width = 420;
constexpr int panel_height = 260;
constexpr int key_height = 18;  // of a line
constexpr int columns = 3;

std::optional<double> reference_of(const analysis::ValidationCurve& curve) {
    for (const analysis::ValidationPoint& point : curve.points) {
        if (point.measured) return point.measured->warps_per_cycle;
        for (const auto& one : point.predicted)
            if (one) return one->warps_per_cycle;
    }
    return std::nullopt;
}

plot::Figure figure_of(const analysis::ValidationCurve& curve,
                       const std::vector<std::string>& models, double reference) {
    plot::Figure figure{.title = curve.kernel,
                        .x = {"occupancy in warps per core"},
                        .y = {"throughput, 100 at the least"},
                        .key = plot::Key::below};
    figure.y.low = 0;
    plot::Series measured{"device", plot::Mark::line_and_points, 0, {}};
    for (const analysis::ValidationPoint& point : curve.points)
        if (point.measured)
            measured.points.push_back({static_cast<double>(point.launch.warps()),
                                       100 * point.measured->warps_per_cycle / reference});
    if (!measured.points.empty()) figure.series.push_back(std::move(measured));
    for (std::size_t m = 0; m < models.size(); ++m) {
        plot::Series series{
            models[m], plot::Mark::line, static_cast<int>(m + 1) % plot::style_count, {}};
        for (const analysis::ValidationPoint& point : curve.points)
            if (point.predicted[m])
                series.points.push_back({static_cast<double>(point.launch.warps()),
                                         100 * point.predicted[m]->warps_per_cycle / reference});
        if (!series.points.empty()) figure.series.push_back(std::move(series));
    }
    return figure;
}

}  // namespace

PlotContent validation_plot(const Validation& v) {
    PlotContent content{
        fmt::format("{} on {}", v.gpu, v.device.empty() ? "paper" : v.device), {}, {}};
    plot::Picture all{.description = fmt::format("Throughput against occupancy, measured and "
                                                 "predicted for {}, a panel per kernel.",
                                                 v.gpu),
                      .columns = columns};
    for (const analysis::ValidationCurve& curve : v.curves) {
        const std::optional<double> reference = reference_of(curve);
        if (!reference) continue;
        all.panels.push_back(figure_of(curve, v.models, *reference));
        content.page.push_back(
            {.description = fmt::format("{}: throughput against occupancy.", curve.kernel),
             .panels = {all.panels.back()},
             .width = 760,
             .height = 440});
    }
    const int count = static_cast<int>(all.panels.size());
    all.columns = std::min(columns, std::max(count, 1));
    all.width = panel_width * all.columns;
    const int lines = static_cast<int>(v.models.size()) + 1;
    all.height = (panel_height + key_height * lines) * ((count + all.columns - 1) / all.columns);
    content.image = std::move(all);
    return content;
}

}  // namespace occupipe::report
