// SPDX-License-Identifier: MIT
#include "report/text/slope_accuracy.h"

#include <fmt/format.h>

#include "report/text/text_table.h"

namespace occupipe::report {
namespace {

std::string section(const std::string& title,
                    const std::map<std::string, analysis::SlopeErrors>& errors) {
    if (errors.empty()) return {};
    TextTable table{{"subject", "shapes", "mean |error|", "largest error"},
                    {Align::left, Align::right, Align::right, Align::right},
                    {}};
    int shapes = 0;
    double sum = 0;
    for (const auto& [subject, e] : errors) {
        table.rows.push_back({subject, std::to_string(e.shapes),
                              fmt::format("{:.1f} %", 100 * e.mean),
                              fmt::format("{:+.1f} %", 100 * e.worst)});
        shapes += e.shapes;
        sum += e.mean * e.shapes;
    }
    return fmt::format("### {}\n\n{}\nMean over all shapes: {:.1f} %.\n\n", title, markdown(table),
                       100 * sum / shapes);
}

}  // namespace

std::string slope_accuracy_text(const analysis::SlopeAccuracy& accuracy) {
    return "## Self-check: measured against simulated cycles per instruction\n\n" +
           section("Mixes, whose times the fit has not used", accuracy.mixes) +
           section("Instructions, which the profile was fitted to", accuracy.fitted);
}

}  // namespace occupipe::report
