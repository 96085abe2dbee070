// SPDX-License-Identifier: MIT
#include "report/text/comparison_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "core/files/csv.h"
#include "report/text/text_table.h"

namespace occupipe::report {
namespace {

std::string percent(const std::optional<double>& value) {
    return value ? fmt::format("{:.1f} %", *value) : "-";
}

std::string headline(const Comparison& c) {
    const std::string what =
        c.measured
            ? fmt::format("{} measured points, launch cost included, the median of each",
                          c.points.size())
            : fmt::format("{} points as predicted by {}", c.points.size(), c.reference_model);
    std::string with = c.profile;
    if (!c.against.empty()) with += (with.empty() ? "" : " and ") + c.against;
    std::string text =
        fmt::format("{}: {}{}\n", c.reference, what, with.empty() ? "" : "; against " + with);
    if (!c.held_out.empty())
        text += fmt::format("Held out: {}; the profile is fitted to the rest.\n", c.held_out);
    if (c.in_sample)
        text +=
            "In-sample: the profile was fitted to these measurements, so that the errors show how "
            "well each model can follow them, not how well it predicts (--hold-out does).\n";
    if (!c.loop.empty()) text += fmt::format("Simulated {}.\n", c.loop);
    return text;
}

std::vector<analysis::Accuracy> of_everything(const Comparison& c) {
    std::vector<analysis::Accuracy> rows;
    std::ranges::copy_if(c.rows, std::back_inserter(rows), [](const analysis::Accuracy& row) {
        return row.subject == analysis::everything;
    });
    return rows;
}

// Where models predict different points, what all of them predict has a column of its own.
std::string ranking(const Comparison& c) {
    TextTable table{{"rank", "model", "points", "MAPE", "MAPE_shape"},
                    {Align::right, Align::left, Align::right, Align::right, Align::right},
                    {}};
    const std::vector<analysis::Accuracy> rows = of_everything(c);
    const auto lacks = [&](const analysis::Accuracy& row) {
        return row.points != rows.front().points || row.common_points != row.points;
    };
    const bool common = std::ranges::any_of(rows, lacks) && rows.front().common_mape;
    if (common) {
        table.header.push_back(fmt::format("MAPE of {} in common", rows.front().common_points));
        table.align.push_back(Align::right);
    }
    for (const analysis::Accuracy& row : rows) {
        table.rows.push_back({std::to_string(row.rank), row.predictor, point_count(row),
                              percent(row.mape), percent(row.mape_shape)});
        if (common) table.rows.back().push_back(percent(row.common_mape));
    }
    return plain_text(table);
}

// One line each: the best three models.
std::string kernels(const Comparison& c) {
    constexpr std::size_t shown = 3;
    TextTable table{{"kernel", "points"}, {Align::left, Align::right}, {}};
    for (std::size_t i = 0; i < std::min(shown, c.predictors.size()); ++i) {
        table.header.push_back(i == 0 ? "best" : i == 1 ? "second" : "third");
        table.align.push_back(Align::left);
    }
    std::string subject;
    for (const analysis::Accuracy& row : c.rows) {
        if (row.subject == analysis::everything) continue;
        if (row.subject != subject)
            table.rows.push_back({row.subject, std::to_string(row.of_points)});
        subject = row.subject;
        if (table.rows.back().size() < table.header.size())
            table.rows.back().push_back(fmt::format(
                "{} {}{}", row.predictor, percent(row.mape),
                row.points < row.of_points ? fmt::format(" ({})", point_count(row)) : ""));
    }
    for (auto& row : table.rows) row.resize(table.header.size());
    return plain_text(table);
}

}  // namespace

std::string point_count(const analysis::Accuracy& row) {
    return row.points == row.of_points ? std::to_string(row.points)
                                       : fmt::format("{} of {}", row.points, row.of_points);
}

std::string to_text(const Comparison& c) {
    std::string text =
        headline(c) + "\nAll kernels together, the most points first, then the smallest MAPE:\n\n" +
        ranking(c) + "\nEach kernel, with the MAPE of its best models:\n\n" + kernels(c);
    if (std::ranges::none_of(
            c.rows, [](const analysis::Accuracy& row) { return row.mape_shape.has_value(); }))
        text += "\nNo MAPE_shape: it needs one kernel at three occupancies or more.\n";
    if (c.predictors.size() > 3) text += "\n--csv and --json have every model for every kernel.\n";
    return text;
}

std::string to_csv(const Comparison& c) {
    const auto number = [](const std::optional<double>& value) {
        return value ? fmt::format("{}", *value) : "";
    };
    std::string text =
        "subject,rank,model,points,mape_percent,mape_shape_percent,of_points,"
        "common_points,common_mape_percent\n";
    for (const bool overall : {true, false})
        for (const analysis::Accuracy& row : c.rows)
            if ((row.subject == analysis::everything) == overall)
                text += fmt::format("{},{},{},{},{},{},{},{},{}\n", csv_text(row.subject), row.rank,
                                    csv_text(row.predictor), row.points, number(row.mape),
                                    number(row.mape_shape), row.of_points, row.common_points,
                                    number(row.common_mape));
    return text;
}

nlohmann::ordered_json to_json(const Comparison& c) {
    nlohmann::ordered_json json = {{"format", "occupipe-comparison/1"}, {"results", c.reference}};
    json["compared"] =
        c.measured ? "median cycles over repetitions, launch cost included; WPC = warps/cycles"
                   : "predictions; cycles are those of one run of all concurrent warps";
    if (!c.measured) json["reference_model"] = c.reference_model;
    if (!c.profile.empty()) json["profile"] = c.profile;
    if (!c.against.empty()) json["against"] = c.against;
    if (c.measured && !c.profile.empty()) json["in_sample"] = c.in_sample;
    if (!c.held_out.empty()) json["held_out"] = c.held_out;
    if (!c.loop.empty()) json["loop"] = c.loop;
    json["accuracy"] = nlohmann::ordered_json::array();
    for (const analysis::Accuracy& row : c.rows) {
        nlohmann::ordered_json entry = {{"subject", row.subject},
                                        {"rank", row.rank},
                                        {"model", row.predictor},
                                        {"points", row.points},
                                        {"of_points", row.of_points}};
        if (row.mape) entry["mape_percent"] = *row.mape;
        if (row.mape_shape) entry["mape_shape_percent"] = *row.mape_shape;
        entry["common_points"] = row.common_points;
        if (row.common_mape) entry["common_mape_percent"] = *row.common_mape;
        json["accuracy"].push_back(entry);
    }
    json["points"] = nlohmann::ordered_json::array();
    for (std::size_t i = 0; i < c.points.size(); ++i) {
        nlohmann::ordered_json entry = {
            {"name", measurement_name(c.points[i].subject, c.points[i].shape)},
            {"warps", c.points[i].shape.warps()},
            {c.measured ? "measured_cycles" : "reference_cycles", c.points[i].cycles},
            {"predicted_cycles", nlohmann::ordered_json::object()}};
        for (const analysis::Predictor& predictor : c.predictors)
            if (predictor.cycles[i])
                entry["predicted_cycles"][predictor.name] = *predictor.cycles[i];
        json["points"].push_back(entry);
    }
    return json;
}

}  // namespace occupipe::report
