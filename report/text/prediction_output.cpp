// SPDX-License-Identifier: MIT
#include "report/text/prediction_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <span>

#include "report/text/text_table.h"

namespace occupipe::report {
namespace {

constexpr std::size_t most_columns = 12;

// Names of all bounds, in the order in which they first appear.
std::vector<std::string> bound_names(const PredictionSet& set) {
    std::vector<std::string> names;
    for (const Prediction& prediction : set.predictions)
        for (const Bound& bound : prediction.bounds)
            if (std::find(names.begin(), names.end(), bound.name) == names.end())
                names.push_back(bound.name);
    return names;
}

const Bound* find_bound(const Prediction& prediction, const std::string& name) {
    for (const Bound& bound : prediction.bounds)
        if (bound.name == name) return &bound;
    return nullptr;
}

// Each assumption once, with the models that make it, in the order of the predictions.
std::vector<std::pair<std::string, std::vector<std::string>>> assumptions_of(
    const PredictionSet& set) {
    std::vector<std::pair<std::string, std::vector<std::string>>> all;
    for (const Prediction& prediction : set.predictions)
        for (const std::string& assumption : prediction.assumptions) {
            auto found = std::find_if(all.begin(), all.end(),
                                      [&](const auto& entry) { return entry.first == assumption; });
            if (found == all.end()) found = all.insert(found, {assumption, {}});
            auto& sharing = found->second;
            if (std::find(sharing.begin(), sharing.end(), prediction.model) == sharing.end())
                sharing.push_back(prediction.model);
        }
    return all;
}

std::size_t model_count(const PredictionSet& set) {
    std::set<std::string> names;
    for (const Prediction& prediction : set.predictions) names.insert(prediction.model);
    return names.size();
}

// Throughput of several models over a few launches, a row per model.
std::string model_matrix(const PredictionSet& set, std::size_t launches) {
    TextTable table{{"warps/cycle at"}, {Align::left}, {}};
    for (std::size_t i = 0; i < launches; ++i) {
        const Launch& launch = set.predictions[i].launch;
        table.header.push_back(launch.group_warps == 1 ? fmt::format("{}", launch.warps())
                                                       : fmt::format("{} x {}", launch.group_warps,
                                                                     launch.concurrent_groups));
        table.align.push_back(Align::right);
    }
    for (std::size_t i = 0; i < set.predictions.size(); ++i) {
        const Prediction& prediction = set.predictions[i];
        if (i % launches == 0) table.rows.push_back({prediction.model});
        table.rows.back().push_back(fmt::format("{}{:.4g}", prediction.estimate_error ? "~" : "",
                                                prediction.warps_per_cycle));
    }
    return plain_text(table) +
           "\nColumns: warps on the core, or warps of a group x groups at once. Cycles, times and "
           "what limits\nwith --csv or --json, or for one occupancy.\n";
}

// "123456", or "~123456 +-0.3 %" where it is an estimate.
std::string cycles_text(const Prediction& p) {
    if (!p.estimate_error) return fmt::format("{:.10g}", p.cycles);
    return fmt::format("~{:.6g} +-{:.2g} %", p.cycles, 100 * *p.estimate_error);
}

// Models that do not heed every throughput predict times in which some unit would be busy more
// often than always.
constexpr double always = 1.0005;

std::string busy_text(double utilisation) {
    return utilisation > always ? "> 100 %" : fmt::format("{:.1f} %", 100 * utilisation);
}

std::string beyond_text(const PredictionSet& set) {
    std::string text;
    for (const Prediction& p : set.predictions) {
        const auto most = std::ranges::max_element(
            p.bounds, {}, [](const Bound& one) { return one.utilisation; });
        if (most == p.bounds.end() || most->utilisation <= always) continue;
        const std::string line = fmt::format(
            "{}: what the warps execute keeps {} busy for up to {:.3g} times the predicted cycles; "
            "the model ignores its throughput\n",
            p.model, most->name, most->utilisation);
        if (text.find(fmt::format("{}:", p.model)) == std::string::npos) text += line;
    }
    return text;
}

bool any_interval(const PredictionSet& set) {
    return std::ranges::any_of(set.predictions,
                               [](const Prediction& p) { return p.interval.has_value(); });
}

std::string prediction_table(const PredictionSet& set) {
    const auto names = bound_names(set);
    const bool intervals = any_interval(set);
    TextTable table{
        {"model", "group warps", "groups at once", "warps", "groups per core", "cycles", "time"},
        {Align::left, Align::right, Align::right, Align::right, Align::right, Align::right,
         Align::right},
        {}};
    if (intervals) {
        table.header.emplace_back("95 % within");
        table.align.push_back(Align::right);
    }
    table.header.insert(table.header.end(), {"warps/cycle", "limited by"});
    table.align.insert(table.align.end(), {Align::right, Align::left});
    for (const std::string& name : names) {
        table.header.push_back(name + " busy");
        table.align.push_back(Align::right);
    }
    for (const Prediction& p : set.predictions) {
        std::vector<std::string> row = {p.model,
                                        fmt::format("{}", p.launch.group_warps),
                                        fmt::format("{}", p.launch.concurrent_groups),
                                        fmt::format("{}", p.launch.warps()),
                                        fmt::format("{}", p.groups_per_core),
                                        cycles_text(p),
                                        fmt::format("{:.4g} us", p.seconds * 1e6)};
        if (intervals)
            row.push_back(p.interval ? fmt::format("{:.4g} - {:.4g} us", p.interval->low * 1e6,
                                                   p.interval->high * 1e6)
                                     : "");
        row.push_back(fmt::format("{:.4g}", p.warps_per_cycle));
        row.push_back(p.limited_by);
        for (const std::string& name : names) {
            const Bound* bound = find_bound(p, name);
            row.push_back(bound ? busy_text(bound->utilisation) : "");
        }
        table.rows.push_back(std::move(row));
    }
    return plain_text(table) + beyond_text(set);
}

}  // namespace

nlohmann::ordered_json to_json(const PredictionSet& set) {
    nlohmann::ordered_json predictions = nlohmann::ordered_json::array();
    for (const Prediction& prediction : set.predictions) {
        nlohmann::ordered_json bounds = nlohmann::ordered_json::object();
        for (const Bound& bound : prediction.bounds) bounds[bound.name] = bound.utilisation;
        nlohmann::ordered_json values = nlohmann::ordered_json::object();
        for (const ModelValue& value : prediction.values) values[value.name] = value.value;
        predictions.push_back({{"model", prediction.model},
                               {"group_warps", prediction.launch.group_warps},
                               {"concurrent_groups", prediction.launch.concurrent_groups},
                               {"warps", prediction.launch.warps()},
                               {"groups_per_core", prediction.groups_per_core},
                               {"cycles", prediction.cycles},
                               {"seconds", prediction.seconds},
                               {"warps_per_cycle", prediction.warps_per_cycle},
                               {"cycles_per_run", prediction.cycles_per_run},
                               {"instructions_per_cycle", prediction.instructions_per_cycle},
                               {"limited_by", prediction.limited_by},
                               {"bounds", bounds},
                               {"values", values},
                               {"assumptions", prediction.assumptions}});
        if (prediction.estimate_error)
            predictions.back()["estimate"] = {{"error", *prediction.estimate_error}};
        if (const auto& interval = prediction.interval) {
            nlohmann::ordered_json terms = nlohmann::ordered_json::object();
            for (const ErrorTerm& term : interval->terms) terms[term.name] = term.size;
            predictions.back()["interval"] = {
                {"low_seconds", interval->low}, {"high_seconds", interval->high}, {"terms", terms}};
        }
    }
    return {{"format", "occupipe-prediction/1"},
            {"kernel", set.kernel},
            {"profile", set.profile},
            {"device", set.device},
            {"predictions", predictions}};
}

std::string to_csv(const PredictionSet& set) {
    const auto names = bound_names(set);
    std::string text =
        "model,group_warps,concurrent_groups,warps,groups_per_core,cycles,seconds,warps_per_cycle,"
        "limited_by";
    for (const std::string& name : names) text += fmt::format(",busy:{}", name);
    const bool estimated = std::any_of(set.predictions.begin(), set.predictions.end(),
                                       [](const Prediction& p) { return p.estimate_error; });
    if (estimated) text += ",estimate_error";
    const bool intervals = any_interval(set);
    if (intervals) text += ",low_seconds,high_seconds";
    text += '\n';
    for (const Prediction& p : set.predictions) {
        text += fmt::format("{},{},{},{},{},{},{},{},{}", p.model, p.launch.group_warps,
                            p.launch.concurrent_groups, p.launch.warps(), p.groups_per_core,
                            p.cycles, p.seconds, p.warps_per_cycle, p.limited_by);
        for (const std::string& name : names) {
            const Bound* bound = find_bound(p, name);
            text += bound ? fmt::format(",{}", bound->utilisation) : ",";
        }
        if (estimated) text += p.estimate_error ? fmt::format(",{}", *p.estimate_error) : ",";
        if (intervals)
            text += p.interval ? fmt::format(",{},{}", p.interval->low, p.interval->high) : ",,";
        text += '\n';
    }
    return text;
}

std::string to_text(const PredictionSet& set) {
    const std::size_t models = model_count(set);
    const std::size_t launches = set.predictions.size() / std::max<std::size_t>(1, models);
    const bool matrix = models > 1 && launches > 1 && launches <= most_columns;
    std::string text = fmt::format("{} on {}\n\n{}", set.kernel, set.device,
                                   matrix ? model_matrix(set, launches) : prediction_table(set));
    const auto assumptions = assumptions_of(set);
    if (!assumptions.empty()) text += '\n';
    // Of one model the most important ones: they come first.
    constexpr std::size_t most = 5;
    const std::size_t shown =
        models == 1 && assumptions.size() > most + 1 ? most : assumptions.size();
    for (const auto& [assumption, sharing] : std::span(assumptions).first(shown)) {
        const bool everyone = sharing.size() > 1 && sharing.size() == models;
        text += fmt::format("{}: {}.\n",
                            everyone ? "all of them" : fmt::format("{}", fmt::join(sharing, ", ")),
                            assumption);
    }
    if (shown < assumptions.size())
        text +=
            fmt::format("and {} more, less important ones (--json)\n", assumptions.size() - shown);
    return text;
}

}  // namespace occupipe::report
