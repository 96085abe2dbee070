// SPDX-License-Identifier: MIT
#include "cli/prediction_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "core/error.h"

namespace occupipe::cli {

void require_curve(std::size_t occupancies) {
    if (occupancies < 2)
        throw InputError(
            "--plot draws curves over the occupancy; give several, e.g. --occupancy 1-10");
}

plot::Figure occupancy_curves(const PredictionSet& set) {
    plot::Figure figure{.title = set.kernel,
                        .x = {"occupancy in warps per core"},
                        .y = {"throughput in warps per cycle and core"},
                        .key = plot::Key::outside};
    std::set<int> occupancies;
    for (const Prediction& prediction : set.predictions) {
        auto series = std::ranges::find(figure.series, prediction.model, &plot::Series::name);
        if (series == figure.series.end()) {
            const auto style = static_cast<int>(figure.series.size()) % plot::style_count;
            figure.series.push_back({prediction.model, plot::Mark::line_and_points, style, {}});
            series = std::prev(figure.series.end());
        }
        series->points.push_back(
            {static_cast<double>(prediction.launch.warps()), prediction.warps_per_cycle});
        occupancies.insert(prediction.launch.warps());
    }
    require_curve(occupancies.size());
    figure.y.low = 0;
    return figure;
}

PlotContent prediction_plot(const PredictionSet& set) {
    const std::string device = set.device.empty() ? set.profile : set.device;
    PlotContent content{fmt::format("{} on {}", set.kernel, device), {}, {}};
    content.image = {.description = fmt::format("{} on {}: predicted throughput against occupancy, "
                                                "by model.",
                                                set.kernel, device),
                     .panels = {occupancy_curves(set)},
                     .width = 760,
                     .height = 440};
    content.page = {content.image};
    return content;
}

}  // namespace occupipe::cli
