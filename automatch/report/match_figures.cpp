// SPDX-License-Identifier: MIT
#include "automatch/report/match_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace occupipe::automatch {
namespace {

double real(std::int64_t n) { return static_cast<double>(n); }

// Whole decades around all points, and a tick at each.
void to_decades(plot::Axis& axis, const std::vector<plot::Series>& series,
                double plot::Point::*value) {
    double low = std::numeric_limits<double>::infinity();
    double high = 0;
    for (const plot::Series& one : series)
        for (const plot::Point& point : one.points) {
            low = std::min(low, point.*value);
            high = std::max(high, point.*value);
        }
    if (!(low > 0) || !std::isfinite(high)) return;
    const int first = static_cast<int>(std::floor(std::log10(low)));
    const int last = std::max(first + 1, static_cast<int>(std::ceil(std::log10(high))));
    axis.low = std::pow(10.0, first) * (1 - 1e-9);  // gnuplot leaves ticks at the very end out
    axis.high = std::pow(10.0, last) * (1 + 1e-9);
    axis.ticks.clear();
    for (int decade = first; decade <= last; ++decade)
        axis.ticks.push_back({std::pow(10.0, decade), fmt::format("1e{}", decade)});
}

constexpr int image_width = 820;
constexpr int panel_height = 280;
// A line through more points that goes up and down at each would fill the panel.
constexpr std::size_t most_joined = 600;

plot::Figure parallelism_figure(const Workload& workload) {
    plot::Figure figure{.title = "Parallelism",
                        .x = {"execution level", plot::Scale::linear},
                        .y = {"operations per level", plot::Scale::log10},
                        .key = plot::Key::outside};
    int style = 0;
    for (const Schedule& schedule : workload.schedules) {
        plot::Series series{schedule.name, plot::Mark::line, style++, {}};
        double level = 0;
        double longest = 0;
        for (const LevelRange& range : schedule.parallelism) {
            const double width = (real(range.f64) + real(range.f32)) / real(range.levels);
            const double begin = level + 1;
            level += real(range.levels);
            if (width <= 0) continue;
            longest = std::max(longest, real(range.levels));
            series.points.push_back({begin, width});
            if (level > begin) series.points.push_back({level, width});
        }
        if (series.points.size() > most_joined && longest < level / 200)  // points leave no gap
            series.mark = plot::Mark::points;
        if (!figure.series.empty() &&
            schedule.parallelism == workload.schedules.front().parallelism)
            figure.series.front().name += ", " + schedule.name;  // it would cover the other
        else if (!series.points.empty())
            figure.series.push_back(std::move(series));
    }
    to_decades(figure.y, figure.series, &plot::Point::y);
    return figure;
}

// Distances are shifted by one unit, since the axis has no zero; how many references were first
// ones, at an infinite distance, stands with the units.
plot::Figure distance_figure(const Workload& workload) {
    plot::Figure figure{.title = "Reuse",
                        .x = {"LRU stack distance + 1 [units]", plot::Scale::log10},
                        .y = {"references per distance", plot::Scale::log10},
                        .key = plot::Key::outside};
    int style = 0;
    for (const ReuseDistances& reuse : workload.reuse) {
        plot::Series series{
            fmt::format("{} bytes; {:.3g} new", reuse.unit_bytes, real(reuse.first)),
            plot::Mark::points,
            style++,
            {}};
        for (const DistanceCount& one : reuse.distances)
            series.points.push_back({(real(one.from) + real(one.to)) / 2 + 1,
                                     real(one.count) / (real(one.to - one.from) + 1)});
        if (!series.points.empty()) figure.series.push_back(std::move(series));
    }
    to_decades(figure.x, figure.series, &plot::Point::x);
    to_decades(figure.y, figure.series, &plot::Point::y);
    return figure;
}

std::vector<const GpuProfile*> devices_of(const std::vector<MatchCell>& cells) {
    std::vector<const GpuProfile*> devices;
    for (const MatchCell& cell : cells)
        if (std::ranges::find(devices, cell.device) == devices.end())
            devices.push_back(cell.device);
    return devices;
}

// Names without their maker's; numbers, which the axis explains, where they would not fit.
plot::Axis device_axis(const std::vector<const GpuProfile*>& devices) {
    constexpr std::size_t most_letters = 72;
    plot::Axis axis{.label = "", .low = 0.5, .high = real(std::ssize(devices)) + 0.5};
    std::size_t letters = 0;
    for (const GpuProfile* const device : devices) {
        std::string name = device->device.name;
        if (const std::string& vendor = device->device.vendor;
            !vendor.empty() && name.starts_with(vendor + " "))
            name.erase(0, vendor.size() + 1);
        letters += name.size();
        axis.ticks.push_back({real(std::ssize(axis.ticks)) + 1, std::move(name)});
    }
    if (letters <= most_letters) return axis;
    for (plot::Tick& tick : axis.ticks) {
        const std::string number = fmt::format("{:.0f}", tick.at);
        axis.label += fmt::format("{}{}: {}", axis.label.empty() ? "" : ", ", number, tick.label);
        tick.label = number;
    }
    return axis;
}

}  // namespace

plot::Picture workload_profiles(const Workload& workload) {
    plot::Picture picture{
        .description = fmt::format("Parallelism and reuse of {}", workload.kernel),
        .columns = 1,
        .width = image_width};
    for (plot::Figure& figure :
         std::vector{parallelism_figure(workload), distance_figure(workload)})
        if (!figure.series.empty()) picture.panels.push_back(std::move(figure));
    picture.height = panel_height * static_cast<int>(picture.panels.size());
    return picture;
}

plot::Picture match_performance(const Workload& workload, const std::vector<MatchCell>& cells) {
    const std::vector<const GpuProfile*> devices = devices_of(cells);
    const auto place = [&](const MatchCell& cell) {
        return static_cast<double>(std::ranges::find(devices, cell.device) - devices.begin()) + 1;
    };
    const bool rates = workload.operations.total > 0;
    plot::Figure speed{
        .title = workload.kernel,
        .x = device_axis(devices),
        .y = {rates ? "GFLOP/s, at most" : "runs per second, at most", plot::Scale::log10},
        .key = plot::Key::outside};
    constexpr struct {
        const char* name;
        double Cost::*seconds;
    } parts[] = {{"computation", &Cost::computation},
                 {"memory", &Cost::memory},
                 {"synchronisation", &Cost::synchronisation}};
    plot::Picture picture{.description = fmt::format("{} on {} devices by AutoMatch",
                                                     workload.kernel, devices.size()),
                          .columns = 1,
                          .width = image_width};
    std::vector<plot::Figure> shares;
    int style = 0;
    for (const CostModelName& model : cost_models()) {
        plot::Series series{std::string(model.name), plot::Mark::points, style++, {}};
        plot::Figure figure{.title = std::string(model.name),
                            .x = device_axis(devices),
                            .y = {"seconds", plot::Scale::log10},
                            .key = plot::Key::outside};
        for (int part = 0; part < 3; ++part)
            figure.series.push_back({parts[part].name, plot::Mark::points, part, {}});
        for (const MatchCell& cell : cells) {
            if (cell.model != model.model || !cell.cost.seconds || *cell.cost.seconds <= 0)
                continue;
            const double work = rates ? real(workload.operations.total) / 1e9 : 1;
            series.points.push_back({place(cell), work / *cell.cost.seconds});
            for (std::size_t part = 0; part < 3; ++part)
                if (const double seconds = cell.cost.*parts[part].seconds; seconds > 0)
                    figure.series[part].points.push_back({place(cell), seconds});
        }
        std::erase_if(figure.series, [](const plot::Series& s) { return s.points.empty(); });
        if (series.points.empty()) continue;
        speed.series.push_back(std::move(series));
        to_decades(figure.y, figure.series, &plot::Point::y);
        if (!figure.series.empty()) shares.push_back(std::move(figure));
    }
    to_decades(speed.y, speed.series, &plot::Point::y);
    if (!speed.series.empty()) picture.panels.push_back(std::move(speed));
    for (plot::Figure& figure : shares) picture.panels.push_back(std::move(figure));
    picture.height = panel_height * static_cast<int>(picture.panels.size());
    return picture;
}

}  // namespace occupipe::automatch
