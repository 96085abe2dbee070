// SPDX-License-Identifier: MIT
// Whole kernels in the report: curves like figures 17 and 18 of the analysis paper, and errors.
#include "report/text/validation.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/validation/validation_file.h"
#include "report/figures/validation_figures.h"
#include "report/page/sections.h"

namespace occupipe::report {
namespace {

HtmlTable errors(const Validation& set) {
    HtmlTable table{.header = {"kernel"}, .sortable = true};
    for (const std::string& model : set.models) {
        table.header.push_back(model + " MAPE [%]");
        table.header.push_back(model + " MAPE_shape [%]");
    }
    const auto cell = [](const std::optional<double>& value) {
        return value ? HtmlCell{.text = fmt::format("{:.1f}", *value), .value = value} : HtmlCell{};
    };
    const auto row = [&](const std::string& name, const auto& accuracy) {
        std::vector<HtmlCell> cells = {{.text = name}};
        for (std::size_t m = 0; m < set.models.size(); ++m) {
            const analysis::CurveAccuracy one = accuracy(m);
            cells.push_back(cell(one.mape));
            cells.push_back(cell(one.mape_shape));
        }
        table.rows.push_back(std::move(cells));
    };
    for (const analysis::ValidationCurve& curve : set.curves)
        row(curve.kernel, [&](std::size_t m) { return accuracy_of(curve, m); });
    row("mean", [&](std::size_t m) { return mean_accuracy(set.curves, m); });
    return table;
}

}  // namespace

void add_validation_section(ReportPage& page, const ReportData& data) {
    analysis::SavedCurves saved = analysis::read_curves(data.folder / "validation");
    if (saved.curves.empty()) return;
    Validation set;
    set.gpu = data.fit.profile.device.name;
    set.models = std::move(saved.models);
    set.curves = std::move(saved.curves);
    const bool measured = std::ranges::any_of(set.curves, [](const auto& curve) {
        return std::ranges::any_of(curve.points,
                                   [](const auto& one) { return one.measured.has_value(); });
    });
    std::string devices;
    for (const analysis::ValidationCurve& curve : set.curves)
        if (!curve.device.empty() && devices.find("'" + curve.device + "'") == devices.npos)
            devices += fmt::format("{} '{}'", devices.empty() ? "Measured on" : ",", curve.device);
    if (!devices.empty()) devices += ". ";
    if (devices.find("'model:") != devices.npos) devices += std::string(simulated_device) + " ";
    std::vector<std::string> figures;
    for (plot::Picture& picture : validation_plot(set).page)
        figures.push_back(page.figure(std::move(picture)));
    page.section("validation", "Kernels at every occupancy",
                 paragraph(devices +
                           "What validate wrote into the folder validation: throughput relative to "
                           "the measured one at the least occupancy, which is 100; where nothing "
                           "was measured, to the first model's.") +
                     (measured ? html(errors(set))
                               : paragraph("Not measured: these curves are predictions alone, and "
                                           "say nothing of how good a model is.")) +
                     grid(figures));
}

}  // namespace occupipe::report
