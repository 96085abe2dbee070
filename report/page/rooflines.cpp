// SPDX-License-Identifier: MIT
// Rooflines in the report: the device's own, the measured intensity sweep over it, and counted
// kernels by the quantitative roofline.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "analysis/roofline/device_rates.h"
#include "analysis/roofline/intensity_sweep.h"
#include "analysis/roofline/roofline_predictions.h"
#include "core/error.h"
#include "report/figures/quadrant_split.h"
#include "report/figures/roofline_figures.h"
#include "report/page/sections.h"
#include "report/text/intensity_output.h"

namespace occupipe::report {
namespace {

HtmlCell text_cell(std::string_view text) { return {std::string(text), std::nullopt, ""}; }

HtmlCell number(double value) { return {fmt::format("{:.4g}", value), value, ""}; }

HtmlCell share(const std::optional<double>& value) {
    if (!value) return text_cell("-");
    return {fmt::format("{:.1f} %", 100 * *value), value, ""};
}

std::string sweep_part(ReportPage& page, const ReportData& data) {
    const analysis::IntensitySweep sweep =
        analysis::intensity_sweep(data.fit.mixes, data.fit.profile);
    if (sweep.points.empty())
        return absent(
            "Intensity sweep: no mixes of multiply-adds and streaming loads were measured; "
            "'occupipe measure --intensity' measures them.");
    HtmlTable table{
        {"mix", "operations/byte", "measured 10⁹/s", "predicted 10⁹/s", "error [%]", "bound"},
        {},
        true};
    std::map<std::string, std::vector<analysis::IntensityPoint>> groups;
    for (const analysis::IntensityPoint& point : sweep.points) {
        groups[fmt::format("{} with {}", point.operation, point.load)].push_back(point);
        const double error = 100 * (point.predicted / point.measured - 1);
        table.rows.push_back(
            {text_cell(fmt::format("{} × {}, {}", point.beta, point.operation, point.load)),
             number(point.intensity),
             number(point.measured * 1e-9),
             number(point.predicted * 1e-9),
             {fmt::format("{:+.1f}", error), error, ""},
             text_cell(point.memory_bound ? "memory" : "compute")});
    }
    std::string text = "<h3>Intensity sweep</h3>\n" +
                       page.figure(intensity_picture(sweep, data.fit.profile)) + html(table);
    for (const auto& [name, points] : groups)
        text += paragraph(fmt::format("MAPE of {}: {:.1f} % over {} points.", name,
                                      analysis::mean_error(points), points.size()));
    return text;
}

std::vector<HtmlCell> row_of(const KernelParameters& kernel, const GpuProfile& device,
                             const analysis::RooflinePrediction& one) {
    const auto intensity = analysis::intensity_of(one.work);
    const bool memory = one.result->memory_bound;
    HtmlCell flip = text_cell("-");
    if (one.distance_to_flip)
        flip = {
            fmt::format("{} × {:.3g}", memory ? "traffic" : "instructions", *one.distance_to_flip),
            one.distance_to_flip, ""};
    return {text_cell(kernel.kernel),
            text_cell(device.device.name),
            text_cell(to_string(one.work.kind)),
            number(one.result->time),
            text_cell(memory ? "memory" : "compute"),
            intensity ? number(*intensity) : text_cell("-"),
            share(one.result->mix_efficiency),
            share(one.result->instruction_efficiency),
            flip};
}

std::string kernels_part(ReportPage& page, const ReportData& data,
                         const std::vector<GpuProfile>& devices) {
    if (data.kernels.empty())
        return absent(
            "Counted kernels: the folder has no kernel parameters; 'occupipe predict --counts "
            "counts.csv "
            "-o DIR/kernels.yaml' puts them there.");
    HtmlTable table{{"kernel", "device", "type", "time [s]", "bound", "operations/byte", "E_mix",
                     "E_instr", "bound flips at"},
                    {},
                    true};
    std::string text =
        "<h3>Counted kernels</h3>\n" +
        paragraph(
            "Kernels that were counted, by a profiler or by executing their machine code, "
            "predicted by the quantitative roofline (formulas 2 to 19).");
    std::vector<const GpuProfile*> drawable;
    std::map<std::string, std::vector<std::string>> lacking;  // kernels by device and rates
    for (const GpuProfile& device : devices)
        for (const KernelParameters& kernel : data.kernels) {
            const auto one =
                analysis::roofline_prediction(kernel, device, RooflineVariant::literal);
            if (!one.result) {
                lacking[fmt::format("{}, which lacks {}", device.device.name,
                                    fmt::join(one.missing, ", "))]
                    .push_back(kernel.kernel);
                continue;
            }
            table.rows.push_back(row_of(kernel, device, one));
            const bool drawn = !drawable.empty() && drawable.back() == &device;
            if (analysis::intensity_of(one.work) && !drawn) drawable.push_back(&device);
        }
    for (const auto& [device, kernels] : lacking)
        text += absent(fmt::format("Not predicted on {}: {}.", device, fmt::join(kernels, ", ")));
    if (table.rows.empty()) return text;
    text += html(table);
    if (drawable.empty()) return text;
    text += page.figure(quadrant_split(data.kernels, devices));
    for (const GpuProfile* device : drawable)
        text += page.figure(kernel_roofline(data.kernels, *device));
    return text;
}

}  // namespace

void add_roofline_section(ReportPage& page, const ReportData& data) {
    const GpuProfile& profile = data.fit.profile;
    std::string text;
    if (compute_peaks(profile).empty())
        text += absent("Roofline: no floating-point arithmetic was measured.");
    else if (!memory_peak(profile))
        text += absent(
            "Roofline: the throughput of streaming loads from global memory was not "
            "measured, or not determined.");
    else
        text += page.figure(roofline_picture(profile, data.fit.mixes));
    std::vector<GpuProfile> devices = {profile};
    devices.insert(devices.end(), data.beside.begin(), data.beside.end());
    const bool any = std::ranges::any_of(devices, [](const GpuProfile& device) {
        return memory_peak(device) && !compute_peaks(device).empty();
    });
    text += any ? page.figure(textbook_quadrants(devices))
                : absent("Quadrant split: no device has both peaks.");
    for (const std::string& warning : analysis::rate_warnings(profile))
        text += paragraph("Note: " + warning + ".");
    page.section(
        "rooflines", "Roofline and quadrant split",
        paragraph("Peaks are lanes × operations (or bytes) / λ of the whole device at its "
                  "clock. Textbook kernels: operations and bytes of global memory per element, "
                  "each moved once; their marks are what the roofline allows, not measured.") +
            text + sweep_part(page, data) + kernels_part(page, data, devices));
}

}  // namespace occupipe::report
