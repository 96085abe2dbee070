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

// What is drawn as 100.
struct Reference {
    double warps_per_cycle = 0;
    std::optional<std::size_t> model;  // whose prediction it is; absent: it was measured
};

std::optional<Reference> reference_of(const analysis::ValidationCurve& curve) {
    for (const analysis::ValidationPoint& point : curve.points)
        if (point.measured) return Reference{point.measured->warps_per_cycle, std::nullopt};
    for (const analysis::ValidationPoint& point : curve.points)
        for (std::size_t m = 0; m < point.predicted.size(); ++m)
            if (point.predicted[m]) return Reference{point.predicted[m]->warps_per_cycle, m};
    return std::nullopt;
}

plot::Figure figure_of(const analysis::ValidationCurve& curve,
                       const std::vector<std::string>& models, const Reference& at) {
    const double reference = at.warps_per_cycle;
    plot::Figure figure{
        .title = at.model ? curve.kernel + ", not measured" : curve.kernel,
        .x = {"occupancy in warps per core"},
        .y = {at.model ? fmt::format("predicted, 100: {} at the least", models[*at.model])
                       : "throughput, 100 at the least"},
        .key = plot::Key::below};
    figure.y.low = 0;
    plot::Series measured{"device", plot::Mark::line_and_points, 0, {}};
    for (const analysis::ValidationPoint& point : curve.points)
        if (point.measured)
            measured.points.push_back({static_cast<double>(point.launch.warps()),
                                       100 * point.measured->warps_per_cycle / reference});
    if (!measured.points.empty()) figure.series.push_back(std::move(measured));
    for (std::size_t m = 0; m < models.size(); ++m) {
        // A line of one point would not be seen.
        plot::Series series{models[m],
                            curve.points.size() > 1 ? plot::Mark::line : plot::Mark::points,
                            static_cast<int>(m + 1) % plot::style_count,
                            {}};
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
        const std::optional<Reference> reference = reference_of(curve);
        if (!reference) continue;
        all.panels.push_back(figure_of(curve, v.models, *reference));
        content.page.push_back(
            {.description = fmt::format("{}: {} throughput against occupancy.", curve.kernel,
                                        reference->model ? "predicted" : "measured and predicted"),
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
