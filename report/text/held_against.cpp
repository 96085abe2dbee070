// SPDX-License-Identifier: MIT
#include "report/text/held_against.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "core/files/csv.h"
#include "report/text/text_table.h"
#include "sim/models/model.h"

namespace occupipe::report {
namespace {

using analysis::HeldAgainst;
using analysis::PredictedConfiguration;
using analysis::ScoredTime;
using analysis::Scores;

constexpr std::size_t furthest_off = 5;

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

std::vector<std::string> cells(const std::string& name, const Scores& of) {
    return {name,
            fmt::format("{}", of.count),
            percent(of.mape),
            fmt::format("{:.3f}", of.factor),
            percent(of.shape),
            of.spearman ? fmt::format("{:.3f}", *of.spearman) : "",
            fmt::format("{:.3f}", of.regret),
            fmt::format("{:.3f}", of.regret_hundredth),
            fmt::format("{:.3f}", of.regret_ten),
            fmt::format("{:.2f}", of.at_random),
            of.coverage ? percent(*of.coverage) : "",
            of.half_width ? percent(*of.half_width) : ""};
}

TextTable scores_table(const std::string& what) {
    TextTable table;
    table.header = {what,    "n",           "MAPE",       "factor",    "shape",   "Spearman",
                    "first", "best of 1 %", "best of 10", "at random", "covered", "half-width"};
    table.align.assign(table.header.size(), Align::right);
    table.align[0] = Align::left;
    return table;
}

// Of the first model.
std::map<std::string, std::vector<ScoredTime>> by_limiter(const HeldAgainst& held) {
    std::map<std::string, std::vector<ScoredTime>> all;
    for (const PredictedConfiguration& row : held.rows)
        if (const auto time = scored(row, 0)) all[row.limiter].push_back(*time);
    return all;
}

double off(const PredictedConfiguration& row) {
    return std::abs(std::log(*row.predicted[0] / row.measured));
}

std::string worst_text(const HeldAgainst& held) {
    std::vector<const PredictedConfiguration*> worst;
    for (const PredictedConfiguration& row : held.rows)
        if (row.predicted[0]) worst.push_back(&row);
    std::ranges::stable_sort(worst, [](const auto* a, const auto* b) { return off(*a) > off(*b); });
    if (worst.size() > furthest_off) worst.resize(furthest_off);
    TextTable table;
    table.header = {"furthest off", "measured ms", "predicted ms", "limited by"};
    table.align = {Align::left, Align::right, Align::right, Align::left};
    for (const PredictedConfiguration* row : worst)
        table.rows.push_back({to_text(row->configuration),
                              fmt::format("{:.4g}", 1e3 * row->measured),
                              fmt::format("{:.4g}", 1e3 * *row->predicted[0]), row->limiter});
    return table.rows.empty() ? "" : "\n" + plain_text(table);
}

std::string refused_text(const HeldAgainst& held) {
    std::map<std::string, std::size_t> reasons;
    for (const PredictedConfiguration& row : held.rows)
        if (!row.refusal.empty()) ++reasons[row.refusal];
    std::string text;
    for (const auto& [reason, count] : reasons)
        text +=
            fmt::format("{} configuration{} refused: {}\n", count, count == 1 ? "" : "s", reason);
    return text.empty() ? "" : "\n" + text;
}

nlohmann::ordered_json json_of(const Scores& of) {
    nlohmann::ordered_json json = {{"count", of.count},
                                   {"mape", of.mape},
                                   {"factor", of.factor},
                                   {"shape_mape", of.shape},
                                   {"spread", of.spread}};
    if (of.spearman) json["spearman"] = *of.spearman;
    json["regret"] = {{"first", of.regret},
                      {"best_of_hundredth", of.regret_hundredth},
                      {"best_of_ten", of.regret_ten},
                      {"at_random", of.at_random}};
    if (of.coverage) json["coverage"] = *of.coverage;
    if (of.half_width) json["half_width"] = *of.half_width;
    return json;
}

}  // namespace

std::string to_text(const HeldAgainst& held) {
    std::string text = fmt::format(
        "{} of {} configurations measured{}, predicted with {} at {:g} MHz\n", held.rows.size(),
        held.valid, held.device.empty() ? "" : " on " + held.device, held.gpu, held.clock_hz / 1e6);
    if (held.failed + held.excluded > 0)
        text += fmt::format("left out: {} that failed there, {} that the space excludes\n",
                            held.failed, held.excluded);
    text += "\n";
    TextTable models = scores_table("model");
    for (std::size_t m = 0; m < held.models.size(); ++m)
        if (const auto times = scored(held, m); !times.empty())
            models.rows.push_back(
                cells(std::string(held.models[m]->name), analysis::scores(times)));
    if (!models.rows.empty()) text += plain_text(models);
    const auto limiters = by_limiter(held);
    if (limiters.size() > 1) {
        TextTable table = scores_table("limited by");
        for (const auto& [limiter, times] : limiters)
            table.rows.push_back(cells(limiter, analysis::scores(times)));
        text += "\n" + plain_text(table);
    }
    double compile = 0, execute = 0, model = 0;
    for (const PredictedConfiguration& row : held.rows) {
        compile += row.compile_seconds;
        execute += row.execute_seconds;
        model += row.model_seconds;
    }
    text += worst_text(held) + refused_text(held);
    if (!held.rows.empty())
        text += fmt::format(
            "\nprocessor time per configuration: {:.2g} s to compile, {:.2g} s to execute, {:.2g} "
            "s "
            "to predict\n",
            compile / static_cast<double>(held.rows.size()),
            execute / static_cast<double>(held.rows.size()),
            model / static_cast<double>(held.rows.size()));
    return text;
}

nlohmann::ordered_json to_json(const HeldAgainst& held) {
    nlohmann::ordered_json json = {{"gpu", held.gpu}, {"clock_hz", held.clock_hz}};
    if (!held.device.empty()) json["device"] = held.device;
    json["measured"] = held.valid;
    json["failed_there"] = held.failed;
    json["excluded_by_space"] = held.excluded;
    json["models"] = nlohmann::ordered_json::object();
    for (std::size_t m = 0; m < held.models.size(); ++m)
        if (const auto times = scored(held, m); !times.empty())
            json["models"][std::string(held.models[m]->name)] = json_of(analysis::scores(times));
    json["limiters"] = nlohmann::ordered_json::object();
    for (const auto& [limiter, times] : by_limiter(held))
        json["limiters"][limiter] = json_of(analysis::scores(times));
    json["configurations"] = nlohmann::ordered_json::array();
    for (const PredictedConfiguration& row : held.rows) {
        nlohmann::ordered_json one;
        for (const auto& [name, value] : row.configuration)
            one["configuration"][name] = to_text(value);
        one["measured_seconds"] = row.measured;
        for (std::size_t m = 0; m < held.models.size(); ++m)
            if (row.predicted[m])
                one["predicted_seconds"][std::string(held.models[m]->name)] = *row.predicted[m];
        if (row.interval) one["interval_seconds"] = {row.interval->low, row.interval->high};
        if (!row.limiter.empty()) one["limited_by"] = row.limiter;
        if (!row.refusal.empty()) one["refused"] = row.refusal;
        json["configurations"].push_back(std::move(one));
    }
    return json;
}

std::string to_csv(const HeldAgainst& held) {
    std::set<std::string> names;
    for (const PredictedConfiguration& row : held.rows)
        for (const auto& [name, value] : row.configuration) names.insert(name);
    std::string text;
    for (const std::string& name : names) text += csv_text(name) + ",";
    text += "measured_seconds";
    for (const Model* model : held.models) text += fmt::format(",{}_seconds", model->name);
    text += ",limited_by,refused,interval_low_seconds,interval_high_seconds\n";
    for (const PredictedConfiguration& row : held.rows) {
        for (const std::string& name : names) {
            const auto value = row.configuration.find(name);
            if (value != row.configuration.end()) text += csv_text(to_text(value->second));
            text += ",";
        }
        text += fmt::format("{}", row.measured);
        for (const auto& predicted : row.predicted)
            text += predicted ? fmt::format(",{}", *predicted) : ",";
        text += fmt::format(",{},{},", csv_text(row.limiter), csv_text(row.refusal));
        text +=
            row.interval ? fmt::format("{},{}\n", row.interval->low, row.interval->high) : ",\n";
    }
    return text;
}

PlotContent held_against_plot(const HeldAgainst& held) {
    plot::Figure figure{.title = fmt::format("{}, {}", held.gpu, held.models[0]->name),
                        .x = {"measured [ms]", plot::Scale::log10},
                        .y = {"predicted [ms]", plot::Scale::log10},
                        .key = plot::Key::bottom_right};
    std::map<std::string, plot::Series> series;
    double low = HUGE_VAL, high = 0, lowest_bar = HUGE_VAL, highest_bar = 0;
    for (const PredictedConfiguration& row : held.rows) {
        if (!row.predicted[0]) continue;
        const double measured = 1e3 * row.measured, predicted = 1e3 * *row.predicted[0];
        const auto [place, fresh] = series.try_emplace(row.limiter);
        if (fresh)
            place->second = {row.limiter,
                             plot::Mark::points,
                             static_cast<int>(series.size() - 1) % plot::style_count,
                             {}};
        plot::Point point{.x = measured, .y = predicted};
        if (row.interval) {
            point.y_error = predicted - 1e3 * row.interval->low;
            point.y_error_above = 1e3 * row.interval->high - predicted;
            lowest_bar = std::min(lowest_bar, 1e3 * row.interval->low);
            highest_bar = std::max(highest_bar, 1e3 * row.interval->high);
        }
        place->second.points.push_back(point);
        low = std::min({low, measured, predicted});
        high = std::max({high, measured, predicted});
    }
    if (highest_bar > 0) {  // gnuplot leaves out a bar that meets the end of an axis
        figure.x.low = low / 1.05;
        figure.x.high = high * 1.05;
        figure.y.low = std::min(low, lowest_bar) / 1.05;
        figure.y.high = std::max(high, highest_bar) * 1.05;
    }
    if (high > 0)
        figure.series.push_back(
            {"equal", plot::Mark::line, plot::guide, {{low, low}, {high, high}}});
    for (auto& [limiter, one] : series) figure.series.push_back(std::move(one));
    const std::string sentence = fmt::format(
        "Predicted against measured time of {} configurations, both logarithmic; bars are 95 % "
        "intervals.",
        held.rows.size());
    plot::Picture picture{.description = sentence, .panels = {figure}, .width = 560, .height = 520};
    return {fmt::format("{} against measurements", held.gpu), picture, {picture}};
}

}  // namespace occupipe::report
