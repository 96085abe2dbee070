// SPDX-License-Identifier: MIT
#include "report/figures/comparison_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "report/figures/mix_figures.h"

namespace occupipe::report {
namespace {

constexpr std::size_t most_steps = 100;  // of a distribution's line
constexpr double least_percent = 0.1;    // smaller errors stand there

int style_of(std::size_t predictor) {
    // Style 0 is the measured points'.
    return 1 + static_cast<int>(predictor) % (plot::style_count - 1);
}

// |WPC predicted / WPC measured − 1|, ascending.
std::vector<double> errors(const std::vector<analysis::MeasuredPoint>& points,
                           const analysis::Predictor& predictor) {
    std::vector<double> found;
    for (std::size_t i = 0; i < points.size(); ++i)
        if (predictor.cycles[i])
            found.push_back(100 * std::abs(points[i].cycles / *predictor.cycles[i] - 1));
    std::ranges::sort(found);
    return found;
}

double in_flight(const MeasurementShape& shape) {
    return static_cast<double>(shape.warps()) * shape.chains;
}

double throughput(const MeasurementShape& shape, double cycles) {
    return in_flight(shape) * static_cast<double>(shape.depth) / cycles;
}

// In the image two panels a row below the distribution, on the page a picture for each.
void add_mixes(PlotContent& content, const std::vector<plot::Figure>& curves) {
    if (curves.empty()) return;
    constexpr int panel_width = 560;
    constexpr int panel_height = 380;
    for (const plot::Figure& curve : curves)
        content.page.push_back({.description = curve.title + ": measured, simulated, and by law.",
                                .panels = {curve},
                                .width = panel_width,
                                .height = panel_height});
    plot::Picture& image = content.image;
    image.description += " Then mixes: measured, simulated, and by equations 43 to 45.";
    image.panels.insert(image.panels.end(), curves.begin(), curves.end());
    image.columns = 2;
    image.first_row_alone = true;  // its key has a line per model
    image.width = 2 * panel_width;
    image.height = panel_height * static_cast<int>(1 + (curves.size() + 1) / 2);
}

}  // namespace

plot::Figure error_distribution(const std::vector<analysis::MeasuredPoint>& points,
                                const std::vector<analysis::Predictor>& predictors) {
    plot::Figure figure{
        .title = "",
        .x = {"error of the predicted throughput in % (from 0.1)", plot::Scale::log10},
        .y = {"points with at most this error in %"},
        .key = plot::Key::outside};
    figure.y.low = 0;
    figure.y.high = 100;
    for (std::size_t p = 0; p < predictors.size(); ++p) {
        const std::vector<double> sorted = errors(points, predictors[p]);
        const bool all = sorted.size() == points.size();
        plot::Series series{
            all ? predictors[p].name
                : fmt::format("{} ({} of {})", predictors[p].name, sorted.size(), points.size()),
            plot::Mark::line,
            style_of(p),
            {}};
        const std::size_t steps = std::min(most_steps, sorted.size());
        for (std::size_t step = 1; step <= steps; ++step) {
            const std::size_t rank = step * sorted.size() / steps;
            series.points.push_back(
                {std::max(least_percent, sorted[rank - 1]),
                 100.0 * static_cast<double>(rank) / static_cast<double>(points.size())});
        }
        if (!series.points.empty()) figure.series.push_back(series);
    }
    return figure;
}

plot::Figure subject_curves(const std::string& subject,
                            const std::vector<analysis::MeasuredPoint>& points,
                            const std::vector<analysis::Predictor>& predictors) {
    std::map<double, std::size_t> deepest;
    for (std::size_t i = 0; i < points.size(); ++i) {
        if (points[i].subject != subject) continue;
        const auto [at, fresh] = deepest.emplace(in_flight(points[i].shape), i);
        if (!fresh && points[at->second].shape.depth < points[i].shape.depth) at->second = i;
    }
    plot::Figure figure{
        .title = subject,
        .x = {"instructions in flight per core (warps × chains)", plot::Scale::log2},
        .y = {"instructions per cycle and core"},
        .key = plot::Key::outside};
    figure.y.low = 0;
    for (std::size_t p = 0; p < predictors.size(); ++p) {
        plot::Series series{predictors[p].name, plot::Mark::line, style_of(p), {}};
        for (const auto& [m, i] : deepest)
            if (predictors[p].cycles[i])
                series.points.push_back({m, throughput(points[i].shape, *predictors[p].cycles[i])});
        if (!series.points.empty()) figure.series.push_back(series);
    }
    plot::Series measured{"measured", plot::Mark::points, 0, {}};
    for (const auto& [m, i] : deepest)
        measured.points.push_back({m, throughput(points[i].shape, points[i].cycles)});
    figure.series.push_back(measured);
    return figure;
}

plot::Picture subject_picture(const std::string& subject,
                              const std::vector<analysis::MeasuredPoint>& points,
                              const std::vector<analysis::Predictor>& predictors) {
    constexpr int lowest = 320;
    constexpr int line_height = 18;  // of the key
    return {.description = subject + ": measured beside predicted throughput.",
            .panels = {subject_curves(subject, points, predictors)},
            .width = 560,
            .height = std::max(lowest, 140 + line_height * static_cast<int>(predictors.size()))};
}

PlotContent comparison_plot(const std::string& title,
                            const std::vector<analysis::MeasuredPoint>& points,
                            const std::vector<analysis::Predictor>& predictors,
                            const GpuProfile* profile) {
    PlotContent content{title, {}, {}};
    content.image = {.description = fmt::format("{}: how many of the {} measured points each "
                                                "predicts within which error.",
                                                title, points.size()),
                     .panels = {error_distribution(points, predictors)},
                     .width = 760,
                     .height = 440};
    content.page = {content.image};
    if (profile) add_mixes(content, mix_curves(points, predictors, *profile));
    std::string subject;
    for (const analysis::MeasuredPoint& point : points) {
        if (point.subject == subject) continue;
        subject = point.subject;
        content.page.push_back(subject_picture(subject, points, predictors));
    }
    return content;
}

}  // namespace occupipe::report
