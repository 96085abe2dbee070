// SPDX-License-Identifier: MIT
#include "report/figures/quadrant_split.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>

#include "analysis/roofline/roofline_predictions.h"
#include "core/error.h"
#include "report/figures/label_placement.h"

namespace occupipe::report {
namespace {

using analysis::RooflinePrediction;
using plot::Mark;
using plot::Scale;
using plot::Series;

constexpr double giga = 1e9;
constexpr std::array kinds = {OperationKind::fp64, OperationKind::fp32, OperationKind::integer};
constexpr std::size_t most_arrows = 16;

// Of a panel with the key below, 1000 pixels wide.
constexpr double panel_letter_width = 0.0078, panel_letter_height = 0.036;

struct Point {
    std::string name;
    double memory = 0;   // [GB/s]
    double compute = 0;  // [10⁹ operations/s]
};

struct HalfLine {
    const KernelParameters* kernel = nullptr;
    double intensity = 0;  // [operations/byte]
};

std::vector<Point> points_of(std::span<const GpuProfile> devices, OperationKind kind) {
    std::vector<Point> points;
    for (const GpuProfile& device : devices) {
        const auto memory = analysis::memory_rate(device);
        const auto compute = analysis::operation_rate(device, kind);
        if (memory && compute)
            points.push_back({device.device.name, *memory / giga, *compute / giga});
    }
    return points;
}

std::vector<HalfLine> lines_of(std::span<const KernelParameters> kernels, OperationKind kind) {
    std::vector<HalfLine> lines;
    for (const KernelParameters& kernel : kernels) {
        const RooflineWork work = analysis::work_of(kernel);
        const auto intensity = analysis::intensity_of(work);
        if (work.kind == kind && intensity && *intensity > 0)
            lines.push_back({&kernel, *intensity});
    }
    std::ranges::stable_sort(lines, std::ranges::greater{}, &HalfLine::intensity);
    return lines;
}

// Without the vendor, whom the model's name tells.
std::string short_name(std::string name) {
    for (const std::string_view vendor : {"NVIDIA ", "AMD ", "Intel(R) ", "Intel ", "GeForce "})
        if (name.starts_with(vendor) && name.size() > vendor.size()) name.erase(0, vendor.size());
    return name;
}

std::string unit_of(OperationKind kind) {
    return kind == OperationKind::integer ? "GIOP/s" : "GFLOP/s";
}

std::string rate_text(double rate) {
    return rate >= 1000 ? fmt::format("{:.0f}", rate) : fmt::format("{:.4g}", rate);
}

plot::Figure panel(std::span<const HalfLine> lines, std::span<const Point> points,
                   std::span<const GpuProfile> devices, OperationKind kind) {
    plot::Figure figure{.title = fmt::format("{} kernels", to_string(kind)),
                        .x = {"memory bandwidth in GB/s", Scale::log10},
                        .y = {fmt::format("compute throughput in {}", unit_of(kind)), Scale::log10},
                        .key = plot::Key::below};
    double left = points.front().memory, right = left;
    double bottom = points.front().compute, top = bottom;
    Series devices_at{"devices", Mark::points, 0, {}};
    for (const Point& one : points) {
        left = std::min(left, one.memory);
        right = std::max(right, one.memory);
        bottom = std::min(bottom, one.compute);
        top = std::max(top, one.compute);
        devices_at.points.push_back({one.memory, one.compute});
        figure.labels.push_back({one.memory, one.compute, short_name(one.name)});
    }
    std::vector<Series> adjusted;  // in the kernels' styles
    if (lines.size() * points.size() <= most_arrows) {
        int style = 1;
        for (const HalfLine& line : lines) {
            Series series{fmt::format("{}: adjusted for its mix", line.kernel->kernel),
                          Mark::points,
                          style++ % plot::style_count,
                          {}};
            for (const Point& point : points) {
                // Where the roofline of this device ends on the kernel's half-line.
                const bool by_memory = line.intensity * point.memory <= point.compute;
                const double x = by_memory ? point.memory : point.compute / line.intensity;
                const double y = by_memory ? line.intensity * point.memory : point.compute;
                figure.arrows.push_back({point.memory, point.compute, x, y, plot::guide});
                bottom = std::min(bottom, y);
                left = std::min(left, x);
            }
            for (const GpuProfile& device : devices) {
                const RooflinePrediction one =
                    analysis::roofline_prediction(*line.kernel, device, RooflineVariant::literal);
                if (!one.result || !one.result->adjusted_rate) continue;
                const double rate = *one.result->adjusted_rate / giga;
                series.points.push_back({*one.rates->memory / giga, rate});
                bottom = std::min(bottom, rate);
            }
            if (!series.points.empty()) adjusted.push_back(series);
        }
    }
    left /= 2;
    right *= 3;
    bottom /= 3;
    top *= 2;
    int style = 1;
    for (const HalfLine& line : lines) {
        const double from = std::max(left, bottom / line.intensity);
        const double to = std::min(right, top / line.intensity);
        Series series{fmt::format("{} ({:.3g}/byte)", line.kernel->kernel, line.intensity),
                      Mark::line,
                      style++ % plot::style_count,
                      {}};
        if (from < to) {
            series.points = {{from, from * line.intensity}, {to, to * line.intensity}};
        } else {
            series.name += ", outside";
            // A line off the panel leaves a mark in the key alone.
            const double corner = line.intensity > top / left ? left : right;
            series.points = {{corner, corner == left ? top : bottom}};
        }
        figure.series.push_back(series);
    }
    for (const Series& series : adjusted) figure.series.push_back(series);
    figure.series.push_back(devices_at);
    LogPanel at{left, right, bottom, top, panel_letter_width, panel_letter_height};
    for (const HalfLine& line : lines) at.slopes.push_back(line.intensity);
    place_labels(figure.labels, at);
    figure.x.low = left;
    figure.x.high = right;
    figure.y.low = bottom;
    figure.y.high = top;
    return figure;
}

}  // namespace

plot::Picture quadrant_split(std::span<const KernelParameters> kernels,
                             std::span<const GpuProfile> devices) {
    plot::Picture picture{.description =
                              "Quadrant split: a device over a kernel's half-line runs it bound by "
                              "memory, one under it bound by computation.",
                          .panels = {},
                          .width = 1000,
                          .height = 0};
    for (const OperationKind kind : kinds) {
        const auto lines = lines_of(kernels, kind);
        const auto points = points_of(devices, kind);
        if (lines.empty() || points.empty()) continue;
        picture.panels.push_back(panel(lines, points, devices, kind));
        // The key below takes a row for two of its lines.
        picture.height += 500 + 9 * static_cast<int>(picture.panels.back().series.size());
    }
    if (picture.panels.empty())
        throw InputError(
            "nothing to draw: no profile has both B_mem (ld.global.f32) and the rate of the "
            "kernels' operations (fma.f32, fma.f64 or mad.s32)");
    return picture;
}

plot::Picture kernel_roofline(std::span<const KernelParameters> kernels, const GpuProfile& device) {
    const auto memory = analysis::memory_rate(device);
    plot::Figure figure{.title = device.device.name,
                        .x = {"operations per byte of memory traffic", Scale::log10},
                        .y = {"10⁹ operations per second", Scale::log10},
                        .key = plot::Key::outside};
    double left = 0.1, right = 10, bottom = 1e300, top = 0;
    Series predicted{"predicted", Mark::points, 0, {}};
    std::vector<OperationKind> roofs;
    for (const OperationKind kind : kinds)
        for (const HalfLine& line : lines_of(kernels, kind)) {
            const RooflinePrediction one =
                analysis::roofline_prediction(*line.kernel, device, RooflineVariant::literal);
            if (!one.result || !memory) continue;
            if (std::ranges::find(roofs, kind) == roofs.end()) roofs.push_back(kind);
            const double rate = one.result->operations / one.result->time / giga;
            predicted.points.push_back({line.intensity, rate});
            figure.labels.push_back({line.intensity, rate, line.kernel->kernel});
            left = std::min(left, line.intensity / 3);
            right = std::max(right, line.intensity * 3);
            bottom = std::min(bottom, rate / 3);
        }
    if (predicted.points.empty())
        throw InputError(
            fmt::format("nothing to draw: the profile of {} lacks the rates that the "
                        "kernels need",
                        device.device.name));
    int style = 1;
    for (const OperationKind kind : roofs) {
        const double peak = *analysis::operation_rate(device, kind) / giga;
        const double slope = *memory / giga;
        const double corner = peak / slope;
        right = std::max(right, corner * 3);
        top = std::max(top, peak * 2);
        bottom = std::min(bottom, left * slope);
        figure.series.push_back(
            {fmt::format("{}: {} {}", to_string(kind), rate_text(peak), unit_of(kind)),
             Mark::line,
             style++,
             {{left, left * slope}, {corner, peak}, {right, peak}}});
    }
    figure.series.push_back(predicted);
    for (Series& series : figure.series)
        if (series.mark == Mark::line) series.points.back().x = right;
    place_labels(figure.labels, {left, right, bottom, top});
    figure.x.low = left;
    figure.x.high = right;
    figure.y.low = bottom;
    figure.y.high = top;
    return {.description = fmt::format("Roofline of {} with kernels at their predicted rates.",
                                       device.device.name),
            .panels = {figure},
            .width = 1000,
            .height = 520};
}

}  // namespace occupipe::report
