// SPDX-License-Identifier: MIT
#include "report/text/fleet_text.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "core/estimate.h"
#include "report/text/text_table.h"

namespace occupipe::report {

std::string to_text(const analysis::Fleet& fleet, const analysis::FleetOptions& options) {
    std::string text;
    for (const analysis::FleetModel& model : fleet.models) {
        text += fmt::format("{}{}: {} GPU{}\n", text.empty() ? "" : "\n", model.device,
                            model.members.size(), model.members.size() == 1 ? "" : "s");
        if (model.quantities == 0)
            text += "Too few to identify an outlier: at least 4 have to determine a quantity.\n";
        else if (model.outliers.empty())
            text += fmt::format("No outlier in {} quantities.\n", model.quantities);
        TextTable table{
            {"GPU", "quantity", "value", "median", "spread", "off", "distance", "critical"},
            {Align::left, Align::left, Align::right, Align::right, Align::right, Align::right,
             Align::right, Align::right},
            {}};
        for (const analysis::FleetOutlier& one : model.outliers)
            table.rows.push_back(
                {one.member, one.quantity,
                 estimate_text(Estimate{.value = one.value, .std_error = one.std_error}),
                 fmt::format("{:.6g}", one.median), fmt::format("{:.2g}", one.spread),
                 fmt::format("{:+.1f} %", 100 * one.relative), fmt::format("{:.4g}", one.distance),
                 fmt::format("{:.4g}", one.critical)});
        if (!table.rows.empty()) text += "\n" + plain_text(table) + "\n";
        for (const analysis::FleetSpread& one : model.spreads)
            text += fmt::format(
                "{}: {} GPUs differ by more than their errors, in no single one: from {:.6g} to "
                "{:.6g},\nstandard deviation {:.2g}, errors {:.2g}.\n",
                one.quantity, one.members, one.least, one.most, one.deviation, one.error);
        if (model.untested > 0 && model.quantities > 0)
            text +=
                fmt::format("{} quantities were not tested: fewer than 4 GPUs determine them.\n",
                            model.untested);
        for (const std::string& line : model.differences) text += line + ".\n";
    }
    if (fleet.quantities > 0)
        text += fmt::format(
            "\n{} quantities were tested, each at {:.2g}: a fleet without outliers is said to have "
            "one with a\nprobability of about {:g}, where errors are normal. Less than {:g} % off "
            "the median is no outlier.\n",
            fleet.quantities, fleet.level, options.false_alarms, 100 * options.relative);
    return text;
}

nlohmann::ordered_json to_json(const analysis::Fleet& fleet,
                               const analysis::FleetOptions& options) {
    nlohmann::ordered_json models = nlohmann::ordered_json::array();
    for (const analysis::FleetModel& model : fleet.models) {
        nlohmann::ordered_json outliers = nlohmann::ordered_json::array();
        for (const analysis::FleetOutlier& one : model.outliers) {
            nlohmann::ordered_json row = {
                {"member", one.member}, {"quantity", one.quantity}, {"value", one.value}};
            if (one.std_error) row["std_error"] = *one.std_error;
            row.update({{"median", one.median},
                        {"spread", one.spread},
                        {"relative", one.relative},
                        {"members", one.members}});
            // Where all the others are equal, there is no such number.
            if (std::isfinite(one.distance)) row["distance"] = one.distance;
            row["critical"] = one.critical;
            outliers.push_back(row);
        }
        nlohmann::ordered_json spreads = nlohmann::ordered_json::array();
        for (const analysis::FleetSpread& one : model.spreads)
            spreads.push_back({{"quantity", one.quantity},
                               {"least", one.least},
                               {"most", one.most},
                               {"deviation", one.deviation},
                               {"error", one.error},
                               {"members", one.members}});
        models.push_back({{"device", model.device},
                          {"members", model.members},
                          {"quantities", model.quantities},
                          {"untested", model.untested},
                          {"outliers", outliers},
                          {"spreads", spreads},
                          {"differences", model.differences}});
    }
    return {{"format", "occupipe-fleet/1"}, {"false_alarms", options.false_alarms},
            {"relative", options.relative}, {"quantities", fleet.quantities},
            {"level", fleet.level},         {"models", models}};
}

}  // namespace occupipe::report
