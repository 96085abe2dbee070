// SPDX-License-Identifier: MIT
#include "report/text/comparison_output.h"

#include <fmt/format.h>

#include <algorithm>

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

// Points that a model has no prediction for are missing from its mean.
std::string point_count(int has, std::size_t of) {
    return static_cast<std::size_t>(has) == of ? std::to_string(has)
                                               : fmt::format("{} of {}", has, of);
}

std::string ranking(const Comparison& c) {
    TextTable table{{"rank", "model", "points", "MAPE", "MAPE_shape"},
                    {Align::right, Align::left, Align::right, Align::right, Align::right},
                    {}};
    for (const analysis::Accuracy& row : c.rows)
        if (row.subject == analysis::everything)
            table.rows.push_back({std::to_string(row.rank), row.predictor,
                                  point_count(row.points, c.points.size()), percent(row.mape),
                                  percent(row.mape_shape)});
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
        if (row.subject != subject) table.rows.push_back({row.subject, std::to_string(row.points)});
        subject = row.subject;
        if (table.rows.back().size() < table.header.size())
            table.rows.back().push_back(fmt::format("{} {}", row.predictor, percent(row.mape)));
    }
    for (auto& row : table.rows) row.resize(table.header.size());
    return plain_text(table);
}

}  // namespace

std::string to_text(const Comparison& c) {
    std::string text = headline(c) + "\nAll kernels together, the smallest MAPE first:\n\n" +
                       ranking(c) + "\nEach kernel, with the MAPE of its best models:\n\n" +
                       kernels(c);
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
    std::string text = "subject,rank,model,points,mape_percent,mape_shape_percent\n";
    for (const bool overall : {true, false})
        for (const analysis::Accuracy& row : c.rows)
            if ((row.subject == analysis::everything) == overall)
                text += fmt::format("{},{},{},{},{},{}\n", csv_text(row.subject), row.rank,
                                    csv_text(row.predictor), row.points, number(row.mape),
                                    number(row.mape_shape));
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
                                        {"points", row.points}};
        if (row.mape) entry["mape_percent"] = *row.mape;
        if (row.mape_shape) entry["mape_shape_percent"] = *row.mape_shape;
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
