// SPDX-License-Identifier: MIT
#include "report/figures/prediction_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>
#include <utility>
#include <vector>

#include "core/error.h"

namespace occupipe::report {

void require_curve(std::size_t occupancies) {
    if (occupancies < 2)
        throw InputError(
            "--plot draws curves over occupancy; give several, for example --occupancy 1-10");
}

namespace {

// A curve that lies on an earlier one hides it: both are drawn alike, so that the legend tells
// which lie on each other.
void choose_styles(std::vector<plot::Series>& series) {
    double top = 0;
    for (const plot::Series& one : series)
        for (const plot::Point& p : one.points) top = std::max(top, p.y);
    const double line = 0.002 * top;  // less than the width of a line
    const auto coincide = [&](const plot::Series& a, const plot::Series& b) {
        return std::ranges::equal(a.points, b.points, [&](const auto& p, const auto& q) {
            return p.x == q.x && std::abs(p.y - q.y) <= line;
        });
    };
    int styles = 0;
    for (auto one = series.begin(); one != series.end(); ++one) {
        const auto same = std::find_if(series.begin(), one, [&](const plot::Series& earlier) {
            return coincide(earlier, *one);
        });
        one->style = same == one ? styles++ % plot::style_count : same->style;
    }
}

}  // namespace

plot::Figure occupancy_curves(const PredictionSet& set) {
    plot::Figure figure{.title = set.kernel,
                        .x = {"occupancy in warps per core"},
                        .y = {"throughput in warps per cycle and core"},
                        .key = plot::Key::outside};
    std::set<int> occupancies;
    for (const Prediction& prediction : set.predictions) {
        auto series = std::ranges::find(figure.series, prediction.model, &plot::Series::name);
        if (series == figure.series.end()) {
            figure.series.push_back({prediction.model, plot::Mark::line_and_points, 0, {}});
            series = std::prev(figure.series.end());
        }
        series->points.push_back(
            {static_cast<double>(prediction.launch.warps()), prediction.warps_per_cycle});
        occupancies.insert(prediction.launch.warps());
    }
    require_curve(occupancies.size());
    choose_styles(figure.series);
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

}  // namespace occupipe::report
